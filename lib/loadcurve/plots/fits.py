"""Plots of a fitted law: its points and bands, its residuals, and its intervals by several methods."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from loadcurve.models import Fit
from loadcurve.plots._axes import axes_or_new, connections_axis, percent_axis, throughput_axis
from loadcurve.plots.style import COLOURS, PALETTE, colours
from loadcurve.stats import Estimate

# An interval that extends beyond this multiple of its value is drawn as open.
_OPEN = 3.0


def plot_fit(fit: Fit, peak: Estimate, *, ax: Axes | None = None) -> Axes:
    """Plot points, the fitted law, the confidence band (dark) and prediction band (light), and the peak.

    Parameters
    ----------
    fit : Fit
        Any fit.
    peak : Estimate
        Connections at which the law is highest, such as from `find_peak`; drawn if finite.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> from loadcurve.models import find_peak, fit_usl
    >>> fit = fit_usl([1, 4, 16, 64], [100.0, 350.0, 800.0, 700.0])
    >>> ax = plot_fit(fit, find_peak(fit))
    >>> ax.get_ylabel()
    'Throughput [requests/s]'
    """
    ax = axes_or_new(ax)
    last = max(float(fit.connections[-1]), peak.value if np.isfinite(peak.value) else 0.0)
    grid = np.geomspace(fit.connections[0], last, 200)
    for prediction, alpha in ((True, 0.12), (False, 0.25)):
        band = fit.band(grid, prediction=prediction)
        ax.fill_between(grid, band["lo"].clip(lower=0), band["hi"], color=COLOURS["law"], alpha=alpha, linewidth=0)
    ax.plot(grid, fit.predict(grid), color=COLOURS["law"], linestyle="--")
    ax.plot(fit.connections, fit.throughput_rps, "o", color=PALETTE[0], zorder=3)
    if np.isfinite(peak.value):
        top = float(fit.predict(peak.value))
        ax.plot(np.clip([peak.lo, peak.hi], grid[0], last), [top, top], color=COLOURS["limit"], linewidth=2.4)
        ax.plot(peak.value, top, "D", color=COLOURS["limit"])
        ax.annotate(
            f"peak at {peak.value:.3g}", (peak.value, top), xytext=(0, 12), textcoords="offset points", ha="center"
        )
    connections_axis(ax)
    ax.set_ylim(0, 1.25 * float(fit.throughput_rps.max()))
    throughput_axis(ax.yaxis)
    return ax


def plot_residuals(residuals: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the residual of a law at each level, and the error of its prediction from the other levels.

    Parameters
    ----------
    residuals : pandas.DataFrame
        Table from `Fit.residuals`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> from loadcurve.models import fit_usl
    >>> fit = fit_usl([1, 4, 8, 16, 64], [100.0, 350.0, 560.0, 800.0, 700.0])
    >>> ax = plot_residuals(fit.residuals())
    >>> ax.get_legend_handles_labels()[1]
    ['left out of the fit', 'in the fit']
    """
    ax = axes_or_new(ax, residuals=residuals)
    ax.axhline(0, color=COLOURS["limit"], linestyle="--", zorder=1)
    at = residuals["connections"]
    ax.plot(at, residuals["leave_one_out"], "o", color=PALETTE[1], mfc="none", label="left out of the fit")
    ax.plot(at, residuals["miss_ratio"], "o-", color=PALETTE[0], label="in the fit")
    connections_axis(ax)
    percent_axis(ax.yaxis, "Law relative to measurement")
    ax.legend(fontsize="small")
    return ax


def plot_intervals(intervals: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot intervals of each quantity by several methods, relative to its fitted value; an arrow marks an open end.

    Parameters
    ----------
    intervals : pandas.DataFrame
        ``quantity method value lo hi``, one row for each quantity and method; values > 0 and finite.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> intervals = pd.DataFrame({"quantity": "unit_throughput_rps", "method": ["linear", "profile"], "value": 100.0,
    ...                           "lo": [90.0, 92.0], "hi": [110.0, 113.0]})
    >>> ax = plot_intervals(intervals)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['unit throughput']
    """
    ax = axes_or_new(ax, intervals=intervals)
    ax.axvline(1, color=COLOURS["limit"], linestyle="--", zorder=1)
    palette = colours(intervals["method"].unique())
    quantities = list(intervals["quantity"].unique())[::-1]
    step = 0.7 / len(palette)
    for i, (method, rows) in enumerate(intervals.groupby("method", sort=False)):
        for row in rows.itertuples():
            place = quantities.index(row.quantity) + 0.35 - (i + 0.5) * step
            lo, hi = (np.clip(end / row.value, -_OPEN, _OPEN) for end in (row.lo, row.hi))
            ax.plot([lo, hi], [place, place], color=palette[method], linewidth=2.4)
            if hi == _OPEN:
                ax.plot(hi, place, ">", color=palette[method])
        ax.plot([], [], color=palette[method], linewidth=2.4, label=method)
    ax.set_yticks(range(len(quantities)), [name.removesuffix("_rps").replace("_", " ") for name in quantities])
    ax.set_ylim(-0.5, len(quantities) - 0.5)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("Interval relative to the fitted value")
    ax.legend(fontsize="small", loc="best")
    return ax
