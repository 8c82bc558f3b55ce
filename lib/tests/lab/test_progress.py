"""What a launch shows in a notebook: runs, their number, and the time that is left; a rerun finishes what is left."""

import re

import pytest
from kernel import start_kernel
from launched_runs import runnable

from loadcurve.study import Study
from loadcurve.study.records import read_run, run_folders

pytestmark = pytest.mark.real

STUDY = 'Study("bar", "How long?", load={"duration_s": 1}, factors={"connections": (1, 4, 8)}, repeats=1, monitors={})'
CELL = f"""\
from pathlib import Path
import loadcurve
from loadcurve.study import Study
runs = loadcurve.launch({STUDY}, Path("bar"))
"""


def test_a_launch_in_a_notebook_shows_a_bar_and_goes_on_after_an_interruption(tmp_path):
    runnable(Study("bar", "?", monitors={}))
    with start_kernel(tmp_path) as kernel:
        cell = kernel.run(CELL, interrupt_at=r"\| 1/3 \[")
        assert re.search(r"bar:  33%\|.*\| 1/3 \[\d\d:\d\d<\d\d:\d\d, ", cell.stdout), "a run is over, two are left"
        assert cell.error.startswith("KeyboardInterrupt")
        assert "interrupted by SIGINT: 1 of 3 runs finished, kept in " in cell.stdout.splitlines()[-1]
        first = {run: (run / "run.json").read_text("utf-8") for run in run_folders(tmp_path / "bar") if finished(run)}
        again = kernel.run(CELL)
    assert again.error == cell.stderr == again.stderr == "", "JupyterLab shows standard error in red"
    assert re.search(r"\| 1/2 \[.*\| 2/2 \[", again.stdout, re.DOTALL)
    assert len(first) == 1
    assert {run: (run / "run.json").read_text("utf-8") for run in first} == first, "a finished run is kept"
    assert [finished(run) for run in run_folders(tmp_path / "bar")] == [True] * 3


def finished(run):
    return read_run(run).status == "finished"
