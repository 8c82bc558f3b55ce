"""Objectives as people write them, ``p99=200ms`` or ``errors=0.1%``, and gates such as ``throughput_rps < 0.95``."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from loadcurve.errors import LoadcurveError
from loadcurve.models.capacity import Objective
from loadcurve.stats import Estimate
from loadcurve.units import parse_number

_OBJECTIVE = re.compile(
    r"\s*(?P<what>p[0-9]{1,2}(?:\.[0-9]{1,6})?|median|mean|avg|max|errors?)\s*(?:<=?|=|≤)\s*"
    r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?P<unit>us|μs|ms|s|%)?\s*"
)
_COMMA = re.compile(r",(?=\s*[A-Za-z])")  # not the decimal comma, which is refused as a whole
_SECONDS = {"us": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0}  # Greek mu; NFKC turns the micro sign into it
_OTHER_NAMES = {"avg": "mean", "error": "errors", "median": "p50"}
_EXPECTED = "objective must be p99=200ms, mean=5ms, max=1s or errors=0.1%"


def quantile_column(quantile: float) -> str:
    """Return the name of the column of the table ``runs`` that holds a quantile of the response time.

    Examples
    --------
    >>> quantile_column(0.99), quantile_column(0.999), quantile_column(0.9999999)
    ('latency_p99_s', 'latency_p99_9_s', 'latency_p99_99999_s')
    """
    percent = f"{100 * quantile:.6f}".rstrip("0").rstrip(".")
    return f"latency_p{percent.replace('.', '_')}_s"


def parse_objective(text: str) -> Objective:
    """Return the objective that a text states.

    ``p99``, any other percentile, ``median``, ``mean`` or ``avg``, ``max`` or ``errors``; then ``<``, ``<=``, ``≤``
    or ``=``, which all mean at most; then a time with ``us`` or ``µs``, ``ms`` or ``s``, or for errors a share of the
    requests, with ``%`` or as a ratio.  Upper and lower case are equal.

    Examples
    --------
    >>> print(parse_objective("p99=200ms"), "and", parse_objective("errors <= 0.1%"))
    latency_p99_s <= 0.2 and error_ratio <= 0.001
    """
    found = _OBJECTIVE.fullmatch(unicodedata.normalize("NFKC", text).lower())
    if not found:
        raise LoadcurveError(f"{_EXPECTED}, got {text!r}")
    number, unit, what = parse_number("objective", found["number"], 0, 10**9), found["unit"], found["what"]
    what = _OTHER_NAMES.get(what, what)
    if what == "errors":
        if unit not in (None, "%") or (most := number / 100 if unit else number) > 1:
            raise LoadcurveError(f"{_EXPECTED}, got {text!r}")
        return Objective("error_ratio", most)
    if unit not in _SECONDS:
        raise LoadcurveError(f"objective must have a unit, such as {text.strip().rstrip('%')}ms, got {text!r}")
    if what.startswith("p"):
        if not float(what[1:]):
            raise LoadcurveError(f"{_EXPECTED}, got {text!r}")
        column = quantile_column(float(what[1:]) / 100)
    else:
        column = f"latency_{what}_s"
    return Objective(column, number * _SECONDS[unit])


def parse_objectives(texts: Iterable[str]) -> tuple[Objective, ...]:
    """Return the objectives in texts, each of which may hold several, separated by commas.

    Examples
    --------
    >>> [str(objective) for objective in parse_objectives(["p99=0.2s,errors=1%"])]
    ['latency_p99_s <= 0.2', 'error_ratio <= 0.01']
    """
    return tuple(parse_objective(part) for text in texts for part in _COMMA.split(text))


def check_measured(objectives: Iterable[Objective], runs: pd.DataFrame) -> None:
    """Check that a run has the quantity of each objective; the error names the quantities that are known.

    Examples
    --------
    >>> runs = pd.DataFrame({"tool": ["wrk"], "latency_mean_s": [0.01]})
    >>> check_measured([Objective("latency_p99_s", 0.2)], runs)
    Traceback (most recent call last):
    loadcurve.errors.LoadcurveError: no report has latency_p99_s: run wrk with --latency; known are latency_mean_s
    """
    for objective in objectives:
        if objective.column in runs and runs[objective.column].notna().any():
            continue
        known = [name for name in runs.filter(regex=r"^latency_.*_s$|^error_ratio$") if runs[name].notna().any()]
        tools = runs["tool"].dropna().unique() if "tool" in runs else []
        hint = ": run wrk with --latency" if "wrk" in tools and objective.column.startswith("latency_p") else ""
        listed = ", ".join(name for name in known if name not in ("latency_stdev_s", "latency_min_s")) or "none"
        raise LoadcurveError(f"no report has {objective.column}{hint}; known are {listed}")


_GATE = re.compile(
    r"\s*(?P<metric>[a-z][a-z0-9_]*)\s*(?P<operator>[<>])=?\s*(?P<limit>[0-9]*\.?[0-9]+)\s*(?P<percent>%)?\s*"
)


@dataclass(frozen=True)
class Gate:
    """A condition on the ratio of a metric under which a comparison fails.

    Examples
    --------
    >>> print(Gate("throughput_rps", "<", 0.95))
    throughput_rps < 0.95
    """

    metric: str  # column of the runs: throughput_rps, latency_p99_s
    operator: Literal["<", ">"]  # a ratio below or above the limit fails
    limit: float  # ratio, > 0

    def __str__(self) -> str:
        return f"{self.metric} {self.operator} {self.limit:g}"

    def judge(self, ratio: Estimate) -> Literal["pass", "fail", "undecided"]:
        """Return what an estimated ratio says: a verdict needs its whole interval on one side of the limit.

        Without an interval, as with one run of each, the value decides.
        """
        ends = [ratio.value if np.isnan(end) else end for end in (ratio.lo, ratio.hi)]
        beyond = [end < self.limit if self.operator == "<" else end > self.limit for end in ends]
        return "fail" if all(beyond) else "undecided" if any(beyond) else "pass"


def parse_gate(text: str) -> Gate:
    """Return the gate that a text states, such as ``throughput_rps < 0.95`` or ``latency_p99_s > 110%``.

    Examples
    --------
    >>> parse_gate("latency_p99_s>110%")
    Gate(metric='latency_p99_s', operator='>', limit=1.1)
    """
    found = _GATE.fullmatch(text)
    limit = parse_number("limit of a gate", found["limit"], 0, 10**6) if found else 0.0
    limit /= 100 if found and found["percent"] else 1
    if not found or not limit > 0:
        raise LoadcurveError(
            f"gate must be METRIC < RATIO or METRIC > RATIO, such as throughput_rps < 0.95, got {text!r}"
        )
    return Gate(found["metric"], "<" if found["operator"] == "<" else ">", limit)
