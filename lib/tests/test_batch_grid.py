"""Many notebooks: the jobs of a grid, names of outputs, what is stale, the index page and the table of values.

Nothing here starts a kernel; `test_batch_resume` does.
"""

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from kernel import write_notebook
from typer.testing import CliRunner

from loadcurve import batch
from loadcurve.batch import execution, runner
from loadcurve.batch.grid import Job, Text, Texts
from loadcurve.batch.index import COLUMNS
from loadcurve.cli import app
from loadcurve.errors import LoadcurveError
from loadcurve.notebooks.source import range_of

A = """\
study: str = "s"  # name of a study
share: float = 0.5  # ratio, 0 < share < 1: x
sizes: list = [1]  # sizes ≥ 1: y"""
B = "share: float = 0.5  # ratio, 0 < share < 1: x\nfast: bool = True  # whether it is"


@pytest.fixture
def books(checkout):
    """Two notebooks, `a` and `b`, with the parameters A and B."""
    return [write_notebook(checkout / f"{name}.ipynb", parameters) for name, parameters in (("a", A), ("b", B))]


@pytest.fixture
def executed(monkeypatch, checkout):
    """Replaces kernels: a notebook publishes its share, and fails if that is 0.4; the list of what was executed."""
    done = []

    def execute(notebook, work, name, given, folder, kernels):
        done.append(name.removesuffix(".ipynb"))
        figures, share = work / "figures", given.get("share", 0.5)
        figures.mkdir()
        (work / "reads").write_text("data/read.csv\0", "utf-8")
        facts = {"metadata": {"papermill": {"duration": 3.2}}, "cells": [], "nbformat": 4, "nbformat_minor": 5}
        (work / name).write_text(json.dumps(facts), "utf-8")
        if share == 0.4:
            raise execution.NotebookError("cell 2: ValueError: <no>", "share = 0.4\nraise")
        values = {
            "share": {"text": f"{share:.0%}", "value": share, "unit": "ratio"},
            "mean": {
                "text": "1.00 ms",
                "value": 1e-3,
                "unit": "s",
                "lo": 5e-4,
                "hi": None,
                "level": 0.9,
                "method": "t",
            },
            "said": {"text": "<b>yes"},
        }
        (figures / "values.json").write_text(json.dumps(values), "utf-8")
        (figures / "curve.svg").write_text("<svg/>", "utf-8")
        (figures / "curve.json").write_text(json.dumps({"caption": "It <rises>.", "alt": 'A "line".'}), "utf-8")

    monkeypatch.setattr(execution, "execute", execute)
    (checkout / "data/read.csv").write_text("1")
    return done


def names(jobs):
    return [job.name for job in jobs]


def test_a_parameter_goes_to_each_notebook_that_declares_it(books):
    grid = {"share": Texts("0.2, 3e-1"), "fast": Texts("true,false")}
    jobs = batch.jobs_of(books, {"sizes": [1, 2], "study": Text("007")}, grid)
    assert names(jobs) == [
        "a,share=0.2", "a,share=0.3",
        "b,share=0.2,fast=true", "b,share=0.2,fast=false", "b,share=0.3,fast=true", "b,share=0.3,fast=false",
    ]  # fmt: skip
    assert jobs[1].parameters == {"sizes": [1, 2], "study": "007", "share": 0.3}
    assert jobs[5].parameters == {"share": 0.3, "fast": False}


