"""Bottlenecks: demands that are known, the puzzle of a listening port, and intervals that cover."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses
from scipy import stats

from loadcurve import read_table
from loadcurve.analysis import summarise_processors
from loadcurve.models.capacity.bottleneck import least_squares_line, summarise_demands
from loadcurve.models.capacity.ranking import bottleneck_verdict

X = np.array([100.0, 200, 400, 800, 1200, 1600])


def usage_of(**resources):
    """Tidy rows from resource=(servers, utilisations at X)."""
    frames = [
        pd.DataFrame(
            {
                "resource": name, "servers": servers, "connections": X / 10, "throughput_rps": X,
                "utilisation_ratio": busy,
            }
        )
        for name, (servers, busy) in resources.items()
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def test_demands_of_the_service_demand_law():
    # D = m U / X: 1 ms on 4 cores, 0.5 ms on one disk: the disk is tighter, 2000 against 4000 requests/s.
    table = summarise_demands(usage_of(cpu=(4, X * 0.001 / 4), disk=(1, X * 0.0005))).set_index("resource")
    assert table.index.tolist() == ["disk", "cpu"]
    assert table["demand_s"].tolist() == pytest.approx([0.0005, 0.001])
    assert table["demand_per_server_s"].tolist() == pytest.approx([0.0005, 0.00025])
    assert table["saturation_rps"].tolist() == pytest.approx([2000, 4000])
    assert not table["has_background"].any()


def test_document_001_fills_a_thread_in_22():
    # 2 ms of processor time a request on one core saturate at 500 requests/s: 22 threads that answer in 44 ms each.
    table = summarise_demands(usage_of(cpu=(1, X / 2000)).assign(throughput_rps=lambda f: f["throughput_rps"] / 4))
    assert table["saturation_rps"][0] == pytest.approx(500) == pytest.approx(22 / 0.044)


def test_slope_through_the_origin_by_hand():
    # x = 1 2 3, u = .1 .2 .36: slope (.1 + .4 + 1.08)/14 = .112857; s² = .0024857/... by hand below; t(2) = 4.302653.
    x, u = np.array([1.0, 2, 3]), np.array([0.1, 0.2, 0.36])
    frame = pd.DataFrame({"resource": "cpu", "servers": 1, "throughput_rps": x, "utilisation_ratio": u})
    row = summarise_demands(frame, through_origin=True).iloc[0]
    slope = 1.58 / 14
    squares = sum((u_i - slope * x_i) ** 2 for x_i, u_i in zip(x, u, strict=True)) / 2
    half = 4.302653 * math.sqrt(squares / 14)
    assert (row["demand_s"], row["demand_lo"], row["demand_hi"]) == pytest.approx(
        (slope, slope - half, slope + half), rel=1e-6
    )
    assert (row["saturation_lo"], row["saturation_hi"]) == pytest.approx((1 / (slope + half), 1 / (slope - half)))


def test_target_below_full():
    table = summarise_demands(usage_of(cpu=(4, X * 0.001 / 4)), target_utilisation_ratio=0.7)
    assert table["saturation_rps"][0] == pytest.approx(2800)


def test_background_load_is_found_and_taken_off():
    noise = 0.001 * np.array([1, -1, 1, -1, 1, -1])
    row = summarise_demands(usage_of(cpu=(1, 0.2 + X * 0.0005 / 2 + noise))).iloc[0]
    assert row["has_background"]
    assert row["background_lo"] < 0.2 < row["background_hi"]
    assert row["demand_lo"] < 0.00025 < row["demand_hi"]
    assert row["saturation_lo"] < 3200 < row["saturation_hi"]  # (1 − .2) / .00025
    assert "background load, or a request costs less the higher the load" in row["warnings"]


@pytest.mark.parametrize("background", [0.0, 0.2])
def test_saturated_runs_that_scatter_leave_the_line_alone(background):
    """One server of 1 ms a request whose speed scatters by 15 % between runs, mostly measured at saturation."""
    random, rows = np.random.default_rng(3), []
    offered = np.repeat([100.0, 300, 500, *7 * [2000]], 3) * (1 - background)
    for _ in range(40):
        demand = 0.001 * np.exp(0.15 * random.standard_normal(offered.size))
        x = np.minimum(offered, (1 - background) / demand)
        busy = np.clip(background + x * demand, 0, 1)
        frame = pd.DataFrame({"resource": "cpu", "servers": 1, "connections": offered, "throughput_rps": x})
        rows.append(summarise_demands(frame.assign(utilisation_ratio=busy)).iloc[0])
    found = pd.DataFrame(rows)
    assert (found["points"] - found["saturated_points"]).eq(9).all()
    assert found["background_ratio"].mean() == pytest.approx(background, abs=0.03)
    assert found["demand_s"].mean() == pytest.approx(0.001, rel=0.06)
    assert found["saturated_demand_s"].mean() == pytest.approx(0.001 / (1 - background), rel=0.03)
    assert found["saturation_rps"].mean() == pytest.approx(1000 * (1 - background), rel=0.03)
    assert found["warnings"].str.contains("at saturation").mean() <= 0.1


def test_saturated_runs_that_do_not_scatter_agree_with_the_line():
    x = np.minimum([100.0, 300, 550, 950, 2000, 4000], 1000)
    frame = pd.DataFrame({"resource": "cpu", "servers": 2, "throughput_rps": x, "utilisation_ratio": x / 1000})
    row = summarise_demands(frame).iloc[0]
    assert (row["demand_s"], row["saturated_demand_s"], row["warnings"]) == pytest.approx((0.002, 0.002, ""))
    assert (row["points"], row["saturated_points"]) == (6, 3)


def test_a_request_that_costs_less_at_saturation():
    """Without batching 1 ms a request, at saturation 0.5 ms: by D = U / X; 1000 and 2000 requests/s."""
    x = np.array([100.0, 200, 400, 2000, 1980, 2020])
    frame = pd.DataFrame(
        {"resource": "cpu", "servers": 1, "throughput_rps": x, "utilisation_ratio": np.minimum(x, 1e3)}
    )
    frame["utilisation_ratio"] /= 1000
    row = summarise_demands(frame).iloc[0]
    assert (row["demand_s"], row["line_saturation_rps"]) == pytest.approx((0.001, 1000))
    assert (row["saturated_demand_s"], row["saturation_rps"]) == pytest.approx((0.0005, 2000))
    half = stats.t.ppf(0.975, 2) * 20 / math.sqrt(3)  # of 1980, 2000, 2020
    assert (row["saturation_lo"], row["saturation_hi"]) == pytest.approx((2000 - half, 2000 + half))
    assert "a request costs less at saturation" in row["warnings"]
    below = summarise_demands(frame, target_utilisation_ratio=0.5).iloc[0]
    assert below["saturation_rps"] == pytest.approx(500)  # a target below saturation lies on the line


def test_a_sweep_that_is_saturated_throughout_has_the_demand_of_its_plateau():
    frame = usage_of(cpu=(4, np.full(6, 0.95))).assign(throughput_rps=[940, 950, 960, 940, 950, 960])
    row = summarise_demands(frame).iloc[0]
    assert row["demand_s"] == row["saturated_demand_s"] == pytest.approx(4 * 0.95 / 950, rel=1e-3)
    assert math.isnan(row["line_saturation_rps"]) and math.isnan(row["background_ratio"])
    assert "measure lower loads" in row["warnings"]


@pytest.mark.slow
def test_the_recorded_server_has_no_intercept_of_46_percent():
    """The variant `cpu` of the recorded study: 24 of 30 runs are saturated, only 1 and 2 connections are not."""
    study = Path(__file__).parents[3] / "data/studies/connections_on_loopback"
    runs = read_table("runs", study)
    usage = summarise_processors(read_table("cpu", study), runs).query("variant == 'cpu'")
    table = summarise_demands(usage)
    assert (table["points"] - table["saturated_points"]).tolist() == [6, 6]
    assert (table["background_ratio"] < 0.25).all()
    plateau = usage[usage["connections"] >= 4].drop_duplicates("run_id")["throughput_rps"].mean()
    assert (table["saturation_lo"] < plateau / 0.95).all() and (plateau < table["saturation_hi"]).all()
    assert table["warnings"].str.contains("a request costs less at saturation").any()


@pytest.mark.slow
def test_the_saturation_holds_every_throughput_that_may_be_the_target():
    """Fieller's set by its definition: on a grid, where the line's utilisation does not differ from the target by t."""
    random, open_below, studies = np.random.default_rng(5), 0, []
    for _ in range(1500):
        x = random.uniform(100, 1000, 4)
        busy = np.clip(0.85 + 1e-4 * x + 0.05 * random.standard_normal(4), 0, 1)
        studies.append((x, busy / 2))  # the same lines below saturation
    usage = pd.concat(
        [
            pd.DataFrame({"resource": number, "servers": 1, "throughput_rps": x, "utilisation_ratio": busy})
            for number, (x, busy) in enumerate(studies)
        ]
    )
    table = summarise_demands(usage, target_utilisation_ratio=0.5).set_index("resource").sort_index()
    for (x, busy), row in zip(studies, table.to_dict("records"), strict=True):
        line = stats.linregress(x, busy)
        if not row["has_background"] or line.slope <= 0 or busy.mean() >= 0.5:
            continue
        grid = np.linspace(0, 20 * x.max(), 4001)
        squares = np.sum((busy - line.intercept - line.slope * x) ** 2) / 2
        error = np.sqrt(squares * (1 / 4 + (grid - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)))
        holds = np.abs(0.5 - line.intercept - line.slope * grid) <= stats.t.ppf(0.975, 2) * error
        told = (row["saturation_lo"] <= grid) & (grid <= row["saturation_hi"])
        assert told.sum() < 100 or holds[told].mean() > 0.99  # but for the grid's step at the ends
        if holds.all():
            open_below += 1
            assert (row["saturation_lo"], row["saturation_hi"]) == (0, np.inf)
    assert open_below > 10


def test_a_resource_that_requests_do_not_use_excludes_low_throughputs():
    """Fieller's lower end where the fitted slope is below 0: the line differs from full utilisation by t there."""
    x, busy = np.array([100.0, 200.0, 300.0, 400.0]), np.array([0.10, 0.09, 0.10, 0.09])
    usage = pd.DataFrame({"resource": "disk", "servers": 1, "throughput_rps": x, "utilisation_ratio": busy})
    lo = summarise_demands(usage)["saturation_lo"].item()
    line = stats.linregress(x, busy)
    squares = np.sum((busy - line.intercept - line.slope * x) ** 2) / 2
    error = np.sqrt(squares * (1 / 4 + (lo - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)))
    assert line.slope < 0 < lo
    assert 1 - line.intercept - line.slope * lo == pytest.approx(stats.t.ppf(0.975, 2) * error)


