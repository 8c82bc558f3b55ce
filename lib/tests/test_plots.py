"""What each figure contains: axes, points, means, laws, bands, labels and colours, read back from its Axes."""

import inspect
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text
from one_test import in_one_test

from loadcurve import analyse, plots, tables
from loadcurve.analysis import Curve
from loadcurve.errors import NotMeasuredError, ValueRuleError
from loadcurve.models import Fit, summarise_threads
from loadcurve.models.capacity import Objective
from loadcurve.plots._axes import _apart
from loadcurve.plots.style import COLOURS, INK, PALETTE, colours, shows_something, svg_text
from loadcurve.stats import Estimate

matplotlib.use("Agg")

PLOTS = sorted(name.removeprefix("plot_") for name in plots.__all__)
LIGHT, DARK = "#ffffff", "#1e2129"  # backgrounds of Material's schemes; slate's is hsl(232, 15 %, 14 %)

# variant, connections, throughput, response time; the last run of cpu was interrupted.
RUNS = [
    ("cpu", 1, 100.0, 0.010),
    ("cpu", 1, 120.0, 0.008),
    ("cpu", 4, 300.0, 0.013),
    ("cpu", 4, 340.0, 0.011),
    ("cpu", 16, 400.0, 0.040),
    ("cpu", 16, math.nan, math.nan),
    ("delay", 1, 10.0, 0.100),
    ("delay", 4, 40.0, 0.100),
    ("delay", 16, 150.0, 0.110),
]
FINISHED = [run for run in RUNS if not math.isnan(run[2])]
NAN = math.nan


def frame(columns, *rows):
    """Rows as a table; its columns are the words of a text."""
    return pd.DataFrame(rows, columns=columns.split())


def rows(columns, *rows):
    """The arguments of a figure of one table."""
    return lambda: (frame(columns, *rows),)


def table_of_runs(rows=RUNS):
    found = frame("variant connections throughput_rps latency_mean_s", *rows)
    status = ["finished" if known else "interrupted" for known in found["throughput_rps"].notna()]
    return tables.check("runs", found.assign(study="s", run_id=[f"r{i}" for i in found.index], status=status))


def of_cpu():
    return table_of_runs([run for run in RUNS if run[0] == "cpu"])


def straight_fit(sd=0.2, level=0.95):
    """X = 10 N with a standard error of `sd` on the 10, from 4 points of which 2 are left over."""
    number = np.array([1.0, 4.0, 8.0, 16.0])
    return Fit(
        law="usl",
        parameters={"slope": Estimate(10, NAN, NAN, level, "given")},
        covariance=np.array([[sd**2]]),
        residual_sd=1.0,
        r_squared=1.0,
        corrected_aic=math.inf,
        points=4,
        degrees_of_freedom=2,
        level=level,
        warnings=(),
        connections=number,
        throughput_rps=10 * number,
        weights=np.ones(4),
        weighting="equal",
        function=lambda n, slope: slope * n,
        gradient=lambda n, slope: np.asarray(n, float)[:, None],
        solve=lambda n, x, weights: (x @ n / (n @ n))[:, None],
    )


def known(value, lo=NAN, hi=NAN):
    return Estimate(value, lo, hi, 0.95, "given")


def findings(rows=(("cpu", 4, 4.0), ("cpu", 16, 12.0), ("delay", 4, 3.8), ("delay", 16, 16.0))):
    found = frame("variant expected observed", *rows)
    declared = found[["expected", "observed"]].assign(study="s", rule="effective-concurrency", severity="ok")
    return (tables.check("findings", declared).assign(variant=found["variant"]),)


def records():
    here = table_of_runs([("cpu", 1, 200.0, 0.005), ("cpu", 4, 500.0, 0.008)])
    return (pd.concat([table_of_runs().assign(record="recorded"), here.assign(record="this machine")]),)


def blocks():
    runs = table_of_runs([("cpu", n, x, 0.01) for n, x in ((8, 100.0), (8, 80.0), (64, 90.0), (64, 70.0))])
    return (runs.assign(repeat=[1, 2, 1, 2]),)


def interval_coverage(columns="method size coverage lo hi"):
    return rows(
        columns, ("t, plain", "6 levels", 0.9, 0.88, 0.92), ("t, plain", "8 levels", 0.95, 0.93, 0.96),
        ("ranks", "6 levels", NAN, NAN, NAN), ("profile", "8 levels", 0.98, 0.97, 0.99),
    )  # fmt: skip


def network():
    bounds = "connections throughput_lo_rps throughput_hi_rps latency_lo_s latency_hi_s"
    return (
        frame("connections throughput_rps latency_s", (1, 100.0, 0.01), (4, 300.0, 0.013), (16, 450.0, 0.036)),
        frame(bounds, (1, 90.0, 110.0, 0.009, 0.011), (16, 200.0, 460.0, 0.03, 0.08)),
    )


def promised():
    """Two runs at 4 disagree about 50 ms; the interval is from 1 to 16."""
    times = [(1, 0.010), (1, 0.012), (4, 0.049), (4, 0.060), (16, 0.200), (16, NAN)]
    runs = frame("connections latency_p99_s", *times)
    decisions = frame("connections decision", (1, "kept"), (4, "undecided"), (16, "broken"))
    return runs, decisions, Estimate(1, 1, 16, 0.75, "given"), Objective("latency_p99_s", 0.050)


def rates():
    """An open loop at 50 and 120 requests/s, and a closed loop of the same server, whose capacity is 100."""
    offered = [(50.0, 0.02, 0.03), (50.0, 0.02, 0.05), (120.0, 0.35, 0.7)]
    closed = [(1, 49.0, 0.02, 0.03), (8, 100.0, 0.08, 0.09)]
    return (
        frame("target_rate_rps latency_p50_s latency_p99_s", *offered).assign(duration_s=4.0),
        frame("connections throughput_rps latency_p50_s latency_p99_s", *closed),
        known(100.0, 98.0, 102.0),
    )


def knees():
    """The definitions of a knee beside a law."""
    found = [("saturation N*", 4.0, 3.0, 6.0), ("maximum power", 5.0, 4.0, 7.0), ("Kneedle", 16.0, NAN, NAN)]
    return of_cpu(), straight_fit(), frame("definition connections lo hi", *found, ("maximum curvature", NAN, NAN, NAN))


def bottlenecks():
    names = "resource saturated saturation_rps saturation_lo saturation_hi predicted_rps predicted_lo predicted_hi"
    found = frame(
        names,
        ("server CPU", True, 404.0, 390.0, 420.0, 380.0, 350.0, 415.0),
        ("disk sda", False, 800.0, 700.0, 900.0, 800.0, 700.0, 900.0),
        ("link eth0", False, 9000.0, 8000.0, 9900.0, 9000.0, 8000.0, 9900.0),
    )
    return (found.assign(highest_rps=406.0, plateau_rps=400.0, plateau_lo=390.0, plateau_hi=410.0),)


def usage():
    """Resources and their demands; the disk would saturate at 20,000 requests/s, far beyond what is drawn."""
    names = "resource demand_per_server_s background_ratio saturation_rps saturation_lo saturation_hi"
    demands = frame(
        f"{names} line_saturation_rps", ("server", 2e-3, 0.05, 475.0, 450.0, 500.0, 475.0),
        ("generator", 1e-3, 0.0, 1000.0, 900.0, math.inf, 1000.0), ("disk", 5e-5, NAN, 20000.0, 19000.0, 21000.0, NAN),
    )  # fmt: skip
    used = [("server", 100.0, 0.25), ("server", 200.0, 0.45), ("generator", 100.0, 0.1), ("disk", 200.0, 0.01)]
    return frame("resource throughput_rps utilisation_ratio", *used), demands


def laws_and_rates():
    laws = [("slow", 1, 100.0), ("slow", 8, 300.0), ("fast", 1, 100.0), ("fast", 4, 200.0), ("fast", 8, 301.0)]
    stated = [("here", 4, 3, 5, 300.0, 250.0, 350.0), ("before", NAN, NAN, NAN, 400.0, 350.0, 400.0)]
    return (
        frame("law connections throughput_rps", *laws, ("other", 1, 50.0), ("other", 8, 501.0)),
        frame("name connections load_lo load_hi throughput_rps lo hi", *stated),
    )


