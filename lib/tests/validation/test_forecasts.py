"""Curves predicted from their first levels: what is counted, and what it comes to on the published curves."""

import numpy as np
import pandas as pd
import pytest

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import LAWS
from validation.forecasts import forecast_curves, summarise_forecasts
from validation.forecasts.baselines import BASELINES
from validation.forecasts.methods import PLAIN, TOURNAMENT

NUMBER = np.array([1.0, 2, 4, 8, 12, 16, 24, 32])


def curve(name, values, number=NUMBER):
    return pd.DataFrame({"curve": f"of {name}", "author": name, "connections": number,
                         "throughput_rps": LAWS[name].function(number, *values)})  # fmt: skip


KINDS = ("all", "plateau", "rising")
CURVES = pd.concat([curve("usl", [100, 0.05, 0.002]), curve("roofline", [100, 600]), curve("amdahl", [100, 0.05])])


@pytest.fixture(scope="module")
def forecasts():
    return forecast_curves(CURVES)


@pytest.fixture(scope="module")
def published(root):
    """What the notebook computed with this library and published: forecasting these curves takes half a minute."""
    folder = root / "build/figures/45_published_curves"
    each = {kind: pd.read_csv(folder / f"forecasts_{kind}.table.csv").set_index("method") for kind in KINDS}
    return pd.concat(each)


def test_every_method_predicts_every_point(forecasts):
    found = forecasts
    assert len(found) == (8 + len(BASELINES)) * 3 * 4
    assert found.groupby(["curve", "method"])["connections"].apply(tuple).unique().tolist() == [(12, 16, 24, 32)]


def test_four_levels_are_seen_at_least():
    found = forecast_curves(curve("amdahl", [100, 0.05], NUMBER[:6]))
    assert found.groupby("method")["connections"].apply(tuple).unique().tolist() == [(12, 16)]


def test_a_law_predicts_its_own(forecasts):
    found = forecasts.set_index(["curve", "method"])
    for name in ("usl", "amdahl"):
        assert found.loc[(f"of {name}", name), "error_ratio"].abs().max() < 1e-4
    assert found.loc[("of roofline", "roofline"), "error_ratio"].abs().max() < 0.2  # its capacity has one point there


def test_kinds_are_of_the_seen_levels(forecasts):
    found = forecasts.groupby("curve")["kind"].first()
    assert found.to_dict() == {"of usl": "rising", "of roofline": "rising", "of amdahl": "rising"}
    flat = forecast_curves(curve("roofline", [100, 150]))
    assert (flat["kind"] == "plateau").all()


def test_what_has_no_number_counts_as_infinitely_wrong(forecasts):
    found = forecasts.copy()
    found.loc[found["method"] == PLAIN, ["error_ratio", "inside", "width", "score"]] = pd.NA
    row = summarise_forecasts(found).set_index(["kind", "method"]).loc[("all", PLAIN)]
    assert np.isinf(row["median_error_ratio"])
    assert row["band_ratio"] == 0
    assert np.isnan(row["coverage_ratio"])


def test_the_summary_counts_each_curve_once():
    table = summarise_forecasts(
        pd.DataFrame(
            {"curve": ["a", "a", "b"], "kind": ["rising", "rising", "plateau"], "method": "m",
             "error_ratio": [-0.1, 0.2, np.nan], "inside": pd.array([True, False, True], "boolean"),
             "width": [1.0, 2.0, 4.0], "score": [1.0, 3.0, 8.0]}
        )
    ).set_index("kind")  # fmt: skip
    row = table.loc["all"]
    assert (row["curves"], row["points"]) == (2, 3)
    assert row["median_error_ratio"] == pytest.approx(0.2)
    assert np.isinf(row["p90_error_ratio"])
    assert (row["coverage_ratio"], row["interval_score"]) == (pytest.approx(0.75), pytest.approx(5.0))
    assert table.loc["rising", "coverage_ratio"] == 0.5


def test_a_short_curve_is_refused():
    with pytest.raises(ValueRuleError, match="levels must be >= 5 in curve of usl, got 4"):
        forecast_curves(curve("usl", [100, 0.05, 0.002], NUMBER[:4]))


@pytest.mark.site
@pytest.mark.parametrize("kind", KINDS)
def test_on_published_curves_the_tournament_beats_every_other_method(published, kind):
    others = published.loc[kind].drop(TOURNAMENT)
    assert {*BASELINES, PLAIN, *LAWS} - {"free_usl"} == set(others.index)
    for column in ("median error", "interval score"):
        assert published.loc[(kind, TOURNAMENT), column] < others[column].min(), column


@pytest.mark.site
@pytest.mark.parametrize("kind", KINDS)
def test_its_bands_of_90_percent_hold_85_to_95_percent(published, kind):
    assert 0.85 <= published.loc[(kind, TOURNAMENT), "in the band"] <= 0.95
