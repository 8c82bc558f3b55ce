"""Text cells with units for the tables of reports: levels and results of a curve, and what a setting changes."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.stats import Estimate, find_paired_ratio
from loadcurve.units import format_quantity

LOADS = {"connections": "connections", "target_rate_rps": "offered requests/s"}
_DIGITS = 3
_WHOLE = 1e-6  # of a digit, within which a time is a multiple of it
_USUAL = ("mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "max")
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


FACTOR = "factor."
"""Begins the name of each column of levels with a factor that changes along the load."""


def level_cells(levels: pd.DataFrame, load: str) -> tuple[list[str], list[list[str]]]:
    """Headings with units, and rows, of the table of levels; a column without any value is left out.

    All response times have one unit, that of their median, so that they can be compared at a glance.
    """
    times = levels.filter(regex=r"^latency_(mean|p[0-9_]+)_s$")
    if times.shape[1] > len(_USUAL):  # ab prints nine percentiles
        times = times[[name for name in times if percentile(name) in _USUAL]]
    digits = levels["latency_digit_s"] if "latency_digit_s" in levels else pd.Series(0.0, levels.index)
    scale, unit = _time_unit(times.mask(times.eq(0)), digits.max())
    columns: list[tuple[str, Iterable[str]]] = [
        *((name.removeprefix(FACTOR), levels[name].astype(str)) for name in levels if name.startswith(FACTOR)),
        (LOADS[load], [f"{at:,g}" if load == "connections" else rate_cell(at) for at in levels[load]]),
        ("runs", [str(runs) for runs in levels["runs"]]),
        ("requests/s", [rate_cell(x) for x in levels["throughput_rps"]]),
        ("interval", [interval_cell(lo, hi) for lo, hi in levels[["throughput_lo", "throughput_hi"]].to_numpy()]),
        ("gain", [_gain(gain) for gain in levels["gain_ratio"]]),
    ]
    columns += [
        (f"{percentile(name)} [{unit}]", [_time(*x, scale) for x in zip(times[name], digits, strict=True)])
        for name in times
    ]
    if "generator_ratio" in levels:
        busy = levels["generator_ratio"]
        columns.append(("generator busy", ["" if np.isnan(x) else format_quantity(x, "ratio", 2) for x in busy]))
    if levels["error_ratio"].gt(0).any():
        shares = levels["error_ratio"]
        columns.append(("errors", ["" if pd.isna(x) else format_quantity(x, "ratio", 2) if x else "0" for x in shares]))
    shown = [(heading, list(cells)) for heading, cells in columns if any(cells)]
    return [heading for heading, _ in shown], [list(row) for row in zip(*(cells for _, cells in shown), strict=True)]


def percentile(column: str) -> str:
    """Heading of a column of quantiles: ``p99`` of ``latency_p99_s``, ``p99.9`` of ``latency_p99_9_s``; or ``max``."""
    if column == "latency_p100_s":
        return "max"
    return column.removeprefix("latency_").removesuffix("_s").replace("_", ".")


def result_cells(label: str, estimate: Estimate, unit: str, level: float) -> list[str]:
    """Label, value and interval of a result, with units, and with its confidence level if that is another one."""
    interval = interval_words(estimate, unit) or "no interval"
    own = f" ({estimate.level:.1%})".replace("%", " %") if interval != "no interval" and estimate.level != level else ""
    return [objective_words(label), shown(estimate.value, unit), interval + own]


def shown(value: float, unit: str) -> str:
    """A value with its unit; numbers without a unit keep their significant digits, also the small ones."""
    return format_quantity(value, unit, _DIGITS)


def objective_words(label: str) -> str:
    """Replace the names of columns in a label by words: ``p99 ≤ 200 ms``."""
    words = []
    for part in label.split(" and "):
        head, operator, most = part.partition(" <= ")
        if not operator:
            words.append(part)
            continue
        before, _, column = head.rpartition(" ")
        unit = "ratio" if column == "error_ratio" else "s"
        name = "errors" if column == "error_ratio" else percentile(column)
        words.append(f"{before} {name} ≤ {format_quantity(float(most), unit)}".strip())
    return " and ".join(words)


def interval_words(estimate: Estimate, unit: str) -> str:
    """The interval of an estimate with its unit, ``[17.3 to 34.3 µs]``; empty if neither end is known."""
    return range_text(estimate.lo, estimate.hi, unit)


def range_text(lo: float, hi: float, unit: str) -> str:
    """The ends of an interval, with their unit once if they share it.

    Examples
    --------
    >>> range_text(9.4e-5, 1.05e-4, "s"), range_text(94.6, 105.0, "rps")
    ('[94.0 to 105 µs]', '[94.6 to 105 requests/s]')
    """
    if math.isnan(lo) and math.isnan(hi):
        return ""
    first, last = ("?" if math.isnan(end) else shown(end, unit) for end in (lo, hi))
    number, _, suffix = first.rpartition(" ")
    return f"[{number if suffix and last.endswith(f' {suffix}') else first} to {last}]"


def connections_words(number: float) -> str:
    """A number of connections with its noun.

    Examples
    --------
    >>> connections_words(1), connections_words(1024)
    ('1 connection', '1,024 connections')
    """
    return f"{number:,.10g} connection{'' if number == 1 else 's'}"


def _time_unit(times: pd.DataFrame, digit: float) -> tuple[float, str]:
    """Scale and name of the unit in which the median of the response times, or their last digit, is at least 1."""
    median = np.nanmedian(times.astype(float)) if times.notna().any(axis=None) else 1.0
    return next((unit for unit in _TIMES if max(median, digit) >= unit[0]), _TIMES[-1])


def rate_cell(value: float) -> str:
    """A rate without its unit, which the heading names; empty if it is not known."""
    return "" if math.isnan(value) else format_quantity(value, "rps").removesuffix(" requests/s")


def interval_cell(lo: float, hi: float) -> str:
    """The interval of a rate without its unit; empty if it is not known."""
    return "" if math.isnan(lo) or math.isnan(hi) else f"{rate_cell(lo)} – {rate_cell(hi)}"


def _number(value: float) -> str:
    if math.isnan(value) or value == 0:
        return "" if math.isnan(value) else "0"
    decimals = _DIGITS - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):,.{max(0, decimals)}f}"


def _time(value: float, digit: float, scale: float) -> str:
    """A time in a unit: at most to the digit to which it was printed, and below half of it where that was 0."""
    if np.isnan(value) or not digit > 0 or abs(value / digit - round(value / digit)) > _WHOLE:
        return _number(value / scale)
    if value == 0:
        return f"< {digit / 2 / scale:g}"
    return f"{value / scale:,.{max(0, min(_DIGITS - 1, round(-math.log10(digit / scale))))}f}"


def _gain(gain: float) -> str:
    return "" if math.isnan(gain) else f"{gain:+.0%}".replace("-0%", "+0%").replace("-", "−").replace("%", " %")


def label_settings(runs: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return the runs of some settings, in the order of `labels`, with the label of each in the column ``setting``.

    Raises ValueRuleError when no run has a named setting.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": ["off", "on", "other"], "throughput_rps": [3.0, 2.0, 1.0]})
    >>> label_settings(runs, {"on": "log on", "off": "log off"})["setting"].tolist()
    ['log on', 'log off']
    """
    groups = dict(list(runs.groupby("variant", sort=False)))
    if missing := [name for name in labels if name not in groups]:
        raise ValueRuleError("labels", f"of settings of the runs: {', '.join(map(str, groups))}", missing[0])
    return pd.concat([groups[name].assign(setting=label) for name, label in labels.items()], ignore_index=True)


