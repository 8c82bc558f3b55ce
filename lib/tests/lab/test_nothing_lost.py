"""Nothing lost, nothing left: launchers killed at a hundred moments, interrupted twice, or on a full disk.

On loopback first, then where there is more to leave: namespaces, control groups, rules, delay lines and faults.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest
from events import HANG_S, wait_until
from launched_runs import runnable
from tqdm import tqdm

from loadcurve.ingest.folder import read_runs
from loadcurve.lab import launch
from loadcurve.lab.hosts.limits import mounted_controller
from loadcurve.lab.hosts.network import Ledger, clean, namespaces
from loadcurve.lab.hosts.network.ledger import NAMESPACES
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.run import environment
from loadcurve.study import Study
from loadcurve.study.records import fingerprint, read_run, run_folders, write_study

pytestmark = pytest.mark.lab

KILLS = 100
SEED = 20261121
# A point takes a second of load and what is around it: the kills fall on every part of one, and between two.
LATEST_KILL_S = 3.0
KILLS_IN_NAMESPACES = 24
LATEST_KILL_IN_NAMESPACES_S = 5.0  # there is more around the load, and four launchers share the machine


@pytest.fixture
def study(small_study):
    alone = {"delay": small_study.variants["delay"]}
    return replace(runnable(small_study), variants=alone, factors={"connections": (1, 2, 4, 8)}, repeats=40)


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
        # tqdm's own lock is one semaphore of all forks of a process, and one that is killed may hold it for ever.
        tqdm.set_lock(threading.RLock())
        work()
    finally:
        os._exit(0)


def gone(folder) -> bool:
    """Wait until every process in the folder has ended: tools have two seconds after their signal."""
    wait_until(lambda: not processes_in(folder), lambda: processes_in(folder))
    return True


def finished(folder) -> dict:
    """Finished runs, each with what its record and its files are."""
    runs = {path.name: read_run(path) for path in run_folders(folder)}
    return {name: (run.seal, run.files) for name, run in runs.items() if run.status == "finished"}


def check_whole(folder, runs: dict) -> None:
    """Finished runs have all their files and no other, and are read."""
    for name, (_, files) in runs.items():
        assert {p.name for p in (folder / name).iterdir()} == {*files, "run.json"}
        assert {file: fingerprint(folder / name / file) for file in files} == files
    table = read_runs(folder).tables["runs"]
    assert set(table[table["status"] == "finished"]["run_id"]) == set(runs)


def begun(study, folders) -> dict:
    """The finished runs of each folder, at least one, when its launcher was killed: also where a machine is slow."""
    pids = [forked(partial(launch, study, folder)) for folder in folders]
    wait_until(lambda: all(finished(folder) for folder in folders))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return {folder: finished(folder) for folder in folders}


def sends_load(folder) -> bool:
    return any(command.startswith("wrk") or " wrk " in command for command in processes_in(folder))


def test_launchers_killed_at_a_hundred_moments(study, tmp_path):
    """Four studies side by side, so that the hundred take no longer than they must."""
    folders, moments = [tmp_path / str(i) / "small" for i in range(4)], random.Random(SEED)
    before = begun(study, folders)
    assert all(map(gone, folders))
    for _ in range(KILLS // len(folders)):
        start = time.monotonic()
        running = [(moments.uniform(0, LATEST_KILL_S), forked(partial(launch, study, folder))) for folder in folders]
        for moment, pid in sorted(running):
            time.sleep(max(0.0, start + moment - time.monotonic()))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for folder in folders:
            assert gone(folder), processes_in(folder)
            after = finished(folder)
            assert {name: after.get(name) for name in before[folder]} == before[folder], "a finished run has changed"
            before[folder] = after
    assert all(before.values())
    for folder in folders:
        check_whole(folder, before[folder])


FULL_DISK = """
import os, sys
from pathlib import Path
from loadcurve.errors import LabError
from loadcurve.lab import launch
from loadcurve.study.records import read_run, read_study, run_folders

disk, left_bytes = Path(sys.argv[1]), int(sys.argv[2]) * 1024
folder, fill, room = disk / "small", disk / "fill", os.statvfs(disk)
fill.write_bytes(bytes(room.f_bavail * room.f_frsize - left_bytes))
study = read_study(folder)
try:
    launch(study, folder)
    print("finished at once")
except LabError as error:
    print(error)
for path in run_folders(folder):
    run = read_run(path)
    hollow = [name for name, file in run.files.items() if not file["bytes"]]
    hollow += [command.tool for command in run.commands if command.role != "server" and not command.stdout]
    print(path.name, run.status, *hollow if run.status == "finished" else [run.reason])
