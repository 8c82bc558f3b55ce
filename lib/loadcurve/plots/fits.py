"""Plots of laws: fits with their bands, residuals and intervals, several laws beside reported rates, and forecasts."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from loadcurve.models import Fit
from loadcurve.plots._axes import axes_or_new, connections_axis, percent_axis, throughput_axis, write
from loadcurve.plots.style import COLOURS, INK, PALETTE, colours
from loadcurve.stats import Estimate

# An interval that extends beyond this multiple of its value is drawn as open.
_OPEN = 3.0


def plot_fit(fit: Fit, peak: Estimate, *, ax: Axes | None = None) -> Axes:
    """Plot points, the fitted law, the confidence band (dark) and prediction band (light), and the peak.

    `peak`: connections at which the law is highest, such as from `find_peak`; drawn if finite.

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
        write(ax, f"peak at {peak.value:.3g}", (peak.value, top), (0, 12), INK, va="baseline", ha="center")
    connections_axis(ax)
    ax.set_ylim(0, 1.25 * float(fit.throughput_rps.max()))
    throughput_axis(ax.yaxis)
    return ax


def plot_residuals(residuals: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the residual of a law at each level, and the error of its prediction from the other levels.

    `residuals`: table from `Fit.residuals`.

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

    `intervals`: ``quantity method value lo hi``, one row for each quantity and method; values > 0 and finite.

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
    ax.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=len(palette), borderaxespad=0.1)
    return ax


# As a share of the height of the axes: minimum distance of two names at the ends of lines, and height of the names of
# reported rates, above all lines.
_APART, _NAMES = 0.075, 0.94


