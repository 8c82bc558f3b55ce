"""Runs that differ in a factor are never averaged: their curves are named by it, or the call is refused."""

import functools
import inspect
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test

from loadcurve import audit, models, plots, stats, tables
from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.models import capacity
from loadcurve.models.capacity import Objective
from loadcurve.stats import Estimate, summarise_repeats
from loadcurve.tables.curves import UNNAMED, check_points, merge_generators, name_curves

LEVELS = {
    "threads": [1, 4],
    "tool": ["wrk", "ab"],
    "variant": ["a", "b"],
    "url": ["http://h/small", "http://h/large"],
    "document_bytes": [616, 102400],
    "generator": [0, 1],
    "target_rate_rps": [100.0, 200.0],
    "requests_keepalive": [None, 600],  # of ab: without and with -k
}


@functools.cache
def runs_of(factor=None, repeats=3):
    """Runs at two levels of connections; with a factor, half of the runs of each level differ in it."""
    rows = []
    for level in LEVELS.get(factor, [None]):
        for connections in (1, 8):
            for repeat in range(1, repeats + 1):
                own = {"tool": "ab" if factor == "requests_keepalive" else "wrk"} | ({factor: level} if factor else {})
                rows.append(
                    {"variant": "v", "connections": connections, "repeat": repeat, "throughput_rps": 100.0} | own
                )
    frame = pd.DataFrame(rows).assign(study="s", status="finished", latency_mean_s=0.01, duration_s=5.0, requests=500)
    return tables.check("runs", frame.assign(run_id=[f"r{i}" for i in frame.index]))


def drop_repeat(runs):
    return runs.assign(repeat=pd.NA).astype({"repeat": "Int64"})


def one(value):
    return Estimate(value, value / 2, value * 2, 0.95, "given")


def of_run(runs, **columns):
    return runs.assign(**columns)


def objectives(runs):
    return capacity.summarise_objectives(runs, [Objective("latency_mean_s", 1.0)])


DECIDED = pd.DataFrame({"connections": [1, 8], "decision": ["kept", "kept"]})
KNEES = pd.DataFrame({"definition": ["Kneedle"], "connections": [8.0], "lo": [np.nan], "hi": [np.nan]})
SOCKETS = pd.DataFrame({name: pd.Series(dtype=object) for name in ("study", "run_id", "state", "local_port", "time")})

# Everything that takes runs and averages, or draws a mean.
AVERAGES = {
    "plot_throughput_by_connections": plots.plot_throughput_by_connections,
    "plot_latency_by_connections": plots.plot_latency_by_connections,
    "plot_records": lambda runs: plots.plot_records(runs.assign(record="here")),
    "plot_asymptotic_bounds": lambda runs: plots.plot_asymptotic_bounds(runs, one(0.01), one(0.01), one(4.0)),
    "plot_cpu_by_connections": lambda runs: plots.plot_cpu_by_connections(of_run(runs, role="server", busy_ratio=0.5)),
    "plot_deviation_from_law": lambda runs: plots.plot_deviation_from_law(of_run(runs, law="N/R", deviation_ratio=0.1)),
    "plot_capacity": lambda runs: plots.plot_capacity(runs, DECIDED, one(4.0), Objective("latency_mean_s", 1.0)),
    "plot_knees": lambda runs: plots.plot_knees(runs, None, KNEES),
    "plot_throughput_by_block": plots.plot_throughput_by_block,
    "summarise_gain": lambda runs: models.summarise_gain(runs, tables.empty("latency")),
    "summarise_deviation": lambda runs: audit.summarise_deviation(runs, 0.01),
    "summarise_similarity": lambda runs: models.summarise_similarity(runs, runs),
    "summarise_established": lambda runs: audit.summarise_established(SOCKETS, runs),
    "summarise_objectives": objectives,
    "find_capacity": lambda runs: capacity.find_capacity(runs, [Objective("latency_mean_s", 1.0)]),
    "summarise_demands": lambda runs: capacity.summarise_demands(
        of_run(runs, resource="cpu", servers=1, utilisation_ratio=0.5)
    ),
    "summarise_bottlenecks": lambda runs: capacity.summarise_bottlenecks(
        of_run(runs, resource="cpu", servers=1, utilisation_ratio=0.5)
    ),
    "bottleneck_verdict": lambda runs: capacity.bottleneck_verdict(
        of_run(runs, resource="cpu", servers=1, utilisation_ratio=0.5)
    ),
    "summarise_repeats": lambda runs: summarise_repeats(runs, by="connections", column="throughput_rps"),
    "summarise_comparisons": lambda runs: stats.summarise_comparisons(
        runs[["connections", *runs.columns.difference(["connections"])]], by="connections", column="throughput_rps",
        baseline=1,
    ),
}  # fmt: skip
# A row for each run, or a run's generators merged; the law is drawn onto plot_throughput_by_connections.
EACH_RUN = {
    "summarise_identities", "summarise_merged", "plot_throughput_law", "plot_utilisation", "plot_busy_by_threads",
    "plot_throughput_by_threads",
}  # fmt: skip
# Those that keep variants apart have a curve for each.
BY_VARIANT = {
    "plot_throughput_by_connections", "plot_latency_by_connections", "plot_records", "plot_asymptotic_bounds",
    "summarise_deviation", "summarise_similarity", "summarise_established", "plot_cpu_by_connections",
}  # fmt: skip

