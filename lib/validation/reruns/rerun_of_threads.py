"""Numbers of the reruns of “Nginx Performance Test”: one connection, threads, connections had, orphans, keep-alive."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from loadcurve import models, stats
from loadcurve.analysis.reruns import (
    connections_opened_per_s,
    numbers_in,
    processor_busy_ratio,
    summarise_lost_clients,
    summarise_orphans,
)
from loadcurve.stats import Estimate
from loadcurve.tables.curves import SATURATED_RATIO

_FEWEST_RUNS = 3  # a level with fewer has no useful interval


def rerun_one_connection(runs: pd.DataFrame, exact_from_s: float) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Compare the rate of one connection with two laws: 1 / (delay + R0), and 1 / R with the measured response time.

    R0 is of the variant ``no_delay``; the first law is judged from a delay on.  The table has ``run_id delay_s law
    measured_ratio``.  The numbers: ``in_flight_one``, X · R with the outermost ends of its intervals; the ends of the
    other ratio, ``delays_lo`` and ``delays_hi``; and the bytes of a response.

    Examples
    --------
    >>> runs = pd.DataFrame({"run_id": ["a", "b", "c"], "variant": ["no_delay", "delay_010ms", "delay_010ms"],
    ...                      "throughput_rps": [10_000.0, 99.0, 99.2], "latency_mean_s": [1e-4, 0.0101, 0.0101],
    ...                      "received_bytes": 784.0, "requests": 1})
    >>> rerun_one_connection(runs, 0.01)[0]["measured_ratio"].round(3).tolist()
    [1.0, 1.002, 1.0, 1.002]
    """
    delays = runs.assign(delay_s=numbers_in(runs["variant"], "delay") / 1000)
    least_s = float((1 / delays.loc[delays["delay_s"].isna(), "throughput_rps"]).mean())
    delays = delays.dropna(subset=["delay_s"])
    in_flight = models.little_connections(delays["throughput_rps"], delays["latency_mean_s"])
    laws = {"X · (delay + R₀)": delays["throughput_rps"] * (delays["delay_s"] + least_s), "X · R": in_flight}
    drawn = pd.concat([delays[["run_id", "delay_s"]].assign(law=law, measured_ratio=x) for law, x in laws.items()])
    by_law, by_little = (
        stats.summarise_repeats(drawn[drawn["law"] == law], by="delay_s", column="measured_ratio") for law in laws
    )
    exact = by_law[by_law["delay_s"] >= exact_from_s]
    size = (delays["received_bytes"] / delays["requests"]).astype(float)
    numbers = {"delays_lo": exact["lo"].min(), "delays_hi": exact["hi"].max(), "exact_from_s": exact_from_s}
    ends = by_little["lo"].min(), by_little["hi"].max()
    numbers |= {"in_flight_one": Estimate(in_flight.mean(), *ends, 0.95, "mean of all runs, outermost ends by delay")}
    numbers |= {"shortest_ratio": by_law["measured_ratio"].iloc[0], "least_bytes": size.min(), "most_bytes": size.max()}
    return drawn.reset_index(drop=True), numbers


