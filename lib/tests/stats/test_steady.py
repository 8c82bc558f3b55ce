import math

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ValueRuleError
from loadcurve.stats.steady import find_warm_up


def noisy(level, rng):
    return np.asarray(level, dtype=float) + rng.normal(0, 1, len(level))


def mser_by_definition(values):
    """White 1997, term by term: the cut with the least Σ(z − z̄)²/(k − d)²."""
    batches = [sum(values[i : i + 5]) / 5 for i in range(0, len(values) - 4, 5)]
    found = []
    for cut in range(len(batches) - 4):
        rest = batches[cut:]
        mean = sum(rest) / len(rest)
        found.append(sum((z - mean) ** 2 for z in rest) / len(rest) ** 2)
    return 5 * found.index(min(found)), len(batches)


@examples(50)
@given(st.integers(0, 2**32 - 1), st.integers(50, 120))
def test_it_is_the_minimum_of_whites_statistic(seed, size):
    values = np.random.default_rng(seed).normal(1000, 1, size)
    cut, batches = mser_by_definition(values.tolist())
    found = find_warm_up(values)
    late = f"the cut would fall on sample {cut} of {size}, in the second half"
    assert found.warnings[0].startswith(late) if cut / 5 > batches / 2 else found.value == cut


@pytest.mark.parametrize("warm_up", [5, 20, 45])
def test_a_step_is_cut_where_it_is(warm_up):
    level = np.r_[np.full(warm_up, 50.0), np.full(150, 100.0)]
    values = noisy(level, np.random.default_rng(1))
    # Not one of the slow samples stays; chance may take a few good ones.
    assert warm_up <= find_warm_up(values).value <= warm_up + 20


def test_a_slow_start_is_cut_where_it_has_vanished_in_the_noise():
    level = 100 - 50 * np.exp(-np.arange(300) / 15)  # 50 e^(−45/15) = 2.5 noise sd, 50 e^(−90/15) = .12
    assert 45 <= find_warm_up(noisy(level, np.random.default_rng(1))).value <= 90


def test_both_ends_at_once():
    level = np.r_[np.linspace(0, 100, 20), np.full(160, 100.0), np.linspace(100, 0, 20)]
    values = noisy(level, np.random.default_rng(1))
    assert find_warm_up(values).value == pytest.approx(20, abs=5)
    assert find_warm_up(values[::-1]).value == pytest.approx(20, abs=5)


def test_a_cut_in_the_second_half_is_refused():
    values = noisy(np.r_[np.full(140, 50.0), np.full(60, 100.0)], np.random.default_rng(1))
    found = find_warm_up(values)
    assert math.isnan(found.value)
    assert found.warnings == ("the cut would fall on sample 140 of 200, in the second half: not steady",)


def test_a_spike_does_not_draw_the_cut_behind_it():
    values = noisy(np.r_[np.full(30, 50.0), np.full(170, 100.0)], np.random.default_rng(1))
    values[150] += 500
    found = find_warm_up(values)
    assert 30 <= found.value <= 40
    assert found.warnings[0].endswith("but the samples show no change there: the cut is the best one of the first half")


def test_a_short_series_is_refused():
    assert find_warm_up(range(49)).warnings == ("49 samples, fewer than 50: no cut can be found",)


def test_few_samples_are_lost_where_there_is_no_warm_up():
    rng = np.random.default_rng(7)
    cuts = np.array([find_warm_up(rng.normal(100, 1, 300)).value for _ in range(200)])
    assert np.nanmedian(cuts) <= 15
    assert np.isnan(cuts).mean() < 0.04


NORMAL, HEAVY, LATE = "normal noise", "heavy-tailed noise", "late change"


def simulated(setting, size, rng):
    """A warm-up in the first quarter, or a change that ends after the middle; the place where it ends."""
    time = np.arange(size)
    if setting == LATE:
        end = size * rng.uniform(0.6, 0.85)
        level = rng.choice([-10.0, 10.0]) * rng.choice([time < end, np.clip(1 - time / end, 0, None), time / size])
        return noisy(level, rng), end
    end = size * rng.uniform(0.05, 0.25)
    level = -20 * rng.choice([time < end, np.clip(1 - time / end, 0, None), np.exp(-4 * time / end)])
    if setting == NORMAL:
        return noisy(level, rng), end
    noise = rng.choice([rng.pareto(1.5, size), rng.standard_t(2, size), rng.lognormal(0, 1.5, size)])
    return 20 * (time < end) + noise, end


@pytest.mark.slow
@pytest.mark.parametrize("size", [60, 120, 300])
@pytest.mark.parametrize(("setting", "most"), [(NORMAL, 0.5), (HEAVY, 0.4), (LATE, 1.0)])
def test_refusals_are_halved_and_late_changes_still_refused(setting, most, size):
    """Against MSER-5 as White defines it, on the same series: a cut in the second half is refused there."""
    rng, refused, before, missed, same = np.random.default_rng([size, len(setting)]), 0, 0, 0, True
    for _ in range(200):
        values, end = simulated(setting, size, rng)
        cut, batches = mser_by_definition(values.tolist())
        found = find_warm_up(values).value
        if cut / 5 > batches / 2:
            before += 1
            refused += math.isnan(found)
            missed += setting == HEAVY and found < end - 5  # a sample of the step before the last batch is left
        else:
            same &= found == cut
    assert same
    if setting == LATE:
        assert refused >= 0.94 * before > 0
    else:
        assert refused <= most * before and before >= 4
        assert missed <= 0.03 * 200


def test_a_constant_series_is_steady():
    assert find_warm_up([0.1] * 60).value == 0


def test_gaps_are_refused():
    with pytest.raises(ValueRuleError, match="values must be without gaps"):
        find_warm_up([math.nan] * 60)