# As many sockets are established, whichever generator's row a run is found by.
OF_THE_MACHINE = {"summarise_established"}


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    yield
    plt.close("all")


def test_everything_that_takes_runs_is_looked_at():
    takes = {"runs", "frame", "usage", "deviation", "busy"}
    public = {
        name
        for package in (audit, plots, models, stats, capacity)
        for name in package.__all__
        if inspect.isfunction(function := getattr(package, name))
        and pd.DataFrame in [function.__annotations__.get(parameter) for parameter in takes]
    }
    assert public == EACH_RUN | AVERAGES.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", AVERAGES)
@in_one_test(("factor", "recorded"), product(LEVELS, [True, False]))
def test_an_extra_factor_is_never_averaged_over(name, factor, recorded):
    runs = runs_of(factor) if recorded else drop_repeat(runs_of(factor))
    if (factor == "variant" and name in BY_VARIANT) or (factor == "generator" and name in OF_THE_MACHINE):
        AVERAGES[name](runs)
        return
    shown = {"requests_keepalive": "keep_alive"}.get(factor, factor)
    with pytest.raises(ValueRuleError, match=rf"runs must be of one {shown} for each .*connections.*read_curves"):
        AVERAGES[name](runs)


@pytest.mark.parametrize("name", sorted(AVERAGES.keys() - {"plot_knees", "summarise_comparisons"}))
def test_a_factor_that_the_runs_do_not_hold_is_known_by_its_repeats(name):
    runs = pd.concat([runs_of(), runs_of().assign(run_id=lambda f: "x" + f["run_id"])], ignore_index=True)
    with pytest.raises(ValueRuleError, match="and repeat: a factor differs"):
        AVERAGES[name](runs)


@pytest.mark.parametrize("factor", LEVELS)
def test_named_curves_are_drawn_apart(factor):
    named = name_curves(runs_of(factor))
    assert named["variant"].nunique() == 2
    ax = plots.plot_throughput_by_connections(named)
    assert sorted(text.get_text() for text in ax.texts) == sorted(named["variant"].unique())


def test_the_guides_own_example_has_a_curve_for_each_number_of_servers():
    """One to four servers at 64 connections: the mean over them, 5093 requests/s once, is no throughput of any."""
    rows, levels = [], []
    for servers in (1, 2, 3, 4):
        for repeat in (1, 2):
            run_id = f"s{servers}-r{repeat}"
            row = {"study": "scale_out", "run_id": run_id, "variant": "only", "connections": 64, "repeat": repeat}
            rows.append(row | {"throughput_rps": 2037.0 * servers})
            for factor, level in (("topology.servers", servers), ("links", f"of {servers}")):
                levels.append({"study": "scale_out", "run_id": run_id, "factor": factor, "level": str(level)})
    runs, factors = tables.check("runs", pd.DataFrame(rows)), tables.check("factors", pd.DataFrame(levels))
    with pytest.raises(ValueRuleError, match="a factor differs"):
        plots.plot_throughput_by_connections(runs)
    named = name_curves(runs, factors)
    assert list(named["variant"].unique()) == [f"servers={n}" for n in (1, 2, 3, 4)]  # links follow from them
    means = summarise_repeats(named, by=["variant", "connections"], column="throughput_rps")
    assert means["throughput_rps"].tolist() == [2037, 4074, 6111, 8148]


