"""Workers: the same results in the same order, bounded memory, and one line for what ends a worker."""

import contextlib
import functools
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from conftest import copy_runs

import loadcurve
from loadcurve.errors import ParseError
from loadcurve.ingest.files import Hints
from loadcurve.reading import read_each
from loadcurve.runtime import many_files
from loadcurve.runtime.many_files import Progress
from loadcurve.runtime.workers import WorkerLost, _Pool, in_order, processors

WRK = "wrk/fdlimit.txt"


def lost(item, why):
    return f"{item}: {why}"


def children():
    """Processes of this one that have not ended."""
    pids = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError):  # a thread may end meanwhile
            pids |= {int(pid) for pid in task.read_text().split()}
    return pids


@pytest.fixture
def no_child_is_left():
    before = children()
    yield
    assert children() <= before


pytestmark = pytest.mark.usefixtures("no_child_is_left")


def test_results_come_in_the_order_of_the_items_and_only_a_few_are_taken_ahead():
    taken = []
    items = (taken.append(n) or n for n in range(-30, 0))
    for n, result in enumerate(in_order(abs, items, 2, lost)):
        assert result == 30 - n
        assert len(taken) <= n + 1 + 4  # twice as many as workers
    assert result == 1


def test_a_large_item_is_alone():
    taken = []
    items = (taken.append(n) or n for n in (5, 50, 5, 5))
    results = in_order(abs, items, 2, lost, lambda n: n, 20)
    assert next(results) == 5
    assert taken == [5, 50]  # the next was looked at, and waits until the first is done
    assert [next(results) for _ in range(3)] == [50, 5, 5]
    results.close()


def test_a_result_that_waits_for_its_turn_holds_up_no_other_item(tmp_path):
    """The first item ends only when the third has begun, and only two of the three fit at the same time."""
    begun = str(tmp_path / "begun")
    wait = f"any(__import__('os').path.exists({begun!r}) or __import__('time').sleep(0.01) for _ in range(6000))"
    items = [wait, "2", f"open({begun!r}, 'w').close()"]
    assert list(in_order(eval, items, 2, lost, lambda item: 50, 120)) == [True, 2, None]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            f"os.kill(os.getpid(), {int(signal.SIGKILL)})",
            "was killed by SIGKILL; the system may have run out of memory",
        ),
        ("os._exit(3)", "ended with code 3"),
    ],
)
def test_an_item_that_ends_its_worker_is_named_and_the_others_are_done(code, why):
    items = ["1 + 1", f"__import__('os').{code.removeprefix('os.').replace('os.', '__import__(' + repr('os') + ').')}"]
    items += ["2 + 1", "3 + 1", "4 + 1"]
    first, killed, *others = in_order(eval, items, 2, lost)
    assert (first, others) == (2, [3, 4, 5])
    assert killed.startswith(items[1]) and why in killed


def test_an_error_of_an_item_is_raised_in_its_turn():
    results = in_order(eval, ["1 + 1", "1 / 0", "3"], 2, lost)
    assert next(results) == 2
    with pytest.raises(ZeroDivisionError) as caught:
        next(results)
    assert "Traceback" in caught.value.__notes__[0]


def test_a_caller_that_stops_ends_the_workers_at_work():
    results = in_order(time.sleep, [0, 3600, 3600, 3600], 2, lost)
    next(results)
    results.close()  # the fixture sees whether they have ended


def test_what_nobody_asks_for_any_more_is_not_done_here():
    """A worker that is ended while it starts is not replaced by the thread that started it."""
    pool = _Pool(time.sleep)
    pool.end()
    with pytest.raises(WorkerLost):
        pool.call(3600)