def test_background_beyond_the_target_leaves_nothing():
    row = summarise_demands(usage_of(cpu=(1, 0.5 + X / 10000)), target_utilisation_ratio=0.3).iloc[0]
    assert (row["saturation_lo"], row["saturation_rps"]) == (0, 0)
    assert "the background alone is more than the target" in row["warnings"]


def test_utilisation_that_falls_with_throughput_is_no_demand():
    noise = 0.001 * np.array([1, -1, 1, -1, 1, -1])
    row = summarise_demands(usage_of(disk=(1, 0.5 - X / 8000 + noise))).iloc[0]
    assert row["demand_s"] == 0
    assert math.isinf(row["saturation_rps"])
    assert "does not rise with throughput" in row["warnings"]
    assert "it would allow any throughput" in bottleneck_verdict(usage_of(disk=(1, 0 * X)))


def test_a_demand_that_grows_with_the_load_is_said():
    row = summarise_demands(usage_of(cpu=(1, 0.8 * (X / 1600) ** 4))).iloc[0]
    assert "the demand is not the same at every load" in row["warnings"]


def test_the_saturation_of_a_line_without_scatter_is_in_its_interval():
    x = np.array([1.0, 2, 3, 4])
    value, lo, hi = least_squares_line(x, 0.1 * x + 0.05, 1, 0.95, through_origin=False).saturation
    assert lo <= value <= hi
    assert (value, lo, hi) == pytest.approx((9.5, 9.5, 9.5))


