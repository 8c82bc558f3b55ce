"""Notebook 01 answers for any folder: the files of the reader, without an edit beyond the folder's name.

`test_package` executes it for reports of wrk.
"""

import json

import pytest
from conftest import ROOT

from loadcurve import batch

pytestmark = pytest.mark.slow

FOLDERS = ROOT / "lib" / "tests" / "data" / "folders"


@pytest.mark.parametrize("folder", ["ab_sar", "json_tools"])
def test_the_notebook_answers_for_files_of_others(folder, tmp_path):
    output = tmp_path / "out.ipynb"
    batch.run_notebook(ROOT / "notebooks" / "01_your_own_files.ipynb", output, {"folder": str(FOLDERS / folder)})
    cells = json.loads(output.read_text("utf-8"))["cells"]
    assert str(ROOT) not in json.dumps([cell.get("outputs") for cell in cells])
    figures = tmp_path / "out.figures"
    values = json.loads((figures / "values.json").read_text("utf-8"))
    assert values["verdict"]["text"].startswith(("usable", "do not use"))
    caption = json.loads((figures / "throughput.json").read_text("utf-8"))["caption"]
    levels = (figures / "throughput.csv").read_text("utf-8").splitlines()[1:]
    assert "{" not in caption and len(levels) >= 2
    # The caption names the load with the highest mean throughput of the plotted numbers.
    names = (figures / "throughput.csv").read_text("utf-8").splitlines()[0].split(",")
    load = names.index("connections" if "connections" in names else "target_rate_rps")
    best = max((row.split(",") for row in levels), key=lambda row: float(row[names.index("throughput_rps")]))
    assert f"{float(best[load]):,g}" in caption
