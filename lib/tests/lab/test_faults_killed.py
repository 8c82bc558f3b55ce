"""A launcher killed in the middle of a fault: what it had stopped, set and loaded goes with its namespace."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from events import wait_until

from loadcurve.lab.hosts.network import clean
from loadcurve.lab.hosts.network.ledger import NAMESPACES

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools")]

LAUNCHER = """
import subprocess, sys, time
from pathlib import Path
import psutil
from loadcurve.lab.tools.faults import kinds
from loadcurve.lab.tools.faults.fault import FaultTarget
from loadcurve.lab.tools.faults.inject import injected
from loadcurve.lab.hosts.network import Ledger, build
from loadcurve.lab.hosts.network.topology import client_server
from loadcurve.lab.hosts.process import guarded

with Ledger(Path(sys.argv[1])) as ledger, build(client_server(), ledger) as hosts:
    server = hosts["S1"]
    started = subprocess.Popen(guarded(server.argv(("sleep", "60")), 50), start_new_session=True)
    while not (children := psutil.Process(started.pid).children()) or children[0].name() != "sleep":
        time.sleep(0.01)
    dropped, ports, stopped = (
        kind.make(value, FaultTarget())
        for kind, value in ((kinds.DROP_SYN, True), (kinds.NARROW_PORTS, 9), (kinds.STOP_SERVER, True))
    )
    with injected(dropped, server), injected(ports, hosts["C1"]), \\
            injected(stopped, server, {"S1": started.pid}) as events:
        print(ledger.tag, events[0].what.rpartition(" ")[2], flush=True)
        time.sleep(60)
"""


def test_nothing_is_left_of_it(tmp_path):
    ports = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    argv = [sys.executable, "-c", LAUNCHER, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as launcher:
        tag, pid = launcher.stdout.readline().split()
        stopped = psutil.Process(int(pid))
        # A signal takes effect when the process is looked at next.
        wait_until(lambda: stopped.status() == psutil.STATUS_STOPPED, stopped.status)
        launcher.kill()
    said = clean(tmp_path)
    assert len(said) == 3 and all(f"removed namespace {tag}-" in sentence for sentence in said)
    wait_until(
        lambda: not stopped.is_running() or stopped.status() == psutil.STATUS_ZOMBIE,
        lambda: "a stopped process outlived its launcher",
    )
    assert not [path for path in NAMESPACES.iterdir() if path.name.startswith(tag)]
    assert Path("/proc/sys/net/ipv4/ip_local_port_range").read_text() == ports, "this machine's own are as before"
