"""What each figure contains: axes, points, means, laws, bands, labels and colours, read back from its Axes."""

import inspect
import math
import re

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

PLOTS = sorted(name for name in vars(plots) if name.startswith("plot_"))
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


def rows_of(columns, *rows):
    """A function that gives the rows as a table; its columns are the words of a text."""
    return lambda: pd.DataFrame(rows, columns=columns.split())


def table_of_runs(rows=RUNS):
    frame = pd.DataFrame(rows, columns=["variant", "connections", "throughput_rps", "latency_mean_s"])
    status = ["finished" if known else "interrupted" for known in frame["throughput_rps"].notna()]
    return tables.check("runs", frame.assign(study="s", run_id=[f"r{i}" for i in frame.index], status=status))


def of_cpu():
    return table_of_runs([run for run in RUNS if run[0] == "cpu"])


def straight_fit(sd=0.2, level=0.95):
    """X = 10 N with a standard error of `sd` on the 10, from 4 points of which 2 are left over."""
    number = np.array([1.0, 4.0, 8.0, 16.0])
    return Fit(
        law="usl",
        parameters={"slope": Estimate(10, math.nan, math.nan, level, "given")},
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


def known(value):
    return Estimate(value, math.nan, math.nan, 0.95, "given")


deviation = rows_of(
    "connections law deviation_ratio",
    (1, "N/R", 0.01), (1, "N/R", 0.03), (8, "N/R", -0.01), (1, "N/R_min", 0.0), (8, "N/R_min", -0.4),
)  # fmt: skip


def findings(rows=(("cpu", 4, 4.0), ("cpu", 16, 12.0), ("delay", 4, 3.8), ("delay", 16, 16.0))):
    frame = pd.DataFrame(rows, columns=["variant", "expected", "observed"])
    declared = frame[["expected", "observed"]].assign(study="s", rule="effective-concurrency", severity="ok")
    return tables.check("findings", declared).assign(variant=frame["variant"])


busy = rows_of(
    "variant connections role busy_ratio",
    ("cpu", 1, "generator", 0.10), ("cpu", 1, "server", 0.50), ("cpu", 1, "server", 0.60), ("cpu", 1, "", 0.99),
    ("cpu", 8, "generator", 0.30), ("cpu", 8, "server", 1.00), ("delay", 1, "generator", 0.02),
    ("delay", 1, "server", 0.01),
)  # fmt: skip


established = rows_of(
    "variant connections established",
    ("cpu", 1, 1), ("cpu", 64, 64), ("delay", 4, 4), ("delay", 512, 128),
)  # fmt: skip


def records():
    here = table_of_runs([("cpu", 1, 200.0, 0.005), ("cpu", 4, 500.0, 0.008)])
    return pd.concat([table_of_runs().assign(record="recorded"), here.assign(record="this machine")])


def responses():
    return pd.DataFrame(
        {"response_bytes": [0.0, 1000.0], "frame_bytes": [282.0, 1282.0], "medium_bytes": [306.0, 1306.0]}
    )


packets = rows_of(
    "counted response_bytes frames",
    ("responses", 0, 1), ("responses", 2000, 2), ("both ways", 0, 2), ("both ways", 2000, 4),
)  # fmt: skip


limits_by_size = rows_of(
    "limit kind payload_bytes throughput_rps",
    ("10 GbE", "link", 306, 4e6), ("10 GbE", "link", 1538, 8e5), ("1 Mpps", "packets", 306, 1e6),
)  # fmt: skip


reported = rows_of(
    "setup payload_bytes throughput_rps verdict",
    ("server", 216, 5e5, "consistent"), ("server", 832, 4e5, "inconsistent"), ("proxy", 9e3, 2e5, "above line rate"),
)  # fmt: skip


port_limits = rows_of("limit destinations connections_per_s", ("60 s", 1, 470), ("60 s", 10, 4700), ("1 s", 1, 28232))


def wanted():
    return pd.DataFrame({"name": ["wanted"], "connections_per_s": [3000.0]})


def blocks():
    runs = table_of_runs([("cpu", n, x, 0.01) for n, x in ((8, 100.0), (8, 80.0), (64, 90.0), (64, 70.0))])
    return runs.assign(repeat=[1, 2, 1, 2])


ratios = rows_of("method ratio lo hi", ("t", 1.1, 1.0, 1.2), ("ranks", 1.2, math.nan, math.nan))


def coverage():
    rows = [("even", 3, "t", 0.96), ("even", 10, "t", 0.95), ("skewed", 3, "t", 0.9), ("skewed", 10, "t", 0.97)]
    return pd.DataFrame(rows, columns=["shape", "runs", "method", "coverage_ratio"]).assign(level_ratio=0.95)


def interval_coverage():
    rows = [("t, plain", "6 levels", 0.9, 0.88, 0.92), ("t, plain", "8 levels", 0.95, 0.93, 0.96)]
    rows += [("ranks", "6 levels", math.nan, math.nan, math.nan), ("profile", "8 levels", 0.98, 0.97, 0.99)]
    return pd.DataFrame(rows, columns=["method", "size", "coverage", "lo", "hi"])


network = rows_of("connections throughput_rps latency_s", (1, 100.0, 0.01), (4, 300.0, 0.013), (16, 450.0, 0.036))


def network_bounds():
    rows = [(1, 90.0, 110.0, 0.009, 0.011), (16, 200.0, 460.0, 0.03, 0.08)]
    columns = ["connections", "throughput_lo_rps", "throughput_hi_rps", "latency_lo_s", "latency_hi_s"]
    return pd.DataFrame(rows, columns=columns)


bound_gaps = rows_of(
    "bounds connections lo_ratio hi_ratio",
    ("wide", 1, -0.1, 0.2), ("wide", 8, -0.3, 0.4), ("tight", 1, 0.0, 0.0), ("tight", 8, -0.01, 0.02),
)  # fmt: skip


solvers = rows_of(
    "solver connections latency_s",
    ("right", 1, 1.0), ("right", 8, 5.0), ("wrong", 1, 1.0), ("wrong", 8, -90.0),
)  # fmt: skip


def forecast_points():
    return pd.DataFrame(
        {"connections": [1, 4, 16], "throughput_rps": [100.0, 350.0, 600.0], "seen": [True, True, False]}
    )


forecast_bands = rows_of(
    "connections throughput_rps prediction_lo prediction_hi",
    (1, 100.0, 90.0, 110.0), (4, 360.0, 300.0, 400.0), (16, 900.0, 400.0, 1500.0),
)  # fmt: skip


forecasts = rows_of(
    "method error_ratio",
    ("stack of forecasts", 0.1), ("stack of forecasts", -0.2), ("usl as people write it", math.nan), ("usl", 5.0),
)  # fmt: skip


residuals = rows_of("connections miss_ratio leave_one_out", (1, 0.2, 0.5), (4, -0.1, -0.2), (16, 0.05, math.nan))


intervals = rows_of(
    "quantity method value lo hi",
    ("unit_throughput_rps", "t", 10, 8, 12), ("unit_throughput_rps", "profile", 10, 9, 13),
    ("peak", "t", 4, 2, math.inf),
)  # fmt: skip


def promised():
    """Two runs at 4 disagree about 50 ms; the interval is from 1 to 16."""
    rows = [(1, 0.010), (1, 0.012), (4, 0.049), (4, 0.060), (16, 0.200), (16, math.nan)]
    decisions = pd.DataFrame({"connections": [1, 4, 16], "decision": ["kept", "undecided", "broken"]})
    runs = pd.DataFrame(rows, columns=["connections", "latency_p99_s"])
    return runs, decisions, Estimate(1, 1, 16, 0.75, "given"), Objective("latency_p99_s", 0.050)


def rates():
    """An open loop at 50 and 120 requests/s, and a closed loop of the same server, whose capacity is 100."""
    offered = pd.DataFrame({
        "target_rate_rps": [50.0, 50.0, 120.0], "latency_p50_s": [0.02, 0.02, 0.35], "latency_p99_s": [0.03, 0.05, 0.7]
    })  # fmt: skip
    closed = pd.DataFrame({
        "connections": [1, 8], "throughput_rps": [49.0, 100.0], "latency_p50_s": [0.02, 0.08],
        "latency_p99_s": [0.03, 0.09],
    })  # fmt: skip
    return offered.assign(duration_s=4.0), closed, Estimate(100.0, 98.0, 102.0, 0.95, "given")


def knees():
    rows = [("saturation N*", 4.0, 3.0, 6.0), ("maximum power", 5.0, 4.0, 7.0), ("Kneedle", 16.0, math.nan, math.nan)]
    rows.append(("maximum curvature", math.nan, math.nan, math.nan))
    return pd.DataFrame(rows, columns=["definition", "connections", "lo", "hi"])


def bottlenecks():
    names = ("resource", "saturated", "saturation_rps", "saturation_lo", "saturation_hi", "predicted_rps",
             "predicted_lo", "predicted_hi")  # fmt: skip
    rows = [
        ("server CPU", True, 404.0, 390.0, 420.0, 380.0, 350.0, 415.0),
        ("disk sda", False, 800.0, 700.0, 900.0, 800.0, 700.0, 900.0),
        ("link eth0", False, 9000.0, 8000.0, 9900.0, 9000.0, 8000.0, 9900.0),
    ]
    plateau = {"highest_rps": 406.0, "plateau_rps": 400.0, "plateau_lo": 390.0, "plateau_hi": 410.0}
    return pd.DataFrame(rows, columns=names).assign(**plateau)


usage = rows_of(
    "resource throughput_rps utilisation_ratio",
    ("server", 100.0, 0.25), ("server", 200.0, 0.45), ("generator", 100.0, 0.1), ("disk", 200.0, 0.01),
)  # fmt: skip


def demands():
    # The disk would saturate at 20,000 requests/s, far beyond what is drawn.
    return pd.DataFrame(
        {
            "resource": ["server", "generator", "disk"], "demand_per_server_s": [2e-3, 1e-3, 5e-5],
            "background_ratio": [0.05, 0.0, math.nan],
            "saturation_rps": [475.0, 1000.0, 20000.0], "saturation_lo": [450.0, 900.0, 19000.0],
            "saturation_hi": [500.0, math.inf, 21000.0], "line_saturation_rps": [475.0, 1000.0, math.nan],
        }
    )  # fmt: skip


efficiency = rows_of(
    "curve units efficiency_ratio",
    ("small", 1, 1.0), ("small", 4, 0.9), ("large", 1, 1.0), ("large", 4, 0.5),
)  # fmt: skip


sizes = rows_of("units throughput_rps seen", (1, 100.0, True), (4, 360.0, True), (16, 900.0, False))


def projection():
    return pd.DataFrame({"units": [8, 16], "throughput_rps": [600.0, 1000.0], "lo": [400, 500], "hi": [800, 1600]})


hosts = rows_of("host role facts", ("C1", "C", "ab"), ("C2", "C", "ab"), ("LB", "LB", "nginx"), ("S", "S", "nginx"))


links = rows_of("source target label", ("C1", "LB", "HTTP"), ("C2", "LB", ""), ("LB", "S", ""))


answers = rows_of(
    "report item answer",
    ("a", "raw", "yes"), ("a", "one_change", "partly"), ("b", "raw", "no"), ("b", "one_change", "not checked"),
)  # fmt: skip


verdicts = rows_of(
    "check balancer verdict",
    ("round_robin", "nft", "pass"), ("round_robin", "haproxy", "not checked"), ("fail_over", "nft", "fail"),
)  # fmt: skip


reported_rates = rows_of("case throughput_rps lower_bound", ("one", 300.0, 1.0), ("both", 659.0, math.nan))


overlap = rows_of("delay_s lo_rps hi_rps", (0, 600.0, 600.0), (10, 300.0, 600.0))


def levels():
    return pd.DataFrame({"name": ["one alone"], "throughput_rps": [300.0]})


budgets = rows_of("part units budget_s", ("own", 1, 8e-5), ("own", 8, 8e-5), ("shared", 1, 4e-5), ("shared", 8, 5e-6))


dealt = rows_of(
    "server part count",
    ("a", "active", 30), ("a", "inactive", 70), ("b", "active", 20), ("b", "inactive", 80),
)  # fmt: skip


used = rows_of("limit load used_ratio", ("link", "small", 0.8), ("packets", "small", 0.1), ("link", "large", 0.4))


def plan():
    marked = pd.DataFrame({"name": ["seen"], "variation_ratio": [0.02], "repeats": [19.0]})
    return pd.DataFrame({"variation_ratio": [0.01, 0.1], "repeats": [6.0, 436.0]}), marked


settings = rows_of(
    "setting throughput_rps busy_rps note",
    ("fast", 900.0, 900.0, ""), ("slow", 200.0, 800.0, "25 % busy"),
)  # fmt: skip


rates_by_setting = rows_of(
    "setting throughput_rps model_rps",
    ("fast", 900.0, 950.0), ("fast", 700.0, 950.0), ("slow", 200.0, float("nan")),
)  # fmt: skip


shares_by_size = rows_of(
    "resource payload_bytes used_ratio",
    ("link", 216, 0.2), ("link", 2806, 0.9), ("link", 10456, 1.08), ("processor", 216, 1.0),
)  # fmt: skip


def laws_and_rates():
    rows = [("slow", 1, 100.0), ("slow", 8, 300.0), ("fast", 1, 100.0), ("fast", 4, 200.0), ("fast", 8, 301.0)]
    laws = pd.DataFrame([*rows, ("other", 1, 50.0), ("other", 8, 501.0)])
    stated = pd.DataFrame({"name": ["here", "before"], "connections": [4, math.nan], "load_lo": [3, math.nan]})
    stated = stated.assign(load_hi=[5, math.nan], throughput_rps=[300.0, 400.0], lo=[250.0, 350.0], hi=[350, 400])
    return laws.set_axis(["law", "connections", "throughput_rps"], axis=1), stated


def busy_by_threads():
    rows = [("2 ms", 1, 0.1, 0.1, 8.0), ("2 ms", 8, 0.7, 1.0, 8.0), ("2 ms", 16, 0.9, 1.0, 8.0)]
    rows += [("4 ms", 1, 0.2, 0.2, 5.5), ("4 ms", 4, 0.6, 0.7, 5.5), ("4 ms", 16, 1.0, 1.0, 5.5)]
    return pd.DataFrame(rows, columns=["case", "threads", "utilisation_ratio", "bound_ratio", "threads_to_fill"])


def law_by_delay():
    return pd.DataFrame(
        {"delay_s": [0.001, 0.01, 0.01], "law": ["X · R", "X · R", "delay"], "measured_ratio": [1, 1.01, 0.9]}
    )


sockets_over_time = rows_of(
    "run_id variant elapsed_s established orphans",
    ("a", "1 s", 0.0, 64, 0), ("a", "1 s", 2.0, 0, 64), ("b", "2 s", 0.0, 64, 0), ("b", "2 s", 3.0, 0, 64),
)  # fmt: skip


def rates_by_threads():
    """Of a page that computes for 2 ms and waits for 42 ms, so that 22 threads fill the processor by the formula."""
    runs = pd.DataFrame({"threads": [1, 10, 40], "throughput_rps": [22.7, 227.0, 490.0]})
    return runs, summarise_threads(0.002, 0.042, 1, 40), Estimate(21.6, 21.0, 23.0, 0.95, "")


counts = rows_of(
    "run what count",
    ("first", "asked for", 8000), ("first", "in flight", 1012), ("second", "asked for", 100),
)  # fmt: skip


socket_places = rows_of(
    "machine place count",
    ("server", "established", 40), ("server", "elsewhere", 60), ("client", "established", 1),
    ("client", "elsewhere", 99),
)  # fmt: skip


def curve():
    """Four levels, one of them repeated; R_min = 10 ms, and the highest mean is 400 requests/s, so N* = 4."""
    rows = [("cpu", 1, 100.0, 0.01), ("cpu", 4, 300.0, 0.013), ("cpu", 4, 320.0, 0.012)]
    rows += [("cpu", 8, 390.0, 0.021), ("cpu", 16, 400.0, 0.04)]
    return analyse({"runs": table_of_runs(rows)}, objectives="mean=20ms").curves[0]


BOUNDS = (0.0025, 0.01, 4.0)  # 1/D = 400 rps, R_min = 10 ms, so N* = 0.01 / 0.0025 = 4


def fault():
    """Throughput above, and below it the steal of two processors with the rule's limit, and of a clean run."""
    rows = [
        ("Throughput [requests/s]", "time", 1.0, None, "", 900.0, math.nan, False),
        ("Throughput [requests/s]", "time", 2.0, None, "", 500.0, math.nan, False),
        ("Cpu steal [ratio]", "time", 1.0, None, "cpu 0", 0.2, 0.01, False),
        ("Cpu steal [ratio]", "time", 2.0, None, "cpu 0", 0.3, 0.01, False),
        ("Cpu steal [ratio]", "time", 1.0, None, "cpu 1", 0.1, 0.01, False),
        ("Cpu steal [ratio]", "time", 1.0, None, "cpu 0", 0.0, 0.01, True),
        ("Cpu steal [ratio]", "time", 2.0, None, "cpu 0", 0.0, 0.01, True),
    ]
    return pd.DataFrame(rows, columns=["panel", "axis", "x", "name", "series", "value", "limit", "clean"])


def heatmap():
    ends = {"lower_s": [0.001, 0.002, 0.001], "upper_s": [0.002, 0.004, 0.002]}
    return pd.DataFrame({"column": ["1", "1", "8"], **ends, "share_ratio": [0.75, 0.25, 1.0]})


def percentiles():
    tail = pd.DataFrame({"curve": "nginx", "quantile": [0.5, 0.9, 0.99], "latency_s": [0.001, 0.002, 0.01]})
    return pd.concat([tail.assign(corrected=False), tail.assign(corrected=True, latency_s=[0.001, 0.004, 0.1])])


def timeline():
    rows = [("Throughput [requests/s]", "", x, y) for x, y in ((0.0, 900.0), (1.0, math.nan), (2.0, 700.0))]
    rows += [("CPU 0", mode, x, share) for mode, share in (("user", 0.3), ("system", 0.31)) for x in (0.5, 1.5)]
    return pd.DataFrame(rows, columns=["panel", "series", "x", "value"])


EXAMPLES = {
    "plot_asymptotic_bounds": lambda: (of_cpu(), *map(known, BOUNDS)),
    "plot_bottlenecks": lambda: (bottlenecks(),),
    "plot_bound_gaps": lambda: (bound_gaps(),),
    "plot_budgets": lambda: (budgets(),),
    "plot_busy_by_threads": lambda: (busy_by_threads(),),
    "plot_busy_rates": lambda: (settings(),),
    "plot_capacity": lambda: promised(),
    "plot_rates": lambda: rates(),
    "plot_rates_by_setting": lambda: (rates_by_setting(),),
    "plot_acceptance": lambda: (verdicts(),),
    "plot_checklist": lambda: (answers(),),
    "plot_counts": lambda: (counts(),),
    "plot_curve_latency": lambda: (curve(),),
    "plot_curve_throughput": lambda: (curve(),),
    "plot_coverage": lambda: (coverage(),),
    "plot_cpu_by_connections": lambda: (busy(),),
    "plot_dealt": lambda: (dealt(),),
    "plot_deviation_from_law": lambda: (deviation(),),
    "plot_effective_concurrency": lambda: (findings(),),
    "plot_efficiency": lambda: (efficiency(),),
    "plot_error_rates": lambda: (
        interval_coverage().rename(columns={"method": "rule", "size": "measure", "coverage": "share"}),
    ),
    "plot_established_by_connections": lambda: (established(),),
    "plot_fault": lambda: (fault(),),
    "plot_fit": lambda: (straight_fit(), Estimate(8.0, 4.0, 12.0, 0.95, "given")),
    "plot_forecast": lambda: (forecast_points(), forecast_bands()),
    "plot_forecast_errors": lambda: (forecasts(),),
    "plot_interval_coverage": lambda: (interval_coverage(),),
    "plot_intervals": lambda: (intervals(),),
    "plot_knees": lambda: (of_cpu(), straight_fit(), knees()),
    "plot_latency_by_connections": lambda: (table_of_runs(),),
    "plot_law_by_delay": lambda: (law_by_delay(),),
    "plot_latency_heatmap": lambda: (heatmap(),),
    "plot_laws": lambda: laws_and_rates(),
    "plot_network_latency": lambda: (network(), network_bounds()),
    "plot_network_throughput": lambda: (network(), network_bounds()),
    "plot_overhead_by_size": lambda: (responses(),),
    "plot_overlap": lambda: (overlap(), levels()),
    "plot_packets_by_size": lambda: (packets(),),
    "plot_percentiles": lambda: (percentiles(),),
    "plot_port_limit": lambda: (port_limits(), wanted()),
    "plot_projection": lambda: (sizes(), projection()),
    "plot_ratios": lambda: (ratios(),),
    "plot_records": lambda: (records(),),
    "plot_reported_rates": lambda: (reported_rates(),),
    "plot_repeats_by_scatter": lambda: plan(),
    "plot_requests_limit_by_size": lambda: (limits_by_size(), reported()),
    "plot_residuals": lambda: (residuals(),),
    "plot_shares_by_size": lambda: (shares_by_size(),),
    "plot_sockets": lambda: (socket_places(),),
    "plot_sockets_over_time": lambda: (sockets_over_time(),),
    "plot_solvers": lambda: (solvers(),),
    "plot_throughput_by_block": lambda: (blocks(),),
    "plot_throughput_by_connections": lambda: (table_of_runs(),),
    "plot_throughput_by_threads": lambda: rates_by_threads(),
    "plot_throughput_law": lambda: (of_cpu(), straight_fit()),
    "plot_timeline": lambda: (timeline(),),
    "plot_topology": lambda: (hosts(), links()),
    "plot_used": lambda: (used(),),
    "plot_utilisation": lambda: (usage(), demands()),
}
THROUGHPUT = [
    "plot_asymptotic_bounds",
    "plot_forecast",
    "plot_knees",
    "plot_laws",
    "plot_network_throughput",
    "plot_records",
    "plot_throughput_by_connections",
    "plot_throughput_law",
]
# Over the size of a response, or over addresses.
WIRE = [
    "plot_overhead_by_size", "plot_packets_by_size", "plot_port_limit", "plot_requests_limit_by_size",
    "plot_shares_by_size",
]  # fmt: skip

# Over blocks, ratios or the number of runs.
COMPARISON = [
    "plot_busy_rates", "plot_coverage", "plot_error_rates", "plot_forecast_errors", "plot_interval_coverage",
    "plot_intervals", "plot_rates_by_setting", "plot_ratios", "plot_throughput_by_block",
]  # fmt: skip

# Shares and counts, or over threads or the scatter of a run.
SHARES = [
    "plot_busy_by_threads", "plot_counts", "plot_dealt", "plot_fault", "plot_repeats_by_scatter", "plot_used",
    "plot_sockets", "plot_sockets_over_time", "plot_law_by_delay", "plot_throughput_by_threads",
    "plot_latency_heatmap", "plot_percentiles", "plot_timeline",
]  # fmt: skip

# Over a few populations of a closed network.
NETWORK = ["plot_solvers"]

# Over units, or over throughput.
CAPACITY = [
    "plot_bottlenecks",
    "plot_budgets",
    "plot_efficiency",
    "plot_overlap",
    "plot_projection",
    "plot_rates",
    "plot_reported_rates",
    "plot_utilisation",
]

# Without quantities on its axes.
DRAWING = ["plot_acceptance", "plot_checklist", "plot_topology"]

every_plot = pytest.mark.parametrize("name", PLOTS)


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    yield
    plt.close("all")


def draw(name, ax=None):
    return getattr(plots, name)(*EXAMPLES[name](), ax=ax)


def is_stroked(line):
    return line.get_linestyle() != "None"


def points(ax, color=None):
    """Every marker that stands for one run, sorted; of one colour where it is given."""
    found = []
    for collection in (c for c in ax.collections if isinstance(c, PathCollection)):
        faces = [to_hex(face) for face in collection.get_facecolors()]
        faces *= len(collection.get_offsets()) // len(faces)  # one colour for all, or one each
        found += zip(np.asarray(collection.get_offsets()).tolist(), faces, strict=True)
    for line in (line for line in ax.lines if not is_stroked(line)):
        found += [(list(xy), to_hex(line.get_color())) for xy in line.get_xydata().tolist()]
    return sorted(tuple(xy) for xy, face in found if color in (None, face))


def strokes(ax, color=None, style=None):
    """Points of each drawn line, of one colour and style where they are given."""
    wanted = [line for line in ax.lines if is_stroked(line) and color in (None, to_hex(line.get_color()))]
    return [line.get_xydata().tolist() for line in wanted if style in (None, line.get_linestyle())]


def labels(ax):
    return {text.get_text(): to_hex(text.get_color()) for text in ax.texts}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def tick(axis, value):
    return axis.get_major_formatter()(value, 0)


def coordinates(column, rows=FINISHED, variant=None):
    return sorted((float(run[1]), run[column]) for run in rows if variant in (None, run[0]))


def approx_point(x, y):
    return pytest.approx((x, y))


def approx(rows):
    return [pytest.approx(row) for row in rows]


# Every figure


def test_every_plot_has_an_example_and_a_test_of_its_own():
    assert sorted(EXAMPLES) == PLOTS
    assert [name for name in PLOTS if not any(test.startswith(f"test_{name}") for test in globals())] == []


@in_one_test("name", PLOTS)
def test_takes_data_and_ax_and_nothing_else(name):
    *data, ax = inspect.signature(getattr(plots, name)).parameters.values()
    assert (ax.name, ax.kind, ax.default) == ("ax", inspect.Parameter.KEYWORD_ONLY, None)
    for parameter in data:
        assert parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert parameter.default is inspect.Parameter.empty
        assert parameter.annotation in (pd.DataFrame, Fit, Estimate, Objective, Curve)


@in_one_test("name", [name for name in PLOTS if isinstance(EXAMPLES[name]()[0], pd.DataFrame)])
def test_a_plot_without_data_is_an_error_and_leaves_no_figure(name):
    """No empty axes, no error of another library."""
    first, *others = EXAMPLES[name]()
    with pytest.raises((ValueRuleError, NotMeasuredError), match="one row or more|some with both|No|None of 0"):
        getattr(plots, name)(first.iloc[:0], *others)
    assert plt.get_fignums() == []


@pytest.mark.slow
@every_plot
def test_draws_into_the_given_axes_only(name):
    figure, (other, given) = plt.subplots(1, 2)
    plt.sca(other)
    assert draw(name, ax=given) is given
    assert given.has_data()
    assert not other.has_data() and not other.get_xlabel()
    assert plt.get_fignums() == [figure.number]
    assert figure.axes == [other, given]


@pytest.mark.slow
@every_plot
def test_without_axes_each_call_is_a_figure_of_its_data_and_leaves_them(name):
    data = EXAMPLES[name]()
    before = [part.copy() if isinstance(part, pd.DataFrame) else part for part in data]
    first, second = getattr(plots, name)(*data), getattr(plots, name)(*data)
    assert isinstance(first, Axes)
    assert first.figure is not second.figure
    assert len(plt.get_fignums()) == 2
    assert any(map(shows_something, first.figure.axes))
    assert_no_ink(name, first)
    first.figure.canvas.draw()
    assert_one_unit(first.figure)
    assert_text_can_be_read(first.figure)
    for part, was in zip(data, before, strict=True):
        if isinstance(part, pd.DataFrame):
            pd.testing.assert_frame_equal(part, was)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in PLOTS if name not in WIRE + COMPARISON + SHARES + NETWORK + CAPACITY + DRAWING]
)
def test_connections_are_a_plain_number_on_a_log2_axis(name):
    ax = draw(name)
    assert ax.get_xlabel() == "Connections"
    assert (ax.get_xscale(), ax.xaxis.get_transform().base) == ("log", 2)
    assert tick(ax.xaxis, 1024) == "1024"