def rerun_threads(runs: pd.DataFrame, cpu: pd.DataFrame, wait_s: float) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Compare the measured optimum of threads with the formula (C + W) / C, and the rates with those in lockstep.

    The measured optimum is where the rate of few threads, extended, meets the plateau; without a level at which the
    processor is saturated there is no plateau, and the optimum is NaN.  C is the utilisation of the processor by the
    throughput, in the runs with a quarter to three quarters of that crossing: fewer threads use too little of the
    processor for a precise share, and the runs near the optimum must not take part in its prediction.

    The table is `runs` with ``threads`` and ``busy_ratio``, without levels of fewer than three runs.  The numbers are
    Estimates: ``measured_threads``, ``formula_threads``, ``page_cpu_s``, and what the first level from the formula's
    result on reaches (``near_``); C and the formula's result on a saturated processor (``full_``); beside them
    ``busiest_ratio`` of all levels, and measured throughput by N / (N C + W), that of threads which all compute at
    once, at the fewest and the most threads (``lockstep_``).
    """
    pool = runs.assign(threads=numbers_in(runs["variant"], "children").astype(int))
    pool["busy_ratio"] = processor_busy_ratio(cpu, pool, "S1", "0")
    pool = pool[pool.groupby("threads")["run_id"].transform("size") >= _FEWEST_RUNS]
    plateau = models.find_demand(pool["threads"], pool["throughput_rps"])
    crossing = models.find_saturation_of_runs(pool["threads"], pool["throughput_rps"])
    few = pool[pool["threads"].between(0.25 * crossing.value, 0.75 * crossing.value)]
    page_cpu = stats.find_mean(few["busy_ratio"] / few["throughput_rps"])
    formula = models.find_threads_to_fill(page_cpu, wait_s)
    busy = pool.groupby("threads")["busy_ratio"].mean()
    near = pool[pool["threads"] == next((n for n in busy.index if n >= formula.value), busy.index[-1])]
    optimum = crossing if busy.max() >= SATURATED_RATIO else Estimate(np.nan, np.nan, np.nan, 0.95, "no plateau")
    alone = models.asymptotic_bounds(pool["threads"], [page_cpu.value], wait_s)["throughput_lo_rps"]
    lockstep = (pool["throughput_rps"] / alone.to_numpy()).groupby(pool["threads"])
    numbers = {"measured_threads": optimum, "formula_threads": formula, "page_cpu_s": page_cpu, "wait_s": wait_s}
    ratios = optimum.value / formula.value, optimum.lo / formula.hi, optimum.hi / formula.lo
    ratio = Estimate(*ratios, 0.95, "outermost ratios of both intervals", optimum.warnings)
    numbers |= {"threads_ratio": ratio, "plateau_rps": 1 / plateau.value}
    numbers |= {"near_threads": int(near["threads"].iloc[0]), "near_busy_ratio": stats.find_mean(near["busy_ratio"])}
    numbers |= {"near_share_ratio": stats.find_mean(near["throughput_rps"] * plateau.value)}
    full = pool[pool["busy_ratio"] >= SATURATED_RATIO]
    if len(full):
        full_cpu = stats.find_mean(full["busy_ratio"] / full["throughput_rps"])
        numbers |= {"full_cpu_s": full_cpu, "full_threads": models.find_threads_to_fill(full_cpu, wait_s)}
    ends = {"least_threads": int(busy.index[0]), "most_threads": int(busy.index[-1]), "busiest_ratio": busy.max()}
    at_ends = {name: stats.find_mean(lockstep.get_group(ends[f"{name}_threads"])) for name in ("least", "most")}
    return pool, numbers | ends | {f"lockstep_{name}_ratio": ratio for name, ratio in at_ends.items()}


def rerun_wordpress(runs: pd.DataFrame) -> dict[str, Any]:
    """Compare the rates of WordPress with one connection and with 64, on one processor and on two.

    ``wordpress_one_rps`` is of one connection on one processor, ``wordpress_many_rps`` of 64, ``wordpress_two_rps`` of
    64 on two; ``wordpress_in_flight`` is X · R of one connection.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": ["one_processor"] * 2 + ["two_processors"], "connections": [1, 64, 64],
    ...                      "throughput_rps": [50.0, 40.0, 80.0], "latency_mean_s": [0.02, 1.6, 0.8]})
    >>> rerun_wordpress(runs)["wordpress_two_ratio"].value
    2.0
    """
    alone, one = runs["connections"] == 1, runs["variant"] == "one_processor"
    rates = {name: runs.loc[of, "throughput_rps"] for name, of in {
        "one": alone & one, "many": ~alone & one, "two": ~alone & ~one,
    }.items()}  # fmt: skip
    numbers: dict[str, Any] = {f"wordpress_{name}_rps": stats.find_mean(rate) for name, rate in rates.items()}
    in_flight = models.little_connections(runs["throughput_rps"], runs["latency_mean_s"])
    numbers["wordpress_in_flight"] = stats.find_mean(in_flight[alone.to_numpy()])
    numbers["wordpress_many_ratio"] = stats.find_ratio(rates["many"], rates["one"])
    return numbers | {"wordpress_two_ratio": stats.find_ratio(rates["two"], rates["many"])}


def rerun_connections(
    runs: pd.DataFrame, sockets: pd.DataFrame, settings: pd.DataFrame, allowed: Mapping[str, int]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Count the connections of each variant, beside the most that files, the accept queue and `allowed` permit.

    A client opens at most one connection for each open file; `allowed` is by variant, such as its ports.  At a server
    whose program has no more files, the kernel goes on until the accept queue is full: it holds one more than
    ``net.core.somaxconn`` says (Linux, ``include/net/sock.h``, sk_acceptq_is_full).

    The table has a row of means for each variant, the numbers have the same by ``VARIANT_COLUMN``.  ``VARIANT_rest``
    is most − established at the server.
    """
    had = runs.set_index("run_id")
    most = sockets.dropna(subset=["established"]).groupby(["host", "run_id"])["established"].max()
    had["at_client"], had["at_server"] = most["C1"].astype(float), most["S1"].astype(float)
    had["opened"] = had["connections"] - had["errors_connect"]
    had["in_flight"] = models.little_connections(had["throughput_rps"], had["latency_mean_s"])
    files = settings[settings["setting"] == "Max open files"].set_index("run_id")
    queue = settings[(settings["setting"] == "net.core.somaxconn") & (settings["host"] == "S1")].set_index("run_id")
    limits = {process: of["value"].astype(float) for process, of in files.groupby("process")}
    limits["server"] = limits["server"] + queue["value"].astype(float) + 1
    limits["allowed"] = had["variant"].astype("str").map(allowed)
    had["most"] = pd.DataFrame(limits).join(had["connections"]).min(axis="columns")
    rows: list[dict[str, Any]] = []
    numbers: dict[str, Any] = {}
    for variant, of in had.groupby("variant", sort=False):
        flight = stats.find_mean(of["in_flight"])
        row = of[["connections", "opened", "at_client", "at_server", "most"]].mean().astype(float).to_dict()
        rows.append({"variant": variant, **row, "in_flight": flight.value, "lo": flight.lo, "hi": flight.hi})
        of_variant = {**row, "in_flight": flight, "rest": row["most"] - row["at_server"]}
        numbers |= {f"{variant}_{name}": value for name, value in of_variant.items()}
    return pd.DataFrame(rows), numbers


