import numpy as np
import pytest
from published_scaling import RAYTRACER, SPECSDM91

from loadcurve import tables
from loadcurve.models import find_peak, fit_usl, summarise_fit


def half_widths(band):
    return ((band["hi"] - band["lo"]) / 2).tolist()


def test_bands_of_specsdm91():
    # Recomputed with t(4); R usl prints a constant ±131.4 and calls it a confidence band.
    fit = fit_usl(*SPECSDM91, weights="equal")
    mean = half_widths(fit.band(fit.connections))
    assert mean == pytest.approx([39.5, 192.2, 145.2, 155.2, 134.9, 126.5, 202.2], abs=0.05)
    assert np.ptp(mean) > 100
    one_more = half_widths(fit.band(fit.connections, prediction=True))
    assert one_more == pytest.approx([233.4, 299.7, 272.0, 277.5, 266.6, 262.5, 306.3], abs=0.05)


def test_gradient_is_the_derivative():
    fit = fit_usl(*SPECSDM91, weights="equal")
    values = np.array(fit.values())
    for index, step in enumerate(values * 1e-6):
        shift = np.eye(3)[index] * step
        slope = (
            fit.function(fit.connections, *(values + shift)) - fit.function(fit.connections, *(values - shift))
        ) / (2 * step)
        assert fit.gradient(fit.connections, *values)[:, index] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_a_parameter_at_its_bound_does_not_vary():
    assert fit_usl(*RAYTRACER, weights="equal").covariance[2].tolist() == [0, 0, 0]


def test_table_has_the_declared_columns_and_all_warnings():
    fit = fit_usl(*RAYTRACER, weights="equal")
    table = summarise_fit(fit, study="raytracer", variant="sgi", derived={"peak": find_peak(fit)})
    assert list(table) == list(tables.columns("fits")["column"])
    assert table["parameter"].tolist() == ["unit_throughput_rps", "contention", "coherency", "peak"]
    assert table["points"].tolist() == [11] * 4
    assert (table["variant"] == "sgi").all()
    assert table["warnings"][3] == "; ".join(find_peak(fit).warnings)


def test_table_of_a_study_without_variants():
    assert summarise_fit(fit_usl(*SPECSDM91, weights="equal"), study="spec")["variant"].isna().all()
