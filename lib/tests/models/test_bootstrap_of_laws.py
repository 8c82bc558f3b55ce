"""Draws of runs: what they cover in simulation, and what they leave as it was."""

import numpy as np
import pytest
from published_scaling import RAYTRACER, SPECSDM91

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import LAWS, bootstrap_law, find_interval

LEVELS = np.array([1.0, 2, 4, 8, 16, 32, 64, 96])
TRUE = [100.0, 0.03, 0.0008]


def runs_of(draw: np.random.Generator, repeats: int, noise: float = 0.03) -> tuple[np.ndarray, np.ndarray]:
    number = np.repeat(LEVELS, repeats)
    return number, LAWS["usl"].function(number, *TRUE) * (1 + noise * draw.standard_normal(number.size))


@pytest.mark.slow
@pytest.mark.parametrize(("repeats", "least"), [(3, 0.86), (5, 0.90), (10, 0.91)])
def test_the_interval_of_the_peak_covers_it(repeats, least):
    """95 % intervals in 200 simulated studies: 3 standard errors of that many below, and below that for few repeats."""
    true = np.sqrt((1 - TRUE[1]) / TRUE[2])
    draw, hits = np.random.default_rng(11), 0
    for study in range(200):
        found = bootstrap_law(LAWS["usl"], *runs_of(draw, repeats), draws=400, seed=study)["peak"]
        interval = find_interval(found, found.median())
        hits += interval.lo <= true <= interval.hi
    assert hits / 200 >= least


def test_the_same_seed_gives_the_same_draws():
    runs = runs_of(np.random.default_rng(1), 3)
    first, second, other = (bootstrap_law(LAWS["usl"], *runs, draws=50, seed=seed) for seed in (5, 5, 6))
    assert first.equals(second)
    assert not first.equals(other)


def test_runs_without_scatter_give_the_fit_each_time():
    number = np.repeat(LEVELS, 3)
    found = bootstrap_law(LAWS["usl"], number, LAWS["usl"].function(number, *TRUE), draws=20)
    assert found[["unit_throughput_rps", "contention", "coherency"]].to_numpy() == pytest.approx(
        np.tile(TRUE, (20, 1)), rel=1e-6
    )


def test_the_order_of_the_runs_does_not_matter_to_the_levels():
    number, throughput = runs_of(np.random.default_rng(2), 4)
    order = np.random.default_rng(3).permutation(number.size)
    spread = [bootstrap_law(LAWS["amdahl"], number[i], throughput[i], draws=4000)["contention"].std()
              for i in (np.arange(number.size), order)]  # fmt: skip
    assert spread[0] == pytest.approx(spread[1], rel=0.08)


def test_single_runs_draw_residuals():
    """SPEC SDM91 has one run at each level: the spread of γ is that of the t interval, 14.21, within a third."""
    found = bootstrap_law(LAWS["usl"], *SPECSDM91, weights=np.ones(7), draws=4000)
    assert found["unit_throughput_rps"].std() == pytest.approx(14.21, rel=0.34)
    peak = find_interval(found["peak"], 96.51956)
    assert peak.lo < 96.52 < peak.hi


@pytest.mark.parametrize("law", LAWS)
def test_a_law_with_a_parameter_without_effect_is_drawn(law):
    """Single runs on a straight line (k6, 1 to 16 users) say nothing about a bend: each draw is near the line."""
    number, rate = [1.0, 2, 4, 8, 16], np.array([761.0, 1362, 2709, 5443, 10104])
    drawn = bootstrap_law(LAWS[law], number, rate, draws=20)
    at_8 = [float(LAWS[law].function(8.0, *values)) for values in drawn[list(LAWS[law].parameters)].to_numpy()]
    assert np.isfinite(at_8).all() and np.all(np.abs(np.array(at_8) / 5443 - 1) < 0.15)


def test_a_peak_that_many_draws_do_not_have():
    """The ray tracer's coherency is at its bound: there, half of the draws are on either side."""
    found = bootstrap_law(LAWS["usl"], *RAYTRACER, weights=np.ones(11), draws=2000)
    assert 0.3 < np.isinf(found["peak"]).mean() < 0.7
    assert np.isinf(find_interval(found["peak"], np.inf).hi)


def test_rules():
    usl = LAWS["usl"]
    with pytest.raises(ValueRuleError, match="levels must be >= 3"):
        bootstrap_law(usl, [1, 1, 2, 2], [1, 1, 2, 2])
    with pytest.raises(ValueRuleError, match="levels must be > 3 where no level has repeats"):
        bootstrap_law(usl, [1, 2, 4], [10, 17, 26])
    with pytest.raises(ValueRuleError, match="draws must be >= 2"):
        bootstrap_law(usl, [1, 2, 4, 8], [10, 18, 30, 40], draws=1)
    with pytest.raises(ValueRuleError, match="one known value"):
        bootstrap_law(usl, [1, 2, 4, 8], [10, 18, 30, np.nan])
    with pytest.raises(ValueRuleError, match="level must be 0 < level < 1"):
        find_interval([1.0, 2.0], 1.5, level=95)
    assert find_interval([np.nan, np.nan], 3.0).warnings == ("100.0% of the draws do not have it",)
