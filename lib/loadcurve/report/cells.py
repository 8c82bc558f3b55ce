"""Levels and results of a curve as text cells with units: what the tables of every form of report show."""

import math

import pandas as pd

from loadcurve.analysis import Curve, Result
from loadcurve.stats import Estimate
from loadcurve.units import format_quantity

_LOADS = {"connections": "connections", "target_rate_rps": "offered"}
_DIGITS = 3


def level_cells(curve: Curve) -> tuple[list[str], list[list[str]]]:
    """Headings with units, and rows, of the table of levels; a column without any value is left out.

    Returns
    -------
    tuple of list of str and list of list of str
        Headings; and for each level one cell for each heading.
    """
    levels = curve.levels
    columns: list[tuple[str, list[str]]] = [
        (_LOADS[curve.load], [_load(at, curve.load) for at in levels[curve.load]]),
        ("runs", [str(runs) for runs in levels["runs"]]),
        ("requests/s", [_rate(x) for x in levels["throughput_rps"]]),
        ("interval", [_ends(lo, hi) for lo, hi in levels[["throughput_lo", "throughput_hi"]].to_numpy()]),
        ("gain", [_gain(gain) for gain in levels["gain_ratio"]]),
        ("mean", [_known(x, "s") for x in levels["latency_mean_s"]]),
    ]
    quantiles = levels.filter(regex="^latency_p")
    columns += [(percentile(name), [_known(x, "s") for x in quantiles[name]]) for name in quantiles]
    if levels["error_ratio"].gt(0).any():
        columns.append(("errors", [_errors(x) for x in levels["error_ratio"]]))
    shown = [(heading, cells) for heading, cells in columns if any(cells)]
    return [heading for heading, _ in shown], [list(row) for row in zip(*(cells for _, cells in shown), strict=True)]


def percentile(column: str) -> str:
    """Heading of a column of quantiles: ``p99`` of ``latency_p99_s``, ``p99.9`` of ``latency_p99_9_s``."""
    return column.removeprefix("latency_").removesuffix("_s").replace("_", ".")


def result_cells(result: Result) -> list[str]:
    """Label, value and interval of a result, with units."""
    estimate, unit = result.estimate, result.unit
    return [objective_words(result.label), shown(estimate.value, unit), _interval_of(estimate, unit)]


def shown(value: float, unit: str) -> str:
    """A value with its unit; numbers without a unit keep their significant digits, also the small ones."""
    return format_quantity(value, unit, _DIGITS)


def objective_words(label: str) -> str:
    """Replace the names of columns in a label by words: ``p99 <= 200 ms``."""
    words = []
    parts = label.split(" and ")
    for part in parts:
        head, operator, most = part.partition(" <= ")
        if not operator:
            words.append(part)
            continue
        before, _, column = head.rpartition(" ")
        unit = "ratio" if column == "error_ratio" else "s"
        name = "errors" if column == "error_ratio" else percentile(column)
        words.append(f"{before} {name} ≤ {format_quantity(float(most), unit)}".strip())
    return " and ".join(words)


def _load(at: float, load: str) -> str:
    return f"{at:,g}" if load == "connections" else format_quantity(at, "rps")


def _rate(value: float) -> str:
    return "" if math.isnan(value) else format_quantity(value, "rps").removesuffix(" requests/s")


def _ends(lo: float, hi: float) -> str:
    return "" if math.isnan(lo) or math.isnan(hi) else f"{_rate(lo)} – {_rate(hi)}"


def _known(value: float, unit: str) -> str:
    return "" if math.isnan(value) else format_quantity(value, unit)


def _gain(gain: float) -> str:
    return "" if math.isnan(gain) else f"{gain:+.0%}".replace("-", "−").replace("%", " %")


def _errors(ratio: float) -> str:
    if pd.isna(ratio):
        return ""
    return "0" if ratio == 0 else format_quantity(ratio, "ratio", 2)


def _interval(lo: float, hi: float, unit: str) -> str:
    if math.isnan(lo) and math.isnan(hi):
        return ""
    first, last = ("?" if math.isnan(end) else shown(end, unit) for end in (lo, hi))
    number, _, suffix = first.rpartition(" ")
    return f"{number if suffix and last.endswith(f' {suffix}') else first} to {last}"


def _interval_of(estimate: Estimate, unit: str) -> str:
    interval = _interval(estimate.lo, estimate.hi, unit)
    return f"[{interval}]" if interval else "no interval"
