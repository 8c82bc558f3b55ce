"""Decide checks from the tables of runs with load.

A comparison passes or fails only if the whole 95 % interval is on one side of its limit.
"""

import math

import numpy as np
import pandas as pd

from loadcurve.acceptance.check import LoadRuns, Outcome
from loadcurve.stats import Estimate, find_ratio, summarise_balance, summarise_fairness
from loadcurve.units import format_quantity

LEAST_BANDWIDTH_RATIO = 0.98
LARGEST_ADDED_S = 100e-6
LEAST_THROUGHPUT_RATIO = 0.9
LARGEST_SOFTIRQ_RATIO = 0.95
MOST_LOST_RATIO = 1e-4
_NO_INTERVAL = "one run of each has no interval: repeat both"
_UNDECIDED = "undecided, because the interval contains the limit: repeat more often"
_ERRORS = ("errors_connect", "errors_read", "errors_write", "errors_timeout", "errors_status")


def large_responses(runs: LoadRuns) -> Outcome:
    """Decide whether large responses reach the client as fast as without the balancer."""
    ours, direct = (rows["received_bytes_per_s"] for rows in (runs.of("large"), runs.of_variant("direct_large")))
    ratio = find_ratio(ours, direct)
    numbers = (
        f"{format_quantity(8 * ours.mean(), 'bps')} with it, {format_quantity(8 * direct.mean(), 'bps')} without it: "
        f"ratio {ratio.value:.4f} [{ratio.lo:.4f}, {ratio.hi:.4f}]"
    )
    return _at_least(ratio, LEAST_BANDWIDTH_RATIO, numbers)


def small_responses(runs: LoadRuns) -> Outcome:
    """Decide whether small responses pass without lost segments, and whether a processor only handles interrupts."""
    rows, network, tcp, cpu = (runs.of("small", table) for table in ("runs", "network", "tcp", "cpu"))
    packets = network[(network["host"] == "LB") & network["interface"].str.startswith("eth")]
    each = cpu[(cpu["host"] == "LB") & (cpu["cpu"] != "all")].groupby(["run_id", "cpu"])["cpu_softirq_ratio"].mean()
    if packets.empty or each.empty or tcp.empty:
        return Outcome("not checked", "no packets, segments or processors were recorded; add the monitor sar")
    lost = tcp["retransmits_pps"].sum() / tcp["segments_sent_pps"].sum()
    rates = packets.groupby(["run_id", "time"])[["received_pps", "transmitted_pps"]].sum().mean()
    mean = each.groupby("run_id").mean().mean()
    numbers = (
        f"{format_quantity(rows['throughput_rps'].mean(), 'rps')}, {format_quantity(rates['received_pps'], 'pps')} in "
        f"and {format_quantity(rates['transmitted_pps'], 'pps')} out of the balancer; softirq takes {mean:.1%} of the "
        f"processors on average and {each.max():.1%} of the busiest; {1e6 * lost:.3g} of 1,000,000 segments sent again"
    )
    passed = lost <= MOST_LOST_RATIO and each.max() <= LARGEST_SOFTIRQ_RATIO
    return Outcome("pass" if passed else "fail", numbers, mean)


