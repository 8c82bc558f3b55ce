"""What the laboratory's reporter writes for wrk: its counters, and the correction that can be undone."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import ParseError
from loadcurve.ingest.load.wrk_json import parse_wrk_json

STALL = (Path(__file__).parents[2] / "data" / "wrk" / "reporter-stall.txt").read_text("utf-8")


def corrected(times, interval):
    """Counters of wrk after its ``stats_correct``, as src/stats.c of wrk 4.1.0 says it in words, one time by one."""
    counts = {}
    for time in times:
        counts[time] = counts.get(time, 0) + 1
        if time >= 2 * interval:
            hidden = time - interval
            while hidden > interval:
                counts[hidden] = counts.get(hidden, 0) + 1
                hidden -= interval
    return sorted(counts.items())


def report(times, *, connections=2, duration_us=1000, timeouts=0, **other):
    rounds = (len(times) + timeouts) // connections
    counters = corrected(times, duration_us // rounds) if rounds else sorted((t, times.count(t)) for t in set(times))
    document = {
        "wrk_reporter": 1, "url": "http://h/", "threads": 1, "connections": connections, "started_us": [10**15],
        "ended_us": 10**15 + duration_us, "duration_us": duration_us, "requests": len(times) + timeouts, "bytes": 100,
        "errors": {"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": timeouts},
        "latency_us": {"min": 1, "max": 5, "mean": 2.5, "stdev": 1.0}, "percentiles_us": {"50": 2, "99.9": 5},
        "counters_us": [list(pair) for pair in counters],
    }  # fmt: skip
    return json.dumps(document | other)


def test_a_stall_is_told_from_what_the_correction_added():
    """Four connections stood still for a quarter of a second: four late responses, and what wrk added for them."""
    histogram = parse_wrk_json(STALL).tables["histogram"]
    late = histogram[histogram["lower_s"] > 0.1]
    added = 4 * int((253.08 - 100) / 13.530)  # E = 1001228 us / (296 / 4) = 13530 us
    assert late.groupby("corrected")["responses"].sum().to_dict() == {False: 4, True: 4 + added}
    assert histogram.groupby("corrected")["responses"].sum().loc[False] == 296, "as many as the requests"


def test_littles_law_holds_for_the_measured_times_only():
    """X R = N: in a closed loop, what is measured fills the connections; the corrected mean does not fit."""
    tables = parse_wrk_json(STALL).tables
    row, histogram = tables["runs"].iloc[0], tables["histogram"]
    measured = histogram[~histogram["corrected"]]
    mean = np.average((measured["lower_s"] + measured["upper_s"]) / 2, weights=measured["responses"])
    assert row["throughput_rps"] * mean == pytest.approx(row["connections"], rel=0.05)
    assert row["throughput_rps"] * row["latency_mean_s"] > 2 * row["connections"]


def test_the_corrected_counters_give_wrks_own_quantiles():
    tables = parse_wrk_json(STALL).tables
    histogram = tables["histogram"].query("corrected")
    reached, total = histogram["responses"].cumsum(), histogram["responses"].sum()
    for quantile, latency in tables["latency"][["quantile", "latency_s"]].itertuples(index=False):
        rank = min(np.floor(quantile * total + 1), total)  # round(p n + 0.5): stats_percentile in src/stats.c
        row = histogram[reached >= rank].iloc[0]
        assert row["lower_s"] < latency < row["upper_s"]


@given(st.lists(st.integers(0, 3000), min_size=2, max_size=60), st.integers(0, 5))
def test_the_correction_is_undone(times, timeouts):
    tables = parse_wrk_json(report(times, timeouts=timeouts)).tables
    found = tables["histogram"].query("~corrected")
    assert found["responses"].sum() == len(times)
    again = np.repeat(np.rint(found["upper_s"] * 1e6).astype(int) - 1, found["responses"])
    assert sorted(again.tolist()) == sorted(times)


def test_another_correction_is_not_undone_but_told():
    text = report([5, 5, 5, 5]).replace("[5, 4]", "[5, 7]")
    parsed = parse_wrk_json(text)
    assert parsed.tables["histogram"]["corrected"].all()
    assert "cannot be undone: what remains is not 4 responses" in parsed.warnings[0]


def test_a_run_without_an_answer_has_no_times():
    errors = {"connect": 8, "read": 0, "write": 0, "status": 0, "timeout": 0}
    parsed = parse_wrk_json(report([], latency_us=None, percentiles_us={}, errors=errors))
    row = parsed.tables["runs"].iloc[0]
    assert (row["requests"], row["errors_connect"]) == (0, 8)
    assert np.isnan(row["latency_mean_s"])
    assert "latency_origin" not in row
    assert parsed.tables["histogram"].empty
    assert parsed.warnings == ()


def test_counters_that_were_not_read_are_missing():
    parsed = parse_wrk_json(report([5, 5], counters_us=None))
    assert parsed.tables["histogram"].empty
    assert "could not read wrk's counters" in parsed.warnings[0]


def test_a_run_without_a_duration_is_refused():
    for wrong in ("0", "1.7976931348623157e308"):
        with pytest.raises(ParseError, match="duration_us"):
            parse_wrk_json(report([5, 5]).replace('"duration_us": 1000', f'"duration_us": {wrong}'))


@pytest.mark.parametrize(
    "change",
    [
        {"counters_us": [[5, 1], [5, 1]]}, {"counters_us": [[5, 0]]}, {"counters_us": [[-5, 1]]},
        {"counters_us": [[5]]},
        {"counters_us": [[5.5, 1]]}, {"counters_us": [[True, 1]]}, {"counters_us": 5}, {"counters_us": [[2**60, 1]]},
        {"requests": -1}, {"requests": None}, {"started_us": []}, {"started_us": ["x"]},
        {"errors": {}}, {"percentiles_us": {"x": 1}}, {"percentiles_us": {"50": 5, "40": 6}}, {"url": 5},
        {"percentiles_us": [1]}, {"errors": {"connect": 0, "read": 0, "write": 0, "status": 9, "timeout": 0}},
        {"started_us": [2**53]},
    ],
)  # fmt: skip
def test_what_no_reporter_writes_is_refused(change):
    with pytest.raises(ParseError):
        parse_wrk_json(report([5, 5], **change))


def test_a_prompt_with_a_bracket_in_front_of_the_document_is_passed_over():
    plain, prompted = parse_wrk_json(STALL), parse_wrk_json(f"[root@lb1 ~]# cat local.wrk.json\n{STALL}")
    assert prompted.tables["runs"].equals(plain.tables["runs"])
