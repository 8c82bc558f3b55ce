"""Measured throughput against N/R, with numbers that divide by hand."""

import math

import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.audit import summarise_deviation
from loadcurve.errors import ValueRuleError


def table_of_runs(*rows):
    frame = pd.DataFrame(rows, columns=["run_id", "connections", "throughput_rps", "latency_mean_s"])
    return tables.check("runs", frame.assign(study="s", status="finished", variant="delay"))


def deviations(found, law):
    return found.loc[found["law"] == law, "deviation_ratio"].tolist()


def test_deviation_with_the_response_time_of_the_run_and_with_the_least():
    # N/R: 1/0.01 = 100, 4/0.016 = 250.  N/R_min: 1/0.01 = 100, 4/0.01 = 400.
    found = summarise_deviation(table_of_runs(("a", 1, 98.0, 0.010), ("b", 4, 200.0, 0.016)), 0.010)
    assert list(found.columns) == ["study", "run_id", "variant", "connections", "law", "deviation_ratio"]
    assert deviations(found, "N/R") == pytest.approx([-0.02, -0.20])
    assert deviations(found, "N/R_min") == pytest.approx([-0.02, -0.50])
    assert found["run_id"].tolist() == ["a", "b", "a", "b"]
    assert found["connections"].tolist() == [1, 4, 1, 4]
    assert set(found["variant"]) == {"delay"}


def test_more_than_the_formula_says_is_above_0():
    assert deviations(summarise_deviation(table_of_runs(("a", 2, 300.0, 0.010)), 0.010), "N/R") == pytest.approx([0.5])


@pytest.mark.parametrize(
    "incomplete", [(pd.NA, 100.0, 0.01), (1, math.nan, 0.01), (1, 100.0, math.nan), (pd.NA, math.nan, math.nan)]
)
def test_a_run_that_lacks_a_number_is_left_out(incomplete):
    found = summarise_deviation(table_of_runs(("a", *incomplete), ("b", 1, 100.0, 0.010)), 0.010)
    assert found["run_id"].tolist() == ["b", "b"]
    assert found["deviation_ratio"].tolist() == pytest.approx([0, 0])


def test_every_repeat_keeps_its_own_rows():
    found = summarise_deviation(table_of_runs(("a", 1, 90.0, 0.010), ("b", 1, 110.0, 0.010)), 0.010)
    assert deviations(found, "N/R_min") == pytest.approx([-0.1, 0.1])


def test_no_runs_no_rows():
    assert len(summarise_deviation(tables.empty("runs"), 0.010)) == 0


@pytest.mark.parametrize("latency_min_s", [0, -0.01])
def test_the_least_response_time_is_above_0(latency_min_s):
    with pytest.raises(ValueRuleError, match="latency_s must be > 0"):
        summarise_deviation(table_of_runs(("a", 1, 100.0, 0.010)), latency_min_s)