@pytest.mark.slow
@examples(40)
@given(st.data())
def test_after_naming_every_mean_is_one_over_equal_runs(data):
    """For any table: runs of one name and load agree in every factor, and no name joins what the variant parted."""
    size = data.draw(st.integers(1, 12))
    columns = {name: data.draw(st.lists(st.sampled_from(levels), min_size=size, max_size=size)) for name, levels in
               {**LEVELS, "connections": [1, 8, 64]}.items() if name != "requests_keepalive"}  # fmt: skip
    runs = pd.DataFrame(columns).assign(run_id=[f"r{i}" for i in range(size)])
    named = name_curves(runs)
    check_points(named, ["variant", "connections"])
    for _, group in named.assign(was=runs["variant"]).groupby(["variant", "connections"]):
        assert len(group.drop(columns=["run_id", "variant"]).drop_duplicates()) == 1


def test_what_follows_the_load_is_no_factor():
    runs = drop_repeat(runs_of()).assign(threads=lambda f: f["connections"].clip(upper=4))
    assert name_curves(runs)["variant"].unique().tolist() == ["v"]
    assert name_curves(runs.assign(variant=pd.NA))["variant"].unique().tolist() == [UNNAMED]
    failed = runs.assign(server_software=["nginx"] * (len(runs) - 1) + [None])
    assert name_curves(failed)["variant"].unique().tolist() == ["v"], "a run that failed tells less"


def test_a_recorded_run_is_known_by_its_path_and_not_by_its_port():
    runs = runs_of().assign(url=lambda f: [f"http://127.0.0.1:{8000 + i}/a" for i in range(len(f))])
    check_points(runs, ["connections"])
    with pytest.raises(ValueRuleError, match="of one url"):
        check_points(drop_repeat(runs), ["connections"])


def test_runs_without_a_load_are_no_empty_figure():
    with pytest.raises(LoadcurveError, match="some with both connections and throughput_rps, got .6 without"):
        plots.plot_throughput_by_connections(runs_of().assign(connections=pd.NA))


def test_a_missing_run_does_not_change_the_names_of_the_others():
    """Its row has neither a variant nor levels."""
    runs = pd.DataFrame({"study": "s", "run_id": ["a", "b", "c"], "variant": ["only", "only", None], "connections": 8})
    factors = pd.DataFrame({"study": "s", "run_id": ["a", "b"], "factor": "load.keep_alive", "level": ["on", "off"]})
    named = name_curves(runs, factors)["variant"]
    assert named[:2].to_list() == name_curves(runs[:2], factors)["variant"].to_list()
    assert named[:2].to_list() == ["keep_alive=on", "keep_alive=off"]


def test_large_sizes_that_differ_in_the_last_digit_are_two_levels():
    runs = pd.DataFrame({"run_id": ["a", "b"], "connections": 8, "document_bytes": [1_048_576.0, 1_048_577.0]})
    assert name_curves(runs)["variant"].to_list() == ["document_bytes=1048576", "document_bytes=1048577"]
    with pytest.raises(ValueRuleError, match="got '1048576, 1048577'"):
        check_points(runs, ["connections"])


def test_the_generators_of_a_recorded_run_are_one_row_of_its_curve():
    """Two clients with 32 connections each are one load of 64; reports of a folder may follow each other in time."""
    rows = {"study": "s", "run_id": "c64-r1", "status": ["finished", "failed"], "generator": [0, 1], "repeat": 1,
            "connections": 32, "requests": [100, 300], "errors_read": [1, None], "throughput_rps": [10.0, 30.0],
            "latency_mean_s": [0.2, 0.4], "latency_max_s": [1.0, 3.0], "host": ["C1", "C2"]}  # fmt: skip
    recorded = tables.check("runs", pd.DataFrame(rows))
    (row,) = merge_generators(recorded).to_dict("records")
    assert (row["connections"], row["requests"], row["throughput_rps"]) == (64, 400, 40.0)
    assert row["latency_mean_s"] == pytest.approx((100 * 0.2 + 300 * 0.4) / 400)
    assert (row["latency_max_s"], row["status"]) == (3.0, "failed")
    assert pd.isna(row["errors_read"]) and pd.isna(row["host"])
    by_hand = recorded.assign(repeat=pd.NA)
    assert len(merge_generators(by_hand)) == 2


def test_generators_that_differ_in_a_number_have_none_together():
    """Also in a table whose numbers are float64, as a raw report's are."""
    runs = pd.DataFrame({"study": "s", "run_id": "a", "repeat": 1, "latency_stdev_s": [0.1, 0.2]})
    found = merge_generators(runs)
    assert found["latency_stdev_s"].isna().all() and found["repeat"].tolist() == [1]