@pytest.mark.parametrize("name", THROUGHPUT)
def test_throughput_starts_at_0(name):
    ax = draw(name)
    assert ax.get_ylabel() == "Throughput [requests/s]"
    bottom, top = ax.get_ylim()
    assert bottom == 0
    assert top > 400  # the best run is in view
    assert tick(ax.yaxis, 40_000) == "40k"


# Each figure


def test_plot_fault():
    ax = draw("plot_fault")
    above, below = ax.figure.axes
    assert below is ax
    assert (above.get_ylabel(), below.get_ylabel()) == ("Throughput [requests/s]", "Cpu steal")
    assert above.lines[0].get_xydata().tolist() == [[1, 900], [2, 500]]
    of_0, of_1, clean, limit = below.lines
    assert (of_0.get_xydata().tolist(), of_1.get_xydata().tolist()) == ([[1, 0.2], [2, 0.3]], [[1, 0.1]])
    assert (clean.get_xydata().tolist(), to_hex(clean.get_color())) == ([[1, 0], [2, 0]], COLOURS["limit"])
    assert (limit.get_ydata(), limit.get_linestyle(), tick(below.yaxis, 0.1)) == ([0.01, 0.01], "--", "10%")
    assert legend(below) == ["cpu 0", "cpu 1", "clean run"]
    assert below.get_xlabel() == "Time since the load started [s]"