def rates_by_threads():
    """Of a page that computes for 2 ms and waits for 42 ms, so that 22 threads fill the processor by the formula."""
    runs = frame("threads throughput_rps", (1, 22.7), (10, 227.0), (40, 490.0))
    return runs, summarise_threads(0.002, 0.042, 1, 40), known(21.6, 21.0, 23.0)


def curve():
    """Four levels, one of them repeated; R_min = 10 ms, and the highest mean is 400 requests/s, so N* = 4."""
    runs = [("cpu", 1, 100.0, 0.01), ("cpu", 4, 300.0, 0.013), ("cpu", 4, 320.0, 0.012)]
    runs += [("cpu", 8, 390.0, 0.021), ("cpu", 16, 400.0, 0.04)]
    return analyse({"runs": table_of_runs(runs)}, objectives="mean=20ms").curves[:1]


def percentiles():
    tail = pd.DataFrame({"curve": "nginx", "quantile": [0.5, 0.9, 0.99], "latency_s": [0.001, 0.002, 0.01]})
    return (pd.concat([tail.assign(corrected=False), tail.assign(corrected=True, latency_s=[0.001, 0.004, 0.1])]),)


def timeline():
    found = [("Throughput [requests/s]", "", x, y) for x, y in ((0.0, 900.0), (1.0, NAN), (2.0, 700.0))]
    found += [("CPU 0", mode, x, share) for mode, share in (("user", 0.3), ("system", 0.31)) for x in (0.5, 1.5)]
    return (frame("panel series x value", *found),)


def coordinates(column, rows=FINISHED, variant=None):
    return sorted((float(run[1]), run[column]) for run in rows if variant in (None, run[0]))


def approx(rows):
    return [pytest.approx(row) for row in rows]


class Figure(NamedTuple):
    """Example of a figure: its arguments, and what must be seen (see `look`)."""

    data: Callable[[], Any]
    seen: dict[str, Any]


# The highest of the means is 400 requests/s and R_min = 10 ms: 1/D = 400 rps, so N* = 0.01 / 0.0025 = 4.
CPU_MEANS = [[1, 110], [4, 320], [16, 400]]
DELAY_MEANS = [[1, 10], [4, 40], [16, 150]]

