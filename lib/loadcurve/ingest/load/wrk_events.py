"""What a text of wrk or wrk2 holds: headings, reports, runs that never began."""

import math
from dataclasses import dataclass, field

from loadcurve.errors import ParseError
from loadcurve.ingest.load.wrk_numbers import PLAIN, SIZE, TIME, rounding
from loadcurve.ingest.load.wrk_spectrum import Distribution


@dataclass(slots=True)
class Heading:
    """``Running 10s test @ URL`` and the lines that follow it before any number is known."""

    line: int
    facts: dict = field(default_factory=dict)
    tool: str = ""
    option_s: float = 0.0  # the duration asked for, rounded to whole units
    least_s: float = 0.0  # the least duration that is printed so
    closed: bool = False  # something else was printed since
    last: int = 0


@dataclass(slots=True)
class Report:
    """The numbers of one run, from ``Thread Stats`` to ``Transfer/sec``."""

    line: int
    facts: dict = field(default_factory=dict)
    tool: str = ""
    url: str = ""
    overall: bool = False
    third: str = ""  # what the third column is: Max, or 99% in DeathStarBench's wrk2
    tail_s: float = math.nan  # its value when it is not the maximum
    measured: bool = True
    latency_line: int = 0
    blocks: list[Distribution] = field(default_factory=list)
    total: tuple[str, str] = ("", "")
    throughput: tuple[str, int] = ("", 0)
    transfer: tuple[str, int] = ("", 0)
    ended: bool = False
    reason: str = ""
    last: int = 0


@dataclass(slots=True)
class Failure:
    """A run that never began."""

    line: int
    facts: dict
    tool: str = ""


def contradiction(report: Report, name: str, per_second: tuple[str, int], duration: str, total: str) -> str:
    """What a rate should be, where it is not total / duration within what printing hides; empty where it is.

    Raises
    ------
    ParseError
        When it is off by more than a factor of two: a digit or a unit is lost, or the lines are of several runs.
    """
    token, at = per_second
    facts = report.facts
    column = "throughput_rps" if name == "requests" else "received_bytes_per_s"
    amount, seconds, rate = facts[name], facts["duration_s"], facts[column]
    if not (math.isfinite(amount) and math.isfinite(seconds) and math.isfinite(rate)):
        return ""
    around = rounding(SIZE, total) if total else 0.0
    around_s, around_rate = rounding(TIME, duration), rounding(SIZE if total else PLAIN, token)
    low = (amount - around) / (seconds + around_s) * (1 - 1e-9)
    high = (amount + around) / (seconds - around_s) * (1 + 1e-9) if seconds > around_s else math.inf
    if low <= rate + around_rate and rate - around_rate <= high:
        return ""
    expected = f"{name} / duration, which is {low:.2f} to {high:.2f} per second"
    if rate < low / 2 or rate > high * 2:
        raise ParseError(at, expected, token)
    return f"line {at}: expected {expected}, got {token!r}; taken as written"