def test_plot_timeline():
    ax = draw("plot_timeline")
    above, below = ax.figure.axes
    assert below is ax
    assert [one.get_title(loc="left") for one in (above, below)] == ["Throughput [requests/s]", "CPU 0"]
    assert above.lines[0].get_xydata()[[0, 2]].tolist() == [[0, 900], [2, 700]]
    assert math.isnan(above.lines[0].get_ydata()[1])  # nothing joins two runs
    assert [line.get_ydata().tolist() for line in below.lines] == [[0.3, 0.3], [0.31, 0.31]]
    below.figure.draw_without_rendering()
    user, system = (text.get_window_extent() for text in below.texts)
    assert user.y1 <= system.y0 + 2  # their lines end almost at one point
    assert (below.get_xlabel(), tick(below.yaxis, 0.2)) == ("Time since the load began [s]", "20%")


def test_plot_percentiles():
    ax = draw("plot_percentiles")
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]
    assert ax.lines[0].get_xdata().tolist() == pytest.approx([0.5, 0.1, 0.01])
    assert (ax.get_xscale(), ax.get_yscale(), ax.xaxis_inverted()) == ("log", "log", True)
    assert [tick(ax.xaxis, share) for share in (0.5, 0.01)] == ["50 %", "99 %"]
    assert set(labels(ax)) == {"nginx", "nginx, corrected"}
    same = percentiles().assign(latency_s=[0.001, 0.002, 0.01] * 2)  # two lines that end at one point
    below, above = (text.get_position()[1] for text in plots.plot_percentiles(same).texts)
    assert above - below >= 10  # points, the size of the text


