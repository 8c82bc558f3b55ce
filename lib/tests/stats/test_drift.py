import numpy as np
import pytest
import simulations
from published_series import FERRARI

from loadcurve.errors import ValueRuleError
from loadcurve.stats.drift import summarise_drift


def test_a_line_without_noise():
    row = summarise_drift(15 - 0.5 * np.arange(21)).iloc[0]
    assert row["statistic"] == -1
    assert (row["value"], row["lo"], row["hi"]) == pytest.approx((-10, -10, -10))
    assert row["verdict"].startswith("drifts: -10 (-100.0 % of the median)")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rho"), [(60, 0.0), (120, 0.5), (300, 0.5), (600, 0.8)])
def test_the_interval_of_a_drift_covers_93_to_97_percent(n, rho):
    found = simulations.coverage(lambda rng: simulations.drift_of(simulations.ar1(n, rho, rng)), 300, 11)
    assert 0.91 <= found["coverage"] <= 0.99  # 300 runs: ± 2 points around the claim


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rho", "most"), [(60, 0.0, 0.08), (300, 0.5, 0.08), (300, 0.8, 0.08), (30, 0.8, 0.15)])
def test_false_alarms(n, rho, most):
    rng = np.random.default_rng(n)
    rows = [summarise_drift(simulations.ar1(n, rho, rng)).iloc[0] for _ in range(200)]
    assert np.mean([row["p_value"] < 0.05 for row in rows]) <= most
    if most > 0.1:  # where it errs more often, it says so
        assert np.mean([bool(row["warnings"]) for row in rows]) > 0.8


def test_a_drift_of_two_standard_deviations_is_seen():
    rng = np.random.default_rng(12)
    rows = [summarise_drift(simulations.ar1(300, 0.5, rng) + np.linspace(0, 20, 300)).iloc[0] for _ in range(50)]
    assert np.mean([row["p_value"] < 0.05 for row in rows]) > 0.9


def test_ferraris_times_are_merged_before_they_are_tested():
    row = summarise_drift(FERRARI).iloc[0]
    assert "merged samples, fewer than 30" in row["warnings"]


def test_a_constant_series_and_a_long_one():
    assert summarise_drift([3.0] * 30)["verdict"].item() == "no drift: all samples are equal"
    rng = np.random.default_rng(1)
    long = rng.normal(5, 1, 20_000) + np.linspace(0, 1, 20_000)
    assert summarise_drift(long)["value"].item() == pytest.approx(1, abs=0.1)


def test_what_stays_autocorrelated_is_not_tested():
    row = summarise_drift(50 + 10 * np.cos(2 * np.pi * np.arange(24) / 24)).iloc[0]
    assert row["verdict"] == "not tested"
    assert np.isnan(row["p_value"])
    assert row["warnings"] == "residuals stay autocorrelated: too short a run"


def test_a_short_series_is_refused():
    with pytest.raises(ValueRuleError, match="values must be at least 20 samples"):
        summarise_drift([1.0] * 19)
