"""Monitors for real: every text is read, with its instants between the start and the end of the watching."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest
from events import HANG_S, wait_until
from private_services import ask, free_endpoint, need, running
from watched import start, watching

import loadcurve
from loadcurve.lab.hosts.network import build, unused_block
from loadcurve.lab.hosts.network.topology import client_server
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.tools.balancers.kernel import IpvsSection, NftSection, ipvs_rules, nft_rules
from loadcurve.lab.tools.monitors.kinds import (
    conntrack,
    counters,
    mpstat,
    nstat,
    pidstat,
    proc,
    sar,
    ss_connections,
    ss_details,
    ss_summary,
    stub_status,
)
from loadcurve.lab.tools.monitors.monitor import Monitor, watchers
from loadcurve.lab.tools.servers.nginx import Nginx, Serving, nginx_service
from loadcurve.lab.tools.servers.responses import Status
from loadcurve.lab.tools.servers.settings import Endpoint

pytestmark = pytest.mark.real

# Which table each monitor fills.
TABLES = {
    "sar": {"cpu", "network", "tcp", "sockets"},
    "mpstat": {"cpu"},
    "pidstat": {"processes"},
    "ss-summary": {"sockets"},
    "ss-connections": {"connections"},
    "ss-details": {"connections"},
    "nstat": {"counters"},
    "proc": {"counters", "sockets", "interrupts"},
    "conntrack": {"settings"},
    "stub-status": {"server"},
}


def snapshots(file: Path) -> int:
    """How many instants stand in what the sampler writes, each above its snapshot."""
    return file.read_bytes().count(b"## ") if file.exists() else 0


def plan_files(folder: Path, plan) -> list[Path]:
    return [folder / file for watcher in plan for file in watcher.outputs.values()]


def has_sampled(file: Path) -> bool:
    """Whether two samples are in a file, of the sampler or of sysstat."""
    if any(f".{tool}." in file.name for tool in ("sar", "mpstat", "pidstat")):
        row = rb"^[0-9:]+ +(?:all|UID) "
        return len(re.findall(row, file.read_bytes(), re.MULTILINE)) >= 2 if file.exists() else False
    return snapshots(file) >= 2


def monitors_of(endpoint: Endpoint) -> list[Monitor]:
    ports = (endpoint.port,)
    snapshots = [ss_summary(0.5), ss_connections(ports, 0.5), ss_details(ports, 0.5), nstat(0.5), proc(0.5)]
    if Path("/proc/sys/net/netfilter/nf_conntrack_count").exists():
        snapshots.append(conntrack(0.5))
    return [sar(), mpstat(), pidstat(), *snapshots, stub_status(endpoint, interval_s=0.5)]


def test_every_monitor_at_once_on_one_clock(tmp_path):
    need("nginx", "curl", "sar", "mpstat", "pidstat", "ss", "nstat", "setpriv", "timeout")
    endpoint = free_endpoint()
    served = nginx_service(Nginx("S1", (endpoint,), Status(), serving=Serving(access_log="on")))
    plan = watchers(monitors_of(endpoint))
    with running(tmp_path / "run", served):
        begun = pd.Timestamp.now(tz="UTC")
        with watching(tmp_path / "run", plan) as processes:
            wait_until(lambda: ask(endpoint.url).status and all(map(has_sampled, plan_files(tmp_path / "run", plan))))
            assert [process.poll() for process in processes] == [None] * len(plan)
        ended = pd.Timestamp.now(tz="UTC")
    files = {name: tmp_path / "run" / file for watcher in plan for name, file in watcher.outputs.items()}
    assert set(TABLES) - {"conntrack"} <= set(files) <= set(TABLES)
    for name, file in files.items():
        parsed = loadcurve.read(file)
        assert TABLES[name] <= set(parsed.tables), name
        for table in TABLES[name]:
            times = parsed.tables[table]["time"].dropna()
            assert len(times.unique()) >= 2 or name in ("sar", "mpstat", "pidstat", "ss-details"), (name, table)
            # sysstat tells whole seconds.
            assert times.between(begun.floor("s"), ended).all(), (name, table)
    log = loadcurve.read(tmp_path / "run/S1.access.log").tables["requests"]
    assert log["time"].between(begun.floor("s"), ended).all()
    # The page counts every request, those that fetched it among them.
    page = loadcurve.read(files["stub-status"]).tables["server"]["requests"]
    assert page.is_monotonic_increasing and page.iloc[-1] - page.iloc[0] >= len(page) - 1
    assert len(log) >= page.iloc[-1]
    complaints = {watcher.stderr: (tmp_path / "run" / watcher.stderr).read_text() for watcher in plan}
    assert not any(complaints.values()), complaints


def test_forms_told_by_name_read_the_same(tmp_path):
    need("ss", "nstat", "setpriv", "timeout")
    chosen = [ss_summary(0.2), nstat(0.2), proc(0.2)]
    plan = watchers(chosen)
    with watching(tmp_path, plan):
        wait_until(lambda: all(map(has_sampled, plan_files(tmp_path, plan))))
    for monitor in chosen:
        tool, variant = monitor.form
        told = loadcurve.read(tmp_path / monitor.file("local"), tool=f"{tool}:{variant}" if variant else tool)
        assert set(told.tables) == set(loadcurve.read(tmp_path / monitor.file("local")).tables)


def test_instants_are_never_a_burst(tmp_path):
    text = tmp_path / "local.proc.txt"
    with watching(tmp_path, watchers([proc(0.1, ["net/sockstat"])])) as (process,):
        wait_until(lambda: snapshots(text) >= 2)
        os.killpg(process.pid, signal.SIGSTOP)  # as if the machine had no time for it
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGCONT)
        before = snapshots(text)
        wait_until(lambda: snapshots(text) >= before + 3)
    times = loadcurve.read(text).tables["sockets"]["time"]
    assert times.is_monotonic_increasing and times.is_unique
    # Of the five deadlines in the pause the last one is made up for, no other.
    assert len(times) <= (times.iloc[-1] - times.iloc[0]).total_seconds() / 0.1 + 2 - 3


@pytest.mark.lab
def test_in_a_namespace_with_the_balancer_counted(tmp_path, ledger):
    need("nginx", "curl", "nft", "ss")
    topology = client_server(block=unused_block())
    address = topology.node("S1").addresses[0]
    server = Endpoint(address, 8080)
    rules = nft_rules(NftSection(), (Endpoint(address, 80),), (server,), name="LB-1")
    plan = watchers(
        [ss_connections((8080,), 0.3), counters("nft", rules.counters, 0.3), proc(0.3, ["net/dev", "net/snmp"])], "S1"
    )
    with build(topology, ledger) as hosts, running(tmp_path, nginx_service(Nginx("S1", (server,))), host=hosts["S1"]):
        for name, text in rules.files.items():
            (tmp_path / name).write_text(text)
        subprocess.run(hosts["S1"].argv(rules.load), cwd=tmp_path, check=True, timeout=HANG_S)
        with watching(tmp_path, plan, hosts["S1"]):
            for _ in range(5):
                assert ask(f"http://{address}/", host=hosts["C1"]).status == 200
            before = snapshots(tmp_path / "S1.nft.txt")
            # The last one began after the requests.
            wait_until(lambda: snapshots(tmp_path / "S1.nft.txt") >= before + 2)
            wait_until(lambda: all(map(has_sampled, plan_files(tmp_path, plan))))
    balancer = loadcurve.read(tmp_path / "S1.nft.txt").tables["balancer"]
    assert balancer["connections"].iloc[-1] == 5 and balancer["time"].notna().all()
    found = loadcurve.read(tmp_path / "S1.proc.txt").tables["counters"]
    assert set(found.loc[found["group"] == "net/dev", "item"]) == {"lo", "eth0"}
    listening = loadcurve.read(tmp_path / "S1.ss.connections.txt").tables["connections"]
    assert (listening["state"] == "LISTEN").any()


def test_a_tool_that_fails_or_hangs_stops_no_other(tmp_path):
    need("ss", "setpriv", "timeout")
    odd = [
        Monitor("fails", "ss", "summary", 0.2, ("sh", "-c", "echo half of it; exit 3")),
        Monitor("absent", "ss", "summary", 0.2, ("no-such-tool-here",)),
        Monitor("gone", "proc", "", 0.2, paths=("/proc/no-such-file",)),
        Monitor("nobody", "nginx", "stub_status", 0.2, page=(free_endpoint(), "/")),
        ss_summary(0.2),
    ]
    complaints = ("fails.txt: ", "exit code 3", "absent.txt: ", "gone.txt: ", "nobody.txt: ", "No such file")
    errors = tmp_path / "local.sampler.err"
    with watching(tmp_path, watchers(odd)) as (process,):
        wait_until(lambda: all(words in errors.read_text() for words in complaints), errors.read_text)
        # Snapshots of the tool that works go on after every complaint.
        before = snapshots(tmp_path / "local.ss.summary.txt")
        wait_until(lambda: snapshots(tmp_path / "local.ss.summary.txt") >= before + 3)
        assert process.poll() is None
    assert len(loadcurve.read(tmp_path / "local.ss.summary.txt").tables["sockets"]) >= 3
    for file in ("ss.fails", "ss.absent", "proc.gone", "nginx.nobody"):
        assert (tmp_path / f"local.{file}.txt").read_text() == "", "no instant without its snapshot"


def test_a_hanging_tool_is_ended(tmp_path):
    hangs = Monitor("hangs", "ss", "summary", 60, ("sleep", "77"))  # once: a stop does not wait for the next
    errors = tmp_path / "local.sampler.err"
    with watching(tmp_path, watchers([hangs])) as (process,):
        wait_until(lambda: errors.exists() and "no end after 2 s" in errors.read_text())
    assert process.returncode == 0


def test_ipvs_where_the_kernel_has_it(tmp_path):
    need("ipvsadm")
    if not Path("/proc/net/ip_vs").exists():
        pytest.skip("no IPVS in this kernel")
    here = (Endpoint("127.0.0.1", 80),)
    plan = watchers([counters("ipvsadm", ipvs_rules(IpvsSection(), here, here).counters, 0.3)])
    with watching(tmp_path, plan):
        wait_until(lambda: all(map(has_sampled, plan_files(tmp_path, plan))))
    assert loadcurve.read(tmp_path / "local.ipvsadm.txt").tool == "ipvsadm"


def test_it_ends_with_its_launcher_however_that_dies(tmp_path):
    need("ss", "setpriv", "timeout")
    (watcher,) = watchers([ss_summary(0.1)])
    for name, text in watcher.files.items():
        (tmp_path / name).write_text(text)
    code = (
        "import subprocess, sys, json, time; "
        "p = subprocess.Popen(json.loads(sys.argv[1]), start_new_session=True); print(p.pid, flush=True); "
        "time.sleep(300)"
    )
    argv = json.dumps(guarded(watcher.argv, 20))
    launcher = subprocess.Popen(
        [sys.executable, "-c", code, argv], cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    guard = int(launcher.stdout.readline())
    wait_until(lambda: snapshots(tmp_path / "local.ss.summary.txt"))
    family = [guard, *(child.pid for child in psutil.Process(guard).children(recursive=True))]
    launcher.kill()
    launcher.communicate()
    _assert_gone(family, tmp_path)


def test_it_ends_when_its_guard_is_killed(tmp_path):
    need("ss", "setpriv", "timeout")
    (watcher,) = watchers([ss_summary(0.1)])
    guard = start(watcher, tmp_path)
    wait_until(lambda: snapshots(tmp_path / "local.ss.summary.txt"))
    family = [child.pid for child in psutil.Process(guard.pid).children(recursive=True)]
    os.kill(guard.pid, signal.SIGKILL)
    guard.wait()
    _assert_gone(family, tmp_path)


def _assert_gone(family: list[int], folder: Path) -> None:
    wait_until(lambda: not any(map(_runs, family)), lambda: [pid for pid in family if _runs(pid)])
    loadcurve.read(folder / "local.ss.summary.txt")  # whole snapshots only


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_cost_at_one_second_is_recorded(tmp_path, record_property):
    need("ss", "nstat", "sar", "mpstat", "setpriv", "timeout")
    endpoint = free_endpoint()
    chosen = [sar(), mpstat(), ss_summary(), ss_connections((endpoint.port,), 1), nstat(), proc()]
    with watching(tmp_path, watchers(chosen)) as processes:
        time.sleep(2.2)
        family = [p for process in processes for p in psutil.Process(process.pid).children(recursive=True)]
        times = [process.cpu_times() for process in family]
    cost = sum(t.user + t.system + t.children_user + t.children_system for t in times) / 2.2
    record_property("monitors_cpu_s_per_s", round(cost, 4))
    assert cost >= 0
