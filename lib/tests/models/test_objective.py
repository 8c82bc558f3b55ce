"""Capacity under an objective: decisions by hand, a simulated system with a known capacity, and what never moves."""

import math

import numpy as np
import pandas as pd
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refused import refuses

from loadcurve.models.capacity.objective import Objective, find_capacity, summarise_objectives

P99 = Objective("latency_p99_s", 0.020)
ERRORS = Objective("error_ratio", 0.001)


def runs_of(levels):
    """Runs from {load: [p99 in ms, …]}, without errors."""
    rows = [(load, ms / 1000, 0.0, 1000.0 * load) for load, all_ms in levels.items() for ms in all_ms]
    return pd.DataFrame(rows, columns=["connections", "latency_p99_s", "error_ratio", "throughput_rps"])


def warned(estimate, text):
    return any(text in warning for warning in estimate.warnings)


def test_capacity_lies_between_the_last_kept_and_the_first_broken_load():
    capacity = find_capacity(runs_of({8: [11, 12, 13], 16: [18, 19, 20], 32: [30, 31, 32], 64: [70, 71, 72]}), [P99])
    assert (capacity.lo, capacity.value, capacity.hi) == (16, 16, 32)
    assert capacity.level == 0.875  # 1 − 2⁻³
    assert capacity.warnings == ()


def test_a_load_where_runs_disagree_lies_inside():
    capacity = find_capacity(runs_of({8: [11, 12], 16: [19, 21], 32: [30, 31]}), [P99])
    assert (capacity.lo, capacity.hi) == (8, 32)
    assert warned(capacity, "1 of 2 runs keep it at connections = 16: undecided")


def test_no_percentile_is_averaged():
    # The mean of 5, 5 and 45 ms is 18.3 ms and would keep the objective; one run in three breaks it.
    capacity = find_capacity(runs_of({8: [5, 5, 5], 16: [5, 5, 45], 32: [50, 50, 50]}), [P99])
    assert (capacity.lo, capacity.hi) == (8, 32)


def test_each_of_several_objectives_counts():
    runs = runs_of({8: [11, 12], 16: [12, 13], 32: [40, 41]})
    runs.loc[runs["connections"] == 16, "error_ratio"] = 0.01
    capacity = find_capacity(runs, [P99, ERRORS])
    assert (capacity.lo, capacity.hi) == (8, 16)
    table = summarise_objectives(runs, [P99, ERRORS])
    assert table["broken_by"].tolist() == ["", "error_ratio", "latency_p99_s"]
    assert table["error_worst_ratio"].tolist() == [0, 0.01, 0]
    assert table["throughput_rps"].tolist() == [8000, 16000, 32000]


def test_nothing_broken_is_not_reached():
    capacity = find_capacity(runs_of({8: [11, 12], 16: [12, 13]}), [P99])
    assert (capacity.lo, capacity.hi) == (16, math.inf)
    assert warned(capacity, "not reached: no load up to connections = 16")


def test_broken_at_the_first_load():
    capacity = find_capacity(runs_of({8: [21, 22], 16: [32, 33]}), [P99])
    assert (capacity.lo, capacity.hi) == (0, 8)
    assert warned(capacity, "not even the lowest load, connections = 8")


def test_nothing_decided_at_all():
    capacity = find_capacity(runs_of({8: [19, 22], 16: [18, 33]}), [P99])
    assert (capacity.lo, capacity.hi) == (0, math.inf)
    assert capacity.level == 0.5


def test_kept_again_above_a_broken_load_is_answered_by_the_lower_loads():
    capacity = find_capacity(runs_of({8: [11, 12], 16: [32, 33], 32: [12, 13], 64: [50, 60]}), [P99])
    assert (capacity.lo, capacity.hi) == (8, 16)
    assert warned(capacity, "kept again at connections = 32")


def test_runs_that_cannot_be_judged_are_counted():
    capacity = find_capacity(runs_of({8: [11, math.nan], 16: [math.nan, math.nan], 32: [30, 31]}), [P99])
    assert (capacity.lo, capacity.hi) == (0, 32)
    assert warned(capacity, "1 of 2 runs keep it at connections = 8, and 1 cannot be judged: undecided")
    assert warned(capacity, "0 of 2 runs keep it at connections = 16, and 2 cannot be judged: undecided")
    assert warned(
        capacity, "not even the lowest load, connections = 8, is kept by every run: the others cannot be judged"
    )
    assert warned(find_capacity(runs_of({8: [11, 25]}), [P99]), "is kept by every run: search below it")