FIGURES = {
    "acceptance": Figure(
        rows("check balancer verdict", ("round_robin", "nft", "pass"), ("round_robin", "haproxy", "not checked"),
             ("fail_over", "nft", "fail")),
        {"places": {"pass": (0, 0), "fail": (0, 1)}, "points limit": [(1, 0)], "legend": None,  # the dash has no word
         "xticks": ["nft", "haproxy"], "yticks": ["round robin", "fail over"]},
    ),
    "asymptotic_bounds": Figure(
        lambda: (of_cpu(), *map(known, (0.0025, 0.01, 4.0))),
        {"points": sorted([*coordinates(2, variant="cpu"), (4.0, 400.0)]), "points limit": [(4.0, 400.0)],
         "places": {"cpu": (16, 400), "N* = 4": (4.0, 400.0)}},
    ),
    "bottlenecks": Figure(
        bottlenecks,
        {"strokes 0": [approx([[390, 0], [420, 0]]), approx([[350, 0.25], [415, 0.25]])],
         "strokes 1": [approx([[700, 1], [900, 1]])],
         "named": ["9k →", "observed plateau"],  # beyond 3 times the plateau it is written
         "yticks": ["server CPU", "disk sda", "link eth0"], "xlabel": "Throughput [requests/s]", "left": 0},
    ),
    "bound_gaps": Figure(
        rows("bounds connections lo_ratio hi_ratio", ("wide", 1, -0.1, 0.2), ("wide", 8, -0.3, 0.4),
             ("tight", 1, 0.0, 0.0), ("tight", 8, -0.01, 0.02)),
        {"strokes 0": [[[1, -0.1], [8, -0.3]], [[1, 0.2], [8, 0.4]]],
         "strokes 1": [[[1, 0], [8, -0.01]], [[1, 0], [8, 0.02]]],
         "legend": ["wide", "tight"], "ytick 0.05": "5%"},
    ),
    "budgets": Figure(
        rows("part units budget_s", ("own", 1, 8e-5), ("own", 8, 8e-5), ("shared", 1, 4e-5), ("shared", 8, 5e-6)),
        {"strokes": [[[1, 8e-5], [8, 8e-5]], [[1, 4e-5], [8, 5e-6]]], "labels": colours(["own", "shared"]),
         "yscale": "log", "ytick 8e-5": "80 µs"},
    ),
    "busy_by_threads": Figure(
        rows("case threads utilisation_ratio bound_ratio threads_to_fill",
             ("2 ms", 1, 0.1, 0.1, 8.0), ("2 ms", 8, 0.7, 1.0, 8.0), ("2 ms", 16, 0.9, 1.0, 8.0),
             ("4 ms", 1, 0.2, 0.2, 5.5), ("4 ms", 4, 0.6, 0.7, 5.5), ("4 ms", 16, 1.0, 1.0, 5.5)),
        {"xlabel": "Threads", "ylabel": "Processor busy", "xscale": "log", "base": 2,
         "strokes 0": [[[1, 0.1], [8, 1.0], [16, 1.0]], [[1, 0.1], [8, 0.7], [16, 0.9]]],
         "points": [(4, 0.6), (8, 0.7)],  # the last whole number of threads up to what fills it
         "labels": {"2 ms: 8 threads, 70%": "0", "4 ms: 4 threads, 60%": "1"}},
    ),
    "busy_rates": Figure(
        rows("setting throughput_rps busy_rps note", ("fast", 900.0, 900.0, ""), ("slow", 200.0, 800.0, "25 % busy")),
        {"points 0": [(200, 1), (900, 2)], "points 1": [(800, 1), (900, 2)],
         "strokes limit": [[[900, 2], [900, 2]], [[200, 1], [800, 1]]],
         "named": ["25 % busy", "if fully busy", "reported"], "yticks": ["fast", "slow"], "left": 0},
    ),
    "capacity": Figure(
        promised,
        {"points 2": [(1, 0.010), (1, 0.012)], "points 4": [(4, 0.049), (4, 0.060)], "points 1": [(16, 0.200)],
         "strokes limit --": [[[0, 0.05], [1, 0.05]]],  # across the figure
         "patches x": [(1, 16)], "ylabel": "Response time, p99", "ytick 0.05": "50 ms", "bottom": 0},
    ),
    "checklist": Figure(
        rows("report item answer", ("a", "raw", "yes"), ("a", "one_change", "partly"), ("b", "raw", "no"),
             ("b", "one_change", "not checked")),
        {"lines": {"yes": [[0, 0]], "partly": [[0, 1]], "no": [[1, 0]], "not checked": [[1, 1]]},
         "yticks": ["raw", "one change"]},
    ),
    "counts": Figure(
        rows("run what count", ("first", "asked for", 8000), ("first", "in flight", 1012),
             ("second", "asked for", 100)),
        {"xscale": "log", "yticks": ["asked for", "in flight", "asked for"],
         "labels": {"first": "0", "8,000": "0", "1,012": "0", "second": "1", "100": "1"}},
    ),
    "coverage": Figure(  # the worst shape is shown
        rows("shape runs method coverage_ratio level_ratio", ("even", 3, "t", 0.96, 0.95),
             ("even", 10, "t", 0.95, 0.95), ("skewed", 3, "t", 0.9, 0.95), ("skewed", 10, "t", 0.97, 0.95)),
        {"strokes limit --": [[[0, 0.95], [1, 0.95]]], "strokes 0": [[[3, 0.9], [10, 0.95]]], "legend": ["t"],
         "ytick 0.9": "90%", "xtick 3": "3"},
    ),
    "cpu_by_connections": Figure(
        rows("variant connections role busy_ratio", ("cpu", 1, "generator", 0.10), ("cpu", 1, "server", 0.50),
             ("cpu", 1, "server", 0.60), ("cpu", 1, "", 0.99), ("cpu", 8, "generator", 0.30),
             ("cpu", 8, "server", 1.00), ("delay", 1, "generator", 0.02), ("delay", 1, "server", 0.01)),
        {"ylabel": "Processor busy", "ytick 0.5": "50%", "bottom": 0,
         "strokes cpu --": [approx([[1, 0.10], [8, 0.30]])],
         "strokes cpu -": [approx([[1, 0.55], [8, 1.00]])],  # (0.5 + 0.6) / 2; no role, not drawn
         "strokes delay": [approx([[1, 0.02]]), approx([[1, 0.01]])],
         "words": ["cpu, generator", "cpu, server", "delay, generator", "delay, server"]},
    ),
    "curve_latency": Figure(
        curve,
        {"ylabel": "Response time", "yscale": "log", "labels": {"mean": "0"},
         "strokes": [approx([[1, 0.01], [4, 0.0125], [8, 0.021], [16, 0.04]])]},
    ),
    "curve_throughput": Figure(
        curve,
        {"points 0": [(1, 100), (4, 300), (4, 320), (8, 390), (16, 400)],
         "strokes 0": [[[1, 100], [4, 310], [8, 390], [16, 400]]],
         "points limit": [pytest.approx((4, 400))], "named": ["1/D", "N* = 4", "capacity"]},
    ),
    "dealt": Figure(
        rows("server part count", ("a", "active", 30), ("a", "inactive", 70), ("b", "active", 20),
             ("b", "inactive", 80)),
        {"bars": [(0, 30), (30, 70), (0, 20), (20, 80)], "yticks": ["a", "b"],
         "texts": ["30\nactive", "70\ninactive", "= 100", "20\nactive", "80\ninactive", "= 100"]},
    ),
    "deviation_from_law": Figure(
        rows("connections law deviation_ratio", (1, "N/R", 0.01), (1, "N/R", 0.03), (8, "N/R", -0.01),
             (1, "N/R_min", 0.0), (8, "N/R_min", -0.4)),
        {"ylabel": "Measured / law − 1", "ytick 0.03": "3%",
         "points 0": [(1, 0.01), (1, 0.03), (8, -0.01)], "points 1": [(1, 0.0), (8, -0.4)],
         "strokes 0": [approx([[1, 0.02], [8, -0.01]])], "strokes 1": [approx([[1, 0.0], [8, -0.4]])],
         "labels": {"N/R": "0", "N/Rₘᵢₙ": "1"}, "patches y": approx([(-0.03, 0.03)]), "faces": ["limit"]},
    ),
    "effective_concurrency": Figure(
        findings,
        {"ylabel": "X·R / N", "points cpu": [(4, 1.0), (16, 0.75)], "points delay": approx([(4, 0.95), (16, 1.0)]),
         "points": approx([(4, 0.95), (4, 1.0), (16, 0.75), (16, 1.0)]), "labels": {"cpu": "cpu", "delay": "delay"},
         "places": {"cpu": (16, 0.75), "delay": (16, 1.0)}, "patches y": approx([(0.9, 1.1)])},
    ),
    "efficiency": Figure(
        rows("curve units efficiency_ratio", ("small", 1, 1.0), ("small", 4, 0.9), ("large", 1, 1.0),
             ("large", 4, 0.5)),
        {"strokes 0": [[[1, 1.0], [4, 0.9]]], "strokes 1": [[[1, 1.0], [4, 0.5]]],
         "labels": {"small": "0", "large": "1"}, "xlabel": "Units", "xscale": "log", "ytick 0.5": "50%", "bottom": 0},
    ),
    "error_rates": Figure(
        interval_coverage("rule measure share lo hi"),
        {"points 1": [(0.95, pytest.approx(0.825)), (0.98, 0)], "patches x": [], "legend": ["6 levels", "8 levels"],
         "xtick 0.9": "90%"},
    ),
    "established_by_connections": Figure(
        rows("variant connections established", ("cpu", 1, 1), ("cpu", 64, 64), ("delay", 4, 4), ("delay", 512, 128)),
        {"ylabel": "Established at the server", "yscale": "symlog", "ytick 128": "128",
         "points cpu": [(1, 1), (64, 64)], "points delay": [(4, 4), (512, 128)],
         "strokes limit --": [[[1, 1], [512, 512]]],  # equality
         "legend": ["cpu", "delay"]},
    ),
    # Throughput above, and below it the steal of two processors with the rule's limit, and of a clean run.
    "fault": Figure(
        rows("panel axis x name series value limit clean",
             ("Throughput [requests/s]", "time", 1.0, None, "", 900.0, NAN, False),
             ("Throughput [requests/s]", "time", 2.0, None, "", 500.0, NAN, False),
             ("Cpu steal [ratio]", "time", 1.0, None, "cpu 0", 0.2, 0.01, False),
             ("Cpu steal [ratio]", "time", 2.0, None, "cpu 0", 0.3, 0.01, False),
             ("Cpu steal [ratio]", "time", 1.0, None, "cpu 1", 0.1, 0.01, False),
             ("Cpu steal [ratio]", "time", 1.0, None, "cpu 0", 0.0, 0.01, True),
             ("Cpu steal [ratio]", "time", 2.0, None, "cpu 0", 0.0, 0.01, True)),
        {"ylabel": "Cpu steal", "ytick 0.1": "10%", "legend": ["cpu 0", "cpu 1", "clean run"],
         "xlabel": "Time since the load started [s]"},
    ),
    "fit": Figure(
        lambda: (straight_fit(), known(8.0, 4.0, 12.0)),
        {"points 0": [(1, 10), (4, 40), (8, 80), (16, 160)], "points limit": [(8, 80)],
         "strokes limit": [[[4, 80], [12, 80]]], "named": ["peak at 8"], "ylabel": "Throughput [requests/s]",
         "bottom": 0, "top": 200},
    ),
    "forecast": Figure(
        lambda: (
            frame("connections throughput_rps seen", (1, 100.0, True), (4, 350.0, True), (16, 600.0, False)),
            frame("connections throughput_rps prediction_lo prediction_hi", (1, 100.0, 90.0, 110.0),
                  (4, 360.0, 300.0, 400.0), (16, 900.0, 400.0, 1500.0)),
        ),
        {"line fitted": [[1, 100], [4, 350]], "line held back": [[16, 600]], "bands": [(90, 1500)]},
    ),
    "forecast_errors": Figure(
        rows("method error_ratio", ("stack of forecasts", 0.1), ("stack of forecasts", -0.2),
             ("usl as people write it", NAN), ("usl", 5.0)),
        # Without a forecast, or off by more than is drawn, a line is empty.
        {"line usl as people write it": [], "line _usl": [],
         "legend": ["stack of forecasts", "usl as people write it", "other methods"]},
    ),
    "interval_coverage": Figure(
        interval_coverage(),
        {"points 1": [(0.95, pytest.approx(0.825)), (0.98, 0)], "yticks": ["profile", "t,\nplain"],
         "legend": ["6 levels", "8 levels"], "xtick 0.9": "90%"},
    ),
    "intervals": Figure(
        rows("quantity method value lo hi", ("unit_throughput_rps", "t", 10, 8, 12),
             ("unit_throughput_rps", "profile", 10, 9, 13), ("peak", "t", 4, 2, math.inf)),
        {"yticks": ["peak", "unit throughput"], "legend": ["t", "profile"]},
    ),
    "knees": Figure(
        knees,
        {"labels": {"cpu": "cpu", "saturation N*, 4": "limit", "maximum power, 5": "law", "Kneedle, 16": "cpu"}},
    ),
    "latency_by_connections": Figure(
        lambda: (table_of_runs(),),
        {"ylabel": "Mean response time", "yscale": "log", "ytick 0.01": "10 ms", "points": coordinates(3),
         "strokes cpu": [approx([[1, 0.009], [4, 0.012], [16, 0.040]])],
         "strokes delay": [approx([[1, 0.1], [4, 0.1], [16, 0.11]])], "labels": {"cpu": "cpu", "delay": "delay"}},
    ),
    "law_by_delay": Figure(
        rows("delay_s law measured_ratio", (0.001, "X · R", 1), (0.01, "X · R", 1.01), (0.01, "delay", 0.9)),
        {"xscale": "log", "ytick 0.97": "97%", "points 0": [(0.001, 1), (0.01, 1.01)], "named": ["X · R", "delay"]},
    ),
    "laws": Figure(
        laws_and_rates,
        {"strokes 0": [[[1, 100], [8, 300]]], "strokes 1": [[[1, 100], [4, 200], [8, 301]]],
         "strokes limit -": [[[3, 300], [5, 300]], [[4, 250], [4, 350]]],  # what rounding leaves open
         "strokes limit --": [[[0, 400], [1, 400]]], "points limit": [(4, 300)]},
    ),
    "network_latency": Figure(
        network,
        {"ylabel": "Mean response time", "strokes law": [[[1, 0.01], [4, 0.013], [16, 0.036]]],
         "strokes limit --": [[[1, 0.009], [16, 0.03]], [[1, 0.011], [16, 0.08]]], "bottom": 0,
         "top": pytest.approx(1.3 * 0.036), "labels": {"exact": "law"}},
    ),
    "network_throughput": Figure(
        network,
        {"strokes law": [[[1, 100], [4, 300], [16, 450]]],
         "strokes limit --": [[[1, 90], [16, 200]], [[1, 110], [16, 460]]], "labels": {"exact": "law"}},
    ),
    "overhead_by_size": Figure(
        rows("response_bytes frame_bytes medium_bytes", (0.0, 282.0, 306.0), (1000.0, 1282.0, 1306.0)),
        {"strokes 0": [[[0, 282], [1000, 282]]], "strokes 1": [[[0, 306], [1000, 306]]],
         "labels": {"in frames": "0", "on the medium": "1"}, "bottom": 0, "xlabel": "Body of the response [bytes]"},
    ),
    "overlap": Figure(
        lambda: (
            frame("delay_s lo_rps hi_rps", (0, 600.0, 600.0), (10, 300.0, 600.0)),
            frame("name throughput_rps", ("one alone", 300.0)),
        ),
        {"strokes law": [[[0, 600], [10, 600]], [[0, 600], [10, 300]]], "bands": [(300, 600)], "bottom": 0,
         "strokes limit --": [[[0, 300], [1, 300]]], "xlabel": "Delay between the starts [s]",
         "labels": {"one alone": "limit", "requests / time": "law", "sum of the rates": "law"}},
    ),
    "packets_by_size": Figure(
        rows("counted response_bytes frames", ("responses", 0, 1), ("responses", 2000, 2), ("both ways", 0, 2),
             ("both ways", 2000, 4)),
        {"strokes 0": [[[0, 1], [2000, 2]]], "strokes 1": [[[0, 2], [2000, 4]]],
         "labels": {"responses": "0", "both ways": "1"}},
    ),
    "percentiles": Figure(
        percentiles,
        {"xscale": "log", "yscale": "log", "xtick 0.5": "50 %", "xtick 0.01": "99 %",
         "named": ["nginx", "nginx, corrected"]},
    ),
    "port_limit": Figure(
        lambda: (
            frame("limit destinations connections_per_s", ("60 s", 1, 470), ("60 s", 10, 4700), ("1 s", 1, 28232)),
            frame("name connections_per_s", ("wanted", 3000.0)),
        ),
        {"strokes 0": [[[1, 470], [10, 4700]]], "strokes limit --": [[[1, 3000], [10, 3000]]],
         "named": ["1 s", "60 s", "wanted"]},
    ),
    "projection": Figure(
        lambda: (
            frame("units throughput_rps seen", (1, 100.0, True), (4, 360.0, True), (16, 900.0, False)),
            frame("units throughput_rps lo hi", (8, 600.0, 400, 800), (16, 1000.0, 500, 1600)),
        ),
        {"points 0": [(1, 100), (4, 360), (16, 900)], "strokes law --": [[[8, 600], [16, 1000]]],
         "bands": [(400, 1600)], "labels": {"projected": "law", "used": "0", "held back": "0"}, "xlabel": "Units",
         "bottom": 0},
    ),
    "rates": Figure(
        rates,
        {"points 0": [(50, 0.02), (50, 0.02), (50, 0.03), (50, 0.05), (120, 0.35), (120, 0.7)],
         "strokes 0 :": [[[50, 0.02], [120, 0.35]]], "strokes 0 -": [[[50, pytest.approx(0.04)], [120, 0.7]]],
         "strokes 1 -": [[[49, 0.03], [100, 0.09]]],  # by what was served
         "named": ["N = 1", "capacity", "closed loop,\n8 connections", "open loop, p50", "open loop, p99"]},
    ),
    "rates_by_setting": Figure(
        rows("setting throughput_rps model_rps", ("fast", 900.0, 950.0), ("fast", 700.0, 950.0), ("slow", 200.0, NAN)),
        {"points law": [(950, 2)],  # no model, no point
         "named": ["200", "800", "model"], "yticks": ["fast", "slow"], "left": 0},
    ),
    "ratios": Figure(
        rows("method ratio lo hi", ("t", 1.1, 1.0, 1.2), ("ranks", 1.2, NAN, NAN)),
        {"points 0": [(1.1, 2), (1.2, 1)], "words": ["no interval"], "yticks": ["t", "ranks"]},
    ),
    "records": Figure(
        records,
        {"strokes cpu -": [CPU_MEANS], "strokes cpu --": [[[1, 200], [4, 500]]], "strokes delay": [DELAY_MEANS],
         "words": ["cpu, recorded", "cpu, this machine", "delay, recorded"]},
    ),
    "repeats_by_scatter": Figure(
        lambda: (
            frame("variation_ratio repeats", (0.01, 6.0), (0.1, 436.0)),
            frame("name variation_ratio repeats", ("seen", 0.02, 19.0)),
        ),
        {"strokes 0": [[[0.01, 6], [0.1, 436]]], "labels": {"seen": "1"}, "points 1": [(0.02, 19)],
         "xtick 0.005": "0.5%", "ytick 100": "100"},
    ),
    "reported_rates": Figure(
        rows("case throughput_rps lower_bound", ("one", 300.0, 1.0), ("both", 659.0, NAN)),
        {"named": ["659 requests/s", "both", "one", "≥ 300 requests/s"], "left": 0, "bars": [(0, 300), (0, 659)],
         "markers": [">"], "inverted": True},  # open to the right where more is possible; the first case on top
    ),
    "requests_limit_by_size": Figure(
        lambda: (
            frame("limit kind payload_bytes throughput_rps", ("10 GbE", "link", 306, 4e6),
                  ("10 GbE", "link", 1538, 8e5), ("1 Mpps", "packets", 306, 1e6)),
            frame("setup payload_bytes throughput_rps verdict", ("server", 216, 5e5, "consistent"),
                  ("server", 832, 4e5, "inconsistent"), ("proxy", 9e3, 2e5, "above line rate")),
        ),
        {"xscale": "log", "yscale": "log", "ytick 1e6": "1M", "strokes limit -": [[[306, 4e6], [1538, 8e5]]],
         "strokes law --": [[[306, 1e6]]], "points": [(216, 5e5), (832, 4e5), (9000, 2e5)],
         "legend": ["server", "server, inconsistent", "proxy, above line rate"]},
    ),
    "residuals": Figure(
        rows("connections miss_ratio leave_one_out", (1, 0.2, 0.5), (4, -0.1, -0.2), (16, 0.05, NAN)),
        {"line in the fit": [[1, 0.2], [4, -0.1], [16, 0.05]],
         "line left out of the fit": [[1, 0.5], [4, -0.2], pytest.approx([16, NAN], nan_ok=True)]},
    ),
    "shares_by_size": Figure(
        rows("resource payload_bytes used_ratio", ("link", 216, 0.2), ("link", 2806, 0.9), ("link", 10456, 1.08),
             ("processor", 216, 1.0)),
        {"labels": colours(["link", "processor"])},
    ),
    "sockets": Figure(
        rows("machine place count", ("server", "established", 40), ("server", "elsewhere", 60),
             ("client", "established", 1), ("client", "elsewhere", 99)),
        {"yticks": ["server", "client"], "legend": ["established", "elsewhere"],
         "bars": approx([(0, 0.4), (0.4, 0.6), (0, 0.01), (0.01, 0.99)]),
         "named": ["40", "60", "99"]},  # a hundredth has no room for its number
    ),
    "sockets_over_time": Figure(
        rows("run_id variant elapsed_s established orphans", ("a", "1 s", 0.0, 64, 0), ("a", "1 s", 2.0, 0, 64),
             ("b", "2 s", 0.0, 64, 0), ("b", "2 s", 3.0, 0, 64)),
        {"named": ["2 s"]},
    ),
    "solvers": Figure(
        rows("solver connections latency_s", ("right", 1, 1.0), ("right", 8, 5.0), ("wrong", 1, 1.0),
             ("wrong", 8, -90.0)),
        {"ylabel": "Mean response time", "strokes 0 -": [[[1, 1], [8, 5]]], "strokes 1 :": [[[1, 1], [8, -90]]],
         "legend": ["right", "wrong"], "xlabel": "Connections", "xscale": "linear", "yscale": "symlog"},
    ),
    "throughput_by_block": Figure(
        blocks,
        {"strokes cpu": [[[1, 100], [2, 80]]], "strokes 1": [[[1, 90], [2, 70]]],
         "labels": {"N = 8": "cpu", "N = 64": "1"}, "bottom": 0, "ylabel": "Throughput [requests/s]"},
    ),
    "throughput_by_connections": Figure(
        lambda: (table_of_runs(),),
        {"points": coordinates(2), "points cpu": coordinates(2, variant="cpu"),
         "points delay": coordinates(2, variant="delay"), "strokes": [CPU_MEANS, DELAY_MEANS],
         "strokes cpu": [CPU_MEANS], "strokes delay": [DELAY_MEANS], "labels": {"cpu": "cpu", "delay": "delay"},
         "places": {"cpu": (16, 400), "delay": (16, 150)}, "legend": None},
    ),
    "throughput_by_threads": Figure(
        rates_by_threads,
        {"xlabel": "Threads", "base": 2,
         "named": ["formula", "in lockstep", "measured", "optimum: 21.6", "with queueing"]},
    ),
    "throughput_law": Figure(
        lambda: (of_cpu(), straight_fit()),
        {"points": coordinates(2, variant="cpu"), "strokes cpu": [CPU_MEANS], "labels": {"cpu": "cpu", "USL": "law"}},
    ),
    "timeline": Figure(timeline, {"xlabel": "Time since the load began [s]", "ytick 0.2": "20%"}),
    "topology": Figure(
        lambda: (
            frame("host role facts", ("C1", "C", "ab"), ("C2", "C", "ab"), ("LB", "LB", "nginx"), ("S", "S", "nginx")),
            frame("source target label", ("C1", "LB", "HTTP"), ("C2", "LB", ""), ("LB", "S", "")),
        ),
        {},
    ),
    "used": Figure(
        rows("limit load used_ratio", ("link", "small", 0.8), ("packets", "small", 0.1), ("link", "large", 0.4)),
        {"strokes limit --": [[[1, 0], [1, 1]]], "labels": {"80%": "0", "10%": "0", "40%": "1"},
         "legend": ["small", "large"], "xtick 0.5": "50%"},
    ),
    "utilisation": Figure(
        usage,
        {"points 0": [(100, 0.25), (200, 0.45)],
         # From its background to where the line saturates, and the interval of that.
         "strokes 0": [approx([[0, 0.05], [475, 1.0]]), approx([[450, 1.0], [500, 1.0]])],
         "strokes 1": [approx([[0, 0], [1000 * 0.8, 0.8]])],  # 4 × 200 requests/s, and no further
         "strokes 2": [approx([[0, 0], [800, 0.04]])], "labels": {"server": "0", "generator": "1", "disk": "2"},
         "xlabel": "Throughput [requests/s]", "ytick 0.5": "50%"},
    ),
}  # fmt: skip

