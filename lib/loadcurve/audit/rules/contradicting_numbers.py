r"""Two numbers of one report contradict each other, so at least one is of another run or moment.

What it means
-------------
At least one number is of another run or moment, so none of them can be used. Some numbers of a report follow
from others: throughput is requests over duration, $X = n / T$; the transfer rate is bytes over duration; and
the time per request that ab prints as “mean” is $N / X$, not a mean of measured times. The identities hold by
definition. The rule computes each from the other numbers: in a published output of ab, 10000 / 9040.98
requests/s are 1.10608 s, printed 1106.074 ms, and 42149180 bytes / 5.530 s are 7443.3 KiB/s, printed 7442.78
KiB/s. These numbers are of one run.

Why it happens
--------------
A number was copied from another run or another line; the throughput is a peak and the total is of the whole
run; a unit was read wrongly (KiB as kB: 2.4 %; MiB as MB: 4.9 %; minutes as seconds); or a script computed a
rate over its own time, with start and end, instead of the tool's. A percentile above the maximum is of other
responses than the maximum.

How to fix it
-------------
Take all numbers from one output of the tool, kept as it was printed. Compute the rate yourself: requests over
the duration that the tool prints. If only a peak is known, call it a peak and do not combine it with totals.

When to ignore it
-----------------
When the two numbers cover different times by definition. The rule knows that `finished in` of h2load holds the
warm-up, which its rate leaves out, and allows half of the last digit that each tool prints: ab milliseconds, wrk two
decimals.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.audit.identities import summarise_identities
from loadcurve.audit.rule import REQUESTS, THROUGHPUT, Finding, Limit, Need, Rule, severity_of
from loadcurve.audit.run_tables import Tables, report_key_of
from loadcurve.tables.schemas.derived import half_digit

_WORDS = {
    "throughput": ("requests / duration", "{:,.2f} requests/s"),
    "transfer rate": ("bytes / duration", "{:,.0f} bytes/s"),
    "time per request": ("connections / throughput", "{:,.7g} s"),
    "highest percentile": ("maximum", "{:,.4g} s"),
}

_PRINTED = ["duration_s", "throughput_rps", "received_bytes", "received_bytes_per_s"]


def judge_contradictions(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: its identities, the one that is furthest off first."""
    runs = tables["runs"]
    found = summarise_identities(runs.assign(run_id=range(len(runs))))
    found = found[found["identity"].isin(_WORDS)]
    found = found.assign(off=found["off_ratio"].abs()).sort_values(["run_id", "off"], ascending=[True, False])
    of_run: dict[int, list[dict[str, Any]]] = {}
    for identity in found.to_dict("records"):
        of_run.setdefault(identity["run_id"], []).append(identity)
    for position, impossible in _above_maximum(tables):
        of_run[position] = sorted([*of_run.get(position, []), impossible], key=lambda one: -one["off"])
    rows = list(runs.itertuples(index=False))
    rounded = np.sum([_relative(runs, column) for column in _PRINTED], axis=0)
    for position, identities in of_run.items():
        run = rows[position]
        for one in identities:
            one["beyond"] = one["off"] - rounded[position]
            if one["identity"] == "throughput" and run.requests > 0:
                one["beyond"] -= 1 / run.requests  # start and end may count one request differently
            # The duration of h2load holds the warm-up, which the rate leaves out.
            if run.tool == "h2load" and one["identity"] != "highest percentile" and one["implied"] < one["stated"]:
                one["beyond"] = 0.0
        worst = max(identities, key=lambda one: one["beyond"])
        severity = severity_of(worst["beyond"], limits)
        least = min(limits["warning"], limits["error"])
        at_fault = identities if severity == "ok" else [one for one in identities if one["beyond"] > least]
        evidence = "; ".join(map(_in_words, at_fault)).capitalize() + "."
        yield Finding(run, severity, evidence, _ADVICE, worst["stated"], worst["implied"])


def _above_maximum(tables: Tables) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the position of each row of ``runs`` with a percentile above its longest response time, and the two."""
    runs, latency = tables["runs"], tables.get("latency")
    if latency is None or latency.empty:
        return
    highest = latency["latency_s"].astype(float).groupby(report_key_of(latency)).max()
    places = report_key_of(runs)
    places = places.mask(places.duplicated(keep=False))  # several reports of one file without names
    rounded = 2 * half_digit(runs, "latency_max_s")  # of both times
    stated_s, most_s = (each.to_numpy(float, na_value=np.nan) for each in (places.map(highest), runs["latency_max_s"]))
    for position, (stated, implied) in enumerate(zip(stated_s.tolist(), most_s.tolist(), strict=True)):
        if stated > implied + rounded[position] and implied > 0:
            off = implied / stated - 1
            names = {"identity": "highest percentile", "stated": stated, "implied": implied}
            yield position, names | {"off_ratio": off, "off": abs(off)}


def _relative(runs: pd.DataFrame, column: str) -> np.ndarray:
    """Return by what part of its value a column may be off as it is printed; 0 where it is missing or 0."""
    values = runs[column].to_numpy(float, na_value=np.nan)
    return np.where(values > 0, half_digit(runs, column) / np.where(values > 0, values, 1.0), 0.0)


def _in_words(identity: Mapping[str, Any]) -> str:
    by, form = _WORDS[identity["identity"]]
    stated, implied = form.format(identity["stated"]), form.format(identity["implied"])
    off = f"{100 * identity['off_ratio']:+.2f} %".replace("-", "−")
    return f"{identity['identity']} {stated}, {by} = {implied} ({off})"


_ADVICE = "Find out which of the numbers is of another moment or run; use none before."

RULE = Rule(
    "contradicting-numbers",
    "Do the numbers of the report agree with each other?",
    judge_contradictions,
    {"ok": "within 2 %", "warning": "off by more than 2 %", "error": "off by more than 10 %"},
    needs=(REQUESTS, Need("runs", ("duration_s",), "the duration", REQUESTS.record), THROUGHPUT),
    limits={
        "warning": Limit(0.02, "beyond the printed digits, requests that a tool's start and end count differently"),
        "error": Limit(0.1, "in a run of at least a second, rounding explains less than a tenth"),
    },
    family="Physics",
)
