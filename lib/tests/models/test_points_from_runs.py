"""Points of a curve from its runs: means, the scatter that all levels share, and the weights of a fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import fit_usl, summarise_points, usl

LEVELS = 2.0 ** np.arange(10)


def runs(repeats, sd, seed=1):
    """Runs of a law with γ = 100, α = 0.05, β = 0.0002, each with its level's standard deviation."""
    rng, truth = np.random.default_rng(seed), usl(LEVELS, 100, 0.05, 2e-4)
    return np.repeat(LEVELS, repeats), (
        truth[:, None] + rng.standard_normal((10, repeats)) * sd(truth)[:, None]
    ).ravel()


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_the_scatter_that_made_the_runs(power):
    number, throughput = runs(60, lambda x: 0.1 * x**power)
    found = summarise_points(number, throughput)
    assert found["scatter_rps"].to_numpy() == pytest.approx(0.1 * found["throughput_rps"].to_numpy() ** power, rel=0.2)


def test_weight_is_one_over_the_variance_of_the_mean():
    number, throughput = runs(5, lambda x: 0.02 * x)
    found = summarise_points(number[3:], throughput[3:])  # the first level has two runs
    product = found["weight"] * found["scatter_rps"] ** 2 / found["repeats"]
    assert product.to_numpy() == pytest.approx(product[0])
    assert found["repeats"].tolist() == [2] + [5] * 9
    assert found["weight"].mean() == pytest.approx(1)


@pytest.mark.slow
def test_weights_make_the_fit_more_precise_where_the_scatter_grows():
    """Gauss and Markov: weights of one over the variance have the least error; here on γ, over 200 measurements."""
    misses = []
    for seed in range(200):
        point = summarise_points(*runs(5, lambda x: 0.05 * x, seed))
        axes = point["connections"], point["throughput_rps"]
        fits = fit_usl(*axes, weights="equal"), fit_usl(*axes, weights=point["weight"])
        misses.append([fit.parameters["unit_throughput_rps"].value - 100 for fit in fits])
    plain, weighted = np.sqrt(np.mean(np.square(misses), axis=0))
    assert weighted < 0.7 * plain


@given(some.floats(1e-6, 1e6))
def test_the_unit_of_throughput_does_not_matter(unit):
    number, throughput = runs(3, lambda x: 0.1 * x**0.7)
    one, other = (summarise_points(number, k * throughput) for k in (1, unit))
    assert other["weight"].to_numpy() == pytest.approx(one["weight"].to_numpy(), rel=1e-3)
    assert other["scatter_rps"].to_numpy() == pytest.approx(unit * one["scatter_rps"].to_numpy(), rel=1e-3)


def test_without_repeats_or_without_scatter_runs_scatter_in_proportion():
    """Weights go as repeats / X²: 16, 4 and 1 for X = 10, 20 and 40; 8 and 1 where the lower level has two."""
    single = summarise_points([1, 2, 4], [10, 20, 40])
    assert single["weight"].to_numpy() == pytest.approx(np.array([16, 4, 1]) / 7) and single["scatter_rps"].isna().all()
    exact = summarise_points([1, 1, 2], [10, 10, 20])
    assert exact["scatter_rps"].tolist() == [0, 0] and exact["weight"].tolist() == pytest.approx([16 / 9, 2 / 9])


def test_a_run_without_a_value_is_left_out():
    assert summarise_points([1, 1, 2], [10, np.nan, 20])["repeats"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("number", "throughput", "message"),
    [
        ([1, 2], [10], "throughput_rps must be of the shape of connections"),
        ([1], [np.nan], "throughput_rps must be known for at least one run"),
        ([0], [10], "connections must be > 0"),
        ([1], [0], "throughput_rps must be"),
    ],
)
def test_what_is_refused(number, throughput, message):
    with pytest.raises(ValueRuleError, match=message):
        summarise_points(number, throughput)
