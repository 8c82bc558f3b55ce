import numpy as np
import pytest
import simulations
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.stats.oscillation import fisher_g_p_value, summarise_oscillation


@pytest.mark.parametrize(("ordinates", "g"), [(5, 0.68377), (10, 0.44495), (20, 0.27040), (30, 0.19784), (50, 0.13135)])
def test_fishers_table(ordinates, g):
    # R. A. Fisher 1929: the 5 % points of g, rounded there to five digits.
    assert fisher_g_p_value(g, ordinates) == pytest.approx(0.05, abs=2e-4)


@pytest.mark.parametrize(("ordinates", "g"), [(9, 0.3), (40, 0.12), (40, 0.07), (300, 0.02), (300, 0.03)])
def test_against_simulated_shares(ordinates, g):
    # Periodogram ordinates of white noise are exponential: the highest share of the sum.
    drawn = np.random.default_rng(1).exponential(size=(20_000, ordinates))
    simulated = np.mean(drawn.max(axis=1) / drawn.sum(axis=1) >= g)
    assert fisher_g_p_value(g, ordinates) == pytest.approx(simulated, abs=0.015)


@given(st.integers(1, 3000), st.floats(0.001, 0.99))
def test_a_probability_that_falls_with_g(ordinates, g):
    p = fisher_g_p_value(g, ordinates)
    assert 0 <= p <= 1
    assert fisher_g_p_value(min(g * 1.1, 0.999), ordinates) <= p + 1e-7


@pytest.mark.parametrize("period", [3.0, 10.0, 30.0])
@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_a_period_is_found(period, rho):
    time = np.arange(240)
    values = simulations.ar1(240, rho, np.random.default_rng(2)) + 12 * np.sin(2 * np.pi * time / period) + 0.05 * time
    row = summarise_oscillation(values, interval_s=0.5).iloc[0]
    assert row["p_value"] < 0.001
    assert row["lo"] <= period * 0.5 <= row["hi"]
    assert row["verdict"].startswith("oscillates with a period of ")


@pytest.mark.parametrize(("n", "rho"), [(30, 0.0), (60, 0.5), (300, 0.8)])
def test_false_alarms(n, rho):
    rng = np.random.default_rng(n)
    rows = [summarise_oscillation(simulations.ar1(n, rho, rng))["p_value"].item() < 0.05 for _ in range(200)]
    assert np.mean(rows) <= 0.09


def test_a_straight_line_does_not_oscillate():
    for values in (np.arange(40) * 0.1, np.full(40, 0.1)):
        assert summarise_oscillation(values)["verdict"].item() == "no oscillation: a straight line"


@pytest.mark.parametrize("n", [59, 60])
def test_an_alternation_has_a_period_of_two(n):
    row = summarise_oscillation(100 + (-1.0) ** np.arange(n)).iloc[0]
    assert row["value"] == pytest.approx(2, abs=0.1)
    assert row["p_value"] < 1e-6


def test_without_a_peak_it_says_so():
    verdict = summarise_oscillation(np.random.default_rng(4).normal(0, 1, 60))["verdict"].item()
    assert verdict.startswith("no oscillation seen; the highest peak is at a period of ")


test_rules = refuses(
    (lambda: summarise_oscillation([1.0] * 19), "values must be at least 20 samples"),
    (lambda: summarise_oscillation([1.0] * 30, interval_s=0), "interval_s must be > 0, got 0"),
    (lambda: fisher_g_p_value(1.2, 5), "g must be 0 < g < 1, got 1.2"),
)
