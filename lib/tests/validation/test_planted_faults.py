"""The audit finds planted faults and names their causes, and raises no false alarm on clean runs."""

from functools import cache

import pytest

from loadcurve.audit import AuditSettings, all_rules, audit
from loadcurve.audit.atlas import read_faults
from loadcurve.audit.of_runs import tables_of
from loadcurve.audit.shown import summarise_shown
from validation.faults import (
    MUTATIONS,
    mutated_cases,
    recorded_cases,
    summarise_false_alarms,
    summarise_not_recorded,
    summarise_recall,
)
from validation.faults.mutation import RUN, rows_where, with_text
from validation.faults.recall import clean_tables

pytestmark = pytest.mark.slow


@cache
def cases():
    return [*recorded_cases(), *mutated_cases()]


@cache
def clean_run():
    """Tables of one clean run, and what the audit finds in them."""
    tables = clean_tables()
    one = tables_of(tables["runs"][rows_where(tables["runs"], {"run_id": RUN})], tables)
    return one, audit(one, AuditSettings())


def test_at_least_95_percent_of_30_planted_faults_are_found_with_their_cause():
    recall = summarise_recall(cases())
    assert len(recall) >= 30
    assert not recall.duplicated(["kind", "name"]).any()
    missed = recall[recall["verdict"] != "found"]
    assert len(missed) <= 0.05 * len(recall), missed.to_string()


def test_every_fault_shows_numbers_that_it_has():
    """A `shows` that names rows which a recording does not have would leave a page without its figure."""
    for case in cases():
        if case.fault.shows:
            shown = summarise_shown(case.fault.shows, case.tables)
            assert shown["value"].notna().any(), case.name


def test_clean_runs_raise_no_error():
    alarms = summarise_false_alarms()
    assert alarms["errors"].sum() == 0, alarms.to_string()
    assert "clean" not in read_faults() or alarms["runs"].sum() >= 200


def test_every_rule_has_a_recorded_fault_or_a_reason_why_the_laboratory_cannot_make_it():
    missing = summarise_not_recorded(cases())
    assert missing.loc[missing["reason"] == "", "rule"].tolist() == []


@pytest.mark.parametrize("name", all_rules())
def test_a_rule_fires_where_its_fault_is_planted_and_is_silent_on_the_clean_run(name):
    planted = [case for case in cases() if name in case.fault.finds and case.verdict == "found"]
    assert planted, f"{name}: plant a fault in validation/faults, or record one in data/atlas"
    _, findings = clean_run()
    silent = findings[findings["rule"] == name]
    assert set(silent["severity"]) <= {"ok", "unchecked"}, silent["evidence"].tolist()


@pytest.mark.parametrize("name", [name for name, rule in all_rules().items() if rule.needs])
def test_a_rule_without_its_data_says_what_it_needs_or_does_not_apply(name):
    rule = all_rules()[name]
    for need in rule.needs:
        tables = dict(clean_run()[0])
        for one in (need, *need.alternatives):
            if one.table == "runs":
                tables["runs"] = tables["runs"].drop(columns=list(one.columns), errors="ignore")
            else:
                tables.pop(one.table, None)
        findings = audit(tables, AuditSettings(select=(name,)))
        assert set(findings["severity"]) <= {"unchecked"}
        if need.applies and all(other.applies for other in rule.needs):
            assert need.what in findings["evidence"].iloc[0]
            assert need.record in findings["advice"].iloc[0]


def test_a_mutation_leaves_the_clean_run_as_it_is():
    tables, _ = clean_run()
    before = {name: frame.copy() for name, frame in tables.items()}
    for mutation in MUTATIONS:
        if not mutation.sweep:
            mutation.change(tables)
    assert all(frame.equals(before[name]) for name, frame in tables.items())


def test_a_replacement_that_finds_nothing_is_refused():
    with pytest.raises(Exception, match="text must contain 'Requests/day'"):
        with_text(("Requests/day", "Requests/sec"))(clean_run()[0])
