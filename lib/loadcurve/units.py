"""Numbers with their units, as people read them: prefixes return only when an SI number is shown."""

import math

from loadcurve.errors import ValueRuleError

__all__ = ["UNITS", "format_quantity", "parse_number", "rounded_ends", "unit_of_column"]

_SHOWN = {
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")],
    "rps": [(1e6, "million requests/s"), (1.0, "requests/s")],
    "pps": [(1e6, "million packets/s"), (1.0, "packets/s")],
    "per_s": [(1e6, "million/s"), (1.0, "/s")],
    "bytes": [(2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")],
}
_SHOWN["bps"] = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")]
_SHOWN["bytes_per_s"] = [(scale, f"{unit}/s") for scale, unit in _SHOWN["bytes"]]

_RATES = frozenset({"rps", "pps", "per_s"})

# Longest first: `_bytes_per_s` ends in `_per_s` and `_s` too.
_SUFFIXES = ("bytes_per_s", "per_s", "rps", "pps", "bps", "bytes", "ratio", "s")

UNITS = frozenset(_SUFFIXES)
"""Units that a column's name may end in."""


def unit_of_column(name: str) -> str:
    """Unit that a column's name ends in; empty for a count or a name.

    Examples
    --------
    >>> unit_of_column("latency_mean_s"), unit_of_column("received_bytes_per_s"), unit_of_column("connections")
    ('s', 'bytes_per_s', '')
    """
    return next((unit for unit in _SUFFIXES if name.endswith(f"_{unit}")), "")


def format_quantity(value: float, unit: str = "", digits: int = 3) -> str:
    """A number with its unit, as prose shows it: `digits` significant digits and a readable prefix.

    Parameters
    ----------
    value : float
        In the SI unit named by `unit`.
    unit : str
        ``s``, ``rps``, ``pps``, ``per_s``, ``bytes``, ``bytes_per_s``, ``ratio`` (shown as a percentage), or ``""``.

    Examples
    --------
    >>> format_quantity(0.01026, "s"), format_quantity(41418.44, "rps"), format_quantity(0.0213, "ratio")
    ('10.3 ms', '41,400 requests/s', '2.13 %')
    >>> format_quantity(1250), format_quantity(8.0), format_quantity(0.01, "s")
    ('1,250', '8', '10.0 ms')
    """
    if not math.isfinite(value):
        return "not known" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    prefix, suffix = 1.0, ""
    if unit == "ratio":
        prefix, suffix = 0.01, "%"
    elif unit in _SHOWN:
        prefix, suffix = next((p for p in _SHOWN[unit] if abs(value) >= p[0]), _SHOWN[unit][-1])
    elif unit:
        suffix = unit
    if unit in _RATES and value:  # no prefix hides the digits that are not significant
        value = round(value, digits - 1 - math.floor(math.log10(abs(value))))
    whole = not unit and value == round(value)  # a count shows no decimals
    text = (f"{value:,.0f}" if whole else _significant(value / prefix, digits)).replace("-", "−")
    return text if not suffix else f"{text}{'' if suffix.startswith('/') else ' '}{suffix}"


def parse_number(name: str, text: str, least: float, most: float, *, whole: bool = False) -> float:
    """Number that somebody typed, within its range.

    Parameters
    ----------
    name : str
        What the number is, for the error.
    text : str
        Digits, perhaps with a decimal point and an exponent.
    least, most : float
        Range, with both ends; finite.
    whole : bool
        Whether it is an integer.

    Raises
    ------
    ValueRuleError
        When the text is no number, or out of the range.

    Examples
    --------
    >>> parse_number("--margin", "0.02", 0, 1), parse_number("--jobs", "4", 0, 64, whole=True)
    (0.02, 4)
    """
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = math.nan
    if "_" in text or not (text.isascii() and least <= value <= most):
        raise ValueRuleError(name, f"a {'whole ' * whole}number from {least:,} to {most:,}", text)
    return value


def rounded_ends(value: float, digits: int) -> tuple[float, float]:
    """Least and largest number that a text may have rounded to `value`, printed with `digits` significant digits.

    Parameters
    ----------
    value : float
        Above 0, as it was printed.
    digits : int
        Significant digits, >= 1: 1 for “20 thousand”.

    Examples
    --------
    >>> rounded_ends(20_000, 1), rounded_ends(100_000, 2)
    ((15000.0, 25000.0), (95000.0, 105000.0))
    """
    half = 10.0 ** (math.floor(math.log10(value)) + 1 - digits) / 2
    return value - half, value + half


def _significant(number: float, digits: int) -> str:
    if number == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(number)))
    return f"{number:,.{max(0, digits - 1 - magnitude)}f}"
