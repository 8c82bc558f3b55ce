"""Sentences with placeholders for quantities: captions of figures, and the evidence of claims."""

import math
import re
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.units import UNITS, format_quantity, unit_of_column

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
        return "".join(before + ("" if name is None else _shown(name, quantities[name], form or ""))
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


def _shown(name: str, quantity: Any, form: str) -> str:
    if isinstance(quantity, str):
        return quantity
    if hasattr(quantity, "repeats"):  # an Estimate, which a layer above defines
        if (repeats := quantity.repeats) is not None and repeats < FEWEST_REPEATS:
            least = f"at least {FEWEST_REPEATS} repeats to be quoted in a sentence"
            raise LoadcurveError(f"{name} must rest on {least}, got {repeats}: show it in a table")
        value, lo, hi = (_shown(name, end, form) for end in (quantity.value, quantity.lo, quantity.hi))
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
