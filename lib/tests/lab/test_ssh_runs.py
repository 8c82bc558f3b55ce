"""Whole studies with their server on a machine that only OpenSSH reaches: a real sshd in a namespace of its own.

The launcher works in the namespace of the client.  Its ssh reads the files of /etc/ssh, as that of any user does; in
this namespace's own mounts another folder lies there, with the test's key and known hosts.  So nothing of the user who
runs the test is read, and nothing is told to the laboratory that a study could not tell.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest
from events import HANG_S, wait_until
from faked_clock import LIBRARY, faked_programs, faking
from launched_runs import own_warnings, runnable, working
from ssh_hosts import SshHost, have_ssh, serving

from loadcurve.files.atomic import runtime_folder
from loadcurve.ingest.folder import read_runs
from loadcurve.lab.hosts.host import Host
from loadcurve.lab.hosts.network import TOPOLOGIES, build
from loadcurve.lab.hosts.ssh import connection
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.tools.generators.generator import start_delay_s
from loadcurve.study import Study
from loadcurve.study.records import read_run, run_folders, write_study

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools")]

# So long that sar, which starts a little later there, prints its first second.
LONGER = {"duration_s": 2, "connections": 4}
LAUNCH = """
import signal, sys
from pathlib import Path
from loadcurve.errors import LoadcurveError
from loadcurve.lab import launch
from loadcurve.study.records import read_study
# A test run in the background of a shell inherits an ignored SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[1])
try:
    launch(read_study(folder), folder)
except LoadcurveError as error:
    sys.exit(f"refused: {error}")
"""
IN_THE_CLIENT = 'mount --bind "$1" /etc/ssh && shift && exec "$@"'
CLIENT_CONFIGURATION = """
Host *
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile {folder}/known_hosts
"""


@dataclass
class Machines:
    """Two machines: the launcher's own, which is the client, and one behind an sshd."""

    client: Host  # Where the launcher works
    far: SshHost  # The server
    ssh: Path  # What the client's ssh is set to

    def study(self, **changes) -> Study:
        machines = {
            "C1": {"ssh": "", "address": self.client.address},
            "S1": {"ssh": self.far.url, "address": self.far.host.address},
        }
        settings = {
            "topology": {"machines": machines},
            "load": {"duration_s": 1, "connections": 4},
            "monitors": {"sar": 1, "ss_summary": 0.2, "ss_connections": 0.2},
            "repeats": 1,
            "allow_targets": (self.far.host.address,),
        }
        return Study("machines", "?", **{**settings, **changes})

    @contextlib.contextmanager
    def launching(self, folder: Path) -> Iterator[subprocess.Popen]:
        argv = ("sh", "-c", IN_THE_CLIENT, "sh", str(self.ssh), sys.executable, "-c", LAUNCH, str(folder))
        with subprocess.Popen(self.client.argv(argv), stderr=subprocess.PIPE, text=True) as launcher:
            try:
                yield launcher
            finally:
                launcher.kill()

    def launch(self, folder: Path) -> str:
        """Launch to the end; return the reason for a refusal or a failure, empty where there is none."""
        with self.launching(folder) as launcher:
            _, said = launcher.communicate(timeout=HANG_S)
        assert (launcher.returncode == 0) != ("refused: " in said), said
        return said.partition("refused: ")[2].strip()


def hiding(paths: Collection[str | Path]) -> tuple[str, ...]:
    """What stands before a command that shall not find some programs, or what is in some folders."""
    mounts = "".join(
        f"mount -t tmpfs none {path} && " if Path(path).is_dir() else f"mount --bind /dev/null {path} && "
        for path in paths
    )
    return ("sh", "-c", f'{mounts}exec "$@"', "sh") if paths else ()