fill.unlink()
launch(study, folder)
print("then", *sorted({read_run(path).status for path in run_folders(folder)}))
"""
DISKS = {
    "tmpfs": 'mount -t tmpfs -o size=1m none "$1"',
    "ext4": 'truncate -s 16M "$2/image" && mkfs.ext4 -q -m 0 "$2/image" && mount -o loop "$2/image" "$1"',
    "ext4 with blocks for root": 'truncate -s 16M "$2/image" && mkfs.ext4 -q -m 20 "$2/image" && '
    'mount -o loop "$2/image" "$1"',
}


def on_a_small_disk(study, tmp_path, left_kib, kind="tmpfs") -> list[str]:
    """What `FULL_DISK` says on a file system that only it sees, with a few KiB left."""
    if os.geteuid() != 0 or which("unshare") is None:
        pytest.skip("a file system of its own needs root and unshare")
    disk = tmp_path / "disk"
    disk.mkdir()
    write_study(study, tmp_path / "small")
    own = ["unshare", "-m", "sh", "-c"]
    if subprocess.run([*own, DISKS[kind], "sh", str(disk), str(tmp_path)], capture_output=True, check=False).returncode:
        pytest.skip(f"no {kind} can be mounted here")
    script = f'{DISKS[kind]} && mkdir "$1/small" && cp "$2/small/study.yml" "$1/small" && exec "$3" -c "$4" "$1" "$5"'
    argv = [*own, script, "sh", str(disk), str(tmp_path), sys.executable, FULL_DISK, str(left_kib)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[-1] == "then finished"
    assert all(line.split()[2:] == [] for line in said[1:-1] if line.split()[1] == "finished"), "whole"
    return said[:-1]


def on_a_full_disk(study, tmp_path, left_kib) -> list[str]:
    """The runs that a full disk has kept from being finished, each for that reason."""
    first, *runs = on_a_small_disk(study, tmp_path, left_kib)
    assert "No space left on device" in first
    unfinished = [line for line in runs if line.split()[1] != "finished"]
    assert all(" failed No space left on device" in line for line in unfinished), runs
    return unfinished


@pytest.mark.parametrize("left_kib", [4, 72, 80, 84, 92])
def test_a_full_disk(study, tmp_path, left_kib):
    unfinished = on_a_full_disk(replace(study, factors={"connections": (1, 4)}, repeats=1), tmp_path, left_kib)
    assert bool(unfinished) == (left_kib > 64), "with less than the reserve nothing is begun"


@pytest.mark.parametrize(("kind", "left_kib"), [("tmpfs", 84), ("tmpfs", 88), ("ext4", 76), ("ext4", 78)])
def test_a_disk_that_is_full_at_the_end(study, tmp_path, kind, left_kib):
    """Where the generator has no room for its report, while folders that are removed afterwards give some back."""
    alone = replace(study, factors={}, repeats=1, monitors={})
    assert on_a_small_disk(alone, tmp_path, left_kib, kind)


def test_a_disk_on_which_only_root_has_room(study, tmp_path):
    alone, kind = replace(study, factors={}, repeats=1), "ext4 with blocks for root"
    assert "No space left on device" in on_a_small_disk(alone, tmp_path, 0, kind)[0], "a generator gives up root"


@pytest.fixture
def ledgers(tmp_path, network_tools, monkeypatch):
    """Where launches of this test write down what they make; delay lines also where the kernel could do without."""
    monkeypatch.setattr(environment, "Ledger", partial(Ledger, tmp_path / "ledgers"))
    monkeypatch.setattr(namespaces, "has_netem", lambda: False)
    return tmp_path / "ledgers"


@pytest.fixture
def wide_study(ledgers):
    """All that a launch can leave: namespaces, a control group, rules, lossy links, a delay line, faults of two kinds.

    One fault loads rules, the other one stops processes, which then hear no signal but the last.
    """
    study = Study(
        "wide",
        "What is left?",
        topology={"recipe": "client_l4_servers"},
        hosts={"S1": {"cpu_quota": 0.5}},
        links={"C1": {"delay_s": 0.002}, "S2": {"loss_ratio": 0.001}},
        balancer={"nft": {}},
        load={"duration_s": 1, "connections": 8},
        variants={
            "rules": {"fault.drop_fin": True},
            "stopped": {"fault.stop_server": True, "fault.after_s": 0.2, "fault.lasts_s": 0.4},
        },
        repeats=40,
    )
    return runnable(study)


@pytest.fixture
def of_others(network_tools):
    """A namespace with a process, made by nobody of the laboratory; both must be there afterwards."""
    name = f"kept{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    sleeper = subprocess.Popen(["ip", "netns", "exec", name, "sleep", "300"])
    rules = subprocess.run(["nft", "list", "ruleset"], capture_output=True, check=True).stdout
    yield
    try:
        assert sleeper.poll() is None
        assert (NAMESPACES / name).exists()
        assert subprocess.run(["nft", "list", "ruleset"], capture_output=True, check=True).stdout == rules
    finally:
        sleeper.kill()
        sleeper.wait()
        subprocess.run(["ip", "netns", "del", name], check=True)


def left_of(tags: set[str]) -> list[str]:
    """Namespaces, control groups and processes that carry a launch's tag."""
    controller = mounted_controller()
    places = [NAMESPACES, *([controller.folder] if controller else [])]
    found = [str(path) for place in places for path in place.iterdir() if path.name.partition("-")[0] in tags]
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if process.info["status"] != psutil.STATUS_ZOMBIE and any(tag in line for tag in tags):
            found.append(line)
    return found