def plot_laws(laws: pd.DataFrame, reported: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot throughput by several laws, each labelled at its end, and reported rates with their rounding intervals.

    - `laws`: ``law`` (its name), ``connections`` or ``workers``, ``throughput_rps``.
    - `reported`: ``name``, the same load, ``load_lo load_hi`` (its rounding), ``throughput_rps lo hi``.  A rate
      without a load (NaN) is drawn as a line over all loads.

    Examples
    --------
    >>> laws = pd.DataFrame({"law": "linear", "connections": [1, 8], "throughput_rps": [100.0, 800.0]})
    >>> reported = pd.DataFrame({"name": ["report"], "connections": [8], "load_lo": [7.5], "load_hi": [8.5],
    ...                          "throughput_rps": [700.0], "lo": [650.0], "hi": [750.0]})
    >>> [text.get_text() for text in plot_laws(laws, reported).texts]
    ['linear', 'report']
    """
    ax = axes_or_new(ax, laws=laws)
    load = "workers" if "workers" in laws else "connections"
    palette = colours(laws["law"].unique())
    for law, rows in laws.groupby("law", sort=False):
        ax.plot(rows[load], rows["throughput_rps"], color=palette[law])
    top = 1.16 * max(laws["throughput_rps"].max(), reported["hi"].max())
    _name_laws(ax, laws, load, palette, top)
    _mark_reported(ax, reported, load, laws[load].min(), top)
    connections_axis(ax)
    ax.set_xlabel(load.capitalize())
    ax.set_ylim(0, top)
    throughput_axis(ax.yaxis)
    return ax


def _name_laws(ax: Axes, laws: pd.DataFrame, load: str, palette: dict[str, str], top: float) -> None:
    """Label each law at its end, without overlap; if all end at one rate, label it left of where it reaches half."""
    ends = laws.groupby("law", sort=False).tail(1).sort_values("throughput_rps")
    one_end = len(ends) > 1 and ends["throughput_rps"].max() - ends["throughput_rps"].min() < _APART * top
    height = -top
    for law, x, y in zip(ends["law"], ends[load], ends["throughput_rps"], strict=True):
        if one_end:
            rows = laws[(laws["law"] == law) & (laws["throughput_rps"] >= y / 2)]
            at, offset = (rows[load].min(), y / 2), -5
        else:
            height = max(y, height + _APART * top)
            at, offset = (x, height), 6
        write(ax, law, at, (offset, 0), palette[law])


def _mark_reported(ax: Axes, reported: pd.DataFrame, load: str, left: float, top: float) -> None:
    """Draw a cross for the rounding intervals, labelled above all lines, or a line over all loads, labelled left."""
    color = COLOURS["limit"]
    for row, at in zip(reported.itertuples(), reported[load], strict=True):
        if pd.isna(at):
            ax.axhline(row.throughput_rps, color=color, linestyle="--", linewidth=1.2)
            write(ax, row.name, (left, row.throughput_rps), (5, 4), color, va="baseline")
            continue
        ax.plot([row.load_lo, row.load_hi], [row.throughput_rps] * 2, color=color, linewidth=1.2)
        ax.plot([at, at], [row.lo, row.hi], color=color, linewidth=1.2)
        ax.plot(at, row.throughput_rps, "o", color=color, linestyle="none")
        ax.plot([at, at], [row.hi, _NAMES * top], ":", color=color, linewidth=1)
        ax.annotate(row.name, (at, _NAMES * top), ha="center", va="bottom", color=color)


LAST_VALUE, PLAIN, STACK = "last value held", "usl as people write it", "stack of forecasts"
"""Forecast methods with their own colour."""
# Larger errors are not drawn: a forecast with a larger error ratio is wrong, whatever its exact error.
_FURTHEST = 3.0
_LEAST = 3e-3
_PLACES = 250  # along the axis, more than a reader distinguishes


def plot_forecast(points: pd.DataFrame, bands: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot points of a curve, and the prediction from its first part: median of the laws and prediction band.

    - `points`: ``connections, throughput_rps`` and ``seen``, whether the fits used the point.
    - `bands`: table from `Tournament.predict`.

    Examples
    --------
    >>> points = pd.DataFrame({"connections": [1, 2, 8], "throughput_rps": [100.0, 190, 500],
    ...                        "seen": [True, True, False]})
    >>> bands = pd.DataFrame({"connections": [2, 8], "throughput_rps": [190.0, 520], "prediction_lo": [180.0, 400],
    ...                       "prediction_hi": [200.0, 600]})
    >>> plot_forecast(points, bands).get_legend_handles_labels()[1]
    ['forecast, and its band', 'fitted', 'held back']
    """
    ax = axes_or_new(ax, points=points)
    ax.fill_between(
        bands["connections"], bands["prediction_lo"], bands["prediction_hi"], color=COLOURS["law"], alpha=0.18, lw=0
    )
    ax.plot(bands["connections"], bands["throughput_rps"], color=COLOURS["law"], label="forecast, and its band")
    for seen, label, face in ((True, "fitted", PALETTE[0]), (False, "held back", "none")):
        rows = points[points["seen"] == seen]
        ax.plot(rows["connections"], rows["throughput_rps"], "o", color=PALETTE[0], mfc=face, label=label, zorder=3)
    connections_axis(ax)
    ax.set_ylim(bottom=0)
    throughput_axis(ax.yaxis)
    ax.legend(fontsize="small", loc="lower right")
    return ax


def plot_forecast_errors(forecasts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the share of held-back points that each method predicted within an error, against that error.

    `forecasts`: ``method`` and ``error_ratio``, from `forecast_curves`; NaN for a point without a forecast.

    Examples
    --------
    >>> own = "stack of forecasts"
    >>> forecasts = pd.DataFrame({"method": ["usl", own, own], "error_ratio": [0.1, -0.2, 0.5]})
    >>> plot_forecast_errors(forecasts).get_legend_handles_labels()[1]
    ['stack of forecasts', 'other methods']
    """
    ax = axes_or_new(ax, forecasts=forecasts)
    grouped = forecasts.assign(off=forecasts["error_ratio"].abs().fillna(np.inf)).groupby("method")["off"]
    medians = grouped.median().sort_values()
    # Methods that the page compares are drawn in colour; the other methods are grey and behind them.
    strong = {STACK: COLOURS["law"], PLAIN: PALETTE[1], LAST_VALUE: PALETTE[2]}
    errors = np.geomspace(_LEAST, _FURTHEST, _PLACES)
    for method in medians.index:
        off = np.sort(grouped.get_group(method).to_numpy())
        share = np.searchsorted(off, errors, side="right") / off.size
        width, order = (2.2, 3) if method in strong else (0.9, 2)
        ax.plot(errors[share > 0], share[share > 0], label=method if method in strong else f"_{method}",
                color=strong.get(method, COLOURS["limit"]), lw=width, zorder=order)  # fmt: skip
    if set(medians.index) - set(strong):
        ax.plot([], [], color=COLOURS["limit"], lw=0.9, label="other methods")
    ax.set_xscale("log")
    ax.set_xlim(_LEAST, _FURTHEST)
    ax.set_ylim(0, 1)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}" if value >= 0.01 else f"{value:.1%}"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    ax.set_xlabel("Error of the forecast")
    ax.set_ylabel("Share of the points")
    ax.legend(fontsize="small", loc="upper left")
    return ax