def changes_of_settings(
    runs: pd.DataFrame, pairs: Mapping[str, str], column: str = "throughput_rps", level: float = 0.95
) -> dict[str, Estimate]:
    """Return the ratio, less 1, by which a setting changes a quantity against another setting in the same blocks.

    - `runs`: ``variant``, ``repeat`` and `column`, which is > 0, a row for each run; each block has every setting once.
    - `pairs`: name of the result → the names of the setting and of the one it is compared with, separated by a space.

    Raises ValueRuleError when no run has a named setting.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": ["on", "off"] * 2, "repeat": [1, 1, 2, 2],
    ...                      "throughput_rps": [80.0, 100.0, 160.0, 200.0]})
    >>> print(changes_of_settings(runs, {"log": "on off"})["log"])
    -0.2 [-0.2, -0.2]
    """
    table = runs.pivot_table(index="repeat", columns="variant", values=column)
    found = {}
    for name, pair in pairs.items():
        setting, baseline = pair.split()
        if missing := {setting, baseline} - set(table):
            raise ValueRuleError("pairs", f"settings of the runs: {', '.join(map(str, table))}", missing.pop())
        ratio = find_paired_ratio(table[setting], table[baseline], level)
        found[name] = replace(ratio, value=ratio.value - 1, lo=ratio.lo - 1, hi=ratio.hi - 1)
    return found
