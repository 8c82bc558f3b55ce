"""Sentences with placeholders for quantities: captions of figures, and the evidence of claims."""

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.units import UNITS, format_quantity, unit_of_column

_FORMAT = re.compile(r"\+?,?(\.[0-9]{1,2})?[defg%]?")  # a width would allow 900 million blanks
_MOST_DIGITS = 17  # of a float


def fill_text(text: str, quantities: Mapping[str, Any]) -> str:
    """Replace each ``{name}`` of a sentence by its quantity, shown with its unit.

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
    if not form or form.partition(" ")[0] in UNITS:
        unit, digits = parse_form(form or "3")
        return format_quantity(float(quantity), unit or unit_of_column(f"_{name}"), digits)
    if not _FORMAT.fullmatch(form):
        raise ValueRuleError("format", "such as .1f, +,.2% or .3g", form)
    return format(quantity, form).replace("%", " %").replace("-", "−")
