"""The clocks of two hosts seem to disagree, so samples of their monitors may belong to other seconds than printed.

What it means
-------------
The monitors of two hosts saw the same load at different times, or no sample of a host lies within the load: what a host
shows as idle may be the time before the load.

Why it happens
--------------
A host without NTP drifts by seconds a week, a virtual machine was paused, or a file was written in local time and
read as UTC, which is off by whole hours.  Or no clock is wrong, and a monitor ran only before or after the load.

How to fix it
-------------
Compare the clocks: `for h in C1 S1; do ssh $h date -u +%H:%M:%S.%N; done`, `chronyc tracking`, `timedatectl`.
Synchronise them with chrony and repeat.  For recorded files, name the zone: `loadcurve audit --timezone Europe/Berlin
FOLDER`.  The laboratory measures the offset of each remote host and subtracts it.

When to ignore it
-----------------
The hosts did not get the same load at the same time, such as a standby server that took over for a while.

The rule compares the first and the last sample at more than half of a host's usual packet rate.  It reports a skew
only if both are shifted by the same time, of at least two intervals.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Need, Rule
from loadcurve.audit.rules._monitored import LINKS
from loadcurve.audit.run_tables import Tables, first_rows, key_of, rows_by_key
from loadcurve.audit.samples import EDGE_S

_MONITORED = ("network", "tcp", "cpu")
_IDLE = 0.1  # of the usual rate: before and after the load a host is idle, or its load cannot be distinguished
_LOADED = 0.5


def judge_clocks(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run with monitors: a host none of whose samples fits, else the largest shift."""
    runs = tables["runs"]
    lasts = runs.groupby(key_of(runs))["duration_s"].max().astype(float).dropna()
    spans, loads = _spans(tables, lasts), _loads(tables)
    for key, run in first_rows(runs):
        if key not in spans:
            continue
        outside = [one for one in spans[key] if one.first > lasts[key] + EDGE_S or one.last < -EDGE_S]
        if outside:
            one = outside[0]
            evidence = f"{one.host or 'The monitor'} was sampled from {one.first:.0f} s to {one.last:.0f} s after the "
            evidence += f"start of a load of {lasts[key]:.3g} s."
            advice = "Compare the clocks of the hosts and the time zones of the files (`date -u`), and repeat."
            yield Finding(run, "warning", evidence, advice, max(one.first - lasts[key], -one.last), 0.0)
            continue
        yield _compared(run, loads.get(key, []), limits["intervals"])


def _compared(run: Any, hosts: list[Any], intervals: float) -> Finding:
    """Return the finding about the hosts of a run whose load begins and ends within their samples."""
    if len(hosts) < 2:
        return Finding(
            run, "ok", "The samples overlap with the load; fewer than two hosts show when it began and ended."
        )
    early, late = min(hosts, key=lambda one: one.begin), max(hosts, key=lambda one: one.begin)
    begin, end = late.begin - early.begin, late.end - early.end
    allowed = intervals * max(late.interval, early.interval)
    evidence = f"By the clock of {late.host} the load began {begin:.3g} s and ended {end:.3g} s later than by that of "
    evidence += f"{early.host}."
    if min(begin, end) < allowed or abs(begin - end) > max(late.interval, early.interval) + EDGE_S:
        return Finding(run, "ok", evidence, "", begin, allowed)
    advice = "Synchronise the clocks (`chronyc tracking` on both hosts), and repeat."
    return Finding(run, "warning", evidence, advice, begin, allowed)


def _spans(tables: Tables, lasts: pd.Series) -> dict[str, list[Any]]:
    """Return ``host first last`` of each monitored host of each run with a duration."""
    rows = [
        pd.DataFrame({"key": key_of(table), "host": table["host"].fillna(""), "elapsed": table["elapsed_s"]}).dropna()
        for table in (tables[name] for name in _MONITORED if name in tables)
    ]
    every = pd.concat(rows) if rows else pd.DataFrame({"key": [], "host": [], "elapsed": []})
    every = every[every["key"].isin(lasts.index)]
    return rows_by_key(every.groupby(["key", "host"])["elapsed"].agg(first="min", last="max").reset_index())


def _loads(tables: Tables) -> dict[str, list[Any]]:
    """Return ``host begin end interval`` of each host that was idle before and after its load."""
    table = tables.get("network")
    if table is None or table.empty:
        return {}
    rows = pd.DataFrame({
        "key": key_of(table), "host": table["host"].fillna(""), "elapsed": table["elapsed_s"],
        "rate": table["received_pps"].fillna(0.0) + table["transmitted_pps"].fillna(0.0),
    }).dropna()  # fmt: skip
    rows = rows[rows.groupby("key")["host"].transform("nunique") > 1]
    samples = rows.groupby(["key", "host", "elapsed"])["rate"].max().reset_index()  # the busiest interface
    places = pd.MultiIndex.from_frame(samples[["key", "host"]])
    usual = samples.groupby(["key", "host"])["rate"].quantile(0.75).reindex(places).to_numpy()
    loaded = samples["elapsed"].where((samples["rate"] > _LOADED * usual) & (usual > 0))
    samples = samples.assign(loaded=loaded, usual=usual)
    groups = samples.groupby(["key", "host"])
    samples["begin"], samples["end"] = groups["loaded"].transform("min"), groups["loaded"].transform("max")
    before, after = samples["elapsed"] < samples["begin"], samples["elapsed"] > samples["end"]
    busy = (before | after) & (samples["rate"] > _IDLE * samples["usual"])
    samples = samples.assign(before=before, after=after, busy=busy)
    each = samples.groupby(["key", "host"]).agg(
        begin=("begin", "first"), end=("end", "first"), before=("before", "any"), after=("after", "any"),
        busy=("busy", "any"), first=("elapsed", "min"), last=("elapsed", "max"), size=("elapsed", "size"),
    ).reset_index()  # fmt: skip
    each = each[each["before"] & each["after"] & ~each["busy"] & (each["size"] > 2)]
    return rows_by_key(each.assign(interval=(each["last"] - each["first"]) / (each["size"] - 1)))


RULE = Rule(
    "clock-skew",
    "Do the clocks of all hosts agree?",
    judge_clocks,
    {"ok": "every host has samples within the load, at the same times", "warning": "the samples of a host are shifted"},
    needs=(
        Need("runs", ("duration_s",), "the duration of the load", "Use a generator that reports it.", applies=False),
        Need("network", ("elapsed_s",), "the packets of each host by time", LINKS.record),
    ),
    limits={"intervals": Limit(2, "a sample is labelled with its end, rounded to a second, and covers one interval")},
    family="Statistics",
)
