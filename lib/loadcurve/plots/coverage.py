"""Plot shares with the uncertainty of their count: coverage of intervals in simulations, error rates of the audit."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from loadcurve.plots._axes import axes_or_new, percent_axis
from loadcurve.plots.style import COLOURS, colours, figure_of

CLAIMED = (0.93, 0.97)
"""Range of coverage required of a simulated 95 % interval."""
# Share of a method's row height that its dots occupy.
_SPREAD = 0.7


def plot_interval_coverage(coverage: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot the coverage of each method, a dot with its interval for each size of the study, from top to bottom.

    The coverage required of a 95 % interval is shaded; the dashed line is 95 %.

    Parameters
    ----------
    coverage : pandas.DataFrame
        ``method size coverage lo hi``, one row for each method and size; ``size`` is the label of the dot, such as
        ``6 levels``.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> coverage = pd.DataFrame({"method": ["USL"], "size": "6 levels", "coverage": 0.95, "lo": 0.93, "hi": 0.97})
    >>> ax = plot_interval_coverage(coverage)
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_yticklabels()]
    ('Intervals that hold the truth', ['USL'])
    """
    ax = axes_or_new(ax, coverage=coverage)
    ax.axvspan(*CLAIMED, color=COLOURS["limit"], alpha=0.18, linewidth=0, zorder=0)
    ax.axvline(sum(CLAIMED) / 2, color=COLOURS["limit"], linestyle="--", zorder=1)
    _draw_shares(ax, coverage.dropna(subset=["coverage"]))
    percent_axis(ax.xaxis, "Intervals that hold the truth")
    return ax


def plot_error_rates(rates: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot precision and recall of each rule, a dot with its interval for each, from top to bottom.

    Parameters
    ----------
    rates : pandas.DataFrame
        ``rule measure share lo hi``, one row for each rule and measure; ``measure`` is the label of the dot, such as
        ``precision``.  A row without a share is left out.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; by default, those of a new figure.

    Examples
    --------
    >>> rates = pd.DataFrame({"rule": ["timeouts"], "measure": "recall", "share": 0.9, "lo": 0.8, "hi": 1.0})
    >>> ax = plot_error_rates(rates)
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_yticklabels()]
    ('Share of the findings', ['timeouts'])
    """
    ax = axes_or_new(ax, rates=rates)
    known = rates.rename(columns={"rule": "method", "measure": "size", "share": "coverage"}).dropna(subset=["coverage"])
    _draw_shares(ax, known)
    figure_of(ax).set_figheight(1.4 + 0.3 * known["method"].nunique())
    ax.xaxis.set_major_locator(MultipleLocator(0.2))
    percent_axis(ax.xaxis, "Share of the findings")
    return ax


def _draw_shares(ax: Axes, known: pd.DataFrame) -> None:
    methods = list(known["method"].unique())
    palette = colours(known["size"].unique())
    for place, method in enumerate(reversed(methods)):
        rows = known[known["method"] == method]
        for turn, row in enumerate(rows.itertuples()):
            y = place + _SPREAD * (0.5 - (turn + 0.5) / len(rows))
            ax.plot([row.lo, row.hi], [y, y], color=palette[row.size], linewidth=2, alpha=0.5)
            ax.plot(row.coverage, y, "o", color=palette[row.size], markersize=4)
    for size in palette:
        ax.plot([], [], "o", color=palette[size], label=str(size))
    ax.set_yticks(range(len(methods)), [method.replace(", ", ",\n") for method in reversed(methods)])
    ax.set_ylim(-0.6, len(methods) - 0.4)
    ax.grid(visible=False, axis="y")
    ax.xaxis.set_major_locator(MultipleLocator(0.1))
    ax.legend(ncols=len(palette), fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), handletextpad=0)
