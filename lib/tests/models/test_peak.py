import math

import pytest
from published_scaling import RAYTRACER, SPECSDM91, SYNTHETIC

from loadcurve.errors import ValueRuleError
from loadcurve.models import find_limit, find_peak, find_peak_throughput, fit_usl, usl
from loadcurve.models.scaling import LAWS, fit_law


def test_specsdm91():
    # R usl: peak 96.51956, limit 3245.589, X(peak) 1884; interval by the delta method with t(4).
    fit = fit_usl(*SPECSDM91, weights="equal")
    peak = find_peak(fit, interval="delta")
    assert peak.value == find_peak(fit).value == pytest.approx(96.51956, rel=1e-4)
    assert (peak.value - peak.lo, peak.hi - peak.value) == pytest.approx((25.0, 25.0), abs=0.06)
    assert find_limit(fit).value == pytest.approx(3245.589, rel=1e-4)
    assert find_peak_throughput(fit).value == pytest.approx(1884, abs=0.5)


def test_band_at_the_peak_is_the_interval_of_its_throughput():
    fit = fit_usl(*SPECSDM91, weights="equal")
    band, highest = fit.band(find_peak(fit).value), find_peak_throughput(fit)
    assert (band["lo"][0], band["hi"][0]) == pytest.approx((highest.lo, highest.hi))


def test_raytracer_has_no_finite_peak():
    # Other methods print a peak at 449 or 288 for the same data.
    fit = fit_usl(*RAYTRACER, weights="equal")
    peak = find_peak(fit)
    assert peak.value == peak.hi == math.inf
    assert RAYTRACER[0][-1] < peak.lo
    assert "no finite peak: the fitted throughput never falls" in peak.warnings
    assert find_limit(fit).value == pytest.approx(378.19885, rel=1e-7)
    assert find_peak_throughput(fit).value == find_limit(fit).value


def test_raytracer_first_five_points_may_have_none():
    n, x = RAYTRACER
    assert any(
        "do not exclude an endless rise" in text for text in find_peak(fit_usl(n[:5], x[:5], weights="equal")).warnings
    )


def test_synthetic():
    assert find_peak(fit_usl(*SYNTHETIC)).value == pytest.approx(7.0, rel=1e-3)


def test_no_contention_has_no_limit():
    # A start below and a middle above the law without contention pull α below 0, so it stops at 0.
    n = [1, 2, 4, 8, 16, 32]
    limit = find_limit(fit_usl(n, usl(n, 10, 0, 0.01) * [0.8, 0.9, 1, 1.1, 1, 1]))
    assert limit.value == limit.hi == math.inf
    assert "no finite limit: nothing in the fit is serial" in limit.warnings


def test_throughput_that_falls_from_the_start_has_its_peak_at_the_first_level():
    n = [1, 2, 4, 8, 16, 32]
    for throughput in (usl(n, 10, 1.0, 0.15), [10, 5, 2.5, 1.2, 0.6, 0.3]):
        fit = fit_usl(n, throughput)
        peak = find_peak(fit)
        assert (peak.value, find_peak_throughput(fit).value) == (1, pytest.approx(10, rel=0.01))
        assert any("below every level: the peak is given as the first level, N = 1" in text for text in peak.warnings)
        assert any("every level lies past the peak" in text for text in fit.warnings)
    past = fit_usl([8, 16, 32, 64, 128, 256], [2693.18, 2425.41, 2358.79, 2308.87, 2265.52, 2167.86])
    assert find_peak(past).value == 8
    assert any("measure fewer connections than N = 8" in text for text in past.warnings)


def test_the_same_throughput_everywhere_peaks_at_any_level():
    fit = fit_usl([1, 2, 4, 8, 16, 32], [10] * 6)
    peak = find_peak(fit)
    assert (peak.value, peak.lo, peak.hi) == (1, 1, math.inf)
    assert any("the same at every load" in text for text in peak.warnings)
    assert find_peak_throughput(fit).value == find_limit(fit).value == pytest.approx(10)


def test_a_peak_beyond_the_levels_is_an_extrapolation():
    n = [1, 2, 4, 8, 16, 32]
    peak = find_peak(fit_usl(n, usl(n, 10, 0.02, 0.98 / 100**2)))
    assert peak.value == pytest.approx(100)
    assert any("extrapolated beyond N = 32" in text for text in peak.warnings)
    noisy = usl(n, 10, 0.02, 0.98 / 100**2) * [1, 1.02, 0.99, 1.01, 0.98, 1]
    assert any("too narrow: use the profile" in text for text in find_peak(fit_usl(n, noisy), "delta").warnings)


def test_rules():
    fit = fit_usl([1, 4, 16], usl([1, 4, 16], 50, 0.1, 0.01))
    assert math.isnan(find_peak(fit).lo) and math.isnan(find_limit(fit).hi)  # no degree of freedom
    with pytest.raises(ValueRuleError, match="interval must be one of profile, delta"):
        find_peak(fit, interval="t")
    with pytest.raises(ValueRuleError, match="fit must be of the law usl"):
        find_peak(fit_law(LAWS["amdahl"], [1, 2, 4], [10, 18, 30]))
