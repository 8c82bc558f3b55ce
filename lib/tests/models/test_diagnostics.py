"""What a fit leaves over: the pattern of its residuals, and each level told by the others."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from loadcurve.models.scaling import LAWS, fit_law, fit_usl
from loadcurve.models.scaling.diagnostics import sign_runs

SDM91 = [1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]


def counted(above, below, runs):
    """Share of all orders of `above` plus and `below` minus signs that have no more than `runs` runs, one by one."""
    size, few = above + below, 0
    for places in itertools.combinations(range(size), above):
        signs = [place in places for place in range(size)]
        few += 1 + sum(a != b for a, b in itertools.pairwise(signs)) <= runs
    return few / math.comb(size, above)


@given(some.lists(some.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=11))
def test_probability_of_so_few_runs_as_counted_one_by_one(signs):
    kept = [sign for sign in signs if sign]
    runs, probability = sign_runs(np.array(signs))
    assert runs == sum(1 for _ in itertools.groupby(kept))
    above, below = kept.count(1.0), kept.count(-1.0)
    assert probability == pytest.approx(counted(above, below, runs) if above and below else 1.0)


def test_swed_and_eisenhart():
    """F. S. Swed, C. Eisenhart, Annals of Mathematical Statistics 14, 1943, table II, at 5 %."""
    for size, limit in ((10, 6), (5, 3)):
        assert counted_by_us(size, limit) <= 0.05 < counted_by_us(size, limit + 1)


def counted_by_us(size, runs):
    """Probability of no more than `runs` runs of `size` plus and `size` minus signs."""
    lengths = [1] * (runs - 2) + [size - (runs - 1) // 2, size - (runs - 2) // 2]
    signs = [(-1) ** i for i, length in enumerate(lengths) for _ in range(length)]
    return sign_runs(np.array(signs))[1]


def test_a_law_of_another_shape_leaves_a_pattern():
    number = np.arange(1, 13)
    assert any("change sign" in sentence for sentence in fit_law(LAWS["linear"], number, np.sqrt(number)).warnings)
    plateau = fit_usl(
        2.0 ** np.arange(11), [8273, 16590, 27322, 27314, 27369, 27352, 27308, 27309, 27379, 27347, 27412]
    )
    assert not any(
        "change sign" in s for s in fit_law(LAWS["roofline"], plateau.connections, plateau.throughput_rps).warnings
    )


@pytest.mark.slow
def test_a_law_that_made_the_points_seldom_leaves_one():
    number, rng = np.arange(1.0, 21), np.random.default_rng(3)
    law = LAWS["amdahl"]
    truth = law.function(number, 100, 0.05)
    fits = [fit_law(law, number, truth * (1 + 0.02 * rng.standard_normal(20))) for _ in range(300)]
    assert sum(any("change sign" in s for s in fit.warnings) for fit in fits) <= 0.05 * 300


def test_each_level_told_by_the_others():
    fit = fit_usl(*SDM91, weights="equal")
    left = np.arange(7) != 3
    without = fit_usl(fit.connections[left], fit.throughput_rps[left], weights="equal")
    assert fit.leave_one_out[3] == pytest.approx(without.predict(72)[()] / 1853.2 - 1)
    assert np.isnan(fit_usl([1, 2, 4], [10, 18, 30]).leave_one_out).all()


def test_table_of_residuals():
    """R's usl 3.0.3, tests/summary.Rout.save: fitted values of specsdm91."""
    table = fit_usl(*SDM91, weights="equal").residuals()
    assert table["fitted_rps"].round().tolist() == [90, 1078, 1541, 1850, 1879, 1822, 1646]
    assert (table["residual_rps"] ** 2).sum() == pytest.approx(27453.72, abs=0.01)
    assert table["miss_ratio"].to_numpy() == pytest.approx(table["fitted_rps"] / table["throughput_rps"] - 1)
