"""Beyond the last level: where predictions start, how wide they are, and the plain forecasts they are compared with."""

import numpy as np
import pytest

from loadcurve.models.scaling import run_tournament
from loadcurve.models.scaling.model_selection import Departure, Outlook, join
from validation.forecasts.baselines import damped_trend, last_line, last_value
from validation.forecasts.cross_validation import Constants, baseline_bands, interval_score, weighted_quantile

DEPARTURE = Departure(laws=0.8, trend=0.5, scatter=0.5, slope=0.1, below=3.0, power=0.5)


def outlook(centre, doublings, slope, level=0.0, run=0.0, last=0.0):
    """Outlook of some loads; a part that all share is given once."""
    every = np.atleast_2d(np.array(centre, float))
    parts = [np.broadcast_to(np.array(part, float), len(every)) for part in (last, doublings, slope, level, run)]
    return Outlook(every, *parts)


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.5])
@pytest.mark.parametrize("doublings", [1.0, 4.0])
def test_one_curve_departs_by_a_normal_with_halves_of_their_own(doublings, slope):
    """With one centre and scatter s of the points, it is the stack ± z (a s + b|g|) hᵖ, three times as far below."""
    one = outlook([[0.0]], doublings, slope, run=0.04**2)
    lo, middle, hi = one.quantiles([0.05, 0.5, 0.95], DEPARTURE, further_run=False)
    width, centre = (0.5 * 0.04 + 0.1 * abs(slope)) * doublings**0.5, one.stacked(DEPARTURE).item()
    found = np.log(np.concatenate([lo, middle, hi]))
    assert found == pytest.approx([centre - 3 * 1.644854 * width, centre, centre + 1.644854 * width], abs=1e-5)


def test_the_stack_takes_a_part_of_one_forecast_by_the_slope_at_the_end():
    """Of a rise 0.8 of the laws' growth, of a fall 0.5 of the damped trend, 0.8 + 0.64 of g; none within the levels."""
    three = outlook([[1.5, 2.0], [1.0, 1.0], [1.5, 2.0]], [2.0, 2.0, 0.0], [0.4, -0.1, 0.4], last=1.0)
    found = three.stacked(DEPARTURE)
    assert found == pytest.approx(np.array([[1.4, 1.8], [1 - 0.5 * 0.144] * 2, [1.5, 2.0]]))
    assert (three.rows(np.array([False, True, False])).stacked(DEPARTURE) == found[[1]]).all()


def test_no_drift_where_the_end_is_level():
    """A fixed loss of 1 % per doubling was a bias: of a level end nothing is expected but the last value."""
    assert run_tournament([1, 2, 4, 8], [100, 198, 200, 200]).predict([32])["throughput_rps"].item() == pytest.approx(
        200, rel=1e-3
    )


def test_within_the_levels_only_scatter_counts():
    one = outlook([[0.0]], 0.0, 0.5, level=0.03**2, run=0.04**2)
    assert np.log(one.quantiles([0.95], DEPARTURE, further_run=False)) == pytest.approx(1.644854 * 0.03, abs=1e-5)
    assert np.log(one.quantiles([0.95], DEPARTURE, further_run=True)) == pytest.approx(1.644854 * 0.05, abs=1e-5)


def test_curves_that_differ_are_mixed():
    """Two curves far apart, equally probable: the quarters are their medians, whatever lies between."""
    two = join([outlook([[0.0, 5.0]], 0.0, 0.0, level=1e-4)] * 2)
    assert two.centre.shape == (2, 2)
    assert np.log(two.quantiles([0.25, 0.75], DEPARTURE, further_run=False)) == pytest.approx(
        np.array([[0.0, 0.0], [5.0, 5.0]]), abs=1e-3
    )


def test_plain_forecasts():
    points, at = (np.array([1.0, 2.0, 4.0]), np.array([3.0, 10.0, 14.0])), np.array([8.0, 16.0])
    assert last_value(*points, at).tolist() == [14, 14]
    assert last_line(*points, at).tolist() == [22, 38]
    assert damped_trend(*points, at) == pytest.approx([14 * 1.4**0.8, 14 * 1.4 ** (0.8 + 0.64)])
    falling = np.array([3.0, 10.0, 5.0])
    assert last_line(points[0], falling, at).tolist() == [0.25, 0.25]  # not below a twentieth of the last


