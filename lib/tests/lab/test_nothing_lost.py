"""Nothing lost, nothing left: launchers killed at a hundred moments, interrupted twice, or on a full disk."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial

import psutil
import pytest

from loadcurve.ingest.folder import read_runs
from loadcurve.lab import find_obstacles, launch
from loadcurve.lab.tools import which
from loadcurve.records import fingerprint, read_run, run_folders, write_study

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
    return replace(
        small_study,
        variants={"delay": small_study.variants["delay"]},
        factors={"connections": (1, 2, 4, 8)},
        repeats=40,
    )


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


FULL_DISK = """
import sys
from pathlib import Path
from loadcurve.errors import LabError
from loadcurve.lab import launch
from loadcurve.records import read_run, read_study, run_folders

folder, fill = Path(sys.argv[1]) / "small", Path(sys.argv[1]) / "fill"
fill.write_bytes(bytes(int(sys.argv[2])))
study = read_study(folder)
try:
    launch(study, folder)
    print("finished at once")
except LabError as error:
    print(error)
for path in run_folders(folder):
    run = read_run(path)
    print(path.name, run.status, run.reason)
fill.unlink()
launch(study, folder)
print("then", *sorted({read_run(path).status for path in run_folders(folder)}))
"""


@pytest.mark.parametrize("left_kib", [4, 72, 80, 84, 92])
def test_a_full_disk(study, tmp_path, left_kib):
    """On a tmpfs of 1 MiB that only this test sees, with a few KiB left."""
    if os.geteuid() != 0 or which("unshare") is None:
        pytest.skip("a file system of its own needs root and unshare")
    disk = tmp_path / "disk"
    disk.mkdir()
    write_study(replace(study, factors={"connections": (1, 4)}, repeats=1), tmp_path / "small")
    script = (
        'mount -t tmpfs -o size=1m none "$1" && mkdir "$1/small" && cp "$2/small/study.yml" "$1/small" && '
        'exec "$3" -c "$4" "$1" "$5"'
    )
    argv = ["unshare", "-m", "sh", "-c", script, "sh", str(disk), str(tmp_path), sys.executable, FULL_DISK]
    done = subprocess.run(
        [*argv, str((1024 - left_kib) * 1024 - 8192)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[-1] == "then finished"
    assert "No space left on device" in said[0], said
    unfinished = [line for line in said[1:-1] if " finished " not in f"{line} "]
    assert all(" failed No space left on device" in line for line in unfinished), said
    assert bool(unfinished) == (left_kib > 64), "with less than the reserve nothing is begun"