# Those whose horizontal axis is the number of connections, as log2 except for the solvers' few populations.
OVER_CONNECTIONS = [
    "asymptotic_bounds", "bound_gaps", "capacity", "cpu_by_connections", "curve_latency", "curve_throughput",
    "deviation_from_law", "effective_concurrency", "established_by_connections", "fit", "forecast", "knees",
    "latency_by_connections", "laws", "network_latency", "network_throughput", "records", "residuals", "solvers",
    "throughput_by_connections", "throughput_law",
]  # fmt: skip
THROUGHPUT = [
    "asymptotic_bounds", "forecast", "knees", "laws", "network_throughput", "records", "throughput_by_connections",
    "throughput_law",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    yield
    plt.close("all")


def plot(name, *data, ax=None):
    return getattr(plots, f"plot_{name}")(*data, ax=ax)


def draw(name, ax=None):
    return plot(name, *FIGURES[name].data(), ax=ax)


def color(word):
    """A colour by its place in the palette, or by the name of what has it; another text is the colour."""
    return PALETTE[int(word)] if word.isdigit() else COLOURS.get(word, word)


def is_stroked(line):
    return line.get_linestyle() != "None"


def points(ax, word=None):
    """Every marker that stands for one run, sorted; of one colour where it is given."""
    found = []
    for collection in (c for c in ax.collections if isinstance(c, PathCollection)):
        faces = [to_hex(face) for face in collection.get_facecolors()]
        faces *= len(collection.get_offsets()) // len(faces)  # one colour for all, or one each
        found += zip(np.asarray(collection.get_offsets()).tolist(), faces, strict=True)
    for line in (line for line in ax.lines if not is_stroked(line)):
        found += [(list(xy), to_hex(line.get_color())) for xy in line.get_xydata().tolist()]
    return sorted(tuple(xy) for xy, face in found if word is None or face == color(word))


def strokes(ax, word=None, style=None):
    """Points of each drawn line, of one colour and style where they are given."""
    drawn = [line for line in ax.lines if is_stroked(line) and style in (None, line.get_linestyle())]
    return [line.get_xydata().tolist() for line in drawn if word is None or to_hex(line.get_color()) == color(word)]


def labels(ax):
    return {text.get_text(): to_hex(text.get_color()) for text in ax.texts}


def places(ax):
    return {text.get_text(): text.xy for text in ax.texts}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else None


def lines(ax):
    return {line.get_label(): line.get_xydata().tolist() for line in ax.lines}


def bands(ax):
    """Corners of each filled band."""
    return [c.get_paths()[0].vertices for c in ax.collections if isinstance(c, PolyCollection)]


def texts(found):
    return [text.get_text() for text in found]


def tick(axis, value):
    return axis.get_major_formatter()(value, 0)


READERS = {
    "bands": lambda ax: [(band[:, 1].min(), band[:, 1].max()) for band in bands(ax)],
    "bars": lambda ax: [(bar.get_x(), bar.get_width()) for bar in ax.patches if bar.get_width()],
    "base": lambda ax: ax.xaxis.get_transform().base,
    "bottom": lambda ax: ax.get_ylim()[0],
    "faces": lambda ax: [to_hex(patch.get_facecolor()) for patch in ax.patches],
    "left": lambda ax: ax.get_xlim()[0],
    "legend": legend,
    "line": lambda ax, *words: lines(ax)[" ".join(words)],
    "lines": lines,
    "named": lambda ax: sorted(set(labels(ax))),
    "patches x": lambda ax: [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches],
    "patches y": lambda ax: [(patch.get_y(), patch.get_y() + patch.get_height()) for patch in ax.patches],
    "places": places,
    "points": points,
    "strokes": strokes,
    "texts": lambda ax: texts(ax.texts),
    "top": lambda ax: ax.get_ylim()[1],
    "words": lambda ax: list(labels(ax)),
    "markers": lambda ax: [line.get_marker() for line in ax.lines],
    "inverted": lambda ax: ax.xaxis_inverted() or ax.yaxis_inverted(),
    "xlabel": Axes.get_xlabel,
    "xscale": Axes.get_xscale,
    "xtick": lambda ax, value: tick(ax.xaxis, float(value)),
    "xticks": lambda ax: texts(ax.get_xticklabels()),
    "ylabel": Axes.get_ylabel,
    "yscale": Axes.get_yscale,
    "ytick": lambda ax, value: tick(ax.yaxis, float(value)),
    "yticks": lambda ax: texts(ax.get_yticklabels()),
}


def look(ax, seen):
    """Compare what is seen with what must be: for each reader, with its words after it, the value that it returns."""
    for what, wanted in seen.items():
        if what == "labels":
            assert labels(ax) == {text: color(word) for text, word in wanted.items()}
        elif what == "faces":
            assert READERS[what](ax) == [color(word) for word in wanted]
        elif what in READERS:
            assert READERS[what](ax) == wanted, what
        else:
            kind, *words = what.split(" ")
            assert READERS[kind](ax, *words) == wanted, what


# Every figure


def test_every_plot_has_an_example_and_what_must_be_seen():
    assert sorted(FIGURES) == PLOTS
    own = {name for name in PLOTS if any(test.startswith(f"test_{name}") for test in globals())}
    assert [name for name in PLOTS if not FIGURES[name].seen and name not in own] == []


@pytest.mark.parametrize("name", [name for name in PLOTS if FIGURES[name].seen])
def test_what_must_be_seen(name):
    look(draw(name), FIGURES[name].seen)


@in_one_test("name", PLOTS)
def test_takes_data_and_ax_and_nothing_else(name):
    *data, ax = inspect.signature(getattr(plots, f"plot_{name}")).parameters.values()
    assert (ax.name, ax.kind, ax.default) == ("ax", inspect.Parameter.KEYWORD_ONLY, None)
    for parameter in data:
        assert parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert parameter.default is inspect.Parameter.empty
        assert parameter.annotation in (pd.DataFrame, Fit, Estimate, Objective, Curve)


@in_one_test("name", [name for name in PLOTS if isinstance(FIGURES[name].data()[0], pd.DataFrame)])
def test_a_plot_without_data_is_an_error_and_leaves_no_figure(name):
    """No empty axes, no error of another library."""
    first, *others = FIGURES[name].data()
    with pytest.raises((ValueRuleError, NotMeasuredError), match="one row or more|some with both|No|None of 0"):
        plot(name, first.iloc[:0], *others)
    assert plt.get_fignums() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
def test_draws_into_the_given_axes_only(name):
    figure, (other, given) = plt.subplots(1, 2)
    plt.sca(other)
    assert draw(name, ax=given) is given
    assert given.has_data()
    assert not other.has_data() and not other.get_xlabel()
    assert plt.get_fignums() == [figure.number]
    assert figure.axes == [other, given]
    assert (given.get_xlabel() == "Connections") == (name in OVER_CONNECTIONS)
    if name in OVER_CONNECTIONS and name != "solvers":
        assert (given.get_xscale(), given.xaxis.get_transform().base) == ("log", 2)
        assert tick(given.xaxis, 1024) == "1024"


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
def test_without_axes_each_call_is_a_figure_of_its_data_and_leaves_them(name):
    data = FIGURES[name].data()
    before = [part.copy() if isinstance(part, pd.DataFrame) else part for part in data]
    first, second = plot(name, *data), plot(name, *data)
    assert isinstance(first, Axes)
    assert first.figure is not second.figure
    assert len(plt.get_fignums()) == 2
    assert any(map(shows_something, first.figure.axes))
    assert_no_ink(first)
    first.figure.canvas.draw()
    assert_one_unit(first.figure)
    assert_text_can_be_read(first.figure)
    for part, was in zip(data, before, strict=True):
        if isinstance(part, pd.DataFrame):
            pd.testing.assert_frame_equal(part, was)


@pytest.mark.parametrize("name", THROUGHPUT)
def test_throughput_starts_at_0(name):
    ax = draw(name)
    look(ax, {"ylabel": "Throughput [requests/s]", "bottom": 0, "ytick 40000": "40k"})
    assert ax.get_ylim()[1] > 400  # the best run is in view


# What is seen in a figure beyond its row of the table, or with other data


def test_fault():
    below = draw("fault")
    above, last = below.figure.axes
    assert last is below
    look(above, {"ylabel": "Throughput [requests/s]"})
    assert above.lines[0].get_xydata().tolist() == [[1, 900], [2, 500]]
    of_0, of_1, clean, limit = below.lines
    assert (of_0.get_xydata().tolist(), of_1.get_xydata().tolist()) == ([[1, 0.2], [2, 0.3]], [[1, 0.1]])
    assert (clean.get_xydata().tolist(), to_hex(clean.get_color())) == ([[1, 0], [2, 0]], COLOURS["limit"])
    assert (limit.get_ydata(), limit.get_linestyle()) == ([0.01, 0.01], "--")


def test_timeline():
    below = draw("timeline")
    above, last = below.figure.axes
    assert last is below
    assert [one.get_title(loc="left") for one in (above, below)] == ["Throughput [requests/s]", "CPU 0"]
    assert above.lines[0].get_xydata()[[0, 2]].tolist() == [[0, 900], [2, 700]]
    assert math.isnan(above.lines[0].get_ydata()[1])  # nothing joins two runs
    assert [line.get_ydata().tolist() for line in below.lines] == [[0.3, 0.3], [0.31, 0.31]]
    below.figure.draw_without_rendering()
    user, system = (text.get_window_extent() for text in below.texts)
    assert user.y1 <= system.y0 + 2  # their lines end almost at one point


def test_percentiles():
    ax = draw("percentiles")
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]
    assert ax.lines[0].get_xdata().tolist() == pytest.approx([0.5, 0.1, 0.01])
    assert ax.xaxis_inverted()
    same = percentiles()[0].assign(latency_s=[0.001, 0.002, 0.01] * 2)  # two lines that end at one point
    below, above = (text.get_position()[1] for text in plot("percentiles", same).texts)
    assert above - below >= 10  # points, the size of the text


