"""What the launcher costs: throughput under it beside bare wrk, the time of a run beside its load, and that of hosts.

A pair is bare, launched, launched, bare: a machine that becomes faster or slower meanwhile favours neither.  A virtual
machine also loses processor to its neighbours.  Where that was more than a hundredth of a pair's time, the pair is
measured again, since what the monitors cost is of the same size.
"""

import os
import subprocess
import time
from pathlib import Path

from report import say

_PAIRS = 10
_SECONDS = 3
_CONNECTIONS = 32
_ORDER = ("bare", "launched", "launched", "bare")
_STOLEN_RATIO = 0.01
_TRIES = 4


def launcher(folder: Path) -> None:
    """Ten pairs of runs for each of two servers; server and generator on a processor each, all monitors at 1 s.

    What the monitors take shows on the server that the processor limits, but so does the machine's own scatter; the
    one that waits 10 ms scatters little, and has processor to spare.
    """
    beside = []
    for name, response in (("processor-bound", {"text": {}}), ("delay-bound", {"delay": {"delay_ms": 10}})):
        beside += _pairs(folder / name, name, response)
    figure = f"{min(beside):.2f} to {max(beside):.2f} s"
    say("launcher: time of a run beside its load", figure, "≤ 0.5 s", max(beside) <= 0.5)


def _pairs(folder: Path, name: str, response: dict) -> list[float]:
    """Compare the launcher with bare wrk on a server; return the time in s of each launched run beside its load."""
    from loadcurve.ingest.folder import read_runs
    from loadcurve.lab import launch
    from loadcurve.stats import find_paired_ratio
    from loadcurve.study import Study

    study = Study(
        "cheap",
        "What does the launcher cost?",
        server={"nginx": {"response": response}},
        load={"connections": _CONNECTIONS, "duration_s": _SECONDS},
        monitors={"sar": 1, "mpstat": 1, "ss_summary": 1, "ss_connections": 1, "ss_details": 1, "nstat": 1, "proc": 1},
        repeats=1,
    )
    bare, launched, beside, again = [], [], [], 0
    for pair in range(_PAIRS):
        for trial in range(_TRIES):
            place, before = folder / f"{pair}-{trial}", _processor_ticks()
            found = {part: [] for part in _ORDER}
            for number, part in enumerate(_ORDER):
                if part == "bare":
                    found[part].append(_bare(place / str(number), response))
                    continue
                begun = time.monotonic()
                launch(study, place / str(number) / "cheap")
                beside.append(time.monotonic() - begun - _SECONDS)
                runs = read_runs(place / str(number) / "cheap").tables["runs"]
                found[part].append(float(runs["throughput_rps"].iloc[0]))
            stolen, ticks = (now - was for now, was in zip(_processor_ticks(), before, strict=True))
            if stolen <= _STOLEN_RATIO * ticks:
                break
            again += trial < _TRIES - 1
        bare.append(sum(found["bare"]))
        launched.append(sum(found["launched"]))
    ratio = find_paired_ratio(launched, bare)
    what = f"launcher / bare wrk, {name}, {_PAIRS} pairs" + (f", {again} measured again" if again else "")
    say(what, f"{ratio.value:.1%} [{ratio.lo:.1%}, {ratio.hi:.1%}]", "≥ 98 %", ratio.value >= 0.98)
    return beside


def _processor_ticks() -> tuple[int, int]:
    """Ticks of all processors that neighbours took while this machine had work, and ticks of all kinds (proc(5))."""
    ticks = [int(word) for word in Path("/proc/stat").read_text("ascii").split("\n")[0].split()[1:9]]
    return ticks[7], sum(ticks)


def _bare(folder: Path, response: dict) -> float:
    """Throughput of wrk by itself against the same nginx, requests per second."""
    from loadcurve import parse
    from loadcurve.lab.hosts import capabilities
    from loadcurve.lab.hosts.tools import SEARCH_PATH
    from loadcurve.lab.run.deployment import free_port
    from loadcurve.lab.tools.servers.nginx import Nginx, Process, nginx_service
    from loadcurve.lab.tools.servers.responses import Delay, Text
    from loadcurve.lab.tools.servers.settings import Endpoint

    here, listen, cpus = capabilities.here(), Endpoint("127.0.0.1", free_port()), sorted(os.sched_getaffinity(0))
    answer = Delay(**response["delay"]) if "delay" in response else Text()
    modules = (here.module(here.ECHO),) if "delay" in response else ()
    service = nginx_service(Nginx("bare", (listen,), answer, Process(modules=modules, connections=_CONNECTIONS)))
    for name in service.folders:
        (folder / name).mkdir(parents=True)
    for name, text in service.files.items():
        (folder / name).write_text(text)
    env = {**os.environ, "PATH": SEARCH_PATH}
    argv = ("taskset", "-c", str(cpus[0]), *service.argv)
    with subprocess.Popen(argv, cwd=folder, env=env, stderr=subprocess.DEVNULL) as server:
        time.sleep(0.3)
        try:
            load = ("taskset", "-c", str(cpus[-1]), "wrk", "-t1", f"-c{_CONNECTIONS}", f"-d{_SECONDS}s", "--latency")
            done = subprocess.run((*load, listen.url), env=env, capture_output=True, text=True, timeout=30, check=True)
        finally:
            server.terminate()
    return float(parse(done.stdout).tables["runs"]["throughput_rps"].iloc[0])


def hosts(folder: Path) -> None:
    """Five hosts in two networks, made and removed; the longest of some times, as somebody waits for each."""
    from loadcurve.lab.hosts.network import TOPOLOGIES, Ledger, LinkConditions, build, unused_block

    if os.geteuid() != 0:
        say("hosts: five up", "not measured: network namespaces need root", "≤ 1 s", False)
        return
    topology = TOPOLOGIES["client_l4_servers"](servers=3, block=unused_block())
    slow = {"C1": LinkConditions(delay_s=0.002)}
    for what, links in (("five", {}), ("five, one behind 2 ms", slow)):
        times = []
        for _ in range(_PAIRS):
            with Ledger(folder) as ledger:
                begun = time.monotonic()
                with build(topology, ledger, links):
                    times.append(time.monotonic() - begun)
        say(f"hosts: {what}, up", f"{min(times):.2f} to {max(times):.2f} s", "≤ 1 s", max(times) <= 1)


CASES = {"launcher": launcher, "hosts": hosts}
