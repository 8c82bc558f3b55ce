"""Every notebook runs on folders of other people, and its sentences are true of the numbers drawn.

The cells run in this process, because starting a kernel takes longer than most notebooks; only notebook 01, which
answers for any folder, and the build of the handbook execute notebooks in kernels.
"""

import ast
import json
import os
import re
import shutil

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import papermill
import pytest
from conftest import ROOT
from true_captions import TRUE

from loadcurve import batch, publish
from loadcurve.batch.grid import Text, check_parameters, typed
from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.notebooks.source import fill_captions, read_captions
from loadcurve.runtime.jupyter import NOTEBOOK_VARIABLE
from loadcurve.study.archive import opened

pytestmark = pytest.mark.slow

FOLDERS = ROOT / "lib" / "tests" / "data" / "folders"
RECORDED = ROOT / "data" / "studies" / "connections_on_loopback"
GIVEN = {"44_compare_two_servers": {"simulations": 20}}
STUDIES = ("wrk_only", "ab_sar", "json_tools", "this machine")
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").glob("*.ipynb") if "study" in papermill.inspect_notebook(path))


@pytest.fixture(scope="session")
def this_machine(tmp_path_factory):
    """The study of `10_run_study`, which measures each point of the recorded study once."""
    here = tmp_path_factory.mktemp("studies") / RECORDED.name
    here.mkdir()
    text = (RECORDED / "study.yml").read_text("utf-8")
    (here / "study.yml").write_text(re.sub(r"(?m)^repeats: .*", "repeats: 1", text), "utf-8")
    for run in opened(RECORDED).glob("*-r1"):
        shutil.copytree(run, here / run.name)
    return here


def run_cells(notebook, given):
    """Execute the code cells of a notebook with parameters in this process; return the names that they define."""
    known = {"display": lambda *shown: [repr(one) for one in shown]}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(ast.parse(cell.source), notebook.name, "exec"), known)
            if "parameters" in cell.metadata.get("tags", []):
                known |= given
    plt.close("all")
    return known


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_sentences_are_true_of_the_numbers_drawn(notebook, study, this_machine, tmp_path, monkeypatch, capsys):
    build = this_machine.parent / "build"  # all notebooks share the tables of the copied study
    monkeypatch.setattr(paths, "build", lambda: build)
    monkeypatch.setenv("LOADCURVE_PUBLISH", str(tmp_path))
    monkeypatch.setenv(NOTEBOOK_VARIABLE, str(notebook))
    folder = this_machine if study == "this machine" else FOLDERS / study
    known = run_cells(notebook, {"study": str(folder)} | GIVEN.get(notebook.stem, {}))
    said = capsys.readouterr().out
    facts = {path.stem: json.loads(path.read_text("utf-8")) for path in tmp_path.glob("*.json")}
    facts.pop("values", None)
    written = {slug + ".table" * (kind == "Table") for kind, slug in read_captions(notebook)}
    left_out = re.findall(r"Left out: (.+?)\. (.+)", said)
    assert set(facts) <= written and len(facts) >= 1
    for slug in written - set(facts):
        assert left_out, f"{slug} is neither published nor explained"
    assert all(reason.endswith(".") for _, reason in left_out)
    for slug, fact in facts.items():
        texts = [fact["caption"], fact.get("alt", "")]
        assert not any("{" in text or "nan" in text.split() for text in texts), texts
        assert study == "this machine" or not re.search(r"\b(delay|cpu|nginx)\b", " ".join(texts)), texts
        numbers = pd.read_csv(tmp_path / f"{slug}.csv")
        assert len(numbers)
        if slug.endswith(".table") and slug != "gain.table":
            continue
        TRUE[slug](numbers, texts[0], known)


@pytest.mark.parametrize(
    ("given", "taken"), [("study=mine", "{here}/mine"), ("study=other", "other"), ("level=0.9", 0.9)]
)
def test_a_path_on_the_command_line_starts_at_the_working_directory(given, taken, tmp_path, monkeypatch):
    """The kernel works in the folder of the notebook, where the same path names something else."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    notebook = ROOT / "notebooks" / "30_throughput_by_connections.ipynb"
    [value] = check_parameters(notebook, typed([given], Text)).values()
    is_path = isinstance(value, str) and "/" in value  # relative to the notebook: no page names folders of this machine
    assert (os.path.normpath(notebook.parent / value) if is_path else value) == (
        taken.format(here=tmp_path) if isinstance(taken, str) else taken
    )


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_holds_for_the_recorded_study_only_names_that_study(notebook):
    text = "\n".join(c.source for c in nbformat.read(notebook, as_version=4).cells if c.cell_type == "markdown")
    for sentence in re.split(r"(?<=[.?:])\s", text):
        if re.search(r"`?(delay|cpu)`? (server|variant)|CPU-bound server|quiet server|nginx", sentence):
            assert re.search("recorded study|connections_on_loopback", sentence), sentence


def test_an_executed_copy_shows_the_captions_that_were_published(tmp_path):
    """Placeholders are filled; the caption of a figure that was left out is removed."""
    (tmp_path / "a.json").write_text(json.dumps({"caption": "It rises by 3 %.", "alt": "A line."}), "utf-8")
    (tmp_path / "t.table.json").write_text(json.dumps({"caption": "Rows of x."}), "utf-8")
    texts = [
        "# A",
        "**Figure `a`.** {finding}\n<!-- alt: {seen} -->",
        "**Table `t`.** Rows{of}.",
        "**Figure `b`.** {x}",
    ]
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [text]} for text in texts]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    fill_captions(tmp_path / "n.ipynb", tmp_path)
    filled = ["".join(c["source"]) for c in json.loads((tmp_path / "n.ipynb").read_text("utf-8"))["cells"]]
    assert filled == [
        "# A", "**Figure `a`.** It rises by 3 %.\n<!-- alt: A line. -->", "**Table `t`.** Rows of x.", ""
    ]  # fmt: skip


def test_a_block_without_data_is_left_out_with_those_that_need_it(capsys):
    publish.begin("00_template")
    with pytest.raises(NameError), publish.or_reason("A typing error"):
        missing  # noqa: B018, F821
    with publish.or_reason("Figure a"):
        plt.subplots()
        raise LoadcurveError("nothing was measured")
    with publish.or_reason("Its numbers"):
        missing  # noqa: B018, F821
    with pytest.raises(KeyError), publish.or_reason("A fault of the library"):
        {}["a"]
    assert plt.get_fignums() == []
    assert capsys.readouterr().out.splitlines() == [
        "Left out: Figure a. Nothing was measured.", "Left out: Its numbers. It needs what is left out above: Figure a."
    ]  # fmt: skip


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
