"""The wall clock is set while a run lasts, forward and backward: the run says so, and no false time is believed.

This machine's own clock is never touched.  It is a faked one: `libfaketime` stands before the C library of the launcher
and of all that it starts, and lies to them about the wall clock by what a file says; the monotonic clock is the true
one, as it is where a real clock is set.  What the kernel itself does when its clock is set is not tested here.

With such a clock Python's own sleep fails in libfaketime 0.9.10, Debian's (github.com/wolfcw/libfaketime/issues/426),
so that the launcher and the script that waits for the common instant sleep by select(2) here.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from events import HANG_S, wait_until
from faked_clock import LIBRARY, faked_programs, faking
from launched_runs import DELAYS, runnable, working

from loadcurve.ingest.folder import read_runs
from loadcurve.lab import launch
from loadcurve.lab.tools.generators.generator import start_delay_s
from loadcurve.study import Study
from loadcurve.study.records import read_run, run_folders, write_study

pytestmark = pytest.mark.lab

LAUNCH = """
import select, sys, time
from pathlib import Path
from loadcurve.lab import launch
from loadcurve.lab.tools.generators import generator as barrier
from loadcurve.study.records import read_study
time.sleep = lambda duration_s: select.select([], [], [], duration_s)
barrier._AT = "import select" + chr(10) + barrier._AT.replace("time.sleep(", "select.select([], [], [], ")
folder = Path(sys.argv[1])
launch(read_study(folder), folder)
"""


@pytest.fixture
def study():
    monitors = {"sar": 1, "ss_summary": 0.2, "ss_connections": 0.2}
    load = {"duration_s": 1, "connections": 4, "processes": 2}
    return runnable(Study("stepped", "?", server=DELAYS, load=load, monitors=monitors, repeats=2))


@pytest.fixture
def clock(tmp_path):
    """Function that sets the clock of those who believe it, by so many seconds from the true one."""
    file = tmp_path / "clock"

    def set_clock(offset_s: int) -> dict[str, str]:
        (tmp_path / "draft").write_text(f"{offset_s:+d}\n")
        (tmp_path / "draft").rename(file)
        return {
            "LD_PRELOAD": LIBRARY,
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    with faking():
        yield set_clock


@contextlib.contextmanager
def launcher(folder: Path, clock) -> Iterator[subprocess.Popen]:
    """A launch under the faked clock."""
    path = faked_programs(folder.parent / "bin", clock(0))
    environment = {**os.environ, **clock(0), "PATH": path}
    with subprocess.Popen([sys.executable, "-c", LAUNCH, str(folder)], env=environment, stderr=subprocess.PIPE) as one:
        try:
            yield one
        finally:
            one.kill()


def wait_until_it_works(one: subprocess.Popen, folder: Path, tool: str) -> None:
    wait_until(lambda: working(folder, tool) or one.poll() is not None, lambda: f"no {tool} in {folder.name}")
    assert one.poll() is None, f"no {tool} in {folder.name}"


def launched(study: Study, folder: Path, clock, steps: dict[str, tuple[str, int]], failing: bool = False) -> None:
    """Launch a study under the faked clock, and set it when a tool works in a run's folder."""
    write_study(study, folder)
    with launcher(folder, clock) as one:
        for run, (tool, offset_s) in steps.items():
            wait_until_it_works(one, folder / run, tool)
            clock(offset_s)
        _, said = one.communicate(timeout=HANG_S)
    assert bool(one.returncode) == failing, said.decode()


def steps_told(sentences: Iterable[str]) -> list[float]:
    found = (re.match(r"(?:\S+: )?the clock was set by ([+-]\S+) s", sentence) for sentence in sentences)
    return [float(step[1]) for step in found if step]


def test_what_believes_the_faked_clock(clock, study):
    """The test's own tool: the wall clock of a child follows the file, its monotonic clock does not."""
    code = "import sys, time\nfor line in sys.stdin: print(time.time(), time.monotonic(), flush=True)"
    argv, environment = [sys.executable, "-u", "-c", code], {**os.environ, **clock(0)}
    with subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        for offset_s in (0, 3600, -3600):
            clock(offset_s)
            child.stdin.write("\n")
            child.stdin.flush()
            wall, monotonic = map(float, child.stdout.readline().split())
            assert abs(wall - time.time() - offset_s) < 5
            assert abs(monotonic - time.monotonic()) < 5
        child.stdin.close()


