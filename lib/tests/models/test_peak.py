import math

import pytest
from published_scaling import RAYTRACER, SPECSDM91, SYNTHETIC

from loadcurve.models import find_limit, find_peak, find_peak_throughput, fit_usl, usl


def test_specsdm91():
    # R usl: peak 96.51956, limit 3245.589, X(peak) 1884; interval by the delta method with t(4).
    fit = fit_usl(*SPECSDM91)
    peak = find_peak(fit)
    assert peak.value == pytest.approx(96.51956, rel=1e-4)
    assert (peak.value - peak.lo, peak.hi - peak.value) == pytest.approx((25.0, 25.0), abs=0.06)
    assert find_limit(fit).value == pytest.approx(3245.589, rel=1e-4)
    assert find_peak_throughput(fit).value == pytest.approx(1884, abs=0.5)


def test_band_at_the_peak_is_the_interval_of_its_throughput():
    fit = fit_usl(*SPECSDM91)
    band, highest = fit.band(find_peak(fit).value), find_peak_throughput(fit)
    assert (band["lo"][0], band["hi"][0]) == pytest.approx((highest.lo, highest.hi))


def test_raytracer_has_no_finite_peak():
    # Other methods print a peak at 449 or 288 for the same data.
    fit = fit_usl(*RAYTRACER)
    peak = find_peak(fit)
    assert peak.value == peak.hi == math.inf
    assert RAYTRACER[0][-1] < peak.lo
    assert "no finite peak: the fitted throughput never falls" in peak.warnings
    assert find_limit(fit).value == pytest.approx(378.19885, rel=1e-7)
    assert find_peak_throughput(fit).value == find_limit(fit).value


def test_raytracer_first_five_points_may_have_none():
    n, x = RAYTRACER
    assert any("do not exclude an endless rise" in text for text in find_peak(fit_usl(n[:5], x[:5])).warnings)


def test_synthetic():
    assert find_peak(fit_usl(*SYNTHETIC)).value == pytest.approx(7.0, rel=1e-3)


def test_no_contention_has_no_limit():
    # A start below and a middle above the law without contention pull α below 0, so it stops at 0.
    n = [1, 2, 4, 8, 16, 32]
    limit = find_limit(fit_usl(n, usl(n, 10, 0, 0.01) * [0.8, 0.9, 1, 1.1, 1, 1]))
    assert limit.value == limit.hi == math.inf
    assert "no finite limit: nothing in the fit is serial" in limit.warnings


def test_throughput_that_falls_from_the_start_has_no_peak():
    n = [1, 2, 4, 8, 16, 32]
    peak = find_peak(fit_usl(n, usl(n, 10, 1.3, 0.15)))
    assert math.isnan(peak.value)
    assert any("throughput falls from the first connection on" in text for text in peak.warnings)