@pytest.mark.parametrize(
    ("fixed", "grid", "says"),
    [
        ({}, {"shar": "1"}, "parameter must be one of study, share, sizes, fast, got 'shar'"),
        ({}, {"share": "0.2,2"}, "a.ipynb: share must be 0 < share < 1, got 2"),
        ({"sizes": [0]}, {}, "a.ipynb: sizes must be >= 1, got 0"),
        ({"share": Text("no")}, {}, "a.ipynb: share must be 0 < share < 1, got 'no'"),
        ({"share": 0.2}, {"share": "0.2,0.3"}, "parameter share must be given once, got a value and a grid"),
        ({}, {"share": ""}, "parameter share must have values, such as share=A,B,C, got none"),
        ({}, {"share": "0.1,["}, "parameter share must be YAML, got"),
    ],
)
def test_a_wrong_grid_is_refused_before_anything_runs(books, fixed, grid, says):
    with pytest.raises(LoadcurveError) as caught:
        batch.jobs_of(books, fixed, {name: Texts(text) for name, text in grid.items()})
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_two_notebooks_of_one_name_are_refused(books):
    with pytest.raises(LoadcurveError, match=r"notebooks must have different names, got a.ipynb twice"):
        batch.jobs_of([books[0], books[0]], {}, {})


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (0.05, "0.05"), (1e-7, "1e-07"), (-3, "-3"), (True, "true"), ("ab_sar", "ab_sar"), ([1, 2.5], "1-2.5-"),
        ("/data/load test", "load-test-"), ("../x", "x-"), (".", ""), ("", ""), ("p99 < 10ms", "p99-10ms-"), ("é/", ""),
        ("x" * 300, "x" * 40 + "-"), ("a\nb", "a-b-"), ("a,b=c", "a-b-c-"),
    ],
)  # fmt: skip
def test_a_name_is_short_safe_and_different_for_different_values(value, word):
    name = Job(Path("n.ipynb"), varied={"p": value}).name
    assert name.startswith(f"n,p={word}")
    exact = name == f"n,p={word}"
    assert exact == (word != "" and not word.endswith("-")), "a shortened value has a digest"
    safe = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-")
    assert len(name) <= 60 and set(name.removeprefix("n,p=")) <= safe
    many = Job(Path("n.ipynb"), varied={f"parameter{i}": value for i in range(20)}).name
    assert len(many) <= 150 and many != Job(Path("n.ipynb"), varied={f"parameter{i}": 5 for i in range(20)}).name


@pytest.mark.parametrize(
    ("comment", "rule"),
    [
        ("ratio, 0 < p ≤ 1: x", "0 < p <= 1"), ("p ≥ 1e3: x", ">= 1000"), ("s, -1.5 ≤ p < 2: a < b", "-1.5 <= p < 2"),
        ("s, p > 0: x", "> 0"), ("s: at most p < 3", None), ("build/<p>: x", None), ("", None),
        ("ratio, 0 < q < 1: x", "wrong"), ("0 < p > 1: x", "wrong"), ("p < many: x", "wrong"), ("1 < 2: x", "wrong"),
    ],
)  # fmt: skip
def test_a_range_is_a_part_of_the_comment(comment, rule):
    if rule == "wrong":
        with pytest.raises(LoadcurveError, match="range of p must be such as '0 < p ≤ 1' or 'p ≥ 1', got"):
            range_of("p", comment)
    else:
        found = range_of("p", comment)
        assert (found and found.rule("p")) == rule


def run(books, folder, grid="0.1,0.2", fixed=None):
    said = []
    jobs = batch.jobs_of(books, fixed or {}, {"share": Texts(grid)})
    return [one.state for one in batch.run_batch(jobs, folder, at_once=2, report=said.append)], said


def test_only_what_is_stale_runs_again_and_the_reason_is_said(books, executed, checkout, monkeypatch):
    out = checkout / "out"
    assert run(books, out)[0] == ["made"] * 4
    figure = out / "a,share=0.1.figures" / "curve.svg"
    changes = {
        "": (lambda: None, []),
        "parameter study was the default, and is \"t\" now": (lambda: None, ["a,share=0.1", "a,share=0.2"]),
        "the notebook changed": (lambda: books[1].write_text(books[1].read_text("utf-8") + "\n", "utf-8"),
                                 ["b,share=0.1", "b,share=0.2"]),
        "a,share=0.1.figures/curve.svg is missing": (figure.unlink, ["a,share=0.1"]),
        "missing": ((out / "b,share=0.2.ipynb").unlink, ["b,share=0.2"]),
        "a file that the notebook read changed": (lambda: (checkout / "data/read.csv").write_text("22"), "all"),
        "the code of loadcurve changed": (lambda: monkeypatch.setattr(runner, "library", lambda: "0.1.0+x"), "all"),
        "it was made by loadcurve 0.1.0, this is 0.2.0":
            (lambda: monkeypatch.setattr(runner, "library", lambda: "0.2.0+y"), "all"),
    }  # fmt: skip
    every, fixed = ["a,share=0.1", "a,share=0.2", "b,share=0.1", "b,share=0.2"], {}
    for why, (change, again) in changes.items():
        fixed = fixed if "parameter" not in why else {"study": "t"}
        executed.clear()
        change()
        states, said = run(books, out, fixed=fixed)
        again = every if again == "all" else again
        assert sorted(executed) == again, why
        assert states == ["made" if name in again else "kept" for name in every]
        stale = [line for line in said if line.startswith("stale: ")]
        assert stale == [f"stale: {name}: {why}" for name in again if why != "missing"]