def test_fault_of_counts_has_bars_beside_those_of_the_clean_run():
    counts = pd.DataFrame({"panel": "Count", "axis": "name", "x": 0.0, "name": ["Connections", "Errors connect"] * 2})
    values = [1000, 750, 64, 0]
    ax = plot("fault", counts.assign(series="", value=values, limit=NAN, clean=[False, False, True, True]))
    assert sorted(patch.get_height() for patch in ax.patches) == sorted(values)
    look(ax, {"xticks": ["Connections", "Errors connect"]})


@pytest.mark.parametrize("name", ["throughput_by_connections", "records"])
def test_a_variant_that_would_lie_on_the_zero_line_has_a_panel_of_its_own(name):
    rows = [("cpu", n, 100_000.0, 0.01) for n in (1, 2, 4)] + [("delay", n, 1000.0 * n, 0.01) for n in (1, 2, 4)]
    ax = plot(name, table_of_runs(rows).assign(record="here"))
    above, below = ax.figure.axes
    assert below is ax and [one.get_ylim()[0] for one in (above, below)] == [0, 0]
    assert (list(labels(above).values()), list(labels(below).values())) == ([COLOURS["cpu"]], [COLOURS["delay"]])
    assert below.get_ylim()[1] < 10_000
    assert (ax.figure.get_supylabel(), ax.get_xlabel()) == ("Throughput [requests/s]", "Connections")