def test_a_run_without_a_value_neither_keeps_nor_breaks():
    capacity = find_capacity(runs_of({8: [11, 12], 16: [12, math.nan], 32: [40, math.nan], 64: [50, 60]}), [P99])
    assert (capacity.lo, capacity.hi) == (8, 64)
    runs = runs_of({8: [math.nan]}).assign(error_ratio=1.0)
    assert summarise_objectives(runs, [P99, ERRORS])["decision"].tolist() == ["broken"]  # what is known breaks it


def test_nullable_columns_and_an_open_loop():
    runs = runs_of({8: [11, 12], 16: [22, 23]}).rename(columns={"connections": "offered_rps"})
    runs["latency_p99_s"] = runs["latency_p99_s"].astype("Float64")
    runs.loc[0, "latency_p99_s"] = pd.NA
    assert find_capacity(runs, [P99], load="offered_rps").hi == 16


def test_one_run_is_a_coin():
    capacity = find_capacity(runs_of({8: [11], 16: [32]}), [P99])
    assert capacity.level == 0.5
    assert warned(capacity, "1 run at an end")


@pytest.mark.slow
def test_the_interval_holds_the_capacity_of_a_simulated_queue():
    """M/M/1 at rate μ: p99 of the response time is ln 100 / (μ − λ), so 20 ms are kept up to λ = μ − ln 100 / .02."""
    mu, random, hits = 1000.0, np.random.default_rng(2), 0
    true = mu - math.log(100) / 0.020  # 769.7 requests/s
    offered = np.repeat([100.0, 400, 600, 700, 740, 760, 780, 800, 850, 900], 5)
    for _ in range(100):
        p99 = math.log(100) / (mu - offered) * np.exp(0.05 * random.standard_normal(offered.size))
        runs = pd.DataFrame({"offered_rps": offered, "latency_p99_s": p99})
        capacity = find_capacity(runs, [P99], load="offered_rps")
        hits += capacity.lo <= true <= capacity.hi
    assert hits / 100 >= capacity.level - 0.02


loads = st.dictionaries(st.integers(1, 100), st.lists(st.floats(0, 50), min_size=1, max_size=4), min_size=1, max_size=8)


@pytest.mark.slow
@examples(25)
@given(loads, st.floats(0, 0.05), st.floats(0, 0.05))
def test_a_stricter_objective_never_allows_more(levels, one, other):
    strict, loose = (
        find_capacity(runs_of(levels), [Objective("latency_p99_s", most)]) for most in sorted([one, other])
    )
    assert strict.lo <= loose.lo
    assert strict.hi <= loose.hi


@pytest.mark.slow
@examples(25)
@given(loads, st.sampled_from([0.25, 0.5, 2.0, 1024.0]))
def test_units_do_not_matter(levels, scale):
    runs = runs_of(levels)
    scaled = runs.assign(connections=runs["connections"] * scale, latency_p99_s=runs["latency_p99_s"] * scale)
    one, other = find_capacity(runs, [P99]), find_capacity(scaled, [Objective("latency_p99_s", 0.020 * scale)])
    assert (one.lo * scale, one.hi * scale) == (other.lo, other.hi)


@pytest.mark.slow
@examples(25)
@given(loads, st.randoms())
def test_neither_the_order_nor_the_index_of_the_runs_matters(levels, random):
    runs = runs_of(levels)
    order = list(runs.index)
    random.shuffle(order)
    shuffled = runs.loc[order].set_index(pd.Index([0] * len(runs)))
    assert find_capacity(runs, [P99]) == find_capacity(shuffled, [P99])


@pytest.mark.slow
@examples(25)
@given(loads)
def test_each_load_below_the_lower_end_is_kept_and_the_upper_end_is_broken(levels):
    runs = runs_of(levels)
    capacity = find_capacity(runs, [P99])
    below = runs[runs["connections"] <= capacity.lo]
    assert (below["latency_p99_s"] <= 0.020).all()
    assert (runs.loc[runs["connections"] == capacity.hi, "latency_p99_s"] > 0.020).all()
    assert capacity.lo < capacity.hi


test_rules = refuses(
    (lambda: Objective("latency_p99_s", -1), "maximum must be >= 0"),
    (lambda: Objective("latency_p99_s", math.nan), "maximum must be >= 0"),
    (lambda: find_capacity(runs_of({1: [1]}), []), "objectives must be at least one"),
    (lambda: find_capacity(runs_of({1: [1]}), [P99, P99]), "objectives must be of different columns"),
    (lambda: find_capacity(runs_of({1: [1]}), [Objective("latency_p50_s", 1)]), "column must be one of"),
    (lambda: find_capacity(runs_of({1: [1]}), [P99], load="rate"), "column must be one of"),
    (lambda: find_capacity(runs_of({}), [P99]), "connections must be known"),
    (lambda: find_capacity(runs_of({math.nan: [1]}), [P99]), "connections must be known"),
)