def test_a_clock_that_is_set_before_the_load(study, clock, tmp_path):
    """While the server is there already and a warm-up is to come; forward in one run, backward in the other."""
    folder = tmp_path / "stepped"
    launched(replace(study, warm_up_s=1.0), folder, clock, {"r1": ("nginx", 7), "r2": ("nginx", -5)})
    for path, step_s in zip(run_folders(folder), (7, -12), strict=True):
        run = read_run(path)
        assert run.status == "finished"
        assert [pytest.approx(step_s, abs=1)] == steps_told(run.warnings)
        roles = [command.role for command in run.commands]
        assert roles == ["server", *["collector"] * 3, *["warm_up"] * 2, *["generator"] * 2], "in the order of start"
        assert (run.commands[0].started_at < run.commands[-1].started_at) == (step_s > 0), "by the wall clock"
        noted = [(path / f"local-{number}.at.json").read_text() for number in (1, 2)]
        assert len({json.loads(each)["instant_ns"] for each in noted}) == 1
        assert all(0 <= start_delay_s(each) < 3 for each in noted), "by the monotonic clock nothing was set"
    ingested = read_runs(folder)
    runs = ingested.tables["runs"]
    assert runs.groupby("run_id").size().to_dict() == {"r1": 2, "r2": 2}
    assert (runs["status"] == "finished").all()
    assert runs["throughput_rps"].between(1, 2 / 0.010).all(), "two connections to a server that waits 10 ms"
    for table in ("sockets", "connections", "cpu"):
        assert set(ingested.tables[table]["run_id"]) == {"r1", "r2"}, table
    assert len(steps_told(ingested.warnings)) == 2


@pytest.mark.parametrize("offset_s", [7, -5])
def test_a_clock_that_is_set_within_the_load(study, clock, tmp_path, offset_s):
    """Wrk takes the step for time of its load: seconds more, or fewer than none.  So the run is made again."""
    folder = tmp_path / "stepped"
    study = replace(study, load={**study.load, "duration_s": 2})  # a busy machine is late to see wrk
    launched(study, folder, clock, {"r1": ("wrk", offset_s)}, failing=True)
    broken, whole = map(read_run, run_folders(folder))
    assert (broken.status, whole.status) == ("failed", "finished")
    (in_the_load,), (in_the_run,) = steps_told([broken.reason]), steps_told(broken.warnings)
    assert in_the_load == pytest.approx(offset_s, abs=1)
    # Each time the two clocks are read one after the other, and the machine's own is slewed meanwhile.
    assert in_the_run == pytest.approx(in_the_load, abs=1)
    assert "while the load ran" in broken.reason
    assert steps_told(whole.warnings) == []
    runs = read_runs(folder).tables["runs"].set_index("run_id")
    assert runs.loc[["r1"], "throughput_rps"].isna().all()
    kept = (folder / "r2" / "run.json").read_bytes()
    launch(study, folder)
    assert (folder / "r2" / "run.json").read_bytes() == kept
    assert {read_run(path).status for path in run_folders(folder)} == {"finished"}


def test_a_study_goes_on_by_another_clock(study, clock, tmp_path):
    """A launcher ended after the step; the next one, by the true clock, keeps what was finished and does the rest."""
    folder = tmp_path / "stepped"
    write_study(study, folder)
    with launcher(folder, clock) as one:
        wait_until_it_works(one, folder / "r2", "wrk")
        clock(-3600)
        one.kill()
    first = (folder / "r1" / "run.json").read_bytes()
    launch(study, folder)
    assert (folder / "r1" / "run.json").read_bytes() == first
    assert {read_run(path).status for path in run_folders(folder)} == {"finished"}
    assert steps_told(read_run(folder / "r2").warnings) == []
    assert len(read_runs(folder).tables["runs"]) == 4
