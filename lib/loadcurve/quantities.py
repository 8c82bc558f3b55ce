"""How a number that is published is written: in its unit, with its interval."""

import math
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.stats import Estimate
from loadcurve.units import format_quantity, unit_of_column
from loadcurve.wording import parse_form

Quantity = Estimate | float | str | tuple[Estimate | float, str]
"""A number in SI units, with or without an interval and a format; a truth value; or a short text."""


def describe_quantity(name: str, quantity: Quantity, unit: str | None, digits: int) -> dict[str, Any]:
    """Return a quantity as ``values.json`` holds it: its text, and for a number its value in SI units and its unit.

    An Estimate also has the ends of its interval, its level, its method, and its warnings.  A number that is not finite
    is None.

    Examples
    --------
    >>> describe_quantity("peak_rps", 41_418.0, None, 3)
    {'text': '41,400 requests/s', 'value': 41418.0, 'unit': 'rps'}
    >>> describe_quantity("error", (0.0213, "ratio 2"), None, 3)
    {'text': '2.1 %', 'value': 0.0213, 'unit': 'ratio'}
    """
    if isinstance(quantity, tuple):
        quantity, form = quantity
        unit, digits = parse_form(form)
    return _shown(quantity, unit_of_column(name) if unit is None else unit, digits)


def _shown(quantity: Estimate | float | str, unit: str, digits: int) -> dict[str, Any]:
    if isinstance(quantity, bool | np.bool_):
        return {"text": "yes" if quantity else "no"}
    if isinstance(quantity, str):
        return {"text": quantity}
    if isinstance(quantity, Estimate):
        return {
            **_number(quantity.value, unit, digits),
            "interval": _interval(quantity.lo, quantity.hi, unit, digits),
            "lo": _finite(quantity.lo),
            "hi": _finite(quantity.hi),
            "level": quantity.level,
            "method": quantity.method,
            "warnings": list(quantity.warnings),
        }
    return _number(math.nan if pd.isna(quantity) else float(quantity), unit, digits)


def _number(value: float, unit: str, digits: int) -> dict[str, Any]:
    return {"text": format_quantity(value, unit, digits), "value": _finite(value), "unit": unit}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _interval(lo: float, hi: float, unit: str, digits: int) -> str:
    """Return an interval as text; empty if it has neither end."""
    if math.isfinite(lo + hi):
        return f"{format_quantity(lo, unit, digits)} to {format_quantity(hi, unit, digits)}"
    if math.isfinite(lo) and math.isinf(hi):
        return f"{format_quantity(lo, unit, digits)} or more, without an upper end"
    return ""
