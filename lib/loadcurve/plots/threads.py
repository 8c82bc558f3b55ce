"""Plot processor utilisation by number of threads: by the sizing formula, and exactly with queueing."""

import pandas as pd
from matplotlib.axes import Axes

from loadcurve.plots._axes import axes_or_new, connections_axis, percent_axis
from loadcurve.plots.style import colours

# Tolerance, so that a number of threads just below an integer by rounding counts as that integer.
_ROUNDING = 1 + 1e-9


def plot_busy_by_threads(busy: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot utilisation of a processor against threads: exact (line) and by the formula (dashed), a colour per case.

    The diamond and the label of a case are at the whole number of threads that fills the processor by the formula.

    Parameters
    ----------
    busy : pandas.DataFrame
        ``case`` (its name), ``threads``, ``utilisation_ratio`` (exact), ``bound_ratio`` (by the formula) and
        ``threads_to_fill`` (one number for each case).
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> busy = pd.DataFrame({"case": "10 ms wait", "threads": [1, 2, 4], "utilisation_ratio": [0.3, 0.5, 0.8],
    ...                      "bound_ratio": [0.3, 0.6, 1.0], "threads_to_fill": 3.3})
    >>> plot_busy_by_threads(busy).texts[0].get_text()
    '10 ms wait: 2 threads, 50% busy'
    """
    ax = axes_or_new(ax, busy=busy)
    palette = colours(busy["case"].unique())
    for place, (case, rows) in enumerate(busy.groupby("case", sort=False)):
        color = palette[case]
        ax.plot(rows["threads"], rows["bound_ratio"], "--", color=color, linewidth=1.2, alpha=0.8)
        ax.plot(rows["threads"], rows["utilisation_ratio"], color=color)
        full = rows[rows["threads"] <= rows["threads_to_fill"] * _ROUNDING].iloc[-1]
        ax.plot(full["threads"], full["utilisation_ratio"], "D", color=color, linestyle="none")
        # Label where no curve of a pool that fills its processor runs.
        ax.text(
            0.99, 0.05 + 0.08 * place, f"{case}: {full['threads']:g} threads, {full['utilisation_ratio']:.0%} busy",
            transform=ax.transAxes, ha="right", color=color, fontsize=9,
        )  # fmt: skip
    connections_axis(ax)
    ax.set_xlabel("Threads")
    ax.set_ylim(0, 1.04)
    percent_axis(ax.yaxis, "Processor busy")
    return ax