def test_without_further_processes_the_work_is_done_here(monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", functools.partial(subprocess.Popen, executable="/nonexistent"))
    assert list(in_order(abs, [-1, -2, -3], 2, lost)) == [1, 2, 3]


def test_processors_are_those_that_this_process_may_use():
    assert 1 <= processors() <= multiprocessing.cpu_count()


@pytest.fixture
def raw(tmp_path, root):
    """A folder of reports, with two streams of one command, one file that is no report, and one recorded run."""
    text = (root / "lib/tests/data" / WRK).read_bytes()
    folder = tmp_path / "raw"
    for n in range(7):
        (folder / f"c{n}").mkdir(parents=True)
        (folder / f"c{n}/load.txt").write_bytes(text)
    (folder / "c3/notes.txt").write_text("bought milk\n", "utf-8")
    ab = (root / "lib/tests/data/ab/sleep.txt").read_text("utf-8")
    (folder / "c4/ab.out").write_text(ab, "utf-8")
    (folder / "c4/ab.err").write_text("Completed 10 requests\n", "utf-8")
    return folder


def comparable(readings):
    return [
        (r.source, r.refused, {name: list(map(str, r.rows(name))) for name in r.parsed.tables}, r.parsed.warnings)
        for r in readings
    ]


@pytest.mark.slow
def test_a_folder_is_read_alike_by_any_number_of_processes(raw, monkeypatch):
    alone = comparable(read_each(raw, Hints(), 1))
    monkeypatch.setattr(many_files, "_WORTH_WORKERS_S", 0.0)
    monkeypatch.setattr(many_files, "_CHUNK_S", 0.0)
    assert comparable(read_each(raw, Hints(), 2)) == alone
    assert comparable(read_each(raw, Hints(), 2, store=raw.parent)) == alone  # the largest first
    assert len(alone) == 9 and alone[4][1].startswith(f"{raw}/c3/notes.txt:1: expected output of a tool")


@pytest.mark.slow
def test_a_study_is_read_alike_by_any_number_of_processes(tmp_path, monkeypatch):
    """Every row and warning, and the line about a file that was changed; each file is counted for the progress."""
    folder = copy_runs(
        tmp_path / "connections_on_loopback", "cpu-c0001-r1", "cpu-c0001-r2", "cpu-c0002-r1", "cpu-c0002-r2"
    )
    alone = loadcurve.read(folder)
    monkeypatch.setattr(many_files, "_WORTH_WORKERS_S", 0.0)
    monkeypatch.setattr(many_files, "_CHUNK_S", 0.0)
    counted = []
    monkeypatch.setattr(Progress, "advance", lambda self, size, files=1: counted.append((size, files)))
    together = loadcurve.read(folder)
    files = [path for path in folder.glob("*/*") if path.is_file()]
    assert [sum(part) for part in zip(*counted, strict=True)] == [sum(f.stat().st_size for f in files), len(files)]
    assert together.warnings == alone.warnings and list(together.tables) == list(alone.tables)
    for name in alone.tables:
        pd.testing.assert_frame_equal(together.tables[name], alone.tables[name])
    report = next(folder.glob("*/*.wrk.txt"))
    report.write_text("changed")
    with pytest.raises(ParseError, match=re.escape(report.name)) as caught:
        loadcurve.read(folder)
    monkeypatch.setattr(many_files, "processors", lambda: 1)
    with pytest.raises(ParseError) as in_one_process:
        loadcurve.read(folder)
    assert str(caught.value) == str(in_one_process.value)


def test_a_small_folder_starts_no_process(raw, monkeypatch):
    monkeypatch.setattr(many_files, "in_order", lambda *_: pytest.fail("workers"))
    assert len(list(read_each(raw, Hints(), 2))) == 9


def parse_or_die(hints, recording_text, name, keep, command):
    if command[0].name == "notes.txt":
        os.kill(os.getpid(), signal.SIGKILL)
    return [(command[0], None, "read")]


@pytest.mark.slow
def test_a_file_that_ends_its_worker_is_refused_in_one_line(raw, monkeypatch):
    """Also where it travels together with other files: those are read again without it."""
    monkeypatch.setattr(many_files, "_WORTH_WORKERS_S", 0.0)
    monkeypatch.setattr(many_files, "_CHUNK_S", 1.0)
    monkeypatch.setattr("loadcurve.ingest.streams._parse_command", parse_or_die)
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    said = {Path(found.source).name + str(n): found.refused for n, found in enumerate(read_each(raw, Hints(), 2))}
    killed = said.pop("notes.txt4")
    assert killed.startswith(f"{raw}/c3/notes.txt: expected a file that can be read, got 'the process that read it was")
    assert "\n" not in killed and "SIGKILL" in killed
    assert set(said.values()) == {"read"} and len(said) == 8


SCRIPT = """
import sys, threading, time
import loadcurve
from loadcurve.runtime import many_files
many_files._WORTH_WORKERS_S = 0.0
print("once", flush=True)
print(len(loadcurve.read(sys.argv[1]).tables["runs"]), flush=True)
"""


@pytest.mark.slow
def test_a_script_without_a_main_guard_runs_once(raw, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    said = subprocess.run(
        [sys.executable, "script.py", raw], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )
    assert (said.stdout, said.stderr) == ("once\n8\n", "")


INTERRUPTED = """
import time
from loadcurve.runtime.workers import in_order
results = in_order(time.sleep, [0, 3600, 3600, 3600], 2, print)
next(results)
try:
    print("waiting", flush=True)
    next(results)
finally:
    results.close()  # the signal may come before the second call
"""


BETWEEN_RESULTS = INTERRUPTED.partition("try:")[0] + 'print("waiting", flush=True)\ntime.sleep(3600)\n'


@pytest.mark.slow
@pytest.mark.parametrize("ended", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("script", [INTERRUPTED, BETWEEN_RESULTS], ids=["in a result", "between results"])
def test_workers_at_work_end_with_their_caller(script, ended):
    """A worker that lives on would hold the pipe of standard error open."""
    done = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert done.stdout.readline() == "waiting\n"
    os.killpg(done.pid, ended)
    _, said = done.communicate(timeout=300)
    assert done.returncode == -ended
    assert said.count("KeyboardInterrupt") == said.count("Traceback") == (ended == signal.SIGINT)
