"""The generator stopped early, so the run covers less time, or fewer requests, than its label says.

What it means
-------------
What it measured is mostly the start, when connections are opened and caches are cold, and it overlaps less with the
monitors than the plan says. The rule compares the measured duration with the requested one (`Running 10s test` of wrk,
`seconds` of `run.json`), and requests started with requests asked for.

Why it happens
--------------
ab ends at `-n` even before `-t`, and `-t` alone sets `-n 50000`.  hey divides its requests by its workers and drops the
remainder.  A tool was interrupted and still printed its report.  weighttp stops the requests of a connection that
failed to open.

How to fix it
-------------
Give the limit of time alone, or a number of requests that it cannot reach (`ab -t 30 -n 10000000`).  Request a
multiple of the connections.  Repeat the run, and let it end by itself.

When to ignore it
-----------------
When the run was ended on purpose, is longer than 10 s all the same, and its label does not state the duration.
"""

import pandas as pd

from loadcurve.audit.rule import Limit, Need, threshold_rule
from loadcurve.audit.run_tables import Tables, key_of
from loadcurve.audit.utilisation import worst

_DURATION = ("duration_asked_s", "duration_s")


def measure_shortfall(tables: Tables) -> pd.DataFrame:
    """Return which share of the requested time, or of the requests, is missing, for the worst generator of each run."""
    runs = tables["runs"]
    numbers = runs[["duration_s", "duration_asked_s", "requests_asked"]].astype(float)
    # A request without a response was sent all the same.
    errors = runs.filter(regex="^errors_(read|write|timeout|other)$").astype(float).sum(axis=1)
    started = runs["requests_started"].astype(float).fillna(runs["requests"].astype(float) + errors)
    by_time = 1 - numbers["duration_s"] / numbers["duration_asked_s"].where(numbers["duration_asked_s"] > 0)
    by_number = 1 - started / numbers["requests_asked"].where(numbers["requests_asked"] > 0)
    # Where both were asked for, either one ends the run.
    is_time = (by_time <= by_number) | by_number.isna()
    seconds, requests = "{:.4g} s".format, "{:.0f} requests".format
    done = numbers["duration_s"].map(seconds).where(is_time, started.map(requests))
    asked = numbers["duration_asked_s"].map(seconds).where(is_time, numbers["requests_asked"].map(requests))
    observed = by_time.where(is_time, by_number).clip(lower=0.0)
    return worst(pd.DataFrame({"key": key_of(runs), "observed": observed, "done": done, "asked": asked}))


RULE = threshold_rule(
    "early-end",
    "Did the generator send its load for as long as it was asked to?",
    measure_shortfall,
    evidence="The generator sent its load for {done} of {asked}.",
    advice="Let the generator end by itself, by time alone (`ab -t 30 -n 10000000`), and repeat the run.",
    limits={
        "warning": Limit(0.05, "tools check the clock after each response, and start the load after their process"),
        "error": Limit(0.5, "less than half of the plan is mostly the start"),
    },
    needs=(
        Need(
            "runs",
            _DURATION,
            "the requested time",
            "Note it in a factors.csv (duration_asked_s).",
            applies=False,
            alternatives=(Need("runs", ("requests_asked", "requests")),),
        ),
    ),
    family="Errors",
)
