"""Read numbers as wrk and wrk2 print them: two decimals and a unit without a space (wrk 4.1.0, ``src/units.c``).

Counts are 1000-based (``k M G``), bytes 1024-based although written ``KB MB GB``; times are ``us ms s m h``.  wrk
switches to the next unit at 0.85 of it, so ``0.95m`` is a valid number, 57 s.
"""

import math
import re

from loadcurve.errors import ParseError

TIME = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
SIZE = {unit: 1024.0**power for power, unit in enumerate(["B", "KB", "MB", "GB", "TB", "PB"])}
COUNT = {unit: 1000.0**power for power, unit in enumerate(["", "k", "M", "G", "T", "P"])}
PERCENT = {"%": 0.01}
PLAIN = {"": 1.0}

_EXPECTED = {
    id(TIME): "a time such as 1.20ms",
    id(SIZE): "a size such as 2.03KB",
    id(COUNT): "a count such as 1.20k",
    id(PERCENT): "a percentage such as 75.00%",
    id(PLAIN): "a rate such as 128408.94",
}
_NUMBER = re.compile(r"([0-9]{1,18}(?:\.([0-9]{1,9}))?)([A-Za-z%]*)")
_NAN = re.compile(r"-?nan(?:us|%)?|-?inf")
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def number(scale: dict[str, float], token: str, line: int, warnings: list[str]) -> float:
    """Return one printed number in SI units; ``-nan`` is missing.

    Numbers that somebody rounded by hand (``70.2s``) are taken as written, with a warning.

    Examples
    --------
    >>> number(TIME, "1.50m", 4, []), number(SIZE, "2.00KB", 7, [])
    (90.0, 2048.0)
    """
    match = _NUMBER.fullmatch(token)
    if match is None or match[3] not in scale:
        if _NAN.fullmatch(token):
            return math.nan
        raise ParseError(line, _EXPECTED[id(scale)], token)
    if match[2] is None or len(match[2]) != 2:
        warnings.append(f"line {line}: {token!r} has not the two decimals that wrk prints; taken as written")
    return float(match[1]) * scale[match[3]]


def rounding(scale: dict[str, float], token: str) -> float:
    """Return half a unit of the last digit of a number that `number` has read: the largest rounding error.

    Examples
    --------
    >>> rounding(SIZE, "2.00KB")
    5.12
    """
    match = _NUMBER.fullmatch(token)
    return 0.5 * 10.0 ** -len(match[2] or "") * scale[match[3]] if match else math.nan


def whole(token: str, line: int, warnings: list[str]) -> float | int:
    """A whole number; one below 0, as ``%d`` prints a counter over 2 147 483 647, is missing with a warning.

    Examples
    --------
    >>> whole("88542", 9, [])
    88542
    """
    if not _WHOLE.fullmatch(token):
        raise ParseError(line, "a whole number", token)
    if token[0] == "-":
        warnings.append(f"line {line}: {token} is a counter that overflowed; missing")
        return math.nan
    return int(token)
