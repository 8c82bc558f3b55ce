"""Numbers with their units, as people read them, and sentences with placeholders for them.

Prefixes return only when an SI number is shown.
"""

import math
import re
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from loadcurve.errors import LoadcurveError, ValueRuleError

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


_FORMAT = re.compile(r"\+?,?(\.[0-9]{1,2})?[defg%]?")  # a width would allow 900 million blanks
_MOST_DIGITS = 17  # of a float
_WITH_UNIT = re.compile(r"([−+]?[0-9][0-9.,]*)(.*)", re.DOTALL)

FEWEST_REPEATS = 3
"""A number that rests on fewer is not quoted in a sentence: a table may show it, with how many there are."""


def fill_text(text: str, quantities: Mapping[str, Any]) -> str:
    """Replace each ``{name}`` of a sentence by its quantity, shown with its unit; an Estimate also with its interval.

    An Estimate that rests on fewer than `FEWEST_REPEATS` is refused.

    Examples
    --------
    >>> fill_text("{rate:rps 2} in {wait_s}: {gain:+.1%}", {"rate": 41418.4, "wait_s": 0.0123, "gain": -0.052})
    '41,000 requests/s in 12.3 ms: −5.2 %'
    """
    try:
        parts = [(before, name, form) for before, name, form, _ in Formatter().parse(text)]
        return "".join(before + ("" if name is None else _quantity_text(name, quantities[name], form or ""))
                       for before, name, form in parts)  # fmt: skip
    except KeyError as missing:
        raise LoadcurveError(f"quantity {missing} must be given for the text {text!r}, got none") from None
    except ValueError as error:
        raise LoadcurveError(f"placeholders of {text!r} must be {{name}} or {{name:format}}, got: {error}") from None


def with_interval(text: str, lo: str, hi: str) -> str:
    """Return a number with its interval; a unit that all three have is shown once.

    Examples
    --------
    >>> with_interval("−25.3 %", "−32.3 %", "−17.7 %"), with_interval("1.02 s", "980 ms", "1.06 s")
    ('−25.3 [−32.3 to −17.7] %', '1.02 s [980 ms to 1.06 s]')
    """
    found = [_WITH_UNIT.fullmatch(one) for one in (text, lo, hi)]
    units = {one[2] for one in found if one}
    if all(found) and len(units) == 1:
        value, least, most = (one[1] for one in found if one)
        return f"{value} [{least} to {most}]{units.pop()}"
    return f"{text} [{lo} to {hi}]" if hi != "∞" else f"{text} [{lo} or more]"


def parse_form(form: str) -> tuple[str | None, int]:
    """Split the format of a quantity into its unit, which may be missing, and its significant digits.

    Examples
    --------
    >>> parse_form("rps 2"), parse_form("ratio"), parse_form("4")
    (('rps', 2), ('ratio', 3), (None, 4))
    """
    unit, digits = ("", form) if form.isdecimal() else (form.partition(" ")[0], form.partition(" ")[2] or "3")
    if (unit and unit not in UNITS) or not re.fullmatch("[0-9]{1,2}", digits) or int(digits) > _MOST_DIGITS:
        raise ValueRuleError("format", "a unit and a number of digits, such as 'ratio 2'", form)
    return unit or None, int(digits)


def _quantity_text(name: str, quantity: Any, form: str) -> str:
    if isinstance(quantity, str):
        return quantity
    if hasattr(quantity, "repeats"):  # an Estimate, which a layer above defines
        if (repeats := quantity.repeats) is not None and repeats < FEWEST_REPEATS:
            least = f"at least {FEWEST_REPEATS} repeats to be quoted in a sentence"
            raise LoadcurveError(f"{name} must rest on {least}, got {repeats}: show it in a table")
        value, lo, hi = (_quantity_text(name, end, form) for end in (quantity.value, quantity.lo, quantity.hi))
        return value if math.isnan(quantity.lo + quantity.hi) else with_interval(value, lo, hi)
    if not form or form.partition(" ")[0] in UNITS:
        unit, digits = parse_form(form or "3")
        return format_quantity(float(quantity), unit or unit_of_column(f"_{name}"), digits)
    if not _FORMAT.fullmatch(form):
        raise ValueRuleError("format", "such as .1f, +,.2% or .3g", form)
    return format(quantity, form).replace("%", " %").replace("-", "−")


_PLACE = re.compile(r"^(?:not read: )?(.*?)(:[0-9]+)?: ")
_LINES = re.compile(r"\blines? [0-9]+(?: to [0-9]+)?")
_NAMED = 3  # files that say the same


def group_lines(lines: Iterable[str]) -> list[str]:
    """Return lines about files with one line for all files of which the same is to be said, in order.

    Examples
    --------
    >>> lines = [f"{name}:1: expected a report, got 'Notes {name}'" for name in ("a", "b", "c")]
    >>> group_lines([*lines, "d: line 3: ab warns", "e: line 9: ab warns", "d: cut"])
    ["a:1: expected a report, got 'Notes a'; also b, c", 'd: line 3: ab warns; also e', 'd: cut']
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        place = _PLACE.match(line)
        text = _LINES.sub("line", line[place.end() :].partition(", got ")[0]) if place else line
        groups.setdefault(text, []).append((line, place[1] if place else ""))
    return [_with_others(*group) for group in groups.values()]


def _with_others(first: tuple[str, str], *others: tuple[str, str]) -> str:
    line, own = first
    names = list(dict.fromkeys(name for _, name in others if name != own))
    more = len(names) - _NAMED
    again = f"; {len(others)} times more" if others and not names else ""
    also = f"; also {', '.join(names[:_NAMED])}" if names else ""
    return f"{line}{again}{also}{f' and {more} more' if more > 0 else ''}"