def tags_of(pid: int, ledgers: Path) -> set[str]:
    return {path.name.partition(".")[0] for path in ledgers.glob(f"lc*.{pid}.*.ledger")}


def cleaned(pid: int, ledgers: Path) -> set[str]:
    """Clean until a killed launcher has no ledger; return the kinds of what was removed.

    On a busy machine its tools may take longer to end than one call waits for them, which then says to try again.
    """
    said: list[str] = []

    def nothing_left() -> bool:
        said.extend(clean(ledgers))
        return not tags_of(pid, ledgers)

    wait_until(nothing_left, lambda: said)
    assert [each for each in said if ": removed " not in each and not each.endswith("try again")] == []
    return {each.split()[2] for each in said if ": removed " in each}


def test_launchers_killed_in_namespaces(wide_study, ledgers, of_others, tmp_path):
    """Four side by side; what one has left is removed while the others go on, and none of them is disturbed."""
    folders, moments = [tmp_path / str(i) / "wide" for i in range(4)], random.Random(SEED)
    before, seen = begun(wide_study, folders), set()
    clean(ledgers)
    assert all(map(gone, folders))
    for _ in range(KILLS_IN_NAMESPACES // len(folders)):
        start = time.monotonic()
        latest_s = LATEST_KILL_IN_NAMESPACES_S
        running = [(moments.uniform(0, latest_s), forked(partial(launch, wide_study, each)), each) for each in folders]
        for moment, pid, folder in sorted(running):
            time.sleep(max(0.0, start + moment - time.monotonic()))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            tags = tags_of(pid, ledgers)
            seen |= cleaned(pid, ledgers)
            assert left_of(tags) == []
            assert gone(folder), processes_in(folder)
            after = finished(folder)
            assert {name: after.get(name) for name in before[folder]} == before[folder], "a finished run has changed"
            before[folder] = after
    assert seen == {"namespace", "cgroup"}, "both were left and removed"
    assert clean(ledgers) == ()
    assert list(ledgers.iterdir()) == []
    assert all(before.values())
    for folder in folders:
        states = {read_run(path).status for path in run_folders(folder)}
        assert states <= {"finished", "running"}, "no launch has met what another one did"
        check_whole(folder, before[folder])


@pytest.mark.parametrize("pause_s", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("wide", [False, True])
def test_interrupted_twice(request, tmp_path, ledgers, wide, pause_s):
    if wide:
        request.getfixturevalue("of_others")
    study = request.getfixturevalue("wide_study" if wide else "study")
    folder = tmp_path / study.study
    pid = forked(partial(launch, study, folder))
    wait_until(lambda: sends_load(folder))
    tags = tags_of(pid, ledgers)
    assert bool(tags) >= wide
    os.kill(pid, signal.SIGINT)
    time.sleep(pause_s)
    os.kill(pid, signal.SIGINT)
    wait_until(lambda: os.waitpid(pid, os.WNOHANG)[0])
    assert left_of(tags) == []
    assert clean(ledgers) == ()
    assert gone(folder), processes_in(folder)
    *before, last = sorted(read_run(path).status for path in run_folders(folder))
    assert last == "interrupted" and set(before) <= {"finished"}


@pytest.mark.usefixtures("network_tools")
@pytest.mark.parametrize("left_kib", [4, 96])
def test_a_full_disk_in_namespaces(tmp_path, left_kib):
    study = Study("small", "?", topology={"recipe": "client_server"}, load={"duration_s": 1}, repeats=1)
    unfinished = on_a_full_disk(study, tmp_path, left_kib)
    assert bool(unfinished) == (left_kib > 64)
