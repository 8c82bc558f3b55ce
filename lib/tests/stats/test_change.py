from itertools import combinations

import numpy as np
import pytest
import simulations
from published_series import NILE

from loadcurve.errors import ValueRuleError
from loadcurve.stats.change import MIN_SEGMENT, _segment, summarise_segments


def test_the_nile_falls_after_1898():
    # R, strucchange::breakpoints(Nile ~ 1): one break, after observation 28 (1898), means 1097.75 and 849.97.
    table = summarise_segments(NILE)
    assert table["first"].tolist() == [0, 28]
    assert table["mean"].tolist() == pytest.approx([1097.75, 849.9722], rel=1e-6)
    assert table["step"].iloc[1] == pytest.approx(849.9722 - 1097.75, rel=1e-6)
    assert table["samples"].sum() == len(NILE) == 100


def brute_force(values, penalty):
    """Every partition into segments of at least MIN_SEGMENT."""
    n, best = len(values), (np.inf, ())
    for count in range(n // MIN_SEGMENT):
        for starts in combinations(range(MIN_SEGMENT, n - MIN_SEGMENT + 1), count):
            ends = [0, *starts, n]
            if min(np.diff(ends)) >= MIN_SEGMENT:
                parts = np.split(values, starts)
                cost = sum(((part - part.mean()) ** 2).sum() for part in parts) + penalty * count
                best = min(best, (cost, starts))
    return list(best[1])


@pytest.mark.parametrize("seed", range(20))
def test_the_search_is_exact(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, 22) + 2 * np.repeat(rng.normal(0, 1, 2), 11)
    assert _segment(values, 3.0) == brute_force(values, 3.0)


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_two_jumps_are_found(rho):
    values = simulations.ar1(180, rho, np.random.default_rng(3)) + np.repeat([0.0, 50.0, -20.0], 60)
    table = summarise_segments(values)
    assert table["first"].tolist() == pytest.approx([0, 60, 120], abs=1)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rho", "most"), [(60, 0.0, 0.05), (60, 0.5, 0.06), (200, 0.5, 0.06), (200, 0.8, 0.10)])
def test_noise_is_seldom_cut(n, rho, most):
    rng = np.random.default_rng(n)
    assert np.mean([len(summarise_segments(simulations.ar1(n, rho, rng))) > 1 for _ in range(150)]) <= most


@pytest.mark.parametrize("length", [1, 4])
def test_a_spike_is_no_level(length):
    values = np.random.default_rng(5).normal(100, 2, 120)
    values[60 : 60 + length] += 80
    assert len(summarise_segments(values)) == 1
    values[60:68] = 180
    assert summarise_segments(values)["first"].tolist() == pytest.approx([0, 60, 68], abs=1)


def test_rounded_values_and_no_noise_at_all():
    rng = np.random.default_rng(3)
    rounded = np.round(np.r_[rng.normal(5, 0.3, 40), rng.normal(7, 0.3, 60)])
    assert summarise_segments(rounded)["first"].tolist() == [0, 40]
    assert summarise_segments([5] * 10 + [6] * 20)["first"].tolist() == [0, 10]
    assert len(summarise_segments([0.1] * 30)) == 1
    assert len(summarise_segments([0.0] * 30)) == 1


def test_unit_does_not_matter():
    assert summarise_segments(np.array(NILE) * 1e-9)["first"].tolist() == [0, 28]
    assert summarise_segments(np.array(NILE) + 1e5)["first"].tolist() == [0, 28]


def test_a_short_series_is_refused():
    with pytest.raises(ValueRuleError, match="values must be at least 10 samples"):
        summarise_segments([1.0] * 9)
