"""No response time was measured, so neither a latency objective nor the load itself can be checked.

What it means
-------------
The report counts responses and has no response time that was measured, so no promise about response times rests on it,
and Little's law cannot check its load.  A mean of 0 s of many responses is no time either.

Why it happens
--------------
weighttp 0.4 prints no time.  ab's `Time per request` is $N / X$, computed from throughput; where a report was cut, its
`Connection Times`, which are measured, are missing.  wrk prints `0.00us` and `-nan%` if it recorded no time.

How to fix it
-------------
Use a generator that measures each response (`wrk --latency`, `oha`, `h2load`), and keep its whole output.

When to ignore it
-----------------
Only throughput is used.  If a tool prints whole milliseconds and every response took less, its 0 ms is below its last
digit, and the finding is ok.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.rule import Finding, Need, Rule
from loadcurve.audit.run_tables import Tables, key_of
from loadcurve.tables.schemas.derived import DIGITS, Digits
from loadcurve.units import format_quantity

_ADVICE = "Use a generator that measures each response (`wrk --latency`, oha, h2load), and keep its whole output."
_TIMES = ["latency_mean_s", "latency_min_s", "latency_max_s"]


def judge_latencies(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs`` with responses: whether a response time was measured."""
    runs = tables["runs"]
    runs = runs[(runs["requests"] > 0) & (runs["throughput_rps"] > 0)]
    derived = runs["latency_origin"].astype("string").str.startswith("derived").fillna(False)
    times = runs[_TIMES].astype(float)
    times = times.assign(latency_mean_s=times["latency_mean_s"].mask(derived))
    times["quantile"] = key_of(runs).map(_highest(tables.get("latency")))
    timed, zero = (times > 0).any(axis=1), times.eq(0).any(axis=1) & ~(times > 0).any(axis=1)
    for run, is_timed, is_zero in zip(runs.itertuples(index=False), timed, zero, strict=True):
        digit = DIGITS.get(str(run.tool), Digits()).time_s
        if is_timed:
            yield Finding(run, "ok", "Response times were measured.")
        elif is_zero and digit:
            yield Finding(run, "ok", f"The times are printed as 0: below {format_quantity(digit / 2, 's')} each.")
        elif is_zero:
            yield Finding(run, "error", f"All response times of {run.requests} responses are 0 s.", _ADVICE)
        else:
            evidence = f"{run.requests} responses, and no response time that was measured."
            yield Finding(run, "warning", evidence, _ADVICE)


def _highest(latency: pd.DataFrame | None) -> dict[str, float]:
    """Return the highest percentile of each run, by its key."""
    if latency is None or latency.empty:
        return {}
    highest: dict[str, float] = latency["latency_s"].astype(float).groupby(key_of(latency)).max().dropna().to_dict()
    return highest


RULE = Rule(
    "missing-latencies",
    "Were response times measured?",
    judge_latencies,
    {"ok": "a time above 0, or below the last digit", "warning": "none is printed", "error": "all are 0 or NaN"},
    needs=(
        Need("runs", ("tool",), "the load generator", applies=False),
        Need("runs", ("requests", "throughput_rps"), "responses and throughput", applies=False),
    ),
    family="Statistics",
)
