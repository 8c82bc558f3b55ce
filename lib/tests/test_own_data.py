"""What somebody brings: runs without a variant, without a record, outside a checkout, and several notebooks at once."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT

import loadcurve
from loadcurve import batch, publish, read_curves
from loadcurve.audit import audit
from loadcurve.files import paths
from loadcurve.tables.curves import UNNAMED

pytestmark = pytest.mark.slow

RAW = ROOT / "data" / "published" / "rt_qps_threads" / "raw"


@pytest.fixture
def by_hand(tmp_path):
    """Three reports of wrk, each in a folder of its own; no run.json, no variant."""
    for connections in ("c0001", "c8000", "c30000"):
        folder = tmp_path / "mine" / connections
        folder.mkdir(parents=True)
        shutil.copy(RAW / f"{connections}.wrk.txt", folder / "load.wrk.txt")
    return tmp_path / "mine"


@pytest.fixture
def study(by_hand):
    (by_hand / "study.yml").write_text("study: mine\nquestion: What did we measure?\n", "utf-8")
    return by_hand


def test_the_audit_takes_what_read_gives(by_hand):
    """8000 and 30000 connections asked for, about a thousand in flight (X·R of the printed numbers): see the report."""
    findings = audit(loadcurve.read(by_hand).tables)
    found = findings[findings["rule"] == "effective-concurrency"].sort_values("run_id")
    assert found["study"].isna().all() and found["run_id"].tolist() == ["c0001", "c30000", "c8000"]
    assert [source.rpartition("/")[2] for source in found["source"]] == ["load.wrk.txt"] * 3
    assert dict(zip(found["expected"], found["severity"], strict=True)) == {1: "ok", 30000: "error", 8000: "error"}


def test_the_template_draws_runs_that_have_no_variant(by_hand, tmp_path, monkeypatch):
    """A folder as somebody brought it, without study.yml."""
    monkeypatch.setenv("LOADCURVE_ROOT", str(tmp_path))
    (tmp_path / "data" / "studies").mkdir(parents=True)
    assert read_curves(by_hand)["variant"].unique().tolist() == [UNNAMED]
    output = tmp_path / "out.ipynb"
    batch.run_notebook(ROOT / "notebooks" / "00_template.ipynb", output, {"study": str(by_hand)})
    drawing = (tmp_path / "out.figures" / "throughput.svg").read_text("utf-8")
    assert UNNAMED in drawing
    drawn = pd.read_csv(tmp_path / "out.figures" / "throughput.csv")
    assert sorted(drawn["connections"]) == [1, 8000, 30000]
    assert drawn.set_index("connections")["throughput_rps"][8000] == 20260.6  # as printed


def test_folders_are_read_without_a_checkout(study, tmp_path):
    """A study and the same folder without study.yml, read by an installed package, with no data/studies above them."""
    installed = tmp_path / "site-packages"
    shutil.copytree(ROOT / "lib" / "loadcurve", installed / "loadcurve", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(study, tmp_path / "own", ignore=shutil.ignore_patterns("study.yml"))
    code = "import json, loadcurve; r = loadcurve.read('mine'); runs = r.tables['runs']\n"
    code += (
        "own = loadcurve.read_curves('own')\nassert own['throughput_rps'].tolist() == runs['throughput_rps'].tolist()\n"
    )
    code += "print(json.dumps([loadcurve.__file__, sorted(runs['throughput_rps']), list(r.warnings)]))"
    packages = str(Path(pd.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), packages])}
    environment.pop("LOADCURVE_ROOT", None)
    said = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    where, rates, warnings = json.loads(said.stdout)
    assert where.startswith(str(installed))
    assert len(rates) == 3 and 20260.6 in rates
    assert not [one for one in warnings if "checkout" in one or "not read" in one]


def _publish(number):
    publish.begin("99_test")
    for place in range(20):
        publish.values({f"n{place}": float(number)})
    publish.values(who=str(number))
    return str(paths.build() / "draft" / "99_test" / str(os.getpid()) / "values.json")


def test_notebooks_side_by_side_do_not_mix_their_values(checkout, monkeypatch):
    """Eight kernels with one notebook, by papermill or by hand: each has its own draft."""
    monkeypatch.delenv("LOADCURVE_PUBLISH", raising=False)
    with multiprocessing.get_context("fork").Pool(8, maxtasksperchild=1) as pool:
        written = pool.map(_publish, range(8), chunksize=1)
    assert len(set(written)) == 8
    for number, path in enumerate(written):
        values = {name: one["text"] for name, one in json.loads(Path(path).read_text("utf-8")).items()}
        assert values == {f"n{place}": f"{number}" for place in range(20)} | {"who": str(number)}
