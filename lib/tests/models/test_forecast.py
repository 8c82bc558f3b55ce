"""Curves foretold from their lower half: what is counted, and that a law foretells its own."""

import numpy as np
import pandas as pd
import pytest

from loadcurve.errors import ValueRuleError
from loadcurve.models.scaling import LAWS, forecast_curves, summarise_forecasts
from loadcurve.models.scaling.forecast import PLAIN, TOURNAMENT

NUMBER = np.array([1.0, 2, 4, 8, 12, 16, 24, 32])


def curve(name, values, number=NUMBER):
    return pd.DataFrame({"curve": f"of {name}", "connections": number,
                         "throughput_rps": LAWS[name].function(number, *values)})  # fmt: skip


CURVES = pd.concat([curve("usl", [100, 0.05, 0.002]), curve("roofline", [100, 600]), curve("amdahl", [100, 0.05])])


def test_every_method_foretells_every_point():
    found = forecast_curves(CURVES)
    assert len(found) == 8 * 3 * 4
    assert found.groupby(["curve", "method"])["connections"].apply(list).map(tuple).unique().tolist() == [
        (12, 16, 24, 32)
    ]


def test_a_law_foretells_its_own():
    found = forecast_curves(CURVES).set_index(["curve", "method"])
    for name in ("usl", "amdahl"):
        assert found.loc[(f"of {name}", name), "error_ratio"].abs().max() < 1e-4
    assert found.loc[("of roofline", "roofline"), "error_ratio"].abs().max() < 0.2  # its capacity has one point there


def test_what_has_no_number_counts_as_infinitely_wrong():
    found = forecast_curves(curve("roofline", [100, 600], NUMBER[:5]))
    plain = found[found["method"] == PLAIN]
    assert plain["inside"].isna().all()  # three points for three parameters
    table = summarise_forecasts(found).set_index("method")
    assert table.loc[PLAIN, "band_ratio"] == 0
    assert pd.isna(table.loc[PLAIN, "coverage_ratio"])
    assert table.loc[TOURNAMENT, "band_ratio"] == 1


def test_the_summary_counts():
    table = summarise_forecasts(
        pd.DataFrame(
            {"curve": ["a", "a", "b", "b"], "method": "m", "error_ratio": [-0.1, 0.2, np.nan, 0.3],
             "inside": pd.array([True, False, None, True], "boolean")}
        )
    )  # fmt: skip
    row = table.iloc[0]
    assert (row["curves"], row["points"]) == (2, 4)
    assert row["median_error_ratio"] == pytest.approx(0.25)
    assert np.isinf(row["p90_error_ratio"])
    assert (row["coverage_ratio"], row["band_ratio"]) == (pytest.approx(2 / 3), 0.75)


def test_a_short_curve_is_refused():
    with pytest.raises(ValueRuleError, match="levels must be >= 5 in curve of usl, got 4"):
        forecast_curves(curve("usl", [100, 0.05, 0.002], NUMBER[:4]))
