"""Rule ``few-responses``: a percentile rests on enough responses.

Of n independent responses, the largest is below the quantile q with probability q^n.  While q^n > 2.5 %, a 95 %
interval of the quantile has no upper end among the measured times: the printed number is one of the slowest responses,
not a percentile.  For the 99th percentile n must be 368, for the 99.9th 3,688 (G. J. Hahn, W. Q. Meeker, "Statistical
Intervals", 1991, section 5.2).
"""

from collections.abc import Iterator, Mapping

import numpy as np

from loadcurve.audit.of_runs import Tables, key_of
from loadcurve.audit.rule import Finding, Limit, Need, Rule


def judge_few(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: its highest percentile below the maximum."""
    latency, runs = tables["latency"], tables["runs"]
    below = latency[(latency["quantile"] < 1) & latency["latency_s"].notna()]
    highest = below["quantile"].astype(float).groupby(key_of(below)).max()
    for run, key in zip(runs.itertuples(index=False), key_of(runs), strict=True):
        quantile = highest.get(key, np.nan)
        if np.isnan(quantile):
            continue
        least = int(np.ceil(np.log(limits["probability"]) / np.log(quantile)))
        name, enough = f"p{100 * quantile:.6g}", run.requests >= least
        evidence = f"{name} of {int(run.requests)} responses; its 95 % interval needs {least}."
        advice = "" if enough else f"Measure for longer, or report a lower percentile than {name}."
        yield Finding(run, "ok" if enough else "warning", evidence, advice, float(run.requests), float(least))


RULE = Rule(
    "few-responses",
    "Does the highest percentile rest on enough responses?",
    judge_few,
    {"ok": "a 95 % interval of the percentile has an upper end", "warning": "it has none"},
    needs=(
        Need("latency", ("quantile", "latency_s"), "percentiles", "Let the generator print them (`wrk --latency`)."),
        Need("runs", ("requests",), "the number of requests", "Use a generator that reports it."),
    ),
    limits={"probability": Limit(0.025, "half of what a 95 % interval leaves out")},
)