def test_plot_latency_heatmap():
    ax = draw("plot_latency_heatmap")
    (cells,) = ax.collections
    assert cells.get_facecolors()[:, 3].argsort().tolist() == [1, 0, 2]  # the larger the share, the darker
    assert cells.get_paths()[1].get_extents().intervaly.tolist() == pytest.approx([0.002, 0.004])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "8"]


def test_plot_fault_of_counts_has_bars_beside_those_of_the_clean_run():
    counts = pd.DataFrame({"panel": "Count", "axis": "name", "x": 0.0, "name": ["Connections", "Errors connect"] * 2})
    values = [1000, 750, 64, 0]
    ax = plots.plot_fault(counts.assign(series="", value=values, limit=math.nan, clean=[False, False, True, True]))
    assert sorted(patch.get_height() for patch in ax.patches) == sorted(values)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["Connections", "Errors connect"]


def test_plot_throughput_by_connections():
    ax = draw("plot_throughput_by_connections")
    assert points(ax) == coordinates(2)
    for variant, means in {"cpu": [[1, 110], [4, 320], [16, 400]], "delay": [[1, 10], [4, 40], [16, 150]]}.items():
        assert points(ax, COLOURS[variant]) == coordinates(2, variant=variant)
        assert strokes(ax, COLOURS[variant]) == [means]
    assert len(strokes(ax)) == 2
    assert labels(ax) == {"cpu": COLOURS["cpu"], "delay": COLOURS["delay"]}
    assert {text.get_text(): text.xy for text in ax.texts} == {"cpu": (16, 400), "delay": (16, 150)}
    assert ax.get_legend() is None


@pytest.mark.parametrize("name", ["plot_throughput_by_connections", "plot_records"])
def test_a_variant_that_would_lie_on_the_zero_line_has_a_panel_of_its_own(name):
    rows = [("cpu", n, 100_000.0, 0.01) for n in (1, 2, 4)] + [("delay", n, 1000.0 * n, 0.01) for n in (1, 2, 4)]
    ax = getattr(plots, name)(table_of_runs(rows).assign(record="here"))
    above, below = ax.figure.axes
    assert below is ax and [one.get_ylim()[0] for one in (above, below)] == [0, 0]
    assert (list(labels(above).values()), list(labels(below).values())) == ([COLOURS["cpu"]], [COLOURS["delay"]])
    assert below.get_ylim()[1] < 10_000
    assert (ax.figure.get_supylabel(), ax.get_xlabel()) == ("Throughput [requests/s]", "Connections")


def test_plot_throughput_by_connections_of_variants_without_a_colour_of_their_own():
    ax = plots.plot_throughput_by_connections(
        table_of_runs([("zeta", 1, 1.0, 1.0), ("eta", 1, 2.0, 1.0), ("eta", 2, 3.0, 1.0)])
    )
    assert labels(ax) == {"eta": PALETTE[0], "zeta": PALETTE[1]}
    assert points(ax, PALETTE[1]) == [(1, 1)]


@pytest.mark.parametrize("name", ["plot_throughput_by_connections", "plot_latency_by_connections", "plot_records"])
def test_a_level_whose_runs_all_lack_a_value_is_left_out(name):
    runs = table_of_runs([*FINISHED, ("cpu", 64, math.nan, math.nan)]).assign(record="recorded")
    ax = getattr(plots, name)(runs)
    ax.figure.canvas.draw()
    drawn = [x for stroke in strokes(ax, COLOURS["cpu"]) for x, y in stroke if not math.isnan(y)]
    assert drawn == [1, 4, 16]
    assert 64 not in [x for x, _ in points(ax)]


def test_plot_latency_by_connections():
    ax = draw("plot_latency_by_connections")
    assert ax.get_ylabel() == "Mean response time"
    assert ax.get_yscale() == "log"
    assert tick(ax.yaxis, 0.01) == "10 ms"
    assert points(ax) == coordinates(3)
    assert strokes(ax, COLOURS["cpu"]) == [approx([[1, 0.009], [4, 0.012], [16, 0.040]])]
    assert strokes(ax, COLOURS["delay"]) == [approx([[1, 0.1], [4, 0.1], [16, 0.11]])]
    assert labels(ax) == {"cpu": COLOURS["cpu"], "delay": COLOURS["delay"]}


def test_plot_curve_throughput():
    ax = draw("plot_curve_throughput")
    assert points(ax, PALETTE[0]) == [(1, 100), (4, 300), (4, 320), (8, 390), (16, 400)]
    assert strokes(ax, PALETTE[0]) == [[[1, 100], [4, 310], [8, 390], [16, 400]]]
    [bound] = strokes(ax, COLOURS["limit"])
    assert (bound[0], bound[-1]) == (pytest.approx([1, 100]), pytest.approx([16, 400]))  # N / 10 ms, then 1 / D
    assert points(ax, COLOURS["limit"]) == [approx_point(4, 400)]
    assert {"1/D", "N* = 4", "capacity"} == set(labels(ax))


def test_plot_curve_throughput_names_the_law_where_there_are_levels_enough():
    runs = table_of_runs([("cpu", n, n / (0.01 + 0.001 * n), 0.01 + 0.001 * n) for n in (1, 2, 4, 8, 16, 32)])
    ax = plots.plot_curve_throughput(analyse({"runs": runs}).curves[0])
    assert labels(ax)["USL"] == COLOURS["law"] and [c for c in ax.collections if isinstance(c, PolyCollection)]


