"""Degrees of freedom of a bootstrap over runs, and percentiles that are as wide as they ask."""

import numpy as np
import pytest
from scipy import stats

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import LAWS, find_interval, influence_degrees, summarise_bootstrap

LEVELS = np.array([1.0, 2, 4, 8, 16, 32, 64, 96])
USL, LINEAR = LAWS["usl"], LAWS["linear"]


def runs_of(repeats, seed=0, scatter=0.03):
    number = np.repeat(LEVELS, repeats)
    draw = np.random.default_rng(seed)
    return number, USL.function(number, 100, 0.03, 8e-4) * (1 + scatter * draw.standard_normal(number.size))


def test_degrees_of_a_difference_are_welchs():
    """Two levels, two parameters: what they say of X(1) − X(2) is Welch's test, in SciPy's degrees of freedom."""
    amdahl = LAWS["amdahl"]
    one, two = [100.0, 101, 99, 100.5], [190.0, 180, 185]
    number, throughput = [1] * 4 + [2] * 3, one + two

    def difference(parameters):
        ends = [amdahl.function(np.array([n]), *parameters.T[:, :, None])[:, 0] for n in (1.0, 2.0)]
        return (ends[0] - ends[1] + 1000.0)[:, None]  # far from 0, where the scale of the values has no bend

    found = influence_degrees(amdahl, number, throughput, difference)
    assert found[0] == pytest.approx(stats.ttest_ind(one, two, equal_var=False).df, rel=1e-2)


def test_one_level_alone_counts_by_its_own_repeats():
    throughput = [9.99, 10, 10.01, 9.995, 18, 20, 22]  # only the second level scatters
    assert influence_degrees(LINEAR, [1] * 4 + [2] * 3, throughput, lambda p: p) == pytest.approx([2.0], rel=1e-3)


@pytest.mark.parametrize("repeats", [2, 3, 10])
def test_degrees_lie_between_those_of_one_level_and_of_all(repeats):
    found = summarise_bootstrap(USL, *runs_of(repeats), draws=200)
    assert found["degrees"].between((repeats - 1) * (1 - 1e-9), LEVELS.size * (repeats - 1) * (1 + 1e-9)).all()
    assert (found["lo"] <= found["value"]).all()
    assert (found["value"] <= found["hi"]).all()


def test_without_repeats_the_residuals_count():
    found = summarise_bootstrap(USL, *runs_of(1), draws=200)
    assert found["degrees"].tolist() == [LEVELS.size - 3] * 5


def test_a_level_of_one_run_is_drawn_with_the_scatter_of_the_others():
    number, throughput = runs_of(4)
    once = np.delete(np.arange(number.size), [29, 30, 31])  # the last level keeps one of its four runs
    found = influence_degrees(USL, number[once], throughput[once], lambda p: p)
    assert ((found >= 3) & (found <= 2 * 21)).all()


def test_percentiles_move_outwards_as_a_t_interval_is_wider():
    drawn = np.random.default_rng(1).standard_normal(400_000)
    found = find_interval(drawn, 0.0, 0.95, degrees=5)
    assert (found.lo, found.hi) == pytest.approx((-stats.t.ppf(0.975, 5), stats.t.ppf(0.975, 5)), rel=0.02)
    assert find_interval(drawn, 0.0, 0.95, np.inf) == find_interval(drawn, 0.0, 0.95)
    assert "5 degrees of freedom" in found.method


def test_too_few_draws_for_the_percentile_are_named():
    found = find_interval(np.arange(100.0), 50.0, 0.95, degrees=2)
    assert (found.lo, found.hi) == (0, 99)
    assert found.warnings == ("100 draws have no percentile of 8.4e-06: the ends are their least and greatest",)
    with pytest.raises(ValueRuleError, match="degrees must be > 0"):
        find_interval([1.0, 2.0], 1.5, 0.95, degrees=0)


def test_a_peak_that_does_not_exist_is_open():
    number = np.repeat(LEVELS, 3)
    throughput = USL.function(number, 100, 0.03, 0) * (1 + 0.02 * np.random.default_rng(4).standard_normal(number.size))
    found = summarise_bootstrap(USL, number, throughput).set_index("quantity")
    assert np.isinf(found.loc["peak", "hi"])
    assert found.loc["coherency", "lo"] == 0