def test_throughput_by_connections_of_variants_without_a_colour_of_their_own():
    runs = table_of_runs([("zeta", 1, 1.0, 1.0), ("eta", 1, 2.0, 1.0), ("eta", 2, 3.0, 1.0)])
    look(plot("throughput_by_connections", runs), {"labels": {"eta": "0", "zeta": "1"}, "points 1": [(1, 1)]})


@pytest.mark.parametrize("name", ["throughput_by_connections", "latency_by_connections", "records"])
def test_a_level_whose_runs_all_lack_a_value_is_left_out(name):
    ax = plot(name, table_of_runs([*FINISHED, ("cpu", 64, NAN, NAN)]).assign(record="recorded"))
    ax.figure.canvas.draw()
    drawn = [x for stroke in strokes(ax, "cpu") for x, y in stroke if not math.isnan(y)]
    assert drawn == [1, 4, 16]
    assert 64 not in [x for x, _ in points(ax)]


@pytest.mark.parametrize("name", ["curve_throughput", "asymptotic_bounds"])
def test_bounds_rise_by_the_shortest_time_and_end_at_the_demand(name):
    [bound] = strokes(draw(name), "limit")
    assert (bound[0], bound[-1]) == (pytest.approx([1, 100]), pytest.approx([16, 400]))  # N / 10 ms, then 1 / D
    assert [y for _, y in bound] == pytest.approx([min(100 * x, 400) for x, _ in bound])


def law_of_a_curve(*rows):
    return plot("curve_throughput", analyse({"runs": table_of_runs([("cpu", *row) for row in rows])}).curves[0])


def test_curve_throughput_names_the_law_where_there_are_levels_enough_and_marks_its_peak():
    """X = 100 N / (1 + 0.01 N (N - 1)) is highest at N = √(1 / 0.01) = 10, where it is 1000 / 1.9."""
    ax = law_of_a_curve(*((n, n / (0.01 + 0.001 * n), 0.01 + 0.001 * n) for n in (1, 2, 4, 8, 16, 32)))
    assert labels(ax)["USL"] == COLOURS["law"] and bands(ax)
    ax = law_of_a_curve(*((n, 100 * n / (1 + 0.01 * n * (n - 1)), 0.01) for n in (1, 2, 4, 8, 16, 32, 64)))
    assert "USL peak 10" in labels(ax) and "USL" not in labels(ax)
    assert points(ax, "law") == [pytest.approx((10, 1000 / 1.9))]


