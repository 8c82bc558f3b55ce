"""No answer is finer than the numbers that a report prints, and none lies outside of what was measured."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.analysis import analyse, compare
from loadcurve.audit.registry import audit
from loadcurve.audit.settings import AuditSettings
from loadcurve.errors import LoadcurveError
from loadcurve.models.capacity import Objective, summarise_objectives

FOLDERS = sorted(path for path in (Path(__file__).parent / "data" / "folders").iterdir() if path.is_dir())


def old_ab(p99_ms=(0, 0, 0, 1, 2, 4), mean_ms=(0.166, 0.18, 0.204, 0.38, 0.744, 1.48)):
    """Runs of an ab that prints whole milliseconds, whose mean is computed from N and X."""
    levels = 2 ** np.arange(6)
    runs = pd.DataFrame({"run_id": [f"c{n}" for n in levels], "tool": "ab", "status": "finished"})
    runs = runs.assign(connections=levels, throughput_rps=1e3 * levels / np.array(mean_ms), duration_s=30.0)
    return {
        "runs": runs.assign(latency_mean_s=np.array(mean_ms) / 1e3, latency_origin="derived (N/X)"),
        "latency": pd.DataFrame({"run_id": runs["run_id"], "quantile": 0.99, "latency_s": np.array(p99_ms) / 1e3}),
    }


def test_a_printed_0_keeps_no_objective_below_half_a_digit():
    """ab prints 0 ms for 0.4 ms: nothing shows whether 0.1 ms was kept, least of all with a mean of 0.204 ms."""
    curve = analyse(old_ab(), objectives="p99=100us").curves[0]
    assert "capacity" not in curve
    assert [why for name, why in curve.missing.items() if "Capacity" in name and "p99 to 1 ms" in why]


@pytest.mark.parametrize(("objective", "lo", "hi"), [("p99=0.5ms", 4, 16), ("p99=1ms", 4, 16), ("p99=2.5ms", 16, 32)])
def test_a_capacity_rests_on_what_the_digits_show(objective, lo, hi):
    """1 ms may be 1.4 ms, so an objective of 1 ms is kept where 0 ms is printed, and broken where 2 ms is."""
    found = analyse(old_ab(), objectives=objective).curves[0]["capacity"]
    assert (found.value, found.hi) == (lo, hi)


def test_decisions_name_the_digits():
    runs = pd.DataFrame({"tool": "ab", "connections": [1, 2, 4], "latency_p99_s": [0.001, 0.002, 0.003]})
    decided = summarise_objectives(runs, [Objective("latency_p99_s", 0.002)])
    assert decided["decision"].tolist() == ["kept", "undecided", "broken"]
    assert decided["coarse"].tolist() == [0, 1, 0]
    assert summarise_objectives(runs.assign(tool="own"), [Objective("latency_p99_s", 0.002)])["coarse"].sum() == 0


def test_the_levels_show_no_finer_time_in_any_format():
    found = analyse(old_ab())
    rows = [line.split() for line in str(found).splitlines()]
    assert next(row[3:6] for row in rows if row[:3] == ["1", "1", "6,020"]) == ["0.166", "<", "0.5"]
    assert next(row[-3:-1] for row in rows if row[:3] == ["32", "1", "21,600"]) == ["1.48", "4"]
    assert found.levels["latency_digit_s"].tolist() == [0.001] * 6


@pytest.mark.parametrize(
    ("before", "after", "verdict"), [(1, 2, "undecided"), (10, 11, "undecided"), (10, 40, "different")]
)
def test_a_ratio_of_whole_milliseconds_is_no_verdict_by_itself(before, after, verdict):
    sides = []
    for ms in (before, after):
        tables = old_ab((ms,) * 6)
        tables = {
            name: pd.concat([frame.assign(run_id=frame["run_id"] + f"-{i}") for i in range(3)])
            for name, frame in tables.items()
        }
        sides.append(analyse(tables, source=f"{ms} ms"))
    found = compare(*sides, "latency_p99_s")
    assert set(found.levels["verdict"]) == {verdict}
    assert any("printed too coarsely" in warning for warning in found.warnings)


@pytest.mark.parametrize(("tool", "severity"), [("ab", "ok"), ("own", "error")])
def test_a_mean_of_whole_milliseconds_may_be_a_longer_round_trip(tool, severity):
    """1 ms of ab may be 1.4 ms."""
    run = {"run_id": "a", "generator": 0, "host": "client", "tool": tool, "url": "http://server/", "status": "finished"}
    sockets = {"run_id": "a", "host": "client", "peer_port": "80", "min_rtt_s": 0.0014}
    tables = {"runs": pd.DataFrame([run | {"latency_mean_s": 0.001}]), "connections": pd.DataFrame([sockets])}
    found = audit(tables, AuditSettings(select=["response-time-below-round-trip"]))
    assert found["severity"].tolist() == [severity]


@pytest.mark.parametrize(("tool", "severities"), [("ab", []), ("own", ["warning"])])
def test_whole_milliseconds_are_often_the_mean_of_others(tool, severities):
    runs = pd.DataFrame(
        {"run_id": list("abc"), "generator": 0, "tool": tool, "connections": 8, "throughput_rps": 100.0}
    )
    quantiles = [(run, q, ms / 1e3) for run, ms in zip("abc", (1, 2, 3), strict=True) for q in (0.5, 0.9, 0.95, 0.99)]
    latency = pd.DataFrame(quantiles, columns=["run_id", "quantile", "latency_s"]).assign(generator=0)
    found = audit({"runs": runs, "latency": latency}, AuditSettings(select=["averaged-percentiles"]))
    assert found["severity"].tolist() == severities


def outside(curve):
    """Yield the names of results that lie outside of what was measured and are not labelled so."""
    loads, rates = (curve.runs[name].astype(float) for name in (curve.load, "throughput_rps"))
    within = {
        "peak": rates, "capacity_throughput": rates, "usl.peak_throughput": rates, "usl.unit_throughput_rps": rates,
        "latency_min": loads / rates, "demand": 1 / rates, "saturation": loads, "usl.peak": loads, "capacity": loads,
    }  # fmt: skip
    for result in curve.results:
        value = result.estimate.value
        if result.name in within and "extrapolated" not in result.label and value != 0:
            least, most = within[result.name].min(), within[result.name].max()
            if not 0.5 * least <= value <= 1.1 * most:
                yield f"{result.name} = {value:g}, measured {least:g} to {most:g}"
        if result.name != "capacity" and np.isinf([value, result.estimate.lo, result.estimate.hi]).any():
            yield f"{result.name} without an end"
        if result.name.startswith("usl.") and loads.nunique() < 6:
            yield f"{result.name} from {loads.nunique()} levels"


@examples(15)
@given(st.data())
def test_no_result_lies_outside_of_what_was_measured(data):
    levels = sorted(data.draw(st.sets(st.integers(1, 2000), min_size=1, max_size=9)))
    shape = data.draw(st.sampled_from(["flat", "linear", "saturating", "falling", "any"]))
    alpha, beta = {"flat": (1.0, 0.0), "linear": (0.0, 0.0), "saturating": (0.05, 0.0)}.get(shape, (0.02, 1e-4))
    number = np.array(levels, float)
    rates = 1000 * number / (1 + alpha * (number - 1) + beta * number * (number - 1))
    noise = st.floats(0.01, 100.0) if shape == "any" else st.floats(0.9, 1.1)
    rates *= data.draw(st.lists(noise, min_size=len(levels), max_size=len(levels)))
    runs = pd.DataFrame({"run_id": [f"c{n}" for n in levels], "tool": "wrk", "status": "finished"})
    runs = runs.assign(connections=levels, throughput_rps=rates, latency_mean_s=number / rates)
    objective = f"mean={data.draw(st.floats(0.1, 1000)):.3f}ms"
    assert list(outside(analyse({"runs": runs}, objectives=objective).curves[0])) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_result_of_a_real_folder_lies_outside_of_what_was_measured(folder):
    try:
        found = analyse(folder)
    except LoadcurveError:
        return
    assert [wrong for curve in found.curves for wrong in outside(curve)] == []