def test_saturation_far_beyond_the_data_is_extrapolated():
    row = summarise_demands(usage_of(cpu=(8, X * 0.001 / 8))).iloc[0]
    assert "5.0 times the highest throughput" in row["warnings"]


def test_a_resource_without_a_demand_never_saturates():
    row = summarise_demands(usage_of(disk=(1, 0 * X))).iloc[0]
    assert row["demand_s"] == 0
    assert math.isinf(row["saturation_rps"])
    scatter = summarise_demands(usage_of(disk=(1, 0.1 + 0.05 * np.array([1, -1, -1, 1, 1, -1])))).iloc[0]
    assert math.isinf(scatter["saturation_hi"])
    assert scatter["saturation_lo"] <= scatter["saturation_rps"]


def test_one_run_has_no_interval():
    frame = usage_of(cpu=(1, X * 0.0005)).head(1)
    row = summarise_demands(frame).iloc[0]
    assert row["demand_s"] == pytest.approx(0.0005)
    assert math.isnan(row["demand_lo"]) and math.isnan(row["saturation_hi"])
    assert "an intercept cannot be tested" in row["warnings"]


def test_missing_values_are_named():
    frame = usage_of(cpu=(1, X * 0.0005))
    frame.loc[2, "utilisation_ratio"] = math.nan
    assert "1 of 6 runs have no value" in summarise_demands(frame)["warnings"][0]