def test_a_time_of_0_has_no_place_on_a_logarithmic_axis(recwarn):
    """ab prints 0 for less than 0.5 ms: here at one load of a percentile, and at all loads of another."""
    latency = frame("run_id quantile latency_s", ("c1", 0.5, 0.0), ("c4", 0.5, 0.002), ("c1", 0.1, 0.0), ("c4", 0.1, 0))
    runs = table_of_runs([("cpu", 1, 100.0, 0.01), ("cpu", 4, 300.0, 0.013)]).assign(run_id=["c1", "c4"])
    ax = plot("curve_latency", analyse({"runs": runs, "latency": latency.assign(study="s")}).curves[0])
    assert set(labels(ax)) == {"mean", "p50"} and not [w for w in recwarn if w.category is RuntimeWarning]
    assert [4, 0.002] in strokes(ax)[1]


@pytest.mark.parametrize("name", ["throughput_law", "knees"])
def test_the_law_is_drawn_beside_the_runs(name):
    [law] = strokes(draw(name), "law", "--" if name == "knees" else None)
    assert (law[0], law[-1]) == (pytest.approx([1, 10]), pytest.approx([16, 160]))
    assert [y for _, y in law] == pytest.approx([10 * x for x, _ in law])


def test_throughput_law_has_its_band():
    ax = draw("throughput_law")
    [band] = [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert to_hex(band.get_facecolor()[0]) == COLOURS["law"]
    corners = band.get_paths()[0].vertices
    half = 4.302653 * 0.2  # t(2) at 97.5 %, any t table, times the standard error
    for number in (1, 16):
        ends = corners[np.isclose(corners[:, 0], number), 1]
        assert (ends.min(), ends.max()) == pytest.approx((number * (10 - half), number * (10 + half)))
    below_0 = plot("throughput_law", of_cpu(), straight_fit(sd=4))  # 10 − 4.3 × 4 < 0
    assert (READERS["bands"](below_0)[0][0], below_0.get_ylim()[0]) == (0, 0)


def test_cpu_by_connections_has_room_for_all_of_a_processor():
    assert draw("cpu_by_connections").get_ylim()[1] >= 1


def test_a_study_without_lists_of_sockets_is_refused_with_what_to_record():
    (established,) = FIGURES["established_by_connections"].data()
    with pytest.raises(NotMeasuredError, match="No snapshot of ss .*: record `ss -tan` on the server during each run"):
        plot("established_by_connections", established.iloc[:0])


def test_established_by_connections():
    ax = draw("established_by_connections")
    assert ax.yaxis.get_transform().base == 2
    (established,) = FIGURES["established_by_connections"].data()
    ax = plot("established_by_connections", established.assign(established=[1, 0, 4, 128]))
    assert ax.get_ylim()[0] <= 0, "a run without any established connection is in view"


def test_laws():
    ax = draw("laws")
    assert labels(ax)["fast"] == PALETTE[1] and labels(ax)["here"] == COLOURS["limit"]
    named = {text: y for text, (_, y) in places(ax).items()}
    assert named["slow"] == 300 and named["fast"] > 330  # ends that nearly meet are named apart
    assert named["here"] > 501  # above all lines
    look(
        plot("laws", *(table.rename(columns={"connections": "workers"}) for table in laws_and_rates())),
        {"xlabel": "Workers", "xtick 8": "8"},
    )


def test_laws_that_end_at_one_rate_are_named_where_they_rise():
    laws, stated = laws_and_rates()
    named = places(plot("laws", laws[laws["law"] != "other"], stated))
    assert (named["slow"], named["fast"]) == ((8, 150), (4, 150.5))


def test_ratios():
    assert strokes(draw("ratios"), "0")[0] == [[1.0, 2], [1.2, 2]]
    ax = plot("ratios", frame("method ratio lo hi", ("Fieller", 0.8, 0.0, math.inf), ("t", 1.5, 1.0, 2.0)))
    assert strokes(ax, "0")[0] == [[0, 2], [2.2, 2]], "without an upper end"
    assert [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == ">"] == [[[2.2, 2]]]


def test_interval_coverage():
    ax = draw("interval_coverage")
    assert strokes(ax, "0")[0] == [[0.88, pytest.approx(1.175)], [0.92, pytest.approx(1.175)]]
    assert [line[0][0] for line in strokes(ax, "limit", "--")] == [pytest.approx(0.95)]
    zone = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (zone.x0, zone.x1) == pytest.approx((0.93, 0.97))


def test_requests_limit_by_size():
    markers = [line.get_marker() for line in draw("requests_limit_by_size").lines if not is_stroked(line)]
    assert len(set(markers)) == 3  # a verdict is told by its shape too
    limits, reported = FIGURES["requests_limit_by_size"].data()
    assert plot("requests_limit_by_size", limits, reported.head(0)).get_legend() is None


def test_an_unchecked_run_does_not_take_its_variants_label_along():
    look(plot("effective_concurrency", *findings([("cpu", 4, 4.0), ("cpu", 64, NAN)])), {"places": {"cpu": (4, 1.0)}})


def test_the_servers_line_is_the_same_without_the_generators():
    (busy,) = FIGURES["cpu_by_connections"].data()
    assert {line.get_linestyle() for line in plot("cpu_by_connections", busy.query("role == 'server'")).lines} == {"-"}


def test_a_records_line_is_the_same_in_every_variant():
    (both,) = records()
    ax = plot("records", both[(both["variant"] == "delay") | (both["record"] == "this machine")])
    assert [line.get_linestyle() for line in ax.lines] == ["--", "-"]  # cpu on this machine; delay, recorded


def test_no_record_is_lost():
    assert len(labels(plot("records", pd.concat([of_cpu().assign(record=record) for record in "abcd"])))) == 4


def test_fit():
    wide, narrow = (band[:, 1].max() for band in bands(draw("fit")))
    assert wide > narrow == pytest.approx(16 * (10 + 4.302653 * 0.2))  # t(2) at 97.5 %, any t table
    ax = plot("fit", straight_fit(), known(math.inf, 30.0, math.inf))
    look(ax, {"labels": {}, "points limit": []})  # without a peak


def test_intervals():
    ax = draw("intervals")
    drawn = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 2.4]
    # The open end stops at three times the value.
    assert approx(map(list, drawn)) == [[0.8, 1.2], [0.5, 3.0], [0.9, 1.3]]
    assert sum(line.get_marker() == ">" for line in ax.lines) == 1


def test_an_answer_has_a_mark_of_its_own():
    ax = draw("checklist")
    assert len({(line.get_marker(), line.get_fillstyle()) for line in ax.lines}) == 4  # told apart without colour
    with pytest.raises(ValueRuleError, match="answer must be one of yes, partly, no, not checked, got 'maybe'"):
        plot("checklist", frame("report item answer", ("A", "raw", "maybe")))


@pytest.mark.parametrize(("height", "shown"), [(1.0, True), (NAN, False)])
def test_a_bar_without_a_height_shows_nothing(height, shown):
    ax = plt.subplots()[1]
    ax.bar([0], [height])
    assert shows_something(ax) == shown


def test_used():
    assert strokes(draw("used"), "0")[:2] == [[[0, 0], [0.8, 0]], [[0, 1], [0.1, 1]]]
    (used,) = FIGURES["used"].data()
    assert plot("used", used.assign(used_ratio=1.3)).get_xlim()[1] > 1.3, "more than a limit is not cut off"


def test_rates_by_setting():
    ax = draw("rates_by_setting")
    drawn = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "|"]
    assert drawn == [(800, 2), (200, 1)], "the mean of each setting, from top to bottom"
    assert ax.get_xlim()[1] > 950
    far = FIGURES["rates_by_setting"].data()[0].assign(throughput_rps=[90_000.0, 70_000.0, 200.0])
    assert plot("rates_by_setting", far).get_xscale() == "log", "200 would lie on the zero of a linear axis"


def test_shares_by_size():
    ax = draw("shares_by_size")
    assert points(ax, colours(["link", "processor"])["link"]) == [(216, 0.2), (2806, 0.9), (10456, 1.08)]
    assert [line.get_xdata().tolist() for line in ax.lines if line.get_marker() == "X"] == [[10456], []]
    assert [y for (_, y), _ in strokes(ax, style="--")] == [1]


def test_topology():
    ax = draw("topology")
    place = {text.get_text(): text.get_position() for text in ax.texts}
    assert [place[name][0] for name in ("C1", "C2", "LB", "S")] == [0, 0, 1, 2]
    assert place["C1"][1] > place["LB"][1] == place["S"][1] > place["C2"][1]
    assert "HTTP" in place
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == 3 and len(ax.patches) == 4


def test_forecast_errors():
    steps = zip(*lines(draw("forecast_errors"))["stack of forecasts"], strict=True)
    assert np.interp([0.15, 0.21], *steps).tolist() == [0.5, 1.0]


