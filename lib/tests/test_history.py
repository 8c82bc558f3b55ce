"""A metric over dates: dates from reports, names or files; a step is found where it is, with its size."""

import os

import numpy as np
import pandas as pd
import pytest

from loadcurve import analyse
from loadcurve.analysis import common_variants, compare_over_time
from loadcurve.analysis.history import starts_of_levels
from loadcurve.errors import LoadcurveError

pytestmark = pytest.mark.slow  # each test analyses whole folders


def day(number, factor=1.0, **more):
    draw = np.random.default_rng(number)
    runs = pd.DataFrame({"connections": [8, 8, 64, 64], "tool": "wrk", "status": "finished", "latency_mean_s": 0.01})
    runs["run_id"] = [f"r{i}" for i in range(4)]
    runs["throughput_rps"] = [50, 50, 100, 100] * np.exp(draw.normal(0, 0.005, 4)) * factor
    return analyse({"runs": runs.assign(**more)}, source=f"2026-11-{number:02d}")


@pytest.mark.slow
def test_a_step_is_found_with_its_size():
    found = compare_over_time([day(n, 1.0 if n <= 8 else 0.9) for n in range(1, 17)])
    assert found.load == "connections = 64"
    (change,) = found.changes
    assert change.source == "2026-11-09"
    assert change.ratio.lo < 0.9 < change.ratio.hi
    said = f"{100 * (change.ratio.value - 1):.1f} % [".replace("-", "−")
    assert f"1. {said}" in str(found) and f"<li>{said}" in found._repr_html_()
    assert "] from 2026-11-09 on" in str(found)
    assert found._repr_html_().count("<tr>") == 1 + 16


def test_noise_hardly_ever_changes_and_a_step_nearly_always():
    alarms = found = 0
    for seed in range(200):
        values = np.random.default_rng(seed).normal(0, 1, 30)
        alarms += len(starts_of_levels(values)) > 1
        values[15:] -= 3
        found += len(starts_of_levels(values)) == 2
    assert alarms <= 12 and found >= 185  # 2 % and 98 % of 200, each by more than four standard deviations


def test_equal_values_are_one_level():
    assert starts_of_levels(np.full(40, 4.6)) == [0]


def test_few_dates_are_shown_without_a_verdict():
    found = compare_over_time([day(2), day(1)], at=8)
    assert list(found.points["source"]) == ["2026-11-01", "2026-11-02"]
    assert "2 measurements: at least 10 are needed to find a change" in found.warnings


def test_a_date_comes_from_the_report_then_the_name_then_the_file(tmp_path):
    file = tmp_path / "report.txt"
    file.write_text("x")
    os.utime(file, (1e9, 1e9))
    plain = analyse(day(1).tables | {"runs": day(1).tables["runs"].assign(source=str(file))}, source="nightly")
    stated = day(3, started_at=pd.Timestamp("2001-02-03", tz="UTC"))
    points = compare_over_time([day(2), stated, plain]).points
    assert list(points["dated_by"]) == ["report", "file", "name"]
    assert points["time"][1] == pd.Timestamp(1e9, unit="s", tz="UTC")


def test_what_cannot_be_compared_is_one_line():
    with pytest.raises(LoadcurveError, match="at least 2 measurements, got 1"):
        compare_over_time([day(1)])
    two = analyse({"runs": pd.concat([day(1).tables["runs"].assign(variant=name) for name in "ab"])}, source="x")
    with pytest.raises(LoadcurveError, match="variant must be one of a, b, got ''"):
        compare_over_time([day(1), two])
    with pytest.raises(LoadcurveError, match="metric must be one of latency_mean_s, throughput_rps, got 'foo'"):
        compare_over_time([day(1), day(2)], "foo")
    with pytest.raises(LoadcurveError, match="a measurement must have connections = 3, got none: .*but at 8, 64"):
        compare_over_time([day(1), day(2)], at=3)
    other = analyse({"runs": day(1).tables["runs"].assign(connections=[9, 9, 99, 99])}, source="y")
    with pytest.raises(LoadcurveError, match="must have a load in common, got connections = 8, 64; 9, 99"):
        compare_over_time([day(1), other])


def test_each_variant_has_a_history_and_what_lacks_it_is_left_out():
    days = [
        analyse({"runs": pd.concat([day(n).tables["runs"].assign(variant=v) for v in "ab"])}, source=f"2026-11-{n:02d}")
        for n in (1, 2)
    ]
    less = analyse({"runs": days[0].tables["runs"].query("variant == 'b' or connections == 8")}, source="2026-11-03")
    measurements = [*days, day(4), less]
    assert common_variants(measurements) == (
        ["a", "b"],
        ["2026-11-04 names no variant: it is compared with each variant of the others"],
    )
    found = [compare_over_time(measurements, variant=variant) for variant in "ab"]
    # The load that most have, not one that all have: the third day has variant a at 8 connections only.
    assert [history.load for history in found] == ["a, connections = 8", "b, connections = 64"]
    assert [len(history.points) for history in found] == [4, 4]
    left = compare_over_time(measurements, variant="a", at=64)
    assert len(left.points) == 3
    assert left.warnings[0] == "2026-11-03: left out, it has no throughput_rps at connections = 64, but at 8"


def test_a_date_of_files_is_named_as_such(tmp_path):
    (tmp_path / "report.txt").write_text("x")
    plain = analyse({"runs": day(1).tables["runs"].assign(source=str(tmp_path / "report.txt"))}, source="nightly")
    found = compare_over_time([plain, day(2)])
    assert any(warning.startswith("nightly: dated by the last change of the files") for warning in found.warnings)
