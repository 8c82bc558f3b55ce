"""Figures of one analysed curve: throughput and response times over its load, whatever the load is."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

from loadcurve.analysis import Curve
from loadcurve.analysis.cells import percentile
from loadcurve.analysis.sentences import statistics
from loadcurve.errors import LoadcurveError, ValueRuleError
from loadcurve.models import asymptotic_throughput_rps
from loadcurve.plots._axes import (
    axes_or_new,
    connections_axis,
    label_end,
    log_seconds_axis,
    name_ends,
    throughput_axis,
    write,
)
from loadcurve.plots.style import COLOURS, PALETTE

_HEADROOM = 1.22  # top of the axis relative to the highest throughput: space for the names of the bounds


def plot_curve_throughput(curve: Curve, *, ax: Axes | None = None) -> Axes:
    """Plot throughput of every run over load, its mean, the law with band and peak, the bounds, N* and the capacity.

    `curve`: of an analysis; missing results are not drawn.

    Raises
    ------
    LoadcurveError
        When no run has both a load and a throughput.

    Examples
    --------
    >>> from loadcurve import analyse
    >>> runs = pd.DataFrame({"run_id": ["a", "b", "c", "d"], "connections": [1, 2, 4, 8], "latency_mean_s": 0.01,
    ...                      "throughput_rps": [100.0, 190.0, 200.0, 200.0]})
    >>> ax = plot_curve_throughput(analyse({"runs": runs}).curves[0])
    >>> ax.get_ylabel(), [text.get_text() for text in ax.texts]
    ('Throughput [requests/s]', ['1/D', 'N* = 2'])
    """
    levels = _known(curve)
    ax = axes_or_new(ax)
    top = _HEADROOM * float(
        np.nanmax([curve.runs["throughput_rps"].astype(float).max(), levels["throughput_hi"].max()])
    )
    first, last = (float(levels[curve.load].iloc[i]) for i in (0, -1))
    if curve.load == "connections":
        if "saturation" in curve:
            _bounds(ax, curve, np.geomspace(min(first, 1.0), last, 200), top)
        if curve.fit is not None:
            _law(ax, curve, np.geomspace(first, last, 25))
    else:
        grid = np.geomspace(first, last, 50)
        ax.plot(grid, grid, color=COLOURS["limit"], linestyle="--", zorder=1)
        label_end(ax, last, last, "offered", COLOURS["limit"])
        top = max(top, 1.05 * last)
    if "capacity" in curve and curve["capacity"].value > 0:
        at = curve["capacity"].value
        ax.axvline(at, color=PALETTE[2], linestyle=":", zorder=1)
        side = 4 if at < np.sqrt(first * last) else -4
        write(ax, "capacity", (at, 0.99), (side, 0), PALETTE[2], xycoords=ax.get_xaxis_transform(), va="top")
    own = PALETTE[0]
    ax.scatter(curve.runs[curve.load], curve.runs["throughput_rps"], color=own, alpha=0.45, s=22, lw=0)
    ax.plot(levels[curve.load], levels["throughput_rps"], color=own)
    full = curve.generator_full.loc[levels.index]
    ax.plot(levels.loc[full, curve.load], levels.loc[full, "throughput_rps"], "^", color=COLOURS["limit"], ms=9)
    _load_axis(ax, curve)
    ax.set_ylim(0, top)
    throughput_axis(ax.yaxis)
    return ax


def plot_curve_latency(curve: Curve, *, ax: Axes | None = None) -> Axes:
    """Plot the mean and each percentile of the response time over load, on a logarithmic axis; times of 0 are left out.

    Raises
    ------
    LoadcurveError
        When no run has both a load and a response time.

    Examples
    --------
    >>> from loadcurve import analyse
    >>> runs = pd.DataFrame({"run_id": ["a", "b"], "connections": [1, 2], "latency_mean_s": [0.01, 0.02],
    ...                      "throughput_rps": [100.0, 190.0]})
    >>> [text.get_text() for text in plot_curve_latency(analyse({"runs": runs}).curves[0]).texts]
    ['mean']
    """
    levels = _known(curve)
    names = statistics(levels)
    if not names:
        raise ValueRuleError("runs", "some with a response time", f"{len(curve.runs)} without")
    ax = axes_or_new(ax)
    ends = []
    for i, name in enumerate(names):
        color = PALETTE[i % len(PALETTE)]
        known = levels[levels[name] > 0]  # whole milliseconds of ab are 0 below 0.5 ms, and have no logarithm
        if known.empty:
            continue
        if name in curve.runs:
            runs = curve.runs[curve.runs[name] > 0]
            ax.scatter(runs[curve.load], runs[name], color=color, alpha=0.35, s=14, lw=0)
        ax.plot(known[curve.load], known[name], color=color, marker="o", markersize=3)
        words = "mean" if name == "latency_mean_s" else percentile(name)
        ends.append((known[curve.load].iloc[-1], known[name].iloc[-1], words, color))
    ax.set_yscale("log")
    _load_axis(ax, curve)
    name_ends(ax, ends)
    log_seconds_axis(ax, "Response time")
    return ax


def _known(curve: Curve) -> pd.DataFrame:
    """Return the levels of a curve, or raise an error because the figure would be empty."""
    if curve.levels.empty:
        raise ValueRuleError("runs", f"some with both {curve.load} and throughput_rps", "none")
    return curve.levels


def _bounds(ax: Axes, curve: Curve, grid: np.ndarray, top: float) -> None:
    """Draw N/R_min, 1/D with its interval, and N*, where they cross."""
    color, demand, least, crossing = COLOURS["limit"], curve["demand"], curve["latency_min"], curve["saturation"]
    bound = asymptotic_throughput_rps(grid, demand.value, least.value)
    ax.plot(grid, bound, color=color, linestyle="--", zorder=1)
    limit = 1 / demand.value
    if np.isfinite([demand.lo, demand.hi]).all():
        ax.axhspan(1 / demand.hi, min(1 / demand.lo, top), color=color, alpha=0.1, linewidth=0, zorder=0)
    if crossing.value <= grid[-1]:
        write(ax, "1/D", (grid[-1], limit), (6, 0), color)
        ax.plot(crossing.value, limit, marker="D", color=color, linestyle="none")
        room = crossing.value < grid[-1] * (grid[0] / grid[-1]) ** 0.25  # not in the last quarter of the axis
        side = "left" if room else "right"
        write(ax, f"N* = {crossing.value:.3g}", (crossing.value, limit), (0, 7), color, ha=side, va="baseline")


def _law(ax: Axes, curve: Curve, grid: np.ndarray) -> None:
    """Draw the law, with the band of its mean where the data have degrees of freedom for one."""
    assert curve.fit is not None
    try:
        band = curve.fit.band(grid)
    except LoadcurveError:
        return
    color = COLOURS["law"]
    ax.plot(grid, band["throughput_rps"], color=color, linestyle="--")
    ax.fill_between(grid, band["lo"].clip(lower=0), band["hi"], color=color, alpha=0.15, linewidth=0)
    name = curve.fit.law.upper()
    peak = curve["usl.peak"].value if "usl.peak" in curve else np.inf
    if not grid[0] < peak < grid[-1]:
        at = band.iloc[len(band) // 3]
        write(ax, name, (at["connections"], at["throughput_rps"]), (8, -14), color, va="baseline")
        return
    highest = float(np.asarray(curve.fit.predict(peak)))
    ax.plot(peak, highest, marker="v", color=color, linestyle="none")
    ax.plot([peak, peak], [0, highest], ":", color=color, linewidth=1)
    write(ax, f"{name} peak {peak:.3g}", (peak, 0), (-4, 4), color, va="baseline")


def _load_axis(ax: Axes, curve: Curve) -> None:
    if curve.load == "connections":
        connections_axis(ax)
        return
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("Offered rate [requests/s]")
