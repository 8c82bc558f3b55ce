"""The bottleneck report of a curve as a table of text cells, and its conclusion in a sentence."""

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import interval_cell, range_text, rate_cell, shown
from loadcurve.blocks import Grid
from loadcurve.units import format_quantity

_HEADINGS = ["resource", "against the observed throughput", "busy", "work per request", "interval"]
_HEADINGS += ["allows [requests/s]", "interval"]


def bottleneck_grid(ranked: pd.DataFrame) -> Grid:
    """Return the resources as a table, the one that allows least first."""
    rows = [
        [
            row["resource"] if row["servers"] == 1 else f"{row['resource']} ({row['servers']:g})",
            row["meaning"],
            format_quantity(row["utilisation_ratio"], "ratio", 2),
            "" if np.isnan(row["demand_s"]) else shown(row["demand_s"], "s"),
            range_text(row["demand_lo"], row["demand_hi"], "s"),
            rate_cell(row["saturation_rps"]),
            interval_cell(row["saturation_lo"], row["saturation_hi"]),
        ]
        for row in ranked.to_dict("records")
    ]
    caption = (
        f"Bottlenecks (work per request: U/X of saturated loads, else the slope below them); {plateau_text(ranked)}"
    )
    return Grid(_HEADINGS, rows, caption, left=2)


def plateau_text(ranked: pd.DataFrame) -> str:
    """Return the observed plateau in words.

    Examples
    --------
    >>> plateau_text(pd.DataFrame({"plateau_rps": [400.0], "plateau_lo": [390.0], "plateau_hi": [410.0]}))
    'the observed plateau is 400 requests/s [390 to 410 requests/s]'
    """
    value, lo, hi = ranked[["plateau_rps", "plateau_lo", "plateau_hi"]].clip(lower=0).iloc[0]
    if np.isnan(value):
        return "throughput has no plateau yet"
    return f"the observed plateau is {shown(value, 'rps')} {range_text(lo, hi, 'rps')}".strip()


def bottlenecks_caption(ranked: pd.DataFrame, of: str = "") -> str:
    """Return which resource allows least, and what the observed throughput says about it.

    Parameters
    ----------
    ranked : pandas.DataFrame
        As for `bottleneck_grid`.
    of : str
        `` of NAME`` of the curve, or empty.

    Examples
    --------
    >>> row = {"resource": "CPU", "saturation_rps": 404.0, "saturation_lo": 390.0, "saturation_hi": 420.0,
    ...        "meaning": "saturated", "plateau_rps": 400.0, "plateau_lo": 390.0, "plateau_hi": 410.0}
    >>> bottlenecks_caption(pd.DataFrame([row]))
    'The tightest resource is CPU, which allows 404 requests/s [390 to 420 requests/s]; the observed plateau is \
400 requests/s [390 to 410 requests/s]: saturated.'
    """
    row = ranked.iloc[0]
    if np.isnan(row["saturation_rps"]):
        return f"The tightest resource{of} is not known: {row['resource']} is {row['meaning']}."
    ends = range_text(row["saturation_lo"], row["saturation_hi"], "rps")
    allows = f"which allows {shown(row['saturation_rps'], 'rps')} {ends}".strip()
    return f"The tightest resource{of} is {row['resource']}, {allows}; {plateau_text(ranked)}: {row['meaning']}."