def test_plot_curve_throughput_marks_the_peak_of_the_law():
    """X = 100 N / (1 + 0.01 N (N - 1)) is highest at N = √(1 / 0.01) = 10, where it is 1000 / 1.9."""
    rows = [("cpu", n, 100 * n / (1 + 0.01 * n * (n - 1)), 0.01) for n in (1, 2, 4, 8, 16, 32, 64)]
    ax = plots.plot_curve_throughput(analyse({"runs": table_of_runs(rows)}).curves[0])
    assert "USL peak 10" in labels(ax) and "USL" not in labels(ax)
    assert points(ax, COLOURS["law"]) == [approx_point(10, 1000 / 1.9)]


def test_plot_curve_latency():
    ax = draw("plot_curve_latency")
    assert ax.get_ylabel() == "Response time" and ax.get_yscale() == "log"
    assert strokes(ax) == [approx([[1, 0.01], [4, 0.0125], [8, 0.021], [16, 0.04]])]
    assert labels(ax) == {"mean": PALETTE[0]}


def test_a_time_of_0_has_no_place_on_a_logarithmic_axis(recwarn):
    """ab prints 0 for less than 0.5 ms: here at one load of a percentile, and at all loads of another."""
    latency = pd.DataFrame([("c1", 0.5, 0.0), ("c4", 0.5, 0.002), ("c1", 0.1, 0.0), ("c4", 0.1, 0.0)])
    latency = latency.set_axis(["run_id", "quantile", "latency_s"], axis=1).assign(study="s")
    runs = table_of_runs([("cpu", 1, 100.0, 0.01), ("cpu", 4, 300.0, 0.013)]).assign(run_id=["c1", "c4"])
    ax = plots.plot_curve_latency(analyse({"runs": runs, "latency": latency}).curves[0])
    assert set(labels(ax)) == {"mean", "p50"} and not [w for w in recwarn if w.category is RuntimeWarning]
    assert [4, 0.002] in strokes(ax)[1]


def test_plot_throughput_law():
    ax = draw("plot_throughput_law")
    assert points(ax) == coordinates(2, variant="cpu")
    assert strokes(ax, COLOURS["cpu"]) == [[[1, 110], [4, 320], [16, 400]]]
    [law] = strokes(ax, COLOURS["law"])
    assert (law[0], law[-1]) == (pytest.approx([1, 10]), pytest.approx([16, 160]))
    assert [y for _, y in law] == pytest.approx([10 * x for x, _ in law])
    assert labels(ax) == {"cpu": COLOURS["cpu"], "USL": COLOURS["law"]}
    [band] = [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert to_hex(band.get_facecolor()[0]) == COLOURS["law"]
    corners = band.get_paths()[0].vertices
    half = 4.302653 * 0.2  # t(2) at 97.5 %, any t table, times the standard error
    for number in (1, 16):
        ends = corners[np.isclose(corners[:, 0], number), 1]
        assert (ends.min(), ends.max()) == pytest.approx((number * (10 - half), number * (10 + half)))


def test_plot_throughput_law_keeps_its_band_above_0():
    ax = plots.plot_throughput_law(of_cpu(), straight_fit(sd=4))  # 10 − 4.3 × 4 < 0
    [band] = [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert band.get_paths()[0].vertices[:, 1].min() == 0
    assert ax.get_ylim()[0] == 0


def test_plot_asymptotic_bounds():
    ax = draw("plot_asymptotic_bounds")
    diamond = (4.0, 400.0)
    assert points(ax) == sorted([*coordinates(2, variant="cpu"), diamond])
    assert points(ax, COLOURS["limit"]) == [diamond]
    [bound] = strokes(ax, COLOURS["limit"])
    assert (bound[0], bound[-1]) == (pytest.approx([1, 100]), pytest.approx([16, 400]))  # N / R_min, then 1 / D
    assert [y for _, y in bound] == pytest.approx([min(100 * x, 400) for x, _ in bound])
    assert {text.get_text(): text.xy for text in ax.texts} == {"cpu": (16, 400), "N* = 4": diamond}


def test_plot_deviation_from_law():
    ax = draw("plot_deviation_from_law")
    assert ax.get_ylabel() == "Measured / law − 1"
    assert tick(ax.yaxis, 0.03) == "3%"
    assert points(ax, PALETTE[0]) == [(1, 0.01), (1, 0.03), (8, -0.01)]
    assert points(ax, PALETTE[1]) == [(1, 0.0), (8, -0.4)]
    assert strokes(ax, PALETTE[0]) == [approx([[1, 0.02], [8, -0.01]])]
    assert strokes(ax, PALETTE[1]) == [approx([[1, 0.0], [8, -0.4]])]
    assert labels(ax) == {"N/R": PALETTE[0], "N/Rₘᵢₙ": PALETTE[1]}
    [band] = ax.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-0.03, 0.03))
    assert to_hex(band.get_facecolor()) == COLOURS["limit"]


def test_plot_effective_concurrency():
    ax = draw("plot_effective_concurrency")
    assert ax.get_ylabel() == "X·R / N"
    assert points(ax, COLOURS["cpu"]) == [(4, 1.0), (16, 0.75)]
    assert points(ax, COLOURS["delay"]) == approx([(4, 0.95), (16, 1.0)])
    assert len(points(ax)) == 4
    assert labels(ax) == {"cpu": COLOURS["cpu"], "delay": COLOURS["delay"]}
    assert {text.get_text(): text.xy for text in ax.texts} == {"cpu": (16, 0.75), "delay": (16, 1.0)}
    [band] = ax.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((0.9, 1.1))


def test_plot_cpu_by_connections():
    ax = draw("plot_cpu_by_connections")
    assert ax.get_ylabel() == "Processor busy"
    assert tick(ax.yaxis, 0.5) == "50%"
    assert ax.get_ylim()[0] == 0 and ax.get_ylim()[1] >= 1
    assert strokes(ax, COLOURS["cpu"], "--") == [approx([[1, 0.10], [8, 0.30]])]
    assert strokes(ax, COLOURS["cpu"], "-") == [approx([[1, 0.55], [8, 1.00]])]  # (0.5 + 0.6) / 2; no role, not drawn
    assert strokes(ax, COLOURS["delay"]) == [approx([[1, 0.02]]), approx([[1, 0.01]])]
    assert list(labels(ax)) == ["cpu, generator", "cpu, server", "delay, generator", "delay, server"]


def test_a_study_without_lists_of_sockets_is_refused_with_what_to_record():
    with pytest.raises(NotMeasuredError, match="No snapshot of ss .*: record `ss -tan` on the server during each run"):
        plots.plot_established_by_connections(established().iloc[:0])


def test_plot_established_by_connections():
    ax = draw("plot_established_by_connections")
    assert ax.get_ylabel() == "Established at the server"
    assert (ax.get_yscale(), ax.yaxis.get_transform().base, tick(ax.yaxis, 128)) == ("symlog", 2, "128")
    assert points(ax, COLOURS["cpu"]) == [(1, 1), (64, 64)]
    assert points(ax, COLOURS["delay"]) == [(4, 4), (512, 128)]
    assert strokes(ax, COLOURS["limit"], "--") == [[[1, 1], [512, 512]]]  # equality
    assert legend(ax) == ["cpu", "delay"]


def test_plot_records():
    ax = draw("plot_records")
    assert strokes(ax, COLOURS["cpu"], "-") == [[[1, 110], [4, 320], [16, 400]]]
    assert strokes(ax, COLOURS["cpu"], "--") == [[[1, 200], [4, 500]]]
    assert strokes(ax, COLOURS["delay"]) == [[[1, 10], [4, 40], [16, 150]]]
    assert list(labels(ax)) == ["cpu, recorded", "cpu, this machine", "delay, recorded"]


def test_plot_throughput_by_block():
    ax = draw("plot_throughput_by_block")
    assert strokes(ax, COLOURS["cpu"]) == [[[1, 100], [2, 80]]]
    assert strokes(ax, PALETTE[1]) == [[[1, 90], [2, 70]]]
    assert labels(ax) == {"N = 8": COLOURS["cpu"], "N = 64": PALETTE[1]}
    assert (ax.get_ylim()[0], ax.get_ylabel()) == (0, "Throughput [requests/s]")


def test_plot_laws():
    ax = draw("plot_laws")
    assert strokes(ax, PALETTE[0]) == [[[1, 100], [8, 300]]]
    assert strokes(ax, PALETTE[1]) == [[[1, 100], [4, 200], [8, 301]]]
    assert strokes(ax, COLOURS["limit"], "-") == [
        [[3, 300], [5, 300]],
        [[4, 250], [4, 350]],
    ]  # what rounding leaves open
    assert strokes(ax, COLOURS["limit"], "--") == [[[0, 400], [1, 400]]]
    assert points(ax, COLOURS["limit"]) == [(4, 300)]
    assert labels(ax)["fast"] == PALETTE[1] and labels(ax)["here"] == COLOURS["limit"]
    named = {text.get_text(): text.xy[1] for text in ax.texts}
    assert named["slow"] == 300 and named["fast"] > 330  # ends that nearly meet are named apart
    assert named["here"] > 501  # above all lines


