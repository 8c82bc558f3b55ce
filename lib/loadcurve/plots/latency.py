"""Plots of response times: percentiles up to the far tail, and open beside closed loop."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from loadcurve.analysis.cells import connections_words
from loadcurve.analysis.open_loop import QUANTILES
from loadcurve.models.capacity import overload_latency_s
from loadcurve.plots._axes import axes_or_new, log_seconds_axis, name_ends, write
from loadcurve.plots.style import COLOURS, PALETTE, colours
from loadcurve.stats import Estimate


def plot_percentiles(percentiles: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot response times against the percentile, on an axis that is logarithmic in the share of slower responses.

    `percentiles`: ``curve`` (its name), ``quantile`` (0 to 1, 1 excluded) and ``latency_s``; optionally
    ``corrected``: a corrected curve is drawn dashed, in the colour of the measured one of the same name.

    Examples
    --------
    >>> tail = pd.DataFrame({"curve": "nginx", "quantile": [0.5, 0.9, 0.99], "latency_s": [0.001, 0.002, 0.01]})
    >>> [text.get_text() for text in plot_percentiles(tail).texts]
    ['nginx']
    """
    ax = axes_or_new(ax, percentiles=percentiles)
    palette = colours(percentiles["curve"].unique())
    known = percentiles.assign(corrected=percentiles.get("corrected", pd.Series(False, percentiles.index)))
    ends = []
    for (curve, corrected), rows in known.groupby(["curve", "corrected"], sort=False):
        ordered = rows.sort_values("quantile")
        slower = 1 - ordered["quantile"].astype(float)
        ax.plot(slower, ordered["latency_s"], "--" if corrected else "-", color=palette[curve])
        words = f"{curve}, corrected" if corrected else str(curve)
        ends.append((float(slower.iloc[-1]), float(ordered["latency_s"].iloc[-1]), words, palette[curve]))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.invert_xaxis()
    name_ends(ax, ends)
    last = float((1 - known["quantile"].astype(float)).min())
    ax.set_xticks([0.5, *(10.0**-digits for digits in range(1, 7) if 10.0**-digits >= 0.99 * last)])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * (1 - share):.6g} %"))
    ax.xaxis.set_minor_locator(NullLocator())
    log_seconds_axis(ax, "Response time")
    ax.set_xlabel("Percentile of responses")
    return ax


_STYLES = {"latency_p50_s": (":", "o", "p50"), "latency_p99_s": ("-", "D", "p99")}


def plot_rates(offered: pd.DataFrame, closed: pd.DataFrame, capacity: Estimate, *, ax: Axes | None = None) -> Axes:
    """Plot median and p99 by rate: of an open loop by what was offered, of a closed loop by what was served.

    - `offered`: ``target_rate_rps duration_s latency_p50_s latency_p99_s`` of each run of an open loop, timed from
      when requests were due.
    - `closed`: ``connections throughput_rps latency_p50_s latency_p99_s`` of each run of a closed loop.
    - `capacity`: in requests/s: the shaded interval, and the start of the grey lines that predict the overload from
      the length of the runs.

    Examples
    --------
    >>> columns = ["target_rate_rps", "latency_p50_s", "latency_p99_s"]
    >>> offered = pd.DataFrame([[50.0, 0.02, 0.03], [120.0, 0.3, 0.6]], columns=columns).assign(duration_s=4.0)
    >>> closed = pd.DataFrame({"connections": [1], "throughput_rps": 50.0, "latency_p50_s": 0.02})
    >>> closed = closed.assign(latency_p99_s=0.03)
    >>> ax = plot_rates(offered, closed, Estimate(100.0, 98.0, 102.0, 0.95, "mean"))
    >>> [" ".join(text.get_text().split()) for text in ax.texts]
    ['capacity', 'closed loop, 1 connection', 'open loop, p50', 'open loop, p99']
    """
    ax = axes_or_new(ax, offered=offered)
    ax.axvspan(capacity.lo, capacity.hi, color=COLOURS["limit"], alpha=0.35, linewidth=0, zorder=0)
    top = 1.03 * float(offered["target_rate_rps"].max())
    grid = np.linspace(capacity.value, max(top, capacity.value), 100)
    unloaded = float(offered.loc[offered["target_rate_rps"].idxmin(), "latency_p50_s"])
    duration = float(offered["duration_s"].astype(float).mean())
    for quantile in QUANTILES:
        predicted = overload_latency_s(grid, capacity.value, duration, quantile, unloaded)
        ax.plot(grid, predicted, color=COLOURS["limit"], linestyle="--", linewidth=1.2, zorder=1)
    write(ax, "capacity", (capacity.lo, 0.99), (-4, 0), COLOURS["limit"], xycoords=ax.get_xaxis_transform(), va="top")
    of_open = _draw_loop(ax, offered, "target_rate_rps", "target_rate_rps", PALETTE[0])
    of_closed = _draw_loop(ax, closed, "throughput_rps", "connections", PALETTE[1])
    named = of_closed.get("p99", pd.DataFrame())
    for connections, mean in named.iterrows():  # the last one is named to the left of the line
        is_last = connections == named.index[-1]
        words = f"closed loop,\n{connections_words(connections)}" if is_last else f"N = {connections:g}"
        offset = (-7, 0) if is_last else (6, -10)
        write(ax, words, (mean["load"], mean["latency_s"]), offset, PALETTE[1], fontsize="small")
    ax.set_yscale("log")
    ax.set_xlim(0, top)
    ax.set_xlabel("Requests per second: offered (open loop), served (closed loop)")
    log_seconds_axis(ax, "Response time")
    ends = {name: means.iloc[-1] for name, means in of_open.items()}
    name_ends(ax, [(end["load"], end["latency_s"], f"open loop, {name}", PALETTE[0]) for name, end in ends.items()])
    return ax


def _draw_loop(ax: Axes, rows: pd.DataFrame, load: str, by: str, color: str) -> dict[str, pd.DataFrame]:
    """Plot the percentiles of every run and their means by a column; return ``load latency_s`` of the means of each."""
    drawn = {}
    for column, (style, marker, percentile) in _STYLES.items():
        known = rows.reindex(columns=list({by, load, column})).astype(float).dropna()
        known = known[known[column] > 0]  # a time of 0 has no logarithm
        if known.empty:
            continue
        ax.scatter(known[load], known[column], color=color, alpha=0.35, s=14, lw=0, marker=marker)
        groups = known.groupby(by)
        means = pd.DataFrame({"load": groups[load].mean(), "latency_s": groups[column].mean()})
        ax.plot(means["load"], means["latency_s"], linestyle=style, color=color)
        drawn[percentile] = means
    return drawn
