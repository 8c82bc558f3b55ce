"""Planted faults: too little evidence for what is concluded."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.atlas import Shows
from loadcurve.audit.run_tables import tables_of
from loadcurve.tables import check
from validation.faults.mutation import Change, Tables, chain, planted_fault, scaled, with_values


def first_repeats(tables: Tables) -> dict[str, pd.DataFrame]:
    """Return the tables without all repeats but the first."""
    runs = tables["runs"]
    return tables_of(runs[runs["repeat"] == 1], tables)


def drifting(tables: Tables) -> dict[str, pd.DataFrame]:
    """Return the tables with a throughput that falls by 10 % from the first run to the last."""
    runs = tables["runs"].sort_values("started_at")
    return {**tables, "runs": scaled(runs, np.linspace(1.05, 0.95, len(runs)))}


def second_half(column: str, value: object) -> Change:
    """Return a change: the runs of the higher loads have another value in a column of ``runs``."""

    def change(tables: Tables) -> dict[str, pd.DataFrame]:
        runs = tables["runs"]
        high = runs["connections"] > runs["connections"].median()
        return {**tables, "runs": runs.assign(**{column: runs[column].astype(object).mask(high, value)})}

    return change


def scattered(factors: Mapping[str, tuple[float, ...]]) -> Change:
    """Return a change: each variant is a copy of the runs, its repeats multiplied by these factors."""

    def change(tables: Tables) -> dict[str, pd.DataFrame]:
        runs = tables["runs"]
        copies = [
            scaled(runs, runs["repeat"].map(dict(enumerate(of, start=1))).astype(float)).assign(
                variant=variant, run_id=variant + "-" + runs["run_id"]
            )
            for variant, of in factors.items()
        ]
        return {"runs": pd.concat(copies, ignore_index=True)}

    return change


def averaged(tables: Tables) -> dict[str, pd.DataFrame]:
    """Return the tables with percentiles of the third repeat that are the means of those of the other two."""
    repeat = tables["latency"]["run_id"].str.extract(r"r(\d+)$")[0]
    of_two = tables["latency"]["latency_s"] * repeat.map({"1": 0.9, "2": 1.2, "3": np.nan}).astype(float)
    level = [tables["latency"]["run_id"].str.rpartition("-")[0], tables["latency"]["quantile"]]
    return {
        **tables,
        "latency": tables["latency"].assign(latency_s=of_two.fillna(of_two.groupby(level).transform("mean"))),
    }


def other_kernel(tables: Tables) -> dict[str, pd.DataFrame]:
    """Return the tables with another kernel for half of the runs."""
    hosts = tables["hosts"].copy()
    hosts.loc[hosts.index[::2], "kernel"] = "5.10.0-8-amd64"
    return {**tables, "hosts": hosts}


def with_row_of_means(tables: Tables) -> dict[str, pd.DataFrame]:
    """Return the runs at 64 connections, which differ, and one that has the means of their percentiles."""
    runs, latency = tables["runs"], tables["latency"]
    own = runs[(runs["connections"] == 64) & runs["variant"].eq("delay")]
    repeats = own.set_index("run_id")["repeat"].astype(float)
    of_level = latency["run_id"].isin(repeats.index)
    slower = latency["latency_s"].where(~of_level, latency["latency_s"] * latency["run_id"].map(repeats).fillna(1.0))
    latency = latency.assign(latency_s=slower)
    means = latency[of_level].groupby("quantile", as_index=False)["latency_s"].mean()
    first = {name: own.iloc[0][name] for name in ("study", "generator")}
    row = own.iloc[[0]].assign(run_id="delay-c0064-mean", repeat=own["repeat"].max() + 1)
    rows = means.assign(run_id="delay-c0064-mean", corrected=True, **first)
    joined = {"runs": pd.concat([own, row]), "latency": pd.concat([latency[of_level], rows])}
    return {**tables_of(own, tables), **{name: check(name, frame, extra=True) for name, frame in joined.items()}}


MUTATIONS = (
    planted_fault(
        "row_of_means",
        "Percentiles that are means of percentiles",
        "A run was added whose percentiles are the means of those of three runs at the same load.",
        ("averaged-percentiles",),
        with_row_of_means,
        cause="delay-c0064-mean",
        shows=Shows("latency", ("latency_s",), by="run_id"),
        sweep=True,
        not_recorded="No load generator averages percentiles; only an editor of tables does.",
    ),
    planted_fault(
        "one_repeat",
        "One run for each load",
        "Only the first repeat of each load was kept.",
        ("few-repeats",),
        first_repeats,
        shows=Shows("runs", ("throughput_rps",)),
        sweep=True,
    ),
    planted_fault(
        "scattered_repeats",
        "Repeats that scatter widely",
        "The three repeats of each load differ by up to 24 %.",
        ("wide-interval",),
        scattered({"delay": (0.88, 1.0, 1.12)}),
        cause="scatter by",
        shows=Shows("runs", ("throughput_rps",)),
        sweep=True,
    ),
    planted_fault(
        "two_equal_variants",
        "A comparison that the repeats do not decide",
        "Two variants have the same mean throughput, and repeats that differ by 14 %.",
        ("undecided-comparison",),
        scattered({"first": (0.93, 1.0, 1.07), "second": (1.06, 0.92, 1.02)}),
        cause="show neither",
        shows=Shows("runs", ("throughput_rps",), by="variant"),
        sweep=True,
    ),
    planted_fault(
        "mean_of_percentiles",
        "A row of averages among the runs",
        "The percentiles of the third repeat of each load were replaced by the means of the other two.",
        ("averaged-percentiles",),
        averaged,
        cause="row of averages",
        shows=Shows("latency", ("latency_s",)),
        sweep=True,
    ),
    planted_fault(
        "slower_and_slower",
        "Repeats that drift",
        "Throughput falls by 10 % from the first run of the study to the last.",
        ("drift-of-repeats",),
        drifting,
        shows=Shows("runs", ("throughput_rps",)),
        sweep=True,
    ),
    planted_fault(
        "two_versions",
        "Two versions of the generator in one curve",
        "The runs of the higher loads are of wrk 4.2.0.",
        ("mixed-environments",),
        second_half("tool_version", "4.2.0"),
        cause="4.2.0",
        shows=Shows("runs", ("throughput_rps",)),
        sweep=True,
    ),
    planted_fault(
        "two_kernels",
        "Two kernels in one curve",
        "Half of the runs are of a host with another kernel.",
        ("mixed-environments",),
        other_kernel,
        cause="kernels (",
        shows=Shows("runs", ("throughput_rps",)),
        sweep=True,
    ),
    planted_fault(
        "no_response_time",
        "No response time",
        "The report counts responses and has no response time.",
        ("missing-latencies",),
        chain(
            with_values("runs", latency_mean_s=None, latency_min_s=None, latency_max_s=None),
            with_values("latency", latency_s=None),
        ),
        cause="measures each response",
        shows=Shows("runs", ("requests",)),
        not_recorded="weighttp 0.4, which prints no response time, is in no package of Debian 12.",
    ),
)