def rerun_orphans(runs: pd.DataFrame, sockets: pd.DataFrame) -> dict[str, Any]:
    """Compare the lifetime of orphans with the time for which TCP retransmits a FIN.

    For each number n of retries: ``orphans_n``, ``life_n_s`` and ``limit_n_s``, the kernel's.
    ``limit_0_s`` is of the default, ``orphans_without`` of runs without the fault.
    """
    found = summarise_orphans(sockets, runs)
    found["retries"] = numbers_in(found["variant"], "retries")
    numbers: dict[str, Any] = {"limit_0_s": float(models.orphan_lifetime_s(0))}
    for retries, rows in found.dropna(subset=["retries"]).groupby("retries"):
        life, limit, n = stats.find_mean(rows["lifetime_s"]), float(models.orphan_lifetime_s(retries)), f"{retries:.0f}"
        numbers |= {f"life_{n}_s": life, f"limit_{n}_s": limit}
        numbers |= {f"orphans_{n}": stats.find_mean(rows["orphans"])}
    numbers["orphans_without"] = found.loc[found["retries"].isna(), "orphans"].max()
    return numbers | {"closed_per_s": stats.find_mean(found["closed_per_s"])}


def rerun_keep_alive(runs: pd.DataFrame, sockets: pd.DataFrame, tcp: pd.DataFrame, lost_s: float) -> dict[str, Any]:
    """Compare how long and for how many requests a server keeps connections with its two settings.

    The clients are lost at `lost_s` from the start.  For each timeout of N s: ``held_N_s``, ``lost_orphan_N_s`` and
    ``next_timeout_N_s``, from the timeout to the next retransmission of the response that the lost client did not
    acknowledge.  For each limit of requests: ``requests_each_N``, and ``rate_with_N_ratio`` by that without a limit.
    """
    kinds = runs["variant"].astype("str")
    ends = summarise_lost_clients(sockets, runs[kinds.str.startswith("timeout_")], lost_s=lost_s)
    numbers: dict[str, Any] = {}
    for timeout_s, rows in ends.groupby(numbers_in(ends["variant"], "timeout")):
        n = f"{timeout_s:.0f}"
        numbers |= {f"held_{n}_s": stats.find_mean(rows["held_s"])}
        numbers |= {f"lost_orphan_{n}_s": stats.find_mean(rows["orphan_s"])}
        numbers |= {f"next_timeout_{n}_s": float(models.next_retransmission_s(timeout_s)) - timeout_s}
    limited = runs[kinds.str.startswith("requests_")].reset_index(drop=True)
    limited["each"] = limited["throughput_rps"] / connections_opened_per_s(tcp, limited, "S1")
    free = limited.loc[limited["variant"] == "requests_unlimited", "throughput_rps"]
    for n, rows in limited.groupby(numbers_in(limited["variant"], "requests")):
        numbers[f"requests_each_{n:.0f}"] = stats.find_mean(rows["each"])
        numbers[f"rate_with_{n:.0f}_ratio"] = stats.find_ratio(rows["throughput_rps"], free)
    return numbers
