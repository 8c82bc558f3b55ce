"""Nothing lost, nothing left: launchers killed at a hundred moments, or interrupted twice."""

import os
import random
import signal
import time
from dataclasses import replace
from functools import partial

import psutil
import pytest

from loadcurve.ingest.folder import read_runs
from loadcurve.lab import find_obstacles, launch
from loadcurve.records import fingerprint, read_run, run_folders

pytestmark = pytest.mark.lab

KILLS = 100
SEED = 20261121
# A point takes a second of load and what is around it: the kills fall on every part of one, and between two.
LATEST_KILL_S = 3.0


@pytest.fixture
def study(small_study):
    missing = find_obstacles(small_study)
    if not missing.empty:
        pytest.skip("; ".join(missing["obstacle"]))
    return replace(small_study, variants={"delay": "delay 10ms"}, connections=(1, 2, 4, 8), repeats=40)


def processes_in(folder) -> list[str]:
    """What still works in a study's folder, each by its command; zombies wait for their parent only."""
    found = []
    for process in psutil.process_iter(["cwd", "status", "cmdline"]):
        facts = process.info
        if (facts["cwd"] or "").startswith(str(folder)) and facts["status"] != psutil.STATUS_ZOMBIE:
            found.append(" ".join(facts["cmdline"] or []))
    return found


def forked(work) -> int:
    """Start a function in a process of its own, quietly; return its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ["TQDM_DISABLE"] = "1"
        work()
    finally:
        os._exit(0)


def gone(folder, limit_s=8.0) -> bool:
    """Whether every process in the folder ends in time: tools have two seconds after their signal."""
    deadline = time.monotonic() + limit_s
    while processes_in(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def finished(folder) -> dict:
    """Finished runs, each with what its record and its files are."""
    runs = {path.name: read_run(path) for path in run_folders(folder)}
    return {name: (run.seal, run.files) for name, run in runs.items() if run.status == "finished"}


def test_launchers_killed_at_a_hundred_moments(study, tmp_path):
    """Four studies side by side, so that the hundred take no longer than they must."""
    folders, moments = [tmp_path / str(i) / "small" for i in range(4)], random.Random(SEED)
    before = {folder: {} for folder in folders}
    for _ in range(KILLS // len(folders)):
        begun = time.monotonic()
        running = [(moments.uniform(0, LATEST_KILL_S), forked(partial(launch, study, folder))) for folder in folders]
        for moment, pid in sorted(running):
            time.sleep(max(0.0, begun + moment - time.monotonic()))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for folder in folders:
            assert gone(folder), processes_in(folder)
            after = finished(folder)
            assert {name: after.get(name) for name in before[folder]} == before[folder], "a finished run has changed"
            before[folder] = after
    assert any(before.values()), "some runs finish between two kills"
    for folder in folders:
        for name, (_, files) in before[folder].items():
            assert {p.name for p in (folder / name).iterdir()} == {*files, "run.json"}
            assert {file: fingerprint(folder / name / file) for file in files} == files
        table = read_runs(folder).tables["runs"]
        assert set(table[table["status"] == "finished"]["run_id"]) == set(before[folder])


@pytest.mark.parametrize("pause_s", [0.0, 0.05, 0.3])
def test_interrupted_twice(study, tmp_path, pause_s):
    folder = tmp_path / "small"
    pid = forked(partial(launch, study, folder))
    deadline = time.monotonic() + 20
    while not any(command.startswith("wrk") or " wrk " in command for command in processes_in(folder)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(pid, signal.SIGINT)
    time.sleep(pause_s)
    os.kill(pid, signal.SIGINT)
    os.waitpid(pid, 0)
    assert gone(folder), processes_in(folder)
    states = {read_run(path).status for path in run_folders(folder)}
    assert states <= {"finished", "interrupted", "running"}
