"""loadcurve in a real kernel: errors are one line, reading shows its progress, and what is interrupted can be rerun."""

import re

import pytest
from kernel import start_kernel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    with start_kernel(tmp_path_factory.mktemp("kernel")) as started:
        yield started


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import loadcurve\nloadcurve.analyse('nowhere')", "nowhere: expected a file or a folder, got nothing of "),
        ("from loadcurve.stats import Estimate\nEstimate(1, 0, 2, 95, '')", "level must be 0 < level < 1, got 95"),
        ("import loadcurve\nloadcurve.read_table('tabel', 'mine')", "table must be one of "),
    ],
)
def test_an_error_is_one_line_that_names_the_way_to_its_traceback(kernel, code, says):
    cell = kernel.run(code)
    assert len(cell.traceback) == 1 and "\n" not in cell.traceback[0]
    assert cell.traceback[0].startswith(says) and cell.traceback[0].endswith(" (%tb shows the traceback)")
    assert cell.error.partition(": ")[2] in cell.traceback[0]
    asked = kernel.run("%tb")
    assert any("Traceback (most recent call last)" in line for line in asked.traceback)
    assert "loadcurve/" in "".join(asked.traceback)


def test_other_errors_keep_their_traceback(kernel):
    cell = kernel.run("import loadcurve\n1 / 0")
    assert cell.error == "ZeroDivisionError: division by zero"
    assert "Traceback (most recent call last)" in "".join(cell.traceback)


def test_a_handler_of_the_user_is_kept(kernel):
    kernel.run("def mine(shell, *error, tb_offset=None): print('mine')")
    kernel.run("get_ipython().set_custom_exc((Exception,), mine)\nloadcurve.runtime.jupyter.show_errors_in_one_line()")
    assert kernel.run("loadcurve.parse('')").stdout == "mine\n"
    kernel.run("get_ipython().set_custom_exc((), None)\nloadcurve.runtime.jupyter.show_errors_in_one_line()")
    assert kernel.run("loadcurve.parse('')").traceback[0].endswith(" (%tb shows the traceback)")


# In place of hours of reading: the first file is read, and the next waits until somebody interrupts.
WAITING = """
import threading
from unittest import mock
from loadcurve.runtime import many_files
many_files.DELAY_S = 0.0
counted = many_files.Progress.advance
def advance_and_wait(bar, *sizes):
    counted(bar, *sizes)
    threading.Event().wait()
with mock.patch.object(many_files.Progress, "advance", advance_and_wait):
    loadcurve.read("twelve")
"""


def test_reading_shows_progress_and_can_be_interrupted_and_rerun(kernel, root):
    kernel.run("import loadcurve, os")
    kernel.run(f"os.symlink({str(root / 'lib/tests/data/folders/wrk_only')!r}, 'twelve')")
    cell = kernel.run(WAITING, interrupt_at=" 1/12 files, ")
    assert cell.error.startswith("KeyboardInterrupt")
    assert cell.stderr == "", "JupyterLab shows standard error in red"
    assert re.search(r"\rreading: +\d+% \|.*\[\d\d:\d\d<\d\d:\d\d, .*B/s, 1/12 files, [\d,.]+ files/s\]", cell.stdout)
    again = kernel.run("found = loadcurve.read('twelve')\nlen(found.tables['runs'])")
    assert again.shown[0]["text/plain"] == "12"
    assert again.error == ""


PUBLISH = """
import pandas as pd
from loadcurve import publish
publish.begin("99_test")
publish.table("levels", pd.DataFrame({"connections": [1, 2]}), caption=f"{6 * 7} levels & <more>.");
"""


def test_a_computed_caption_is_shown_below_the_cell(kernel, tmp_path):
    kernel.run(f"os.environ['LOADCURVE_ROOT'] = {str(tmp_path)!r}")
    (shown,) = kernel.run(PUBLISH).shown
    assert shown["text/plain"] == "Table levels: 42 levels & <more>."
    assert "42 levels &amp; &lt;more&gt;." in shown["text/html"]


def test_a_batch_run_shows_no_progress(kernel, root):
    kernel.run("os.environ['LOADCURVE_NOTEBOOK'] = os.devnull\nprogress.DELAY_S = 0.0")
    cell = kernel.run(f"len(loadcurve.read({str(root / 'lib/tests/data/folders/wrk_only')!r}).tables['runs'])")
    assert cell.shown[0]["text/plain"] == "12"
    assert cell.stdout == cell.stderr == ""