def response_time(runs: LoadRuns) -> Outcome:
    """Decide how much the balancer adds to the mean response time at two connections."""
    ours, direct = (rows["latency_mean_s"].astype(float) for rows in (runs.of("few"), runs.of_variant("direct_few")))
    count = ours.size, direct.size
    if min(count) < 2:
        return Outcome("not checked", _NO_INTERVAL)
    added = ours.mean() - direct.mean()
    variances = ours.var(ddof=1) / count[0], direct.var(ddof=1) / count[1]
    error = math.sqrt(sum(variances))
    lo, hi = added, added
    if error:
        import scipy

        squares = sum(variance**2 / (n - 1) for variance, n in zip(variances, count, strict=True))
        half = float(scipy.special.stdtrit(sum(variances) ** 2 / squares, 0.975)) * error  # Welch
        lo, hi = added - half, added + half
    numbers = (
        f"{format_quantity(ours.mean(), 's')} with it, {format_quantity(direct.mean(), 's')} without it: "
        f"{added * 1e6:.1f} µs more [{lo * 1e6:.1f}, {hi * 1e6:.1f}]"
    )
    servers = runs.of("few").get("server_units", pd.Series(dtype=float)).astype(float).max()
    if servers > 1:  # without a balancer, one server gets all connections
        unequal = f"{servers:.0f} servers with it, 1 without it: give both one server"
        return Outcome("not checked", f"{numbers}; {unequal}", added, lo, hi)
    if hi <= LARGEST_ADDED_S:
        return Outcome("pass", numbers, added, lo, hi)
    if lo > LARGEST_ADDED_S:
        return Outcome("fail", numbers, added, lo, hi)
    return Outcome("not checked", f"{numbers}; {_UNDECIDED}", added, lo, hi)


def dealt_under_load(runs: LoadRuns) -> Outcome:
    """Decide whether the servers still take turns under load, by the balancer's own counters."""
    balancer = runs.of("short", "balancer")
    verdicts, totals = [], []
    for _, rows in balancer.groupby("run_id", sort=True):
        counts = summarise_balance(rows)["connections"].to_numpy(float)
        if counts.size >= 2 and counts.sum():
            row = summarise_fairness(counts).loc[0]
            verdicts.append(row)
            totals.append(int(counts.sum()))
    if not verdicts:
        return Outcome("not checked", "the balancer's counters were not recorded")
    worst = max(verdicts, key=lambda row: row["chi_square"])
    even = sum(row["verdict"] == "as even as round robin" for row in verdicts)
    numbers = (
        f"{sum(totals):,} connections; {even} of {len(verdicts)} runs as even as round robin; largest chi-square "
        f"{worst['chi_square']:.3g}"
    )
    return Outcome("pass" if even == len(verdicts) else "fail", numbers)


def services_in_a_map(runs: LoadRuns) -> Outcome:
    """Decide whether ten thousand services in a map cost throughput of new connections."""
    return _cost_of_services(runs, "map")


def services_as_rules(runs: LoadRuns) -> Outcome:
    """Decide whether ten thousand services, a rule each, cost throughput of new connections."""
    return _cost_of_services(runs, "rules")


def no_failed_request(runs: LoadRuns) -> Outcome:
    """Decide whether any request failed in any run with load."""
    rows = runs.tables["runs"]
    own = rows[rows["variant"].str.startswith(f"{runs.balancer}_")]
    failed = own.reindex(columns=list(_ERRORS)).astype(float).fillna(0).sum(axis=1)
    numbers = f"{int(failed.sum()):,} failed requests of {int(own['requests'].sum()):,} in {len(own)} runs"
    return Outcome("pass" if not failed.any() else "fail", numbers)


def _cost_of_services(runs: LoadRuns, how: str) -> Outcome:
    many, one = (runs.of(name)["throughput_rps"] for name in (how, "short"))
    ratio = find_ratio(many, one)
    numbers = (
        f"{format_quantity(many.mean(), 'rps')} with 10,000 services, {format_quantity(one.mean(), 'rps')} with one: "
        f"ratio {ratio.value:.3f} [{ratio.lo:.3f}, {ratio.hi:.3f}]"
    )
    return _at_least(ratio, LEAST_THROUGHPUT_RATIO, numbers)


def _at_least(ratio: Estimate, limit: float, numbers: str) -> Outcome:
    ends = ratio.value, ratio.lo, ratio.hi
    if np.isnan(ratio.lo) or np.isnan(ratio.hi):
        return Outcome("not checked", f"{numbers}; {_NO_INTERVAL}", *ends)
    if ratio.lo >= limit:
        return Outcome("pass", numbers, *ends)
    if ratio.hi < limit:
        return Outcome("fail", numbers, *ends)
    return Outcome("not checked", f"{numbers}; {_UNDECIDED}", *ends)