@contextlib.contextmanager
def two_machines(ledger, folder: Path, lines: str = "", launcher_lacks=(), server_lacks=()) -> Iterator[Machines]:
    """Both machines; further lines for the sshd's configuration, and paths that are hidden from each of them."""
    have_ssh()
    with (
        build(TOPOLOGIES["client_server"](), ledger) as hosts,
        serving(hosts["S1"], folder / "S1", before=hiding(server_lacks), lines=lines) as far,
    ):
        (settings := folder / "client").mkdir()
        (settings / "ssh_config").write_text(CLIENT_CONFIGURATION.format(folder=far.folder))
        client = replace(hosts["C1"], prefix=(*hosts["C1"].prefix, *hiding(launcher_lacks)))
        both = Machines(client, far, settings)
        runnable(both.study())
        yield both
        assert far.comes_to_rest(), (far.processes, far.left)
    wait_until(lambda: not stale_sockets())


@pytest.fixture
def machines(ledger, tmp_path) -> Iterator[Machines]:
    with two_machines(ledger, tmp_path) as both:
        yield both


def stale_sockets() -> list[str]:
    """Control sockets of connections that are no more."""
    sockets = [path.name for path in runtime_folder().iterdir() if ".ssh" in path.name]
    lines = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    return [name for name in sockets if not any(name in line for line in lines)]


def logins(machines: Machines) -> int:
    return (machines.far.folder / "sshd.log").read_text().count("Accepted publickey")


def statuses(folder: Path) -> list[str]:
    return [read_run(path).status for path in run_folders(folder)]


def wait_for_load(launcher: subprocess.Popen, folder: Path) -> Path:
    """The folder of the run whose load is sent now."""
    found: list[Path] = []

    def sent() -> bool:
        assert launcher.poll() is None
        found[:] = [Path(one.info["cwd"]) for one in working(folder, "wrk")]
        return bool(found)

    wait_until(sent, 30)
    return found[0]


def test_a_study_with_its_server_by_ssh(machines, tmp_path):
    folder = tmp_path / "machines"
    write_study(machines.study(load=LONGER), folder)
    assert machines.launch(folder) == ""
    assert statuses(folder) == ["finished"]
    (path,) = run_folders(folder)
    run = read_run(path)
    ran = {(command.host, command.tool, command.role) for command in run.commands}
    assert ran == {
        ("S1", "nginx", "server"),
        ("C1", "wrk", "generator"),
        *((host, tool, "collector") for host in ("C1", "S1") for tool in ("sar", "ss")),
    }
    assert all(re.fullmatch(r"[0-9]+(\.[0-9]+)+", command.version) for command in run.commands), "asked on each host"
    there = run.machine["hosts"]["S1"]
    assert there["ssh"] == machines.far.url
    assert abs(there["clock_offset_s"]) <= there["clock_offset_bound_s"] < 1, "it is the clock of this machine"
    assert set(run.files) == {file.name for file in path.iterdir()} - {"run.json"}
    assert {"S1.conf", "S1.sar.txt", "S1.ss.summary.txt"} <= set(run.files), "what was made there is here"
    assert str(tmp_path) not in (path / "run.json").read_text(), "no path of either machine"
    tables = read_runs(folder).tables
    assert tables["runs"]["connections"].tolist() == [4]
    assert (tables["runs"]["requests"] > 0).all()
    for name in ("cpu", "sockets", "connections"):
        assert {"C1", "S1"} == set(tables[name]["host"]), name


def believing(variables: dict[str, str], programs: Path) -> str:
    """The line of sshd's configuration for a machine whose agent and programs believe a faked clock."""
    words = " ".join(f"'{name}={value}'" for name, value in variables.items())
    return f'ForceCommand env PATH={faked_programs(programs, variables)} {words} sh -c "$SSH_ORIGINAL_COMMAND"\n'


