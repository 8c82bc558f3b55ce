"""The bottleneck report: known demands, saturated levels among them, and the plateau that agrees or contradicts."""

import math

import numpy as np
import pandas as pd
import pytest

from loadcurve.models.capacity import summarise_bottlenecks
from loadcurve.tables.curves import saturation_of

LOADS = np.array([1.0, 2, 4, 8, 16, 32, 64])


def closed_loop(demands, *, limit=math.inf, repeats=1, scatter=0.0, seed=0, costs_less=1.0):
    """Runs of a closed loop by the asymptotic bounds: X = min(N / R, m / D of each resource, `limit`); U = X D / m.

    `demands`: resource -> (D in s, servers m).  At saturation a request costs `costs_less` times D.
    """
    random = np.random.default_rng(seed)
    loads = np.repeat(LOADS, repeats)
    least_s = 0.04
    tightest = max(d / m for d, m in demands.values())
    free = loads / least_s
    full = free > min(1 / tightest, limit)
    x = np.minimum(free, min(1 / tightest / costs_less, limit)) * np.exp(scatter * random.standard_normal(loads.size))
    rows = []
    for name, (demand, servers) in demands.items():
        cost = np.where(full & (limit == math.inf), demand * costs_less, demand)
        busy = np.where(full & (demand / servers == tightest) & (limit == math.inf), 1.0, x * cost / servers)
        noise = 0.003 * random.standard_normal(loads.size) if scatter else 0.0
        rows.append(
            pd.DataFrame({"resource": name, "servers": servers, "connections": loads, "throughput_rps": x,
                          "utilisation_ratio": np.clip(busy + noise, 0, 1)})
        )  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def test_known_demands_are_ranked_and_the_tightest_sets_the_plateau():
    # CPU: 10 ms on 2 cores: 200 requests/s.  Disk: 2 ms: 500.  Link: 0.1 ms: 10,000.
    table = summarise_bottlenecks(closed_loop({"disk": (0.002, 1), "link": (1e-4, 1), "cpu": (0.01, 2)}))
    assert table["resource"].tolist() == ["cpu", "disk", "link"]
    assert table["demand_s"].tolist() == pytest.approx([0.01, 0.002, 1e-4])
    assert table["saturation_rps"].tolist() == pytest.approx([200, 500, 10_000])
    assert table["saturated"].tolist() == [True, False, False]
    assert table["verdict"].tolist() == ["agrees", "not the limit", "not the limit"]
    assert table["meaning"][1:].tolist() == ["allows 2.5 times the plateau", "allows 50.0 times the plateau"]
    assert (table["plateau_rps"] == 200).all()


def test_a_request_that_costs_less_at_saturation_contradicts_lower_loads():
    usage = closed_loop({"cpu": (0.008, 2)}, costs_less=0.8, repeats=3, scatter=0.01)
    row = summarise_bottlenecks(usage).iloc[0]
    assert row["demand_s"] == pytest.approx(0.0064, rel=0.02) and row["predicted_rps"] == pytest.approx(250, rel=0.03)
    assert row["saturation_rps"] == pytest.approx(312.5, rel=0.02)
    assert row["verdict"] == "contradicts"
    assert row["meaning"].startswith("saturated; lower loads predict −2")


def test_an_unwatched_limit_leaves_every_resource_below_it():
    # A listening port that takes 100 connections/s: the CPU would allow 200.
    table = summarise_bottlenecks(closed_loop({"cpu": (0.01, 2)}, limit=100, repeats=3, scatter=0.002))
    assert table["verdict"].tolist() == ["not the limit"] and table["meaning"][0] == "allows 2.0 times the plateau"


def test_a_throughput_that_still_rises_tests_nothing():
    usage = closed_loop({"cpu": (0.0004, 1)})  # 2,500 requests/s, of which 64 / 40 ms = 1,600 are reached
    row = summarise_bottlenecks(usage).iloc[0]
    assert row["verdict"] == "not tested" and math.isnan(row["plateau_rps"]) and row["highest_rps"] == 1600
    assert row["meaning"] == "not reached: allows 1.6 times the highest"


def test_a_study_that_is_saturated_at_every_load_has_demands():
    usage = closed_loop({"cpu": (0.01, 2), "disk": (0.001, 1)}, repeats=3, scatter=0.02)
    usage = usage[usage["connections"] >= 16]
    table = summarise_bottlenecks(usage).set_index("resource")
    assert table.loc["cpu", "demand_s"] == pytest.approx(0.01, rel=0.02)
    assert table.loc["cpu", ["demand_lo", "demand_hi"]].between(0.009, 0.011).all()
    assert table.loc["cpu", "verdict"] == "not tested" and "every load" in table.loc["cpu", "meaning"]


def test_a_resource_that_other_work_keeps_busy_has_no_demand():
    rows = pd.DataFrame({"resource": "cpu", "servers": 2, "connections": LOADS, "throughput_rps": 100 * LOADS})
    table = summarise_bottlenecks(rows.assign(utilisation_ratio=0.99))
    assert table["verdict"].tolist() == ["other work"]
    assert table[["demand_s", "saturation_rps"]].isna().all(axis=None)
    disk = rows.assign(resource="disk", servers=1, utilisation_ratio=rows["throughput_rps"] / 6600)
    both = summarise_bottlenecks(pd.concat([rows.assign(utilisation_ratio=0.99), disk]))
    assert both["resource"].tolist() == ["disk", "cpu"] and both["verdict"].tolist()[1] == "other work"


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
def test_few_runs_give_a_table_too(rows):
    for usage in (closed_loop({"cpu": (0.01, 2)}).tail(rows), closed_loop({"cpu": (0.01, 2)}).head(rows)):
        row = summarise_bottlenecks(usage).iloc[0]
        assert row["demand_s"] == pytest.approx(0.01) and row["meaning"]


@pytest.mark.slow
def test_intervals_cover_with_saturated_levels():
    """95 % intervals of 2 demands, their X_max and the plateau in 120 studies; 3 standard errors are 6 %."""
    truth = {"cpu": (0.01, 2), "disk": (0.002, 1)}
    hits = dict.fromkeys(("demand cpu", "demand disk", "allows cpu", "allows disk", "plateau"), 0)
    for seed in range(120):
        table = summarise_bottlenecks(closed_loop(truth, repeats=3, scatter=0.02, seed=seed)).set_index("resource")
        for name, (demand, servers) in truth.items():
            row = table.loc[name]
            hits[f"demand {name}"] += row["demand_lo"] <= demand <= row["demand_hi"]
            hits[f"allows {name}"] += row["saturation_lo"] <= servers / demand <= row["saturation_hi"]
        hits["plateau"] += table["plateau_lo"].iloc[0] <= 200 <= table["plateau_hi"].iloc[0]
    assert {name for name, number in hits.items() if number < 0.89 * 120} == set(), hits


def test_saturation_is_inclusive_and_a_plateau_needs_twice_the_load():
    usage = pd.DataFrame({"resource": "cpu", "connections": [1, 2], "throughput_rps": [100.0, 104.9]})
    assert saturation_of(usage.assign(utilisation_ratio=[0.5, 0.9])).kind == "saturated"
    assert saturation_of(usage.assign(utilisation_ratio=[0.5, 0.899])).kind == "plateau"
    assert saturation_of(usage.assign(utilisation_ratio=0.5, throughput_rps=[100.0, 105.1])).kind == "rising"
    assert saturation_of(usage.assign(utilisation_ratio=0.5, connections=[4, 7])).kind == "rising"
