"""What a launch shows while it lasts: runs, their number, and the time that is left, in a terminal as in a notebook."""

import re

import nbformat
import pytest
from events import HANG_S
from nbclient import NotebookClient

from loadcurve.lab import list_obstacles
from loadcurve.study import Study

pytestmark = pytest.mark.real

CELL = """\
from pathlib import Path
from loadcurve.lab import launch
from loadcurve.study import Study
study = Study("bar", "How long?", load={"duration_s": 1}, factors={"connections": (1, 8)}, repeats=1, monitors={})
launch(study, Path("bar"));
"""


def test_a_bar_in_a_notebook_shows_the_time_left_and_no_warning(tmp_path):
    if len(obstacles := list_obstacles(Study("bar", "?", monitors={}))):
        pytest.skip("; ".join(obstacles["obstacle"]))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)], metadata={"kernelspec": kernel})
    NotebookClient(notebook, timeout=int(HANG_S), resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = "".join(output["text"] for output in notebook.cells[0].outputs)
    assert re.search(r"bar:  50%\|.*\| 1/2 \[\d\d:\d\d<\d\d:\d\d, ", said), "a run is over, another is left"
    assert "2/2" in said
    assert "Warning" not in said