def test_capacity():
    ax = draw("capacity")
    assert {text: x for text, (x, _) in places(ax).items()} == {
        "kept": 1, "undecided": 4, "broken": 16, "objective: 50 ms": 1,
    }  # fmt: skip
    runs, decisions, found, objective = promised()
    nowhere = Estimate(0, 0, math.inf, 0.5, "given")  # without ends, what was measured is shaded
    look(plot("capacity", runs, decisions, nowhere, objective), {"patches x": [(1, 16)]})
    names = {"connections": "target_rate_rps"}
    look(
        plot("capacity", runs.rename(columns=names), decisions.rename(columns=names), found, objective),
        {"xscale": "linear", "xlabel": "Offered rate [requests/s]", "points 2": [(1, 0.010), (1, 0.012)]},
    )


def test_rates():
    ax = draw("rates")
    ends = [line[-1] for line in strokes(ax, "limit", "--")]
    # R0 + q T (1 - C / rate), at the right end of the axis.
    last = ax.get_xlim()[1]
    assert ends == [pytest.approx([last, 0.02 + q * 4 * (1 - 100 / last)]) for q in (0.5, 0.99)]


def test_knees():
    ax = draw("knees")
    assert [[x for x, _ in line] for line in strokes(ax, "limit")] == [[3, 6]]
    assert [[x for x, _ in line] for line in strokes(ax, "law", "-")] == [[4, 7]]
    assert points(ax, "limit")[0][0] == 4  # what is not on the law or a bound is of the variant's colour


def test_bottlenecks():
    ax = draw("bottlenecks")
    dots = {tuple(line.get_xydata()[0]): line.get_marker() for line in ax.lines if len(line.get_xydata()) == 1}
    assert dots == {(404, 0): "o", (380, 0.25): "D", (800, 1): "D"}  # measured; by lower loads
    assert labels(ax) == {"9k →": PALETTE[2], "observed plateau": INK}


def test_throughput_by_threads():
    ax = draw("throughput_by_threads")
    assert (21.6, 490.0) in points(ax)
    assert strokes(ax, "1")[0][21] == pytest.approx((22, 500))  # where the formula reaches 1 / 2 ms
    assert strokes(ax, style=":")[0][21] == pytest.approx((22, 22 / (22 * 0.002 + 0.042)))  # each waits for all others
    runs, law, _ = rates_by_threads()
    no_plateau = plot("throughput_by_threads", runs, law, known(NAN))
    look(no_plateau, {"named": ["formula", "in lockstep", "measured", "with queueing"]})


def test_sockets_over_time():
    last = draw("sockets_over_time")
    look(last.figure.axes[0], {"named": ["1 s", "established", "orphans"]})
    assert [line[:2] for line in strokes(last)] == [[[0.0, 64.0], [3.0, 0.0]], [[0.0, 0.0], [3.0, 64.0]]]
    both = plot("sockets_over_time", FIGURES["sockets_over_time"].data()[0].assign(variant="1 s"))
    assert np.isnan(strokes(both)[0][2]).all()  # a gap after the first run, so that no line joins the two


def test_counts():
    ax = draw("counts")
    assert {x for x, _ in points(ax, "0")} == {8000, 1012}
    assert {x for x, _ in points(ax, "1")} == {100}
    assert [line[0][0] for line in strokes(ax, style="--")] == [8000, 100]


def test_a_name_touches_no_line():
    """The first point of the flat line is crossed by the steep one, as where orphans grow beside connections."""
    ax = plot(
        "sockets_over_time",
        pd.DataFrame({"run_id": "a", "variant": "1 s", "elapsed_s": [0.0, 1.0, 2.0, 3.0, 4.0],
                      "established": 50, "orphans": [0, 120, 240, 240, 240]})
    )  # fmt: skip
    touched = [text.get_text() for text in ax.texts if touches(text, ax)]
    assert touched == []


def touches(text, ax):
    """Whether a text lies on a line of its Axes, as drawn."""
    ax.figure.draw_without_rendering()
    box = text.get_window_extent()
    for line in ax.lines:
        x, y = line.get_transform().transform(line.get_xydata()).T
        along = np.linspace(0, len(x) - 1, 400 * len(x))
        way = np.column_stack([np.interp(along, range(len(x)), of) for of in (x, y)])
        if ((way > box.min) & (way < box.max)).all(axis=1).any():
            return True
    return False


@examples(60)
@given(st.lists(st.floats(0, 200), min_size=1, max_size=8))
def test_names_at_the_ends_are_a_line_of_text_apart_and_in_order(places):
    found = _apart(np.array(places), 200.0)
    order = np.argsort(places, kind="stable")
    assert (np.diff(found[order]) >= 12 - 1e-9).all()
    assert found.max() <= 200
    if (np.diff(np.sort(places)) >= 12).all():
        assert found.tolist() == pytest.approx(places)


# Colours


def luminance(color):
    """Relative luminance, WCAG 2.2: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_the_contrast_formula_on_known_pairs():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # WebAIM's contrast checker


@pytest.mark.parametrize("background", [LIGHT, DARK])
@pytest.mark.parametrize("color", PALETTE)
def test_every_colour_can_be_seen_in_both_schemes(color, background):
    assert contrast(color, background) >= 3  # WCAG 2.2, 1.4.11: graphical objects


def over(color, alpha, background):
    """A colour with an alpha over a background, as #rrggbb."""
    pairs = [(int(color[i : i + 2], 16), int(background[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(alpha * one + (1 - alpha) * other):02x}" for one, other in pairs)


# Material's text colours: hsla(0, 0%, 0%, 0.87), and in the dark scheme hsla(232, 15%, 90%, 0.82).
@pytest.mark.parametrize(("background", "text"), [(LIGHT, ("#000000", 0.87)), (DARK, ("#e2e3e9", 0.82))])
@pytest.mark.parametrize("color", PALETTE)
def test_text_of_every_colour_can_be_read_in_both_schemes(color, background, text):
    ax = plt.subplots()[1]
    ax.annotate("label", (0, 0), color=color)
    ax.plot([0, 1], [0, 1], color=color)
    drawn = svg_text(ax, "test")
    plt.close(ax.figure)
    (share,) = re.findall(rf"<text [^>]*fill: color-mix\(in srgb, {color} ([0-9]+)%, currentColor\)", drawn)
    mixed = over(color, int(share) / 100, over(*text, background))
    assert contrast(mixed, background) >= 4.5  # WCAG 2.2, 1.4.3: text
    assert f"stroke: {color}" in drawn


def test_colours_of_entities_are_of_the_palette():
    assert set(COLOURS.values()) <= set(PALETTE)
    assert len(set(PALETTE)) == len(PALETTE)
    found = colours(["cpu", *"abcdefg"])
    assert found["cpu"] == COLOURS["cpu"]
    assert list(found.values())[1:6] == [c for c in PALETTE if c != COLOURS["cpu"]]
    assert set(found.values()) == set(PALETTE)


def test_ink_is_no_palette_colour():
    # Published drawings have it replaced by the page's own text colour.
    assert INK.lower() not in {color.lower() for color in (*PALETTE, *COLOURS.values())}


def assert_no_ink(ax):
    """Nothing but text and axes has the colour of ink."""
    drawn = [to_hex(line.get_color()) for line in ax.lines]
    drawn += [to_hex(face) for c in ax.collections for face in c.get_facecolors()]
    drawn += [to_hex(patch.get_facecolor()) for patch in ax.patches]
    assert drawn
    assert set(drawn) <= {*PALETTE}


def assert_text_can_be_read(figure):
    """Text has a colour that `svg_text` gives a contrast of 4.5:1: the page's own, or one of the palette."""
    assert {to_hex(text.get_color()) for text in figure.findobj(Text) if text.get_text()} <= {INK, *PALETTE}


def assert_one_unit(figure):
    """Ticks with a unit of their own, such as 10 ms, are not on an axis whose label has a unit in brackets."""
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            ticks = [label.get_text() for label in axis.get_ticklabels()]
            assert not ("[" in axis.get_label_text() and any(re.search(r"\d (?:[mµn]?s|%)$", text) for text in ticks))


def test_an_axis_with_two_units_is_found():
    ax = draw("network_latency")
    ax.set_ylabel("Mean response time [s]")
    with pytest.raises(AssertionError):
        assert_one_unit(ax.figure)