def test_plot_laws_that_end_at_one_rate_are_named_where_they_rise():
    laws, stated = laws_and_rates()
    ax = plots.plot_laws(laws[laws["law"] != "other"], stated)
    named = {text.get_text(): text.xy for text in ax.texts}
    assert (named["slow"], named["fast"]) == ((8, 150), (4, 150.5))


def test_plot_laws_over_workers():
    ax = plots.plot_laws(*(table.rename(columns={"connections": "workers"}) for table in laws_and_rates()))
    assert (ax.get_xlabel(), tick(ax.xaxis, 8)) == ("Workers", "8")


def test_plot_ratios():
    ax = draw("plot_ratios")
    assert strokes(ax, PALETTE[0])[0] == [[1.0, 2], [1.2, 2]]
    assert points(ax, PALETTE[0]) == [(1.1, 2), (1.2, 1)]
    assert list(labels(ax)) == ["no interval"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["t", "ranks"]


def test_plot_ratios_without_an_upper_end():
    ratios = pd.DataFrame({"method": ["Fieller", "t"], "ratio": [0.8, 1.5], "lo": [0.0, 1.0], "hi": [math.inf, 2.0]})
    ax = plots.plot_ratios(ratios)
    assert strokes(ax, PALETTE[0])[0] == [[0, 2], [2.2, 2]]
    assert [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == ">"] == [[[2.2, 2]]]


def test_plot_coverage_shows_the_worst_shape():
    ax = draw("plot_coverage")
    assert strokes(ax, COLOURS["limit"], "--") == [[[0, 0.95], [1, 0.95]]]
    assert strokes(ax, PALETTE[0]) == [[[3, 0.9], [10, 0.95]]]
    assert (legend(ax), tick(ax.yaxis, 0.9), tick(ax.xaxis, 3)) == (["t"], "90%", "3")


def test_plot_interval_coverage():
    ax = draw("plot_interval_coverage")
    assert strokes(ax, PALETTE[0])[0] == [[0.88, pytest.approx(1.175)], [0.92, pytest.approx(1.175)]]
    assert points(ax, PALETTE[1]) == [(0.95, pytest.approx(0.825)), (0.98, 0)]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["profile", "t,\nplain"]
    assert (legend(ax), tick(ax.xaxis, 0.9)) == (["6 levels", "8 levels"], "90%")
    assert [line[0][0] for line in strokes(ax, COLOURS["limit"], "--")] == [pytest.approx(0.95)]
    zone = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (zone.x0, zone.x1) == pytest.approx((0.93, 0.97))


def test_plot_error_rates():
    ax = draw("plot_error_rates")
    assert points(ax, PALETTE[1]) == points(draw("plot_interval_coverage"), PALETTE[1])
    assert (list(ax.patches), legend(ax), tick(ax.xaxis, 0.9)) == ([], ["6 levels", "8 levels"], "90%")


def test_plot_overhead_by_size():
    ax = draw("plot_overhead_by_size")
    assert strokes(ax, PALETTE[0]) == [[[0, 282], [1000, 282]]]
    assert strokes(ax, PALETTE[1]) == [[[0, 306], [1000, 306]]]
    assert labels(ax) == {"in frames": PALETTE[0], "on the medium": PALETTE[1]}
    assert (ax.get_ylim()[0], ax.get_xlabel()) == (0, "Body of the response [bytes]")


def test_plot_packets_by_size():
    ax = draw("plot_packets_by_size")
    assert strokes(ax, PALETTE[0]) == [[[0, 1], [2000, 2]]]
    assert strokes(ax, PALETTE[1]) == [[[0, 2], [2000, 4]]]
    assert labels(ax) == {"responses": PALETTE[0], "both ways": PALETTE[1]}


def test_plot_requests_limit_by_size():
    ax = draw("plot_requests_limit_by_size")
    assert (ax.get_xscale(), ax.get_yscale(), tick(ax.yaxis, 1e6)) == ("log", "log", "1M")
    assert strokes(ax, COLOURS["limit"], "-") == [[[306, 4e6], [1538, 8e5]]]
    assert strokes(ax, COLOURS["law"], "--") == [[[306, 1e6]]]
    assert points(ax) == [(216, 5e5), (832, 4e5), (9000, 2e5)]
    assert legend(ax) == ["server", "server, inconsistent", "proxy, above line rate"]
    markers = [line.get_marker() for line in ax.lines if not is_stroked(line)]
    assert len(set(markers)) == 3  # a verdict is told by its shape too


def test_plot_requests_limit_by_size_without_reported_rates():
    assert plots.plot_requests_limit_by_size(limits_by_size(), reported().head(0)).get_legend() is None


def test_plot_port_limit():
    ax = draw("plot_port_limit")
    assert strokes(ax, PALETTE[0]) == [[[1, 470], [10, 4700]]]
    assert strokes(ax, COLOURS["limit"], "--") == [[[0, 3000], [1, 3000]]]  # across the figure
    assert set(labels(ax)) == {"60 s", "1 s", "wanted"}


# Known faults of plots: strict, so that whoever mends one takes its mark away.


def test_an_unchecked_run_does_not_take_its_variants_label_along():
    ax = plots.plot_effective_concurrency(findings([("cpu", 4, 4.0), ("cpu", 64, math.nan)]))
    assert {text.get_text(): text.xy for text in ax.texts} == {"cpu": (4, 1.0)}


def test_the_servers_line_is_the_same_without_the_generators():
    ax = plots.plot_cpu_by_connections(busy().query("role == 'server'"))
    assert {line.get_linestyle() for line in ax.lines} == {"-"}


def test_a_records_line_is_the_same_in_every_variant():
    both = records()
    ax = plots.plot_records(both[(both["variant"] == "delay") | (both["record"] == "this machine")])
    assert [line.get_linestyle() for line in ax.lines] == ["--", "-"]  # cpu on this machine; delay, recorded


def test_no_record_is_lost():
    ax = plots.plot_records(pd.concat([of_cpu().assign(record=record) for record in "abcd"]))
    assert len(labels(ax)) == 4


def test_a_run_without_any_established_connection_is_in_view():
    ax = plots.plot_established_by_connections(established().assign(established=[1, 0, 4, 128]))
    assert ax.get_ylim()[0] <= 0


def test_two_variants_have_two_colours():
    ax = plots.plot_throughput_by_connections(table_of_runs([("alpha", 1, 1.0, 1.0), ("cpu", 1, 2.0, 1.0)]))
    assert len(set(labels(ax).values())) == 2


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


def assert_no_ink(name, ax):
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
    ax = plots.plot_network_latency(network(), network_bounds())
    ax.set_ylabel("Mean response time [s]")
    with pytest.raises(AssertionError):
        assert_one_unit(ax.figure)


def test_plot_network_throughput():
    ax = draw("plot_network_throughput")
    assert strokes(ax, COLOURS["law"]) == [[[1, 100], [4, 300], [16, 450]]]
    assert strokes(ax, COLOURS["limit"], "--") == [[[1, 90], [16, 200]], [[1, 110], [16, 460]]]
    assert labels(ax) == {"exact": COLOURS["law"]}


def test_plot_network_latency():
    ax = draw("plot_network_latency")
    assert ax.get_ylabel() == "Mean response time"
    assert strokes(ax, COLOURS["law"]) == [[[1, 0.01], [4, 0.013], [16, 0.036]]]
    assert strokes(ax, COLOURS["limit"], "--") == [[[1, 0.009], [16, 0.03]], [[1, 0.011], [16, 0.08]]]
    assert ax.get_ylim() == (0, pytest.approx(1.3 * 0.036))
    assert labels(ax) == {"exact": COLOURS["law"]}


def test_plot_bound_gaps():
    ax = draw("plot_bound_gaps")
    assert strokes(ax, PALETTE[0]) == [[[1, -0.1], [8, -0.3]], [[1, 0.2], [8, 0.4]]]
    assert strokes(ax, PALETTE[1]) == [[[1, 0], [8, -0.01]], [[1, 0], [8, 0.02]]]
    assert legend(ax) == ["wide", "tight"]
    assert tick(ax.yaxis, 0.05) == "5%"


def test_plot_solvers():
    ax = draw("plot_solvers")
    assert ax.get_ylabel() == "Mean response time"
    assert strokes(ax, PALETTE[0], "-") == [[[1, 1], [8, 5]]]
    assert strokes(ax, PALETTE[1], ":") == [[[1, 1], [8, -90]]]
    assert legend(ax) == ["right", "wrong"]
    assert (ax.get_xlabel(), ax.get_xscale(), ax.get_yscale()) == ("Connections", "linear", "symlog")


def test_plot_fit():
    fit = straight_fit()
    ax = plots.plot_fit(fit, Estimate(8.0, 4.0, 12.0, 0.95, "given"))
    assert points(ax, PALETTE[0]) == [(1, 10), (4, 40), (8, 80), (16, 160)]
    assert points(ax, COLOURS["limit"]) == [(8, 80)]
    assert strokes(ax, COLOURS["limit"]) == [[[4, 80], [12, 80]]]
    assert set(labels(ax)) == {"peak at 8"}
    assert (ax.get_ylabel(), ax.get_ylim()) == ("Throughput [requests/s]", (0, 200))
    wide, narrow = (c.get_paths()[0].vertices[:, 1].max() for c in ax.collections if isinstance(c, PolyCollection))
    assert wide > narrow == pytest.approx(16 * (10 + 4.302653 * 0.2))  # t(2) at 97.5 %, any t table


def test_plot_fit_without_a_peak():
    ax = plots.plot_fit(straight_fit(), Estimate(math.inf, 30.0, math.inf, 0.95, "given"))
    assert labels(ax) == {} and points(ax, COLOURS["limit"]) == []


def test_plot_residuals():
    ax = draw("plot_residuals")
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert lines["in the fit"] == [[1, 0.2], [4, -0.1], [16, 0.05]]
    assert lines["left out of the fit"][:2] == [[1, 0.5], [4, -0.2]]


def test_plot_intervals():
    ax = draw("plot_intervals")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["peak", "unit throughput"]
    drawn = [
        line.get_xdata().tolist() for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 2.4
    ]
    assert approx(drawn) == [[0.8, 1.2], [0.5, 3.0], [0.9, 1.3]]  # the open end stops at three times the value
    assert legend(ax) == ["t", "profile"]
    assert sum(line.get_marker() == ">" for line in ax.lines) == 1


def test_plot_checklist():
    ax = draw("plot_checklist")
    marks = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert marks == {"yes": [[0, 0]], "partly": [[0, 1]], "no": [[1, 0]], "not checked": [[1, 1]]}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["raw", "one change"]
    assert len({(line.get_marker(), line.get_fillstyle()) for line in ax.lines}) == 4  # told apart without colour


def test_plot_acceptance():
    ax = draw("plot_acceptance")
    assert {text.get_text(): text.xy for text in ax.texts} == {"pass": (0, 0), "not checked": (1, 0), "fail": (0, 1)}
    assert [label.get_text() for label in (*ax.get_xticklabels(), *ax.get_yticklabels())] == [
        "nft", "haproxy", "round robin", "fail over",
    ]  # fmt: skip
    assert ax.get_legend() is None  # each mark has its word


def test_an_answer_without_a_mark_is_refused():
    with pytest.raises(ValueRuleError, match="answer must be one of yes, partly, no, not checked, got 'maybe'"):
        plots.plot_checklist(pd.DataFrame({"report": ["A"], "item": ["raw"], "answer": ["maybe"]}))


@pytest.mark.parametrize(("height", "shown"), [(1.0, True), (math.nan, False)])
def test_a_bar_without_a_height_shows_nothing(height, shown):
    ax = plt.subplots()[1]
    ax.bar([0], [height])
    assert shows_something(ax) == shown


def test_plot_reported_rates():
    ax = draw("plot_reported_rates")
    assert [bar.get_width() for bar in ax.patches] == [300, 659]
    assert [line.get_marker() for line in ax.lines] == [">"], "open to the right where more is possible"
    assert {"≥ 300 requests/s", "659 requests/s", "one", "both"} == set(labels(ax))
    assert ax.get_xlim()[0] == 0 and ax.yaxis_inverted(), "the first case is on top"


def test_plot_overlap():
    ax = draw("plot_overlap")
    assert strokes(ax, COLOURS["law"]) == [[[0, 600], [10, 600]], [[0, 600], [10, 300]]]
    assert [line[0][1] for line in strokes(ax, COLOURS["limit"], "--")] == [300]
    [band] = [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert (band.get_paths()[0].vertices[:, 1].min(), band.get_paths()[0].vertices[:, 1].max()) == (300, 600)
    assert labels(ax)["one alone"] == COLOURS["limit"]
    assert (ax.get_ylim()[0], ax.get_xlabel()) == (0, "Delay between the starts [s]")


def test_plot_budgets():
    ax = draw("plot_budgets")
    assert strokes(ax) == [[[1, 8e-5], [8, 8e-5]], [[1, 4e-5], [8, 5e-6]]]
    assert labels(ax) == colours(["own", "shared"])
    assert ax.get_yscale() == "log" and tick(ax.yaxis, 8e-5) == "80 µs"


def test_plot_dealt():
    ax = draw("plot_dealt")
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 30), (30, 70), (0, 20), (20, 80)]
    assert [text.get_text() for text in ax.texts] == [
        "30\nactive", "70\ninactive", "= 100", "20\nactive", "80\ninactive", "= 100",
    ]  # fmt: skip
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_plot_used():
    ax = draw("plot_used")
    assert strokes(ax, COLOURS["limit"], "--") == [[[1, 0], [1, 1]]]
    assert strokes(ax, PALETTE[0])[:2] == [[[0, 0], [0.8, 0]], [[0, 1], [0.1, 1]]]
    assert labels(ax) == {"80%": PALETTE[0], "10%": PALETTE[0], "40%": PALETTE[1]}
    assert (legend(ax), tick(ax.xaxis, 0.5)) == (["small", "large"], "50%")