def test_the_score_of_an_interval():
    """Gneiting and Raftery 2007, equation 43, of logarithms: [1, e] with e² measured is 1 + 20 × 1 at level 0.9."""
    e = np.e
    lo, hi = np.ones(3), np.full(3, e)
    assert interval_score(lo, hi, np.array([e**0.5, e**2, e**-0.5]), 0.9) == pytest.approx([1, 21, 11])
    assert interval_score(np.array([-5.0]), np.array([1.0]), np.array([1.0]), 0.9) == pytest.approx(-np.log(0.05))


def test_weighted_quantile_counts_weights():
    assert weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 8.0]), 0.5) == 2
    assert weighted_quantile(np.array([1.0, np.inf]), np.ones(2), 0.9) == np.inf
    assert np.isnan(weighted_quantile(np.array([]), np.array([]), 0.5))


def test_no_group_chooses_its_own_constants():
    """The outcomes of one group may change at will: its own bands stay, those of the others may not."""
    random, chooses = np.random.default_rng(3), np.ones(60, bool)
    groups, plateau, weights = np.repeat(["a", "b", "c"], 20), np.tile([True, False], 30), np.ones(60)
    every = outlook(np.zeros((60, 5)), np.ones(60), np.where(plateau, 0.0, 0.4), np.full(60, 1e-4), np.full(60, 1e-3))
    observed = np.exp(0.02 * random.standard_normal(60))
    changed = np.where(groups == "a", observed * np.exp(0.5 * random.standard_normal(60)), observed)
    ends = [0.05, 0.5, 0.95]
    both = [Constants(every, x, weights, plateau, groups, 0.9) for x in (observed, changed)]
    before, after = (one.predict(groups, chooses, ends) for one in both)
    assert (before[:, groups == "a"] == after[:, groups == "a"]).all()
    assert (before[:, groups != "a"] != after[:, groups != "a"]).any()
    unseen = [one.predict(groups, groups != "a", ends) for one in both]
    assert (unseen[0] == unseen[1]).all(), "where it may not choose, the others' bands stay too"
    plain = [
        baseline_bands(np.ones(60), x, np.ones(60), weights, plateau, groups, chooses, 0.9) for x in (observed, changed)
    ]
    assert (plain[0][:, groups == "a"] == plain[1][:, groups == "a"]).all()
    assert (np.diff(plain[1][:, groups != "a"], axis=0) > np.diff(plain[0][:, groups != "a"], axis=0)).all()


def test_alone_a_group_gets_the_published_constants_and_no_band_for_plain_forecasts():
    one = outlook(np.zeros((4, 5)), np.ones(4), np.zeros(4), np.full(4, 1e-4), np.full(4, 1e-4))
    alone, ones, ends = np.repeat("a", 4), np.ones(4), [0.05, 0.5, 0.95]
    found = Constants(one, ones, ones, ones > 0, alone, 0.9).predict(alone, ones > 0, ends)
    assert (found == one.quantiles(ends, further_run=True)).all()
    assert np.isnan(baseline_bands(ones, ones, ones, ones, ones > 0, alone, ones > 0, 0.9)).all()


def test_of_parts_that_the_curves_do_not_distinguish_an_even_mix_is_taken():
    """Forty authors whose curves grow as the laws say, or by any part of it: 1, or what is nearest to one half."""
    random, authors = np.random.default_rng(1), np.arange(40)
    rises = outlook(np.full((40, 5), 0.2), 1.0, 0.4, level=1e-4, run=1e-4)
    for part, most in ((np.ones(40), 1.0), (random.uniform(-1.5, 2.5, 40), 0.6)):
        constants = Constants(rises, np.exp(0.2 * part), np.ones(40), authors < 0, authors, 0.9)
        assert constants.choose(authors >= 0).laws == pytest.approx(most, abs=0.11)
