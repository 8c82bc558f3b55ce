"""Convert cells of mpstat, pidstat and iostat to numbers in SI units."""

import math
import re

from loadcurve.errors import ParseError

_NUMBER = re.compile(r"(-?[0-9]{1,18}(?:[.,][0-9]{1,6})?)([%BkMGTP]?)")
_STEP = {"": 1.0, "%": 1.0, "B": 1.0, "k": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4, "P": 1024.0**5}


def value_of(cell: str, printed: str, number: int, scale: float = 1.0) -> float:
    """SI value of a cell: `scale` times its number, or the bytes of ``1.5G``; NaN for a nan or a dash.

    Examples
    --------
    >>> value_of("12,50", "%usr", 1), value_of("1.5k", "kB_rd/s", 1, 1024.0), value_of("2", "kB_rd/s", 1, 1024.0)
    (12.5, 1536.0, 2048.0)
    """
    match = _NUMBER.fullmatch(cell)
    if match is None:
        if cell in ("nan", "-nan", "-"):
            return math.nan
        raise ParseError(number, f"a number for {printed}", cell)
    value = float(match[1].replace(",", "."))
    return value * (_STEP[match[2]] if match[2] not in ("", "%") else scale)


def ratio_of(cell: str, printed: str, number: int) -> float:
    """Ratio of a percentage."""
    return round(value_of(cell, printed, number) / 100, 9)  # the nearest number to what was printed


def ends_in_decimals(text: str) -> bool:
    """Whether a row ends in a number with two decimals, so that it was not cut off."""
    return re.search(r"[0-9][.,][0-9]{2}$", text) is not None


def check_ratios(ratios: dict[str, float], number: int, warnings: list[str]) -> None:
    """Warn if percentages do not add up to 100; one outside 0 to 100 becomes missing."""
    total = 100 * sum(ratios.values())
    rounding = 0.01 if any(100 * value % 1 for value in ratios.values()) else 0.5  # --dec=0 prints whole ones
    if ratios and abs(total - 100) > rounding * len(ratios) + 0.5:
        warnings.append(f"line {number}: the percentages add up to {total:.2f}, not 100")
    for printed, value in ratios.items():
        if not 0 <= value <= 1:
            warnings.append(f"line {number}: {printed} of {100 * value:.2f} cannot be, so it is missing")
            ratios[printed] = float("nan")
