"""Clocks of hosts by OpenSSH: one that this machine shares, and one that is really another."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from ssh_hosts import serving

from loadcurve.lab.hosts import ssh
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.network import TOPOLOGIES, LinkConditions, build
from loadcurve.lab.tools.generators.at import __file__ as at
from loadcurve.study import Command

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools", "ssh_tools")]

SHIFT_S = 1000
CLOCKS = "import time; print(time.monotonic_ns(), time.time_ns())"


@pytest.fixture
def time_namespace():
    """Before a command that shall have another monotonic clock."""
    argv = ("unshare", "--time", "--monotonic", str(SHIFT_S), "--boottime", str(SHIFT_S), "--fork", "--kill-child")
    asked = subprocess.run([*argv, "true"], capture_output=True, text=True, check=False)
    if asked.returncode:
        pytest.skip(f"no time namespaces here: {asked.stderr.strip()}")
    return argv


def read_there(place) -> tuple[list[int], list[int], list[int]]:
    """Both clocks: here before, there, here after."""
    before = [time.monotonic_ns(), time.time_ns()]
    there = [int(word) for word in place.check_output(("python3", "-I", "-S", "-c", CLOCKS), 5).split()]
    return before, there, [time.monotonic_ns(), time.time_ns()]


@pytest.mark.parametrize("delay_s", [0.0, 0.02])
def test_a_clock_that_both_share_has_no_offset(ledger, tmp_path, delay_s):
    links = {"S1": LinkConditions(delay_s=delay_s)} if delay_s else {}
    with build(TOPOLOGIES["client_server"](), ledger, links) as hosts, serving(hosts["S1"], tmp_path / "S1") as far:
        with ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connection:
            place = ssh.open_executor(connection, Host("S1", "10.0.0.1"), tmp_path)
            offset = place.offset
            assert abs(offset.monotonic_ns) <= offset.bound_ns
            assert abs(offset.wall_ns) <= offset.bound_ns
            assert offset.bound_ns >= delay_s * 1e9, "a round trip is two ways"
            assert abs(place.instant_ns(10**15) - 10**15) <= offset.bound_ns
        assert far.comes_to_rest()


def test_a_clock_that_is_another(ledger, tmp_path, time_namespace):
    with (
        build(TOPOLOGIES["client_server"](), ledger) as hosts,
        serving(hosts["S1"], tmp_path / "S1", before=time_namespace) as far,
        ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as connection,
    ):
        place = ssh.open_executor(connection, Host("S1", "10.0.0.1"), tmp_path)
        offset = place.offset
        assert abs(offset.monotonic_ns - SHIFT_S * 10**9) <= offset.bound_ns
        assert abs(offset.wall_ns) <= offset.bound_ns, "a time namespace has no wall clock of its own"
        before, there, after = read_there(place)
        assert place.instant_ns(before[0]) - offset.bound_ns <= there[0] <= place.instant_ns(after[0]) + offset.bound_ns
        assert there[0] > after[0] + 900 * 10**9, "without the offset it would be wrong"


def test_a_common_instant_on_both_clocks(ledger, tmp_path, time_namespace):
    """A generator on each of two hosts waits for one instant, each by its own clock."""
    (run := tmp_path / "run").mkdir()
    with (
        build(TOPOLOGIES["client_server"](), ledger) as hosts,
        serving(hosts["S1"], tmp_path / "S1", before=time_namespace) as far,
        serving(hosts["C1"], tmp_path / "C1") as near,
        ssh.connected(far.url, options=far.options, prefix=hosts["C1"].prefix) as to_far,
        ssh.connected(near.url, options=near.options, prefix=hosts["C1"].prefix) as to_near,
    ):
        places = [
            ssh.open_executor(to_near, Host("C1", "10.0.0.1"), run),
            ssh.open_executor(to_far, Host("S1", "10.0.0.2"), run),
        ]
        for place in places:
            place.put({f"{place.host.name}.at.py": Path(at).read_text("utf-8")})
        instant_ns, running = time.monotonic_ns() + 2 * 10**9, []
        for place in places:
            name = place.host.name
            command = ("python3", "-I", "-S", f"{name}.at.py", str(place.instant_ns(instant_ns)), f"{name}.at.json")
            argv = place.argv((*command, "date", "+%s.%N"), 8)
            running.append(place.start(Command("generator", "date", argv, f"{name}.out", f"{name}.err", 8)))
        for place, one in zip(places, running, strict=True):
            assert place.wait(one).exit_code == 0, (run / one.command.stderr).read_text()
            place.fetch([])
        begun = [
            json.loads((run / f"{place.host.name}.at.json").read_text())["begun_ns"] - place.offset.monotonic_ns
            for place in places
        ]
        bound_ns = sum(place.offset.bound_ns for place in places)
        assert all(each >= instant_ns - bound_ns for each in begun), (
            "not before the instant, by the clock of this machine"
        )
        wall = [float((run / f"{place.host.name}.out").read_text()) for place in places]
        assert abs(wall[0] - wall[1]) < SHIFT_S / 2, "a busy machine may be late, but not so"