def test_a_failed_notebook_leaves_the_others_and_is_run_again(books, executed, checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    argv = ["batch", "a.ipynb", "b.ipynb", "--grid", "share=0.2,0.4", "-p", "study=s", "-o", "out", "--jobs", "2"]
    done = CliRunner().invoke(app, argv)
    assert done.exit_code == 1
    assert "out/index.html: 2 of 4 outputs are complete, 2 failed" in done.output
    kept = "out/a,share=0.4.failed.ipynb"
    shown = f"failed: a,share=0.4: cell 2: ValueError: <no>\n    share = 0.4\n    raise\n  partial notebook: {kept}\n"
    assert shown in done.output and (checkout / kept).is_file()
    page = (checkout / "out/index.html").read_text("utf-8")
    assert "2 of 4 outputs failed; the same command runs only these again." in page and "&lt;no&gt;" in page
    executed.clear()
    assert CliRunner().invoke(app, argv).exit_code == 1
    assert sorted(executed) == ["a,share=0.4", "b,share=0.4"]
    executed.clear()
    done = CliRunner().invoke(app, [*argv[:4], "share=0.2,0.3", *argv[5:]])
    assert done.exit_code == 0 and sorted(executed) == ["a,share=0.3", "b,share=0.3"], done.output
    assert CliRunner().invoke(app, ["batch", "a.ipynb", *argv[3:]]).exit_code == 1
    page = (checkout / "out/index.html").read_text("utf-8")
    assert "1 of 2 outputs failed; the same command runs only this one again." in page
    assert "Executed notebooks; parameters of all notebooks that declare them: <code>study=s</code>" in page
    assert '<a href="values.parquet">' in page


def test_a_success_removes_the_partial_notebook(books, executed, checkout):
    partial = checkout / "out" / "a.failed.ipynb"
    assert batch.run_batch([Job(books[0], {"share": 0.4})], checkout / "out")[0].state == "failed"
    assert partial.is_file()
    assert batch.run_batch([Job(books[0], {"share": 0.3})], checkout / "out")[0].state == "made"
    assert not partial.exists()


def test_values_of_a_grid_are_a_table(books, executed, checkout):
    run(books, checkout / "out", fixed={"sizes": [1, 2]})
    file = checkout / "out" / "values.parquet"
    table = pd.read_parquet(file)
    assert list(table) == ["output", "notebook", "parameter_sizes", "parameter_share", *list(COLUMNS)[2:]]
    assert len(table) == 2 * 2 * 3, "notebooks, shares, values"
    shares = table[table["name"] == "share"]
    assert shares["value"].tolist() == shares["parameter_share"].tolist() == [0.1, 0.2, 0.1, 0.2]
    assert shares["parameter_sizes"].isna().tolist() == [False, False, True, True]
    mean = table[table["name"] == "mean"].iloc[0]
    assert (mean["lo"], mean["unit"], mean["text"]) == (5e-4, "s", "1.00 ms") and pd.isna(mean["hi"])
    for field in pq.read_schema(file):
        assert field.metadata[b"description"].endswith(b".")


def test_the_index_shows_each_output_and_loads_nothing_else(books, executed, checkout):
    run(books, checkout / "out")
    page = (checkout / "out/index.html").read_text("utf-8")
    assert "All 4 outputs are complete." in page and "4 outputs of 2 notebooks" in page
    for job in ("a,share=0.1", "b,share=0.2"):
        target = job.replace(",", "%2C").replace("=", "%3D")
        assert f'href="{target}.ipynb"' in page
        assert f'<img src="{target}.figures/curve.svg" alt="A &quot;line&quot;." loading="lazy">' in page
    assert "&lt;b&gt;yes" in page and "It &lt;rises&gt;." in page and "share=0.1" in page
    assert "<script" not in page and "://" not in page


def test_the_guide_describes_each_column(root):
    page = (root / "handbook/guides/batch.md").read_text("utf-8")
    for name, (_, meaning) in COLUMNS.items():
        assert f"| `{name}` | {meaning} |" in page
