"""`loadcurve launch` ended by a signal in the middle of a run: what it leaves, and what it says."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from events import HANG_S, wait_until
from launched_runs import left_behind, runnable, short_study

from loadcurve.lab.hosts.network.ledger import NAMESPACES
from loadcurve.study.records import read_run, run_folders, write_study

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("default_signals")]

ARGV = (sys.executable, "-m", "loadcurve", "launch", "--busy")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A study in network namespaces whose one run would take half a minute."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    study = runnable(short_study("two_hosts", load={"duration_s": 30.0}, topology={"recipe": "client_server"}))
    write_study(study, tmp_path / study.study)
    return tmp_path / study.study


def namespaces_of(folder: Path) -> list[str]:
    """Those that the run's record names and that are there now."""
    hosts = [json.loads(path.read_text("utf-8")) for path in folder.glob("*/hosts.json")]
    return [path.name for path in NAMESPACES.glob("lc*") if any(path.name in json.dumps(made) for made in hosts)]


def wait_for_load(folder: Path) -> list[str]:
    """Wait until wrk sends load; return the namespaces of the launch."""
    wait_until(lambda: "wrk" in left_behind(folder), lambda: "the load never began")
    made = namespaces_of(folder)
    assert made
    return made


def check_nothing_left(folder: Path, made: list[str], name: str) -> None:
    (run,) = map(read_run, run_folders(folder))
    assert (run.status, run.reason) == ("interrupted", f"the launcher was interrupted by {name}")
    assert left_behind(folder) == []
    assert not [space for space in made if (NAMESPACES / space).exists()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_launch_in_order(folder, number):
    with subprocess.Popen((*ARGV, folder), stderr=subprocess.PIPE, text=True) as launcher:
        made = wait_for_load(folder)
        launcher.send_signal(number)
        _, printed = launcher.communicate(timeout=HANG_S)
    check_nothing_left(folder, made, number.name)
    assert launcher.returncode == 128 + number
    assert "Traceback" not in printed
    assert printed.splitlines()[-1].startswith(
        f"interrupted by {number.name}: 0 of 1 runs finished, kept in {folder}; all processes and networks"
    )


def test_a_closed_terminal_ends_the_launch_in_order(folder):
    """The launcher's own output fails then too, as nobody reads it any more."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(ARGV[0], (*ARGV, str(folder)))
    made = wait_for_load(folder)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 128 + signal.SIGHUP
    check_nothing_left(folder, made, "SIGHUP")


@pytest.mark.alone  # a launch of another test would remove it too
def test_the_next_launch_removes_what_a_killed_one_left(folder):
    with subprocess.Popen((*ARGV, folder), stderr=subprocess.DEVNULL) as killed:
        made = wait_for_load(folder)
        killed.kill()
    assert [space for space in made if (NAMESPACES / space).exists()] == made
    another = short_study("another", load={"duration_s": 1.0})
    write_study(another, folder.parent / another.study)
    launched = subprocess.run((*ARGV, folder.parent / another.study), capture_output=True, text=True, check=True)
    assert not [space for space in made if (NAMESPACES / space).exists()]
    assert all(f"removed namespace {space}" in launched.stdout for space in made)
