"""A launcher killed while it builds, uses or takes down a topology: `clean` removes all that it left."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from events import wait_until

from loadcurve.lab.hosts import tools
from loadcurve.lab.hosts.network import Ledger, LinkConditions, build, clean, namespaces
from loadcurve.lab.hosts.network.ledger import NAMESPACES
from loadcurve.lab.hosts.network.topology import client_l4_servers
from loadcurve.lab.hosts.tools import SEARCH_PATH, which

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools")]

LINKS = {"S1": LinkConditions(delay_s=0.001, rate_bps=1e8, loss_ratio=0.01)}


def launcher(folder: Path, rounds: int = 1) -> int:
    """Process number of one that builds a topology and takes it down, as often as told."""
    child = os.fork()
    if child == 0:
        try:
            for _ in range(rounds):
                with Ledger(folder) as ledger, build(client_l4_servers(), ledger, LINKS):
                    pass
        finally:
            os._exit(0)
    return child


def tags_in(folder: Path) -> set[str]:
    return {path.name.partition(".")[0] for path in folder.glob("*.ledger")}


def namespaces_of(tags: set[str]) -> list[str]:
    return [p.name for p in NAMESPACES.iterdir() if p.name.partition("-")[0] in tags]


def processes_of(tags: set[str]) -> list[str]:
    lines = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
    return [line for line in lines if any(tag in line for tag in tags)]


@pytest.fixture
def delay_line(monkeypatch):
    """Every launcher has a delay line, also where the kernel could do without."""
    monkeypatch.setattr(namespaces, "has_netem", lambda: False)
    monkeypatch.setenv("PATH", SEARCH_PATH)


@pytest.fixture(scope="module")
def whole_s(tmp_path_factory) -> float:
    """How long it takes to build a topology and to take it down."""
    begun = time.monotonic()
    os.waitpid(launcher(tmp_path_factory.mktemp("whole")), 0)
    return time.monotonic() - begun


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_left_of_a_killed_launcher(tmp_path, delay_line, whole_s, seed):
    child = launcher(tmp_path, rounds=50)  # so that it is at work however fast it is this time
    time.sleep(random.Random(seed).uniform(0, 2 * whole_s))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    tags = tags_in(tmp_path)
    said = clean(tmp_path)
    assert namespaces_of(tags) == []
    assert processes_of(tags) == []
    assert [sentence for sentence in said if "removed namespace" not in sentence] == []
    time.sleep(0.05)  # a tool that outlived its launcher would make its namespace now
    assert namespaces_of(tags) == []
    assert list(tmp_path.iterdir()) == []
    assert clean(tmp_path) == ()


def test_a_tool_that_removes_for_a_killed_launcher_is_waited_for(tmp_path, monkeypatch):
    """Otherwise two would remove the same namespace, and one of them would fail."""
    begun, slow_ip = tmp_path / "begun", tmp_path / "bin" / "ip"
    slow_ip.parent.mkdir()
    slow_ip.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *-force*) ;; *) exec {which("ip")} "$@" ;; esac\n'
        f'trap \'\' TERM; batch=$(cat); : > {begun}; sleep 0.3; echo "$batch" | {which("ip")} "$@"\n'
    )
    slow_ip.chmod(0o755)
    monkeypatch.setattr(tools, "SEARCH_PATH", f"{slow_ip.parent}:{SEARCH_PATH}")
    child = launcher(tmp_path / "ledgers")
    wait_until(begun.exists)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    tags = tags_in(tmp_path / "ledgers")
    assert len(tags) == 1
    said = clean(tmp_path / "ledgers")
    assert [sentence for sentence in said if "removed namespace" not in sentence] == []
    assert namespaces_of(tags) == []
    assert list((tmp_path / "ledgers").iterdir()) == []


def test_what_a_killed_launcher_left_goes_and_what_a_living_one_has_stays(tmp_path, delay_line):
    code = (
        "import sys, time; from pathlib import Path; from loadcurve.lab.hosts.network import *\n"
        "with Ledger(Path(sys.argv[1])) as ledger, build(TOPOLOGIES['client_server'](), ledger):\n"
        "    print(ledger.tag, flush=True); time.sleep(60)"
    )
    argv = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        dead = process.stdout.readline().strip()
        process.kill()
    assert len(namespaces_of({dead})) == 3, "two hosts and the switch"
    with Ledger(tmp_path) as ledger, build(client_l4_servers(), ledger, LINKS) as hosts:
        assert sorted(clean(tmp_path)) == [f"{dead}: removed namespace {dead}-{name}" for name in ("C1", "S1", "net")]
        assert namespaces_of({dead}) == []
        assert len(namespaces_of({ledger.tag})) == len(hosts) + 1
        ping = ("ping", "-c1", "-W1", hosts["S2"].address)
        assert subprocess.run(hosts["C1"].argv(ping), capture_output=True, check=False).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_during_a_topology_leaves_nothing(tmp_path, delay_line):
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with Ledger(tmp_path) as ledger, build(client_l4_servers(), ledger, LINKS):
                os.write(into, ledger.tag.encode())
                time.sleep(30)
        except KeyboardInterrupt:
            os._exit(7)
        finally:
            os._exit(1)
    tag = os.read(out, 20).decode()
    os.kill(child, signal.SIGINT)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert namespaces_of({tag}) == []
    assert processes_of({tag}) == []
    assert list(tmp_path.iterdir()) == []