def test_more_than_a_limit_is_not_cut_off():
    assert plots.plot_used(used().assign(used_ratio=1.3)).get_xlim()[1] > 1.3


def test_plot_repeats_by_scatter():
    ax = draw("plot_repeats_by_scatter")
    assert strokes(ax, PALETTE[0]) == [[[0.01, 6], [0.1, 436]]]
    assert strokes(ax, PALETTE[1]) == [[[0.02, 19]]] or points(ax, PALETTE[1]) == [(0.02, 19)]
    assert labels(ax) == {"seen": PALETTE[1]}
    assert (tick(ax.xaxis, 0.005), tick(ax.yaxis, 100)) == ("0.5%", "100")


def test_plot_busy_rates():
    ax = draw("plot_busy_rates")
    assert points(ax, PALETTE[0]) == [(200, 1), (900, 2)]
    assert points(ax, PALETTE[1]) == [(800, 1), (900, 2)]
    assert strokes(ax, COLOURS["limit"]) == [[[900, 2], [900, 2]], [[200, 1], [800, 1]]]
    assert set(labels(ax)) == {"25 % busy", "reported", "if fully busy"}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["fast", "slow"]
    assert ax.get_xlim()[0] == 0


def test_plot_rates_by_setting():
    ax = draw("plot_rates_by_setting")
    drawn = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "|"]
    assert drawn == [(800, 2), (200, 1)], "the mean of each setting, from top to bottom"
    assert points(ax, COLOURS["law"]) == [(950, 2)], "no model, no point"
    assert set(labels(ax)) == {"800", "200", "model"}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["fast", "slow"]
    assert ax.get_xlim()[0] == 0 and ax.get_xlim()[1] > 950
    far = rates_by_setting().assign(throughput_rps=[90_000.0, 70_000.0, 200.0])
    assert plots.plot_rates_by_setting(far).get_xscale() == "log", "200 would lie on the zero of a linear axis"


def test_plot_shares_by_size():
    ax = draw("plot_shares_by_size")
    palette = colours(["link", "processor"])
    assert points(ax, palette["link"]) == [(216, 0.2), (2806, 0.9), (10456, 1.08)]
    assert [line.get_xdata().tolist() for line in ax.lines if line.get_marker() == "X"] == [[10456], []]
    assert labels(ax) == palette
    assert [y for (_, y), _ in strokes(ax, style="--")] == [1]


def test_plot_topology():
    ax = draw("plot_topology")
    place = {text.get_text(): text.get_position() for text in ax.texts}
    assert [place[name][0] for name in ("C1", "C2", "LB", "S")] == [0, 0, 1, 2]
    assert place["C1"][1] > place["LB"][1] == place["S"][1] > place["C2"][1]
    assert "HTTP" in place
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == 3 and len(ax.patches) == 4


def test_plot_forecast():
    ax = plots.plot_forecast(forecast_points(), forecast_bands())
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert lines["fitted"] == [[1, 100], [4, 350]]
    assert lines["held back"] == [[16, 600]]
    band = ax.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (90, 1500)


def test_plot_forecast_errors():
    ax = plots.plot_forecast_errors(forecasts())
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    below_first, above = (np.interp(error, *zip(*lines["stack of forecasts"], strict=True)) for error in (0.15, 0.21))
    assert (below_first, above) == (0.5, 1.0)
    assert lines["usl as people write it"] == lines["_usl"] == []  # without a forecast, or off by more than is drawn
    assert legend(ax) == ["stack of forecasts", "usl as people write it", "other methods"]


def test_plot_capacity():
    ax = draw("plot_capacity")
    assert points(ax, PALETTE[2]) == [(1, 0.010), (1, 0.012)]
    assert points(ax, PALETTE[4]) == [(4, 0.049), (4, 0.060)]
    assert points(ax, PALETTE[1]) == [(16, 0.200)]
    assert strokes(ax, COLOURS["limit"], "--") == [[[0, 0.05], [1, 0.05]]]  # across the figure
    assert {text.get_text(): text.xy[0] for text in ax.texts} == {
        "kept": 1, "undecided": 4, "broken": 16, "promised: 50 ms": 1,
    }  # fmt: skip
    [band] = ax.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == (1, 16)
    assert (ax.get_ylabel(), tick(ax.yaxis, 0.05)) == ("Response time, p99", "50 ms")
    assert ax.get_ylim()[0] == 0


