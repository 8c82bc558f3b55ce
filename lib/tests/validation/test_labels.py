"""The labels by which the audit is scored: complete, consistent, and split by a hash that nobody chooses."""

import hashlib

import pytest

from loadcurve import read_published
from loadcurve.audit import all_rules
from loadcurve.study.archive import opened
from validation import labels as scored

WORST = {"error": "do not use", "warning": "with care"}


@pytest.fixture(scope="module")
def labels():
    return read_published("audit_labels", "labels")


def test_each_report_is_there_in_the_half_of_its_hash_with_one_verdict(root, labels):
    of_report = labels.drop_duplicates("report")
    assert len(of_report) >= 200 and of_report["tool"].value_counts(normalize=True).max() <= 0.4
    for row in of_report.itertuples():
        assert opened(root / row.report).is_file(), row.report
        assert row.half == ("unseen" if hashlib.sha256(row.report.encode()).digest()[0] % 2 else "tuned"), row.report
    assert (labels["rule"] == "verdict").groupby(labels["report"]).sum().eq(1).all()
    assert not labels.duplicated(["report", "rule"]).any()


def test_each_label_names_rules_and_has_a_severity_and_a_reason(labels):
    own = labels[~labels["rule"].isin(["verdict", "none"])]
    assert set(own["rule"].str.split("|").explode()) <= set(all_rules())
    assert set(own["label"]) == {"raise", "arguable"} and set(own["severity"]) == {"error", "warning"}
    assert (own["reason"] != "").all()


def test_a_verdict_follows_from_the_worst_finding_or_has_a_reason(labels):
    raised = labels[labels["label"] == "raise"].sort_values("severity").drop_duplicates("report")
    worst = raised.set_index("report")["severity"].map(WORST)
    verdicts = labels[(labels["rule"] == "verdict") & (labels["reason"] == "")].set_index("report")["label"]
    assert verdicts.equals(worst.reindex(verdicts.index).fillna("usable"))


def test_every_recorded_report_is_labelled_and_has_its_command(root, labels):
    folder = "data/published/audit_labels/raw"
    files = {path.name for path in (root / folder).iterdir()}
    assert files == set(read_published("audit_labels", "recordings")["file"])
    assert {f"{folder}/{name}" for name in files} <= set(labels["report"])


def test_one_finding_under_several_names_counts_once(labels, monkeypatch):
    """Today's audit reports refused connections of h2load as an unfinished run, and those of wrk as failed requests."""
    some = labels[labels["report"].str.contains("h2load/refused|wrk/readerr|ab/dots")]
    monkeypatch.setattr(scored, "read_published", lambda *_: some)
    rates = scored.summarise_error_rates(scored.compare_with_labels()).set_index("rule")
    assert rates.loc["all rules", ["right", "wrong", "missed"]].tolist() == [3, 0, 0]
