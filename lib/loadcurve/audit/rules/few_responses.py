"""A percentile rests on so few responses that the data give no upper limit for it.

What it means
-------------
Of $n$ independent responses, the largest is below the quantile $q$ with probability $q^n$. While $q^n$ > 2.5 %, the 95
% interval of the quantile has no upper end among the measured times: the printed number is one of the slowest
responses, and the true percentile may be much higher (G. J. Hahn, W. Q. Meeker, "Statistical Intervals", 1991, section
5.2).

Why it happens
--------------
A tool prints the same percentiles after every run, however short.  The 99th percentile needs 368 responses, the
99.9th 3,688, the 99.99th 36,887 and the 99.999th 368,887.  Responses that follow each other are alike, so a stall of
one second can put hundreds of them above the percentile at once: real runs need more than these numbers.

How to fix it
-------------
Measure until the number of responses is several times the limit (`wrk -d`, `ab -n`, `hey -n`), or report the highest
percentile that the finding names.  Never average the percentiles of several short runs to get one of a long run: add
up their histograms.

When to ignore it
-----------------
The percentile is neither reported nor compared with an objective.  Percentiles above p99 cause no warning where the
report goes on beyond p99.9, as that of `wrk2` does after every run; the finding names them.  If you report one of them,
set the limit `quantile` to it.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.rule import REQUESTS, Finding, Limit, Need, Rule, not_checked
from loadcurve.audit.run_tables import Tables, key_of, report_key_of

# A spectrum, such as that of an HDR histogram, goes on to the last response in steps that nobody reports.  A percentile
# has a name: 1 − q has one digit (p99, p99.95), or is 25 (p97.5).
_CHOSEN = 0.999  # a report that ends there was asked for it; longer lists are printed after every run
_EQUAL = 1e-12
_DIGITS = (1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)


def judge_few(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: the percentiles of its generator that need more responses."""
    latency, runs = tables["latency"], tables["runs"]
    above = 1 - latency["quantile"].astype(float)
    rows = latency[(above > 1e-12) & (above < 1) & latency["latency_s"].notna() & _named(above)]
    # A run may not name its generator.
    places = pd.concat([report_key_of(rows), key_of(rows)[rows["generator"].notna()]])
    pairs = pd.DataFrame({"place": places, "quantile": rows["quantile"].astype(float).reindex(places.index)})
    printed = pairs.drop_duplicates().sort_values("quantile").groupby("place")["quantile"].agg(list)
    for run, place in zip(runs.itertuples(index=False), report_key_of(runs), strict=True):
        if place not in printed:
            record = "Let the generator print percentiles (`wrk --latency`)."
            yield not_checked(run, "needs a percentile below the maximum", record)
            continue
        quantiles = np.array(printed[place])
        least = np.ceil(np.log(limits["probability"]) / np.log(quantiles))
        number = int(run.requests)
        named = (quantiles <= limits["quantile"] + _EQUAL) | (
            (quantiles == quantiles[-1]) & (quantiles <= _CHOSEN + _EQUAL)
        )
        lacking = least > number
        if not lacking[named].any():
            highest = quantiles[~lacking][-1:]
            most = float(least[~lacking].max(initial=0.0))
            evidence = f"{_names(highest)} of {number} responses; its 95 % interval needs {most:.0f}."
            if lacking.any():
                evidence += f" None for {_names(quantiles[lacking])}." if highest.size else ""
            yield Finding(run, "ok", evidence, "", float(number), most)
            continue
        most = float(least[named].max())
        need = ", ".join(f"{one:.0f}" for one in least[lacking])
        evidence = f"{_names(quantiles[lacking])} of {number} responses: a 95 % interval needs {need}."
        highest = f" {_names(quantiles[~lacking][-1:])} is the highest with an interval." if (~lacking).any() else ""
        advice = f"Measure for longer, or report a lower percentile.{highest}"
        yield Finding(run, "warning", evidence, advice, float(number), most)


def _named(above: pd.Series) -> pd.Series:
    """Return whether the shares of slower responses, 1 − q, belong to percentiles that have a name."""
    share = above.clip(lower=1e-12)
    digits = (share / 10.0 ** np.floor(np.log10(share) + 1e-9)).to_numpy()
    return pd.Series(np.isclose(digits[:, None], _DIGITS, rtol=1e-6).any(axis=1), above.index) | (share > 0.1)


def _names(quantiles: np.ndarray) -> str:
    return ", ".join(f"p{100 * quantile:.6g}" for quantile in quantiles)


RULE = Rule(
    "few-responses",
    "Does each percentile rest on enough responses?",
    judge_few,
    {"ok": "a 95 % interval of each percentile has an upper end", "warning": "that of one has none"},
    needs=(
        Need("latency", ("quantile", "latency_s"), "percentiles", "Let the generator print them (`wrk --latency`)."),
        REQUESTS,
    ),
    limits={
        "probability": Limit(0.025, "half of what a 95 % interval leaves out"),
        "quantile": Limit(0.99, "the highest of wrk, ab and hey; higher ones count if a report ends with p99.9"),
    },
    family="Statistics",
)