@pytest.mark.slow
@pytest.mark.parametrize("background", [0.0, 0.01, 0.02, 0.15])
def test_intervals_cover_in_simulation(background):
    """95 % intervals of demand and saturation in 400 studies; 3 standard errors of that many are 3.3 %."""
    noise = 0.01 * np.random.default_rng(4).standard_normal((400, X.size))
    busy = np.clip(background + X * 0.0004 + noise, 0, 1)
    table = summarise_demands(usage_of(**{str(number): (1, values) for number, values in enumerate(busy)}))
    assert len(table) == 400
    demand_hits = ((table["demand_lo"] <= 0.0004) & (table["demand_hi"] >= 0.0004)).sum()
    saturation_rps = (1 - background) / 0.0004
    saturation_hits = ((table["saturation_lo"] <= saturation_rps) & (table["saturation_hi"] >= saturation_rps)).sum()
    # A line through the origin would cover half of the demands where the background is small.
    assert demand_hits / 400 >= 0.93
    assert saturation_hits / 400 >= 0.93


@pytest.mark.slow
@examples(50)
@given(st.floats(1e-3, 1e3), st.integers(1, 64))
def test_units_and_servers_scale(scale, servers):
    frame = usage_of(cpu=(1, X * 0.0005 + 0.01 * np.sin(X)))
    one = summarise_demands(frame).iloc[0]
    scaled = frame.assign(throughput_rps=frame["throughput_rps"] * scale, servers=servers)
    other = summarise_demands(scaled).iloc[0]
    assert other["demand_s"] * scale == pytest.approx(one["demand_s"] * servers)
    assert other["saturation_rps"] == pytest.approx(one["saturation_rps"] * scale)


@examples(50)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_estimates_lie_in_their_intervals(busy):
    row = summarise_demands(usage_of(cpu=(2, np.array(busy)))).iloc[0]
    for value in ("demand_s", "saturated_demand_s", "saturation_rps", "line_saturation_rps"):
        lo, hi = (row[value.rpartition("_")[0] + end] for end in ("_lo", "_hi"))  # NaN where one run has no interval
        assert not lo > row[value] * (1 + 1e-9) and not hi < row[value] * (1 - 1e-9)


def test_verdict_of_a_saturated_resource():
    frame = usage_of(cpu=(1, X / 1650), disk=(1, X / 4000))
    assert bottleneck_verdict(frame).startswith("saturated: cpu is 97 % busy at connections = 160 and allows 1,650")


def test_verdict_of_document_002():
    # Its puzzle: 8 cores with room, throughput flat at 20,000 requests/s from about 200 connections on, nothing busy.
    load, throughput = [50, 100, 200, 400, 800], [6000, 12000, 20000, 20000, 20000]
    frame = pd.concat(
        pd.DataFrame(
            {"resource": name, "servers": servers, "connections": load, "throughput_rps": throughput,
             "utilisation_ratio": np.array(throughput) * demand / servers}
        )
        for name, servers, demand in (("cpu", 8, 1e-4), ("network", 1, 1e-5))
    )  # fmt: skip
    verdict = bottleneck_verdict(frame)
    assert verdict.startswith("no watched resource saturates: throughput stays at 20,000 requests/s from")
    assert "connections = 200 to 800, where cpu is 25 % busy and would allow 80,000" in verdict
    assert verdict.endswith("look at accept queues, locks, a single listening port, the generator")
    frame.loc[frame["connections"] == 800, "throughput_rps"] = 5000
    assert "throughput falls from 20,000 to 5,000 requests/s from connections = 200 to 800" in bottleneck_verdict(frame)


def test_verdict_below_the_plateau():
    verdict = bottleneck_verdict(usage_of(cpu=(4, X * 0.001 / 4), disk=(1, X * 0.0005)))
    assert verdict.startswith("no bottleneck was reached: throughput is not at a plateau at connections = 160")
    assert "would be disk, now 80 % busy: it would allow 2,000" in verdict


test_rules = refuses(
    (lambda: summarise_demands(usage_of(cpu=(1, X / 1000))), "utilisation_ratio must be 0 <= ratio <= 1"),
    (lambda: summarise_demands(usage_of(cpu=(0, X / 2000))), "servers must be >= 1"),
    (lambda: summarise_demands(usage_of(cpu=(1, X / 2000)).drop(columns="servers")), "column must be one of"),
    (lambda: summarise_demands(usage_of(cpu=(1, X * math.nan))), "known for at least one run"),
    (lambda: summarise_demands(usage_of(cpu=(range(1, 7), X / 2000))), "servers of cpu must be one number"),
    (lambda: summarise_demands(usage_of(cpu=(1, X / 2000)).head(0)), "usage must be at least one row"),
    (lambda: summarise_demands(usage_of(cpu=(1, X / 2000)), target_utilisation_ratio=1.1), "0 < U <= 1"),
    (lambda: summarise_demands(usage_of(cpu=(1, X / 2000)), level=95), "level must be"),
    (lambda: bottleneck_verdict(usage_of(cpu=(1, X / 2000)), load="rate"), "column must be one of"),
)
