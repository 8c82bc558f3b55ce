"""How a number that is published is written: in its unit, with its interval."""

import math
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.stats import Estimate
from loadcurve.units import format_quantity, parse_form, unit_of_column, with_interval

Quantity = Estimate | float | str | tuple[Estimate | float, str]
"""A number in SI units, with or without an interval and a format; a truth value; or a short text."""


def describe_quantity(name: str, quantity: Quantity, unit: str | None, digits: int) -> dict[str, Any]:
    """Return a quantity as ``values.json`` holds it: its text, and for a number its value in SI units and its unit.

    An Estimate also has its text with the interval (``shown``), the ends of the interval, its level, its method, its
    warnings, and how many repeats it rests on.  A number that is not finite is None.

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
        value, lo, hi = (format_quantity(end, unit, digits) for end in (quantity.value, quantity.lo, quantity.hi))
        known = math.isfinite(quantity.lo) and not math.isnan(quantity.hi)
        return {
            **_number(quantity.value, unit, digits),
            "shown": with_interval(value, lo, hi) if known else value,
            "repeats": quantity.repeats,
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
