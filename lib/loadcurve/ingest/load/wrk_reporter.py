"""wrk's text and the JSON that the laboratory's reporter wrote of the same run, as one account of it.

The text is rounded to two decimals of a unit (`wrk_numbers`); the JSON has whole microseconds, whole bytes and every
counter.  Where both tell a number, they must agree as far as the text goes.
"""

import math
from dataclasses import replace

import pandas as pd

from loadcurve.ingest.load.wrk_numbers import SIZE, TIME
from loadcurve.ingest.parsed import Parsed

_NEXT_UNIT = 0.85  # of it; from there on wrk prints in that unit (src/units.c)
_HALF = 0.005 * (1 + 1e-6)  # of the last decimal; what lies between two of them can go either way
_OF_THE_TEXT = ("generator", "tool", "status", "started_at", "url")


def join_reporter(text: Parsed, report: Parsed) -> tuple[Parsed, Parsed]:
    """Share the tables of one run out: the text's row of `runs` with the JSON's numbers, the JSON's times.

    Parameters
    ----------
    text : Parsed
        Of ``parse_wrk``.
    report : Parsed
        Of ``parse_wrk_json``.

    Returns
    -------
    text, report : Parsed
        `runs` of the first has one row; the second has `latency` and `histogram` as far as times were measured.
        Where the two contradict each other, the first is as it was, and the second has only a warning with both
        numbers.
    """
    said, counted = text.tables["runs"], report.tables["runs"]
    if odd := _contradictions(text, report):
        more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
        warning = f"not of the run that the text tells of, and left out: {odd[0]}{more}"
        return text, Parsed(report.tool, {}, (warning,))
    better = {name: [value] for name, value in counted.iloc[0].items() if name not in _OF_THE_TEXT and pd.notna(value)}
    times = {name: table for name, table in report.tables.items() if name != "runs" and len(table)}
    others = {name: table for name, table in text.tables.items() if name not in times}
    return replace(text, tables={**others, "runs": said.assign(**better)}), replace(report, tables=times)


def _contradictions(text: Parsed, report: Parsed) -> list[str]:
    said, counted = text.tables["runs"], report.tables["runs"]
    if len(said) != 1:
        return [f"{len(said)} reports in the text, 1 here"]
    both = [name for name in counted if name in said and name not in ("generator", "status")]
    pairs = {name: (said[name].iloc[0], counted[name].iloc[0]) for name in both}
    exact = _quantiles(report)
    for quantile, latency_s in _quantiles(text).items():
        pairs[f"the {quantile:g} quantile of latency_s"] = latency_s, exact.get(quantile, math.nan)
    return [
        f"{name} is {_shown(here)} here, {_shown(there)} in the text"
        for name, (there, here) in pairs.items()
        if pd.notna(here) and pd.notna(there) and not _agree(name, there, here)
    ]


def _quantiles(parsed: Parsed) -> dict[float, float]:
    return {row["quantile"]: row["latency_s"] for row in parsed.tables["latency"].to_dict("records")}


def _agree(name: str, printed: object, counted: object) -> bool:
    """Whether a number of the text can be what is left of one of the JSON; words must be the same."""
    if name.endswith("_rps"):
        unit = 1.0
    elif name.endswith(("_bytes", "_bytes_per_s")):
        unit = _unit(SIZE, printed)
    elif name.endswith("_s"):
        unit = _unit(TIME, printed)
    else:
        return printed == counted
    return math.isclose(printed, counted, rel_tol=1e-9, abs_tol=_HALF * unit)


def _shown(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _unit(scale: dict[str, float], value: float) -> float:
    reached = [unit for unit in scale.values() if value >= _NEXT_UNIT * unit * (1 - 1e-9)]
    return max(reached, default=min(scale.values()))