def test_plot_capacity_of_a_capacity_without_ends_shades_what_was_measured():
    runs, decisions, _, objective = promised()
    nowhere = Estimate(0, 0, math.inf, 0.5, "given")
    [band] = plots.plot_capacity(runs, decisions, nowhere, objective).patches
    assert (band.get_x(), band.get_x() + band.get_width()) == (1, 16)


def test_plot_capacity_over_offered_rates():
    runs, decisions, capacity, objective = promised()
    names = {"connections": "target_rate_rps"}
    ax = plots.plot_capacity(runs.rename(columns=names), decisions.rename(columns=names), capacity, objective)
    assert (ax.get_xscale(), ax.get_xlabel()) == ("linear", "Offered rate [requests/s]")
    assert points(ax, PALETTE[2]) == [(1, 0.010), (1, 0.012)]


def test_plot_rates():
    ax = draw("plot_rates")
    assert sorted(points(ax, PALETTE[0])) == [
        (50, 0.02), (50, 0.02), (50, 0.03), (50, 0.05), (120, 0.35), (120, 0.7)
    ]  # fmt: skip
    median, tail = strokes(ax, PALETTE[0], ":"), strokes(ax, PALETTE[0], "-")
    assert (median, tail) == ([[[50, 0.02], [120, 0.35]]], [[[50, pytest.approx(0.04)], [120, 0.7]]])
    assert strokes(ax, PALETTE[1], "-") == [[[49, 0.03], [100, 0.09]]]  # by what was served
    ends = [line[-1] for line in strokes(ax, COLOURS["limit"], "--")]
    # R0 + q T (1 - C / rate), at the right end of the axis.
    last = ax.get_xlim()[1]
    assert ends == [pytest.approx([last, 0.02 + q * 4 * (1 - 100 / last)]) for q in (0.5, 0.99)]
    named = {text.get_text() for text in ax.texts}
    assert named == {"open loop, p50", "open loop, p99", "closed loop, 8 connections", "capacity", "1"}


def test_plot_knees():
    ax = draw("plot_knees")
    [law] = strokes(ax, COLOURS["law"], "--")
    assert (law[0], law[-1]) == (pytest.approx([1, 10]), pytest.approx([16, 160]))
    assert [[x for x, _ in line] for line in strokes(ax, COLOURS["limit"])] == [[3, 6]]
    assert [[x for x, _ in line] for line in strokes(ax, COLOURS["law"], "-")] == [[4, 7]]
    assert points(ax, COLOURS["limit"])[0][0] == 4  # what is not on the law or a bound is of the variant's colour
    assert labels(ax) == {
        "cpu": COLOURS["cpu"], "saturation N*, 4": COLOURS["limit"], "maximum power, 5": COLOURS["law"],
        "Kneedle, 16": COLOURS["cpu"],
    }  # fmt: skip


def test_plot_utilisation():
    ax = draw("plot_utilisation")
    assert points(ax, PALETTE[0]) == [(100, 0.25), (200, 0.45)]
    server, interval = strokes(ax, PALETTE[0])
    assert server == approx([[0, 0.05], [475, 1.0]])  # from its background to where the line saturates
    assert interval == approx([[450, 1.0], [500, 1.0]])
    assert strokes(ax, PALETTE[1]) == [approx([[0, 0], [1000 * 0.8, 0.8]])]  # 4 × 200 requests/s, and no further
    assert strokes(ax, PALETTE[2]) == [approx([[0, 0], [800, 0.04]])]
    assert labels(ax) == {"server": PALETTE[0], "generator": PALETTE[1], "disk": PALETTE[2]}
    assert (ax.get_xlabel(), tick(ax.yaxis, 0.5)) == ("Throughput [requests/s]", "50%")


def test_plot_bottlenecks():
    ax = draw("plot_bottlenecks")
    assert strokes(ax, PALETTE[0]) == [approx([[390, 0], [420, 0]]), approx([[350, 0.25], [415, 0.25]])]
    assert strokes(ax, PALETTE[1]) == [approx([[700, 1], [900, 1]])]
    dots = {tuple(line.get_xydata()[0]): line.get_marker() for line in ax.lines if len(line.get_xydata()) == 1}
    assert dots == {(404, 0): "o", (380, 0.25): "D", (800, 1): "D"}  # measured; by lower loads
    assert labels(ax) == {"9k →": PALETTE[2], "observed plateau": INK}  # beyond 3 times the plateau it is written
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["server CPU", "disk sda", "link eth0"]
    assert (ax.get_xlabel(), ax.get_xlim()[0]) == ("Throughput [requests/s]", 0)


def test_plot_efficiency():
    ax = draw("plot_efficiency")
    assert strokes(ax, PALETTE[0]) == [[[1, 1.0], [4, 0.9]]]
    assert strokes(ax, PALETTE[1]) == [[[1, 1.0], [4, 0.5]]]
    assert labels(ax) == {"small": PALETTE[0], "large": PALETTE[1]}
    assert (ax.get_xlabel(), ax.get_xscale(), tick(ax.yaxis, 0.5), ax.get_ylim()[0]) == ("Units", "log", "50%", 0)


def test_plot_projection():
    ax = draw("plot_projection")
    assert points(ax, PALETTE[0]) == [(1, 100), (4, 360), (16, 900)]
    assert strokes(ax, COLOURS["law"], "--") == [[[8, 600], [16, 1000]]]
    [band] = [c for c in ax.collections if isinstance(c, PolyCollection)]
    corners = band.get_paths()[0].vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == (400, 1600)
    assert labels(ax) == {"projected": COLOURS["law"], "used": PALETTE[0], "held back": PALETTE[0]}
    assert (ax.get_xlabel(), ax.get_ylim()[0]) == ("Units", 0)


def test_a_name_touches_no_line():
    """The first point of the flat line is crossed by the steep one, as where orphans grow beside connections."""
    ax = plots.plot_sockets_over_time(
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


def test_plot_busy_by_threads():
    ax = draw("plot_busy_by_threads")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Threads", "Processor busy")
    assert (ax.get_xscale(), ax.xaxis.get_transform().base) == ("log", 2)
    assert strokes(ax, PALETTE[0]) == [[[1, 0.1], [8, 1.0], [16, 1.0]], [[1, 0.1], [8, 0.7], [16, 0.9]]]
    assert points(ax) == [(4, 0.6), (8, 0.7)]  # the last whole number of threads up to what fills it
    assert labels(ax) == {"2 ms: 8 threads, 70% busy": PALETTE[0], "4 ms: 4 threads, 60% busy": PALETTE[1]}


def test_plot_law_by_delay():
    ax = draw("plot_law_by_delay")
    assert ax.get_xscale() == "log" and tick(ax.yaxis, 0.97) == "97%"
    assert points(ax, PALETTE[0]) == [(0.001, 1), (0.01, 1.01)]
    assert set(labels(ax)) == {"X · R", "delay"}


def test_plot_throughput_by_threads():
    ax = draw("plot_throughput_by_threads")
    assert (ax.get_xlabel(), ax.xaxis.get_transform().base) == ("Threads", 2)
    assert (21.6, 490.0) in points(ax)
    assert strokes(ax, PALETTE[1])[0][21] == approx_point(22, 500)  # where the formula reaches 1 / 2 ms
    assert strokes(ax, style=":")[0][21] == approx_point(22, 22 / (22 * 0.002 + 0.042))  # each waits for all others
    named = {"formula", "with queueing", "in lockstep", "measured"}
    assert set(labels(ax)) == {"measured optimum: 21.6", *named}
    runs, law, _ = rates_by_threads()
    no_plateau = Estimate(math.nan, math.nan, math.nan, 0.95, "")
    assert set(labels(plots.plot_throughput_by_threads(runs, law, no_plateau))) == named


def test_plot_sockets_over_time():
    last = plots.plot_sockets_over_time(sockets_over_time())
    first = last.figure.axes[0]
    assert set(labels(first)) == {"1 s", "established", "orphans"} and set(labels(last)) == {"2 s"}
    assert [line[:2] for line in strokes(last)] == [[[0.0, 64.0], [3.0, 0.0]], [[0.0, 0.0], [3.0, 64.0]]]
    both = plots.plot_sockets_over_time(sockets_over_time().assign(variant="1 s"))
    assert np.isnan(strokes(both)[0][2]).all()  # a gap after the first run, so that no line joins the two


def test_plot_counts():
    ax = draw("plot_counts")
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.get_yticklabels()] == ["asked for", "in flight", "asked for"]
    assert {x for x, _ in points(ax, PALETTE[0])} == {8000, 1012}
    assert {x for x, _ in points(ax, PALETTE[1])} == {100}
    assert [line[0][0] for line in strokes(ax, style="--")] == [8000, 100]
    assert labels(ax) == {
        "first": PALETTE[0], "8,000": PALETTE[0], "1,012": PALETTE[0], "second": PALETTE[1], "100": PALETTE[1],
    }  # fmt: skip


def test_plot_sockets():
    ax = draw("plot_sockets")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["server", "client"]
    assert legend(ax) == ["established", "elsewhere"]
    drawn = [(bar.get_x(), bar.get_width()) for bar in ax.patches if bar.get_width()]
    assert drawn == approx([(0, 0.4), (0.4, 0.6), (0, 0.01), (0.01, 0.99)])
    assert set(labels(ax)) == {"40", "60", "99"}  # a hundredth has no room for its number