def test_a_machine_with_clocks_of_its_own(ledger, tmp_path):
    """They are faked, see `test_clock_step`: what sshd starts there believes to be a thousand seconds ahead."""
    faked, folder = {"LD_PRELOAD": LIBRARY, "FAKETIME": "+1000"}, tmp_path / "machines"
    with faking(), two_machines(ledger, tmp_path, believing(faked, tmp_path / "bin")) as machines:
        write_study(machines.study(load=LONGER), folder)
        assert machines.launch(folder) == ""
    (path,) = run_folders(folder)
    run = read_run(path)
    assert run.status == "finished"
    assert own_warnings(run) == []
    # One machine sends the load, the other one serves it.
    assert all(set(used) == {"cpus", "seconds", "other_cpu_s", "steal_s"} for used in run.background.values())
    assert len(run.background) == 2
    assert run.machine["hosts"]["S1"]["clock_offset_s"] == pytest.approx(1000, abs=1)
    tables = read_runs(folder).tables
    for name in ("sockets", "connections", "cpu"):
        printed = tables[name].groupby("host")["time"].min()
        assert (printed["S1"] - printed["C1"]).total_seconds() > 900, name
        assert tables[name]["elapsed_s"].between(-30, 30).all(), name


@pytest.mark.parametrize("sends", ["C1", "S1"])
def test_a_clock_that_is_set_on_a_machine(ledger, tmp_path, sends):
    """Of the server's machine it is told; of the generator's it is taken for time of the load, so the run failed."""
    clock, folder = tmp_path / "clock", tmp_path / "machines"
    clock.write_text("+0\n")
    faked = {"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": str(clock)}
    faked |= {"FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    with faking(), two_machines(ledger, tmp_path, believing(faked, tmp_path / "bin")) as machines:
        here, there = machines.client.address, machines.far.host.address
        hosts = {"C1": {"ssh": "", "address": here}, "S1": {"ssh": machines.far.url, "address": there}}
        if sends == "S1":  # the other way round: the server is here
            hosts = {"C1": hosts["S1"], "S1": hosts["C1"]}
        study = machines.study(
            topology={"machines": hosts}, load=LONGER, monitors={"ss_summary": 0.2}, allow_targets=(here, there)
        )
        write_study(study, folder)
        with machines.launching(folder) as launcher:
            wait_until(lambda: working(tmp_path, "wrk"))
            clock.write_text("+7\n")
            _, said = launcher.communicate(timeout=HANG_S)
    (path,) = run_folders(folder)
    run = read_run(path)
    step = re.compile(r"the clock of (C1|S1) was set by \+(6|7)\.[0-9]{3} s (during the run|while the load ran): .+")
    (warning,) = own_warnings(run)
    assert step.fullmatch(warning)
    if sends == "C1":
        assert (run.status, launcher.returncode) == ("finished", 0), said
        assert "clock of S1" in warning
    else:
        assert (run.status, launcher.returncode) == ("failed", 1), said
        assert step.fullmatch(run.reason)[3] == "while the load ran"


def test_several_generators_on_a_machine_have_an_instant_ahead_of_them(ledger, tmp_path):
    """Also in its first run, where their version is asked first: here that takes 6 s."""
    (programs := tmp_path / "bin").mkdir()
    (programs / "wrk").write_text(f'#!/bin/sh\ntest "$1" = -v && sleep 6\nexec {which("wrk")} "$@"\n')
    (programs / "wrk").chmod(0o755)
    folder, path = tmp_path / "machines", f"PATH={programs}:/usr/bin:/bin"
    with two_machines(ledger, tmp_path, f'ForceCommand env {path} sh -c "$SSH_ORIGINAL_COMMAND"\n') as machines:
        here, there = machines.client.address, machines.far.host.address
        hosts = {"C1": {"ssh": machines.far.url, "address": there}, "S1": {"ssh": "", "address": here}}
        load = {"duration_s": 1, "connections": 4, "processes": 2}
        write_study(
            machines.study(topology={"machines": hosts}, load=load, monitors={}, allow_targets=(here, there)), folder
        )
        assert machines.launch(folder) == ""
    (run,) = run_folders(folder)
    late = [start_delay_s(file.read_text()) for file in run.glob("*.at.json")]
    assert len(late) == 2


def test_a_target_that_is_not_allowed_is_refused_before_any_login(machines, tmp_path):
    folder = tmp_path / "machines"
    write_study(machines.study(allow_targets=()), folder)
    address = machines.far.host.address
    said = machines.launch(folder)
    assert said.startswith(f"target must be loopback, got {address}: ")
    assert f"name '{address}' under allow_targets" in said
    assert "Connection" not in (machines.far.folder / "sshd.log").read_text()
    assert run_folders(folder) == []


@pytest.mark.parametrize("pause_s", [0.0, 0.2, 0.5, 0.8, 1.1, 1.4])
def test_a_killed_launcher_leaves_nothing_on_the_machine(machines, tmp_path, pause_s):
    folder = tmp_path / "machines"
    write_study(machines.study(), folder)
    with machines.launching(folder) as launcher:
        wait_until(lambda: machines.far.processes)
        time.sleep(pause_s)
        launcher.kill()
    assert machines.far.comes_to_rest(), (machines.far.processes, machines.far.left)
    # An ssh that ends after it makes its socket and before it handles signals leaves it; the next login removes it.
    wait_until(lambda: not stale_sockets() or connection._sweep(runtime_folder()))


def test_a_launch_goes_on_where_a_killed_one_stopped(machines, tmp_path):
    folder = tmp_path / "machines"
    write_study(machines.study(factors={"connections": (2, 4)}), folder)
    with machines.launching(folder) as launcher:
        first = wait_for_load(launcher, folder)
        while (second := wait_for_load(launcher, folder)) == first:
            pass
        launcher.kill()
    assert logins(machines) == 1, "once for a whole launch"
    assert machines.far.comes_to_rest(), (machines.far.processes, machines.far.left)
    assert read_run(first).status == "finished"
    assert read_run(second).status == "running"
    kept = (first / "run.json").read_bytes()
    assert machines.launch(folder) == ""
    assert (first / "run.json").read_bytes() == kept
    assert statuses(folder) == ["finished"] * 2


def test_a_lost_connection_is_a_failed_run(machines, tmp_path):
    folder = tmp_path / "machines"
    write_study(machines.study(), folder)
    with machines.launching(folder) as launcher:
        run = wait_for_load(launcher, folder)
        for pid in machines.far.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _, said = launcher.communicate(timeout=HANG_S)
    assert "1 of 1 runs failed" in said
    broken = read_run(run)
    assert broken.status == "failed"
    assert "connection lost" in broken.reason
    assert machines.far.comes_to_rest(), (machines.far.processes, machines.far.left)
    assert read_runs(folder).tables["runs"]["throughput_rps"].isna().all()
    assert machines.launch(folder) == ""
    assert statuses(folder) == ["finished"]


def test_interrupted_where_the_connection_is_lost_too(machines, tmp_path):
    """Cleaning up fails for that: the interruption stays one, and no other run is begun."""
    folder = tmp_path / "machines"
    write_study(machines.study(repeats=3), folder)
    with machines.launching(folder) as launcher:
        run, sessions = wait_for_load(launcher, folder), machines.far.sessions()
        launcher.send_signal(signal.SIGINT)
        for pid in sessions:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _, said = launcher.communicate(timeout=HANG_S)
    assert said.splitlines()[-1].startswith("KeyboardInterrupt")
    assert [path.name for path in run_folders(folder)] == [run.name]
    broken = read_run(run)
    assert (broken.status, broken.reason) == ("interrupted", "the launcher was interrupted by SIGINT")
    assert any("connection lost" in warning for warning in broken.warnings)


def test_what_dies_on_the_machine_is_a_failed_run(machines, tmp_path):
    folder = tmp_path / "machines"
    write_study(machines.study(), folder)
    with machines.launching(folder) as launcher:
        run = wait_for_load(launcher, folder)
        for pid, words in machines.far.processes.items():
            if words.startswith("nginx: master"):
                os.kill(pid, signal.SIGKILL)
        launcher.communicate(timeout=HANG_S)
    broken = read_run(run)
    assert broken.status == "failed"
    assert broken.reason.startswith("nginx on S1 ended during the run")
