"""A launch in a process of its own that is interrupted or killed, or that loses its generator or its server."""

import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from events import HANG_S, wait_until
from launched_runs import left_behind, runnable, working

from loadcurve.errors import LabError
from loadcurve.ingest.folder import read_runs
from loadcurve.lab import launch
from loadcurve.study.records import read_run, write_study

pytestmark = pytest.mark.real

# A shell in the background starts its programs with SIGINT ignored; Ctrl-C in a terminal meets Python's own handler.
LAUNCH = """
import signal, sys
from pathlib import Path
from loadcurve.lab import launch
from loadcurve.study.records import read_study
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[1])
launch(read_study(folder), folder)
"""


@pytest.fixture
def study(small_study):
    """Three runs of 2 s against a server that waits, so that neither it nor wrk takes the processors."""
    alone = {"delay": small_study.variants["delay"]}
    return runnable(replace(small_study, variants=alone, load={"duration_s": 2}, factors={"connections": (1, 2, 4)}))


@pytest.fixture
def launcher(tmp_path, study):
    folder = tmp_path / study.study
    write_study(study, folder)
    process = subprocess.Popen([sys.executable, "-c", LAUNCH, str(folder)], stderr=subprocess.PIPE, text=True)
    yield process, folder
    if process.poll() is None:
        process.kill()
    process.communicate()


def records(folder):
    return {path.parent: read_run(path) for path in folder.glob("*/run.json")}


def load_of(folder, *, finished=0):
    """Wait for wrk to run after a number of finished runs; return the folder of its run."""
    wait_until(lambda: len(records(folder)) == finished + 1 and working(folder, "wrk"))
    (_,) = working(folder, "wrk")
    (run,) = (path for path, run in records(folder).items() if run.status == "running")
    return run


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, "interrupted"), (signal.SIGKILL, "running")])
def test_an_ended_launcher_leaves_finished_runs_whole_and_no_process(launcher, study, number, status):
    process, folder = launcher
    ended = load_of(folder, finished=1)
    process.send_signal(number)
    process.wait(timeout=HANG_S)
    found = {path: run.status for path, run in records(folder).items()}
    assert found.pop(ended) == status
    ((first, state),) = found.items()
    assert state == "finished"
    wait_until(lambda: left_behind(folder) == [])
    before = (first / "run.json").read_bytes()
    launch(study, folder)
    assert [run.status for run in records(folder).values()] == ["finished"] * 3
    assert (first / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("tool", "reason"), [("wrk", "wrk ended with exit code"), ("nginx", "nginx ended during the run")]
)
def test_what_is_killed_is_a_failed_run_and_the_others_go_on(launcher, tool, reason):
    process, folder = launcher
    victim = load_of(folder)
    for program in working(folder, tool):
        program.kill()
    _, said = process.communicate(timeout=HANG_S)
    assert process.returncode != 0
    assert "1 of 3 runs failed" in said and "launch again to repeat them" in said
    found = records(folder)
    run = found.pop(victim)
    assert run.status == "failed" and run.reason.startswith(reason)
    assert [run.status for run in found.values()] == ["finished"] * 2
    assert left_behind(folder) == []
    unfinished = read_runs(folder).tables["runs"].query("status != 'finished'")
    assert unfinished["throughput_rps"].isna().all()


def test_two_launches_do_not_share_a_folder(launcher, study):
    _, folder = launcher
    load_of(folder)
    with pytest.raises(LabError, match="is being written by another launch"):
        launch(study, folder)
