"""Settings of one study against each other, and the answers of its searches."""

import json

import pandas as pd
import pytest

from loadcurve.analysis import changes_of_settings, label_settings
from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.files import paths
from loadcurve.ingest.answers import read_answers


def runs():
    """Two blocks of which the second is twice as fast, whatever the setting."""
    rows = [("log", 1, 80.0), ("plain", 1, 100.0), ("plain", 2, 200.0), ("log", 2, 160.0)]
    return pd.DataFrame(rows, columns=["variant", "repeat", "throughput_rps"])


def test_a_change_is_that_within_blocks():
    change = changes_of_settings(runs(), {"logged": "log plain", "back": "plain log"})
    assert (change["logged"].value, change["logged"].lo, change["logged"].hi) == pytest.approx((-0.2, -0.2, -0.2))
    assert change["back"].value == pytest.approx(0.25)


def test_settings_have_the_order_of_their_labels():
    assert label_settings(runs(), {"plain": "off", "log": "on"})["setting"].tolist() == ["off", "off", "on", "on"]


def test_a_setting_that_no_run_has_is_named():
    with pytest.raises(ValueRuleError, match="settings of the runs: log, plain, got .*gzip"):
        label_settings(runs(), {"gzip": "packed"})
    with pytest.raises(ValueRuleError, match="settings of the runs: log, plain, got .*gzip"):
        changes_of_settings(runs(), {"packed": "gzip plain"})


def test_answers_are_read_with_their_ends(tmp_path, monkeypatch):
    study = tmp_path / "s"
    study.mkdir()
    (study / "study.yml").write_text("study: s\nquestion: Which?\n", "utf-8")
    with pytest.raises(LoadcurveError, match="no answers; launch a study with search or stop to its end"):
        read_answers(study)
    one = {"of": "wait", "kind": "saturating_size", "factor": "f", "quantity": "frame_bytes_per_s", "lower": None,
           "upper": 2200, "value": 1.2e7, "reached": True, "runs": 9, "load_s": 12, "warnings": []}  # fmt: skip
    (study / "answers.json").write_text(json.dumps([one]), "utf-8")
    monkeypatch.setenv("LOADCURVE_READS", str(ledger := tmp_path / "reads"))
    found = read_answers(study).loc["wait"]
    assert found["upper"] == 2200 and pd.isna(found["lower"])
    assert ledger.read_text("utf-8") == f"{paths.shown(study / 'answers.json')}\0"
