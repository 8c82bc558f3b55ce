"""The first answer in JupyterLab, as a new user gets it: name a folder, run all cells, read."""

import json
import re
import shutil
import urllib.error
import urllib.request

import pytest
from chromium import needs_chromium, open_browser  # noqa: F401
from conftest import ROOT
from jupyterlab import HANG_S, serve

pytestmark = [pytest.mark.real, needs_chromium]

NOTEBOOK = "01_your_own_files.ipynb"
GIVEN = "lib/tests/data/folders/wrk_monitors"
HANG_MS = 1000 * HANG_S
NOTEBOOK_NOW = "window.jupyterapp.shell.currentWidget.content"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Folder and address of a JupyterLab with a copy of the notebook, and a folder of twelve reports beside it."""
    folder = tmp_path_factory.mktemp("lab") / "checkout"
    content = (ROOT / "notebooks" / NOTEBOOK).read_bytes()
    with serve(folder, {NOTEBOOK: content}) as address:
        shutil.copytree(ROOT / "lib/tests/data/folders/wrk_only", folder / "notebooks" / "twelve")
        yield folder, address


@pytest.fixture(scope="module")
def page(lab, browser):
    """The page, on which all cells were run after one edit: the name of the folder."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(HANG_MS)
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(lab[1])
    page.wait_for_selector(".jp-NotebookPanel .jp-CodeCell .cm-line")
    page.wait_for_function("window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status == 'idle'")
    page.locator(".cm-line", has_text=GIVEN).click()
    page.keyboard.press("Home")
    for _ in 'folder: str = "':
        page.keyboard.press("ArrowRight")
    for _ in GIVEN:
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.type("twelve")
    choose(page, "Run", "Run All Cells")
    page.wait_for_function(
        f"{NOTEBOOK_NOW}.widgets.every(cell => cell.model.type != 'code' || cell.model.executionCount)"
    )
    yield page
    page.close()


def choose(page, menu, item):
    page.click(f'.lm-MenuBar-itemLabel:text-is("{menu}")')
    page.click(f'.lm-Menu-itemLabel:text-is("{item}")')


def outputs(page):
    return [cell.inner_text() for cell in page.locator(".jp-NotebookPanel .jp-Cell-outputArea").all()]


def test_jupyterlab_listens_on_this_machine_and_asks_for_a_token(lab):
    folder, address = lab
    (file,) = (folder / "runtime").glob("jpserver-*.json")
    server = json.loads(file.read_text("utf-8"))
    assert server["hostname"] in ("localhost", "127.0.0.1")
    assert len(server["token"]) >= 40 and server["token"] in address
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{server['url']}api/contents", timeout=HANG_S)
    assert refused.value.code == 403


def test_the_name_of_a_folder_is_enough_for_an_answer(page, lab):
    shown = "\n".join(outputs(page))
    kinds = f"{NOTEBOOK_NOW}.model.toJSON().cells.flatMap(c => c.outputs ?? []).map(o => o.output_type)"
    assert "error" not in page.evaluate(kinds)
    assert re.search(r"twelve: 12 runs \(12 of wrk.*\)", shown)
    assert re.search(r"Verdict: (usable|usable with care|do not use)\b", shown)
    levels = page.locator(".jp-OutputArea-output .loadcurve table").first
    assert "requests/s" in levels.locator("thead").inner_text() and "p99 [ms]" in levels.locator("thead").inner_text()
    assert [row.split("\t")[0].strip() for row in levels.locator("tbody").inner_text().strip().split("\n")] == [
        "1", "2", "4", "6", "8", "12", "16", "32", "64", "96", "128", "256",
    ]  # fmt: skip
    for quantity in (
        "Saturation N* = R_min/D, connections",
        "USL peak, connections",
        "Capacity in connections under p99",
    ):
        assert re.search(re.escape(quantity) + r".*\t[\d.,]+", shown), quantity
    assert "Measure next" in shown
    assert re.search(r"Figure throughput: Throughput is highest at \d+ connections", shown)
    curves = page.locator(".jp-OutputArea-output img").all()
    assert len(curves) == 2 and all(curve.bounding_box()["width"] > 300 for curve in curves)
    assert list((lab[0] / "build/draft/01_your_own_files").glob("*/throughput.svg"))


def test_plumbing_is_collapsed(page):
    tags = page.evaluate(f"{NOTEBOOK_NOW}.widgets.map(c => [c.inputHidden, c.model.getMetadata('tags') ?? []])")
    assert [hidden for hidden, _ in tags] == ["hidden" in tags for _, tags in tags]
    assert page.locator(".jp-NotebookPanel .jp-InputPlaceholder:visible").count() == sum(hidden for hidden, _ in tags)


WAITING = """import threading
from unittest import mock
from loadcurve.runtime import many_files
many_files.DELAY_S = 0.0
with mock.patch.object(many_files.Progress, "advance", lambda *sizes: threading.Event().wait()):
    loadcurve.read("twelve")"""


def run_in_new_cell(page, source):
    """Add a cell at the end, as a person does, who sees what each key did before pressing the next."""
    page.locator(".jp-NotebookPanel .jp-Cell").last.click()
    page.keyboard.press("Escape")
    page.wait_for_function(f"{NOTEBOOK_NOW}.mode === 'command'")
    cells = page.evaluate(f"{NOTEBOOK_NOW}.widgets.length")
    page.keyboard.press("b")
    page.wait_for_function(f"{NOTEBOOK_NOW}.widgets.length === {cells + 1}")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{NOTEBOOK_NOW}.mode === 'edit'")
    page.keyboard.insert_text(source)
    page.keyboard.press("Control+Enter")


def test_a_bar_is_one_line_and_the_button_ends_it(page):
    """The last cell reads forever, until somebody interrupts the kernel."""
    run_in_new_cell(page, WAITING)
    output = page.locator(".jp-NotebookPanel .jp-Cell").last.locator(".jp-OutputArea-output").first
    page.wait_for_function("text => document.body.innerText.includes(text)", arg="0/12 files, ")
    assert re.fullmatch(r"reading: +0% \|.*\| 0\.00/[\d.]+k \[.*, 0/12 files, 0\.0 files/s\]\s*", output.inner_text())
    assert output.get_attribute("data-mime-type") == "application/vnd.jupyter.stdout"
    choose(page, "Kernel", "Interrupt Kernel")
    page.wait_for_selector("text=KeyboardInterrupt")


def test_an_error_is_one_line_on_the_page(page):
    run_in_new_cell(page, "loadcurve.read('elsewhere')")
    error = page.locator(".jp-OutputArea-output", has_text="%tb shows the traceback")
    error.wait_for()
    assert error.inner_text().strip().count("\n") == 0


def test_nothing_left_the_machine(page):
    here = re.compile(r"(https?|wss?)://(localhost|127\.0\.0\.1)[:/]|data:|blob:")
    assert [url for url in page.asked if not here.match(url)] == []
