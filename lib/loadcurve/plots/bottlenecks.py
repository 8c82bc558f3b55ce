"""Plot the bottleneck report: what each resource allows, against the throughput that was observed."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from loadcurve.plots._axes import axes_or_new, throughput_axis
from loadcurve.plots.style import COLOURS, INK, colours

# What a resource allows beyond this multiple of the observed throughput is written, not drawn to scale.
_FURTHEST = 3.0


def plot_bottlenecks(ranked: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the throughput that each resource allows, with its interval, and the observed plateau as a band.

    Filled points are measured at saturation; open points are extrapolated from the loads below it.

    Parameters
    ----------
    ranked : pandas.DataFrame
        Table from `summarise_bottlenecks`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> row = {"resource": "CPU", "saturated": True, "highest_rps": 410.0, "plateau_rps": 400.0, "plateau_lo": 390.0,
    ...        "plateau_hi": 410.0, "saturation_rps": 404.0, "saturation_lo": 390.0, "saturation_hi": 420.0,
    ...        "predicted_rps": 380.0, "predicted_lo": 350.0, "predicted_hi": 415.0}
    >>> [text.get_text() for text in plot_bottlenecks(pd.DataFrame([row])).texts]
    ['observed plateau']
    """
    ax = axes_or_new(ax, ranked=ranked)
    observed = float(ranked["plateau_rps"].fillna(ranked["highest_rps"]).iloc[0])
    end = _FURTHEST * observed
    palette = colours(ranked["resource"])
    furthest = observed
    for place, row in enumerate(ranked.to_dict("records")):
        color = palette[row["resource"]]
        furthest = max(furthest, _point(ax, row, "saturation", place, end, color, filled=row["saturated"]))
        if row["saturated"] and not np.isnan(row["predicted_rps"]):
            furthest = max(furthest, _point(ax, row, "predicted", place + 0.25, end, color, filled=False))
    _observe(ax, ranked.iloc[0], observed)
    ax.set_yticks(range(len(ranked)), ranked["resource"])
    ax.set_ylim(len(ranked) - 0.5, -0.8)
    ax.set_xlim(0, 1.1 * furthest)
    throughput_axis(ax.xaxis)
    ax.grid(visible=False, axis="y")
    return ax


def _point(ax: Axes, row: dict[str, Any], name: str, y: float, end: float, color: str, *, filled: bool) -> float:
    """Draw what a resource allows, and return how far it reaches."""
    value, lo, hi = (float(row[f"{name}_{part}"]) for part in ("rps", "lo", "hi"))
    if value > end:
        text = f"{EngFormatter(places=0, sep='')(value)} →" if np.isfinite(value) else "no limit →"
        ax.annotate(text, (end, y), ha="right", va="center", color=color)
        return end
    reach = value
    if not np.isnan([lo, hi]).any():
        reach = min(hi, end)
        ax.plot([lo, reach], [y, y], color=color, linewidth=5 if filled else 2.5, alpha=0.45)
    ax.plot(
        value, y, "o" if filled else "D", color=color, markerfacecolor=color if filled else "none", linestyle="none"
    )
    return reach


def _observe(ax: Axes, row: pd.Series, observed: float) -> None:
    """Draw the plateau, or the highest throughput while it still rises."""
    if not np.isnan([row["plateau_lo"], row["plateau_hi"]]).any():
        ax.axvspan(row["plateau_lo"], row["plateau_hi"], color=COLOURS["limit"], alpha=0.18, linewidth=0, zorder=0)
    ax.axvline(observed, color=COLOURS["limit"], linestyle="--", linewidth=1, zorder=1)
    words = "highest throughput" if np.isnan(row["plateau_rps"]) else "observed plateau"
    ax.annotate(
        words, (observed, 1), xycoords=ax.get_xaxis_transform(), xytext=(4, -3), textcoords="offset points", va="top",
        color=INK,
    )  # fmt: skip
