"""A gate: a limit on the ratio of a metric, with which a build passes or fails."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from loadcurve.errors import LoadcurveError
from loadcurve.stats import Estimate
from loadcurve.units import parse_number

_GATE = re.compile(
    r"\s*(?P<metric>[a-z][a-z0-9_]*)\s*(?P<operator>[<>])=?\s*(?P<limit>[0-9]*\.?[0-9]+)\s*(?P<percent>%)?\s*"
)


@dataclass(frozen=True)
class Gate:
    """A condition on the ratio of a metric under which a comparison fails.

    Attributes
    ----------
    metric : str
        Column of the runs: ``throughput_rps``, ``latency_p99_s``.
    operator : {"<", ">"}
        A ratio below or above the limit fails.
    limit : float
        Ratio, > 0.

    Examples
    --------
    >>> print(Gate("throughput_rps", "<", 0.95))
    throughput_rps < 0.95
    """

    metric: str
    operator: Literal["<", ">"]
    limit: float

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

    Raises
    ------
    LoadcurveError
        When the text is no gate.

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
