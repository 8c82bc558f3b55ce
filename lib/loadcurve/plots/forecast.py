"""Plots of extrapolation: what a tournament predicts beyond the fitted loads, and the errors of several methods."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from loadcurve.plots._axes import axes_or_new, connections_axis, throughput_axis
from loadcurve.plots.style import COLOURS, PALETTE

LAST_VALUE, PLAIN, STACK = "last value held", "usl as people write it", "stack of forecasts"
"""Forecast methods with their own colour."""
# Larger errors are not drawn: a forecast with a larger error ratio is wrong, whatever its exact error.
_FURTHEST = 3.0
_LEAST = 3e-3
_PLACES = 250  # along the axis, more than a reader distinguishes


def plot_forecast(points: pd.DataFrame, bands: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot points of a curve, and the prediction from its first part: median of the laws and prediction band.

    Parameters
    ----------
    points : pandas.DataFrame
        ``connections, throughput_rps`` and ``seen``, whether the fits used the point.
    bands : pandas.DataFrame
        Table from `Tournament.predict`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

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

    Parameters
    ----------
    forecasts : pandas.DataFrame
        ``method`` and ``error_ratio``, from `forecast_curves`; NaN for a point without a forecast.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

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
