"""Beyond the last level: where predictions start, how wide they are, and the plain forecasts they are compared with."""

import numpy as np
import pytest

from loadcurve.models.scaling.outlook import Departure, Outlook, join
from validation.forecasts.baselines import damped_trend, last_line, last_value
from validation.forecasts.cross_validation import Constants, baseline_bands, interval_score, weighted_quantile

DEPARTURE = Departure(drift=0.01, scatter=0.5, slope=0.1, below=3.0)


def outlook(centre, doublings, slope, level=0.0, run=0.0):
    return Outlook(*(np.atleast_1d(np.array(part, float)) for part in (centre, doublings, slope, level, run)))


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.5])
@pytest.mark.parametrize("doublings", [1.0, 4.0])
def test_one_curve_departs_by_a_normal_with_halves_of_their_own(doublings, slope):
    """With one centre 0 and scatter s of the points, log X = −drift h ± z (a s + b|g|) √h, three times as far below."""
    one = outlook([[0.0]], doublings, slope, run=0.04**2)
    lo, middle, hi = one.quantiles([0.05, 0.5, 0.95], DEPARTURE, further_run=False)
    width, drift = (0.5 * 0.04 + 0.1 * abs(slope)) * doublings**0.5, 0.01 * doublings
    found = np.log(np.concatenate([lo, middle, hi]))
    assert found == pytest.approx([-3 * 1.644854 * width - drift, -drift, 1.644854 * width - drift], abs=1e-5)


def test_within_the_levels_only_scatter_counts():
    one = outlook([[0.0]], 0.0, 0.5, level=0.03**2, run=0.04**2)
    assert np.log(one.quantiles([0.95], DEPARTURE, further_run=False)) == pytest.approx(1.644854 * 0.03, abs=1e-5)
    assert np.log(one.quantiles([0.95], DEPARTURE, further_run=True)) == pytest.approx(1.644854 * 0.05, abs=1e-5)


def test_curves_that_differ_are_mixed():
    """Two curves far apart, equally probable: the quarters are their medians, whatever lies between."""
    two = join([outlook([[0.0, 5.0]], 0.0, 0.0, level=1e-4)] * 2)
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
    random = np.random.default_rng(3)
    groups, plateau, weights = np.repeat(["a", "b", "c"], 20), np.tile([True, False], 30), np.ones(60)
    every = outlook(np.zeros((60, 1)), np.ones(60), np.where(plateau, 0.0, 0.4), np.full(60, 1e-4), np.full(60, 1e-3))
    observed = np.exp(0.02 * random.standard_normal(60))
    changed = np.where(groups == "a", observed * np.exp(0.5 * random.standard_normal(60)), observed)
    before, after = (Constants(every, x, weights, plateau, 0.9).predict(groups) for x in (observed, changed))
    assert (before[:, groups == "a"] == after[:, groups == "a"]).all()
    assert (before[:, groups != "a"] != after[:, groups != "a"]).any()
    plain = [baseline_bands(np.ones(60), x, np.ones(60), weights, plateau, groups, 0.9) for x in (observed, changed)]
    assert (plain[0][:, groups == "a"] == plain[1][:, groups == "a"]).all()
    assert (np.diff(plain[1][:, groups != "a"], axis=0) > np.diff(plain[0][:, groups != "a"], axis=0)).all()


def test_alone_a_group_gets_the_published_constants_and_no_band_for_plain_forecasts():
    one = outlook(np.zeros((4, 1)), np.ones(4), np.zeros(4), np.full(4, 1e-4), np.full(4, 1e-4))
    alone, weights = np.repeat("a", 4), np.ones(4)
    found = Constants(one, np.ones(4), weights, weights > 0, 0.9).predict(alone)
    assert (found == one.quantiles([0.05, 0.5, 0.95], further_run=True)).all()
    assert np.isnan(baseline_bands(np.ones(4), np.ones(4), np.ones(4), weights, weights > 0, alone, 0.9)).all()
