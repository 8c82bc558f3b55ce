"""Intervals of one quantile: published tables and coverage."""

import math

import numpy as np
import pytest
from refused import refuses

from loadcurve.stats import find_quantile


# R. Jain 1991 and every table of the sign test: ranks of the 95 % interval of a median.
@pytest.mark.parametrize(("n", "lower", "upper"), [(6, 1, 6), (10, 2, 9), (15, 4, 12), (20, 6, 15), (30, 10, 21)])
def test_ranks_of_the_median_are_those_of_the_sign_test(n, lower, upper):
    found = find_quantile(np.arange(1, n + 1), 0.5)
    assert (found.lo, found.hi) == (lower, upper)
    assert found.method.startswith(f"order statistics {lower} and {upper} of {n}")


def test_the_level_that_the_ends_have():
    # P(2 <= B < 9) for B of 10 and one half: 1 - 2 (1 + 10) / 1024.
    assert find_quantile(range(10), 0.5).method.endswith(f"interval of {1 - 22 / 1024:.1%}")


@pytest.mark.parametrize(("n", "q"), [(5, 0.5), (367, 0.99), (367, 0.01)])
def test_too_few_values_have_an_open_end(n, q):
    """1 - 0.5^n >= 0.975 from 6 values on, 1 - 0.99^n from 368 on."""
    found = find_quantile(range(n), q)
    assert np.isinf([found.lo, found.hi]).any()
    assert f"it takes {n + 1} values" in found.warnings[0]
    assert np.isfinite([(more := find_quantile(range(n + 1), q)).lo, more.hi]).all() and not more.warnings


@pytest.mark.slow
@pytest.mark.parametrize(("n", "q"), [(10, 0.5), (60, 0.9), (1000, 0.99)])
def test_it_covers_its_level_whatever_the_distribution(n, q):
    """600 studies have a standard error of 0.9 points; order statistics cover a little more than they claim."""
    rng, truth = np.random.default_rng(n), (1 - q) ** (-1 / 1.5)  # of Pareto values, α = 1.5
    found = [find_quantile(1 + rng.pareto(1.5, n), q) for _ in range(600)]
    assert 0.93 <= np.mean([one.lo <= truth <= one.hi for one in found]) <= 0.995


test_rules = refuses(
    (lambda: find_quantile([], 0.5), "values must be at least 1 samples"),
    (lambda: find_quantile([1, math.nan], 0.5), "values must be without gaps"),
    (lambda: find_quantile([1], 99), "quantile must be 0 < quantile < 1"),
    (lambda: find_quantile([1], 0.5, 95), "level must be 0 < level < 1"),
)
