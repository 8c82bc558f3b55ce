"""The audit finds planted faults and names their causes, and raises no false alarm on clean runs."""

import pandas as pd
import pytest

from loadcurve.audit import AuditSettings, all_rules, audit
from loadcurve.audit.atlas import read_faults, read_recorded, summarise_shown
from loadcurve.audit.run_tables import tables_of
from validation.faults import MUTATIONS
from validation.faults.mutation import RUN, rows_where
from validation.faults.recall import cases_of, clean_tables

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clean_run():
    """Tables of one clean run, and what the audit finds in them."""
    tables = clean_tables()
    one = tables_of(tables["runs"][rows_where(tables["runs"], {"run_id": RUN})], tables)
    return one, audit(one, AuditSettings())


@pytest.fixture(scope="module")
def published(root):
    """Tables of the notebook that plants every fault: reading and auditing all recordings takes a minute."""
    folder = root / "build/figures/21_planted_faults"
    return {name: pd.read_csv(folder / f"{name}.table.csv") for name in ("recall", "clean", "not_recorded")}


@pytest.mark.site
def test_at_least_95_percent_of_30_planted_faults_are_found_with_their_cause(published):
    recall = published["recall"]
    assert len(recall) >= 30
    assert not recall.duplicated(["kind", "fault"]).any()
    missed = recall[recall["verdict"] != "found"]
    assert len(missed) <= 0.05 * len(recall), missed.to_string()


def test_every_fault_shows_numbers_that_it_has(clean_run):
    """A `shows` that names rows which a recording does not have would leave a page without its figure."""
    shown = {name: (fault.shows, read_recorded(name).tables) for name, fault in read_faults().items() if fault.shows}
    whole = clean_tables()
    sweep = tables_of(whole["runs"][whole["runs"]["variant"] == "delay"], whole)
    for one in MUTATIONS:
        if one.fault.shows:
            shown[one.name] = one.fault.shows, one.change(sweep if one.sweep else clean_run[0])
    assert shown
    for name, (shows, tables) in shown.items():
        assert summarise_shown(shows, tables)["value"].notna().any(), name


@pytest.mark.site
def test_clean_runs_raise_no_error(published):
    alarms = published["clean"]
    assert alarms["errors"].sum() == 0, alarms.to_string()
    assert alarms["runs"].sum() >= 200


@pytest.mark.site
def test_every_rule_has_a_recorded_fault_or_a_reason_why_the_laboratory_cannot_make_it(published):
    missing = published["not_recorded"]
    assert missing.loc[missing["reason"].isna(), "rule"].tolist() == []


@pytest.mark.parametrize("rule", all_rules())
def test_a_rule_finds_its_faults_with_their_cause_and_none_in_a_clean_run(rule, clean_run):
    """A rule without a fault needs one in validation/faults, or a recorded one in data/atlas."""
    cases = list(cases_of(rule))
    assert cases
    assert {case.name: case.verdict for case in cases if case.verdict != "found"} == {}
    findings = clean_run[1].query("rule == @rule")
    assert set(findings["severity"]) <= {"ok", "unchecked"}, findings.to_string()


def test_mutations_have_different_names():
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)


@pytest.mark.parametrize("name", [name for name, rule in all_rules().items() if rule.needs])
def test_a_rule_without_its_data_says_what_it_needs_or_does_not_apply(name, clean_run):
    rule = all_rules()[name]
    for need in rule.needs:
        tables = dict(clean_run[0])
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


def test_a_mutation_leaves_the_clean_run_as_it_is(clean_run):
    tables, _ = clean_run
    before = {name: frame.copy() for name, frame in tables.items()}
    for mutation in MUTATIONS:
        if not mutation.sweep:
            mutation.change(tables)
    assert all(frame.equals(before[name]) for name, frame in tables.items())
