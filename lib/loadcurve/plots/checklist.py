"""Plot answers in a grid, one mark for each: reports against a checklist, balancers against acceptance checks."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from loadcurve.errors import ValueRuleError
from loadcurve.plots._axes import axes_or_new, write
from loadcurve.plots.style import COLOURS, PALETTE, figure_of

# The fill of a mark is the answer, so that the figure can be read without colour.
_MARKS: dict[str, dict[str, Any]] = {
    "yes": {"marker": "o", "fillstyle": "full"},
    "partly": {"marker": "o", "fillstyle": "left"},
    "no": {"marker": "o", "fillstyle": "none"},
    "not checked": {"marker": "_", "fillstyle": "none"},
}
_VERDICTS: dict[str, dict[str, Any]] = {
    "pass": {**_MARKS["yes"], "color": PALETTE[0]},
    "fail": {**_MARKS["no"], "color": PALETTE[1]},
    "not checked": {**_MARKS["not checked"], "color": COLOURS["limit"]},
}
# Names of columns with more letters than this rise to the right, so that none runs into the next one on a phone.
_LEVEL = 8


def plot_checklist(answers: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot a row for each item and a column for each report: a full mark is yes, a half mark partly, an empty mark no.

    A dash is an item that cannot be checked.

    `answers`: ``report item answer``, one row for each report and item; answers as in `audit.ANSWERS`.

    Raises
    ------
    ValueRuleError
        When an answer is not one of `audit.ANSWERS`, because it would be left out of the figure.

    Examples
    --------
    >>> answers = pd.DataFrame({"report": ["A", "B"], "item": "states_its_tool", "answer": ["yes", "no"]})
    >>> [label.get_text() for label in plot_checklist(answers).get_yticklabels()]
    ['states its tool']
    """
    if wrong := sorted(set(answers["answer"].astype(str)) - set(_MARKS)):
        raise ValueRuleError("answer", f"one of {', '.join(_MARKS)}", wrong[0])
    ax = axes_or_new(ax, answers=answers)
    reports, items = list(answers["report"].unique()), list(answers["item"].unique())
    for answer, mark in _MARKS.items():
        rows = answers[answers["answer"] == answer]
        x, y = [reports.index(report) for report in rows["report"]], [items.index(item) for item in rows["item"]]
        color = COLOURS["limit"] if answer == "not checked" else PALETTE[0]
        ax.plot(x, y, color=color, markerfacecoloralt="none", linestyle="none", markersize=9, label=answer, **mark)
    _label_grid(ax, reports, items)
    ax.legend(ncols=len(_MARKS), loc="upper center", bbox_to_anchor=(0.4, -0.02), fontsize="small", columnspacing=1.0)
    return ax


def plot_acceptance(judged: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot a row for each check and a column for each balancer: a mark beside its verdict; a dash is not checked.

    `judged`: ``check balancer verdict``, as `loadcurve.acceptance.judge_acceptance` returns it.

    Examples
    --------
    >>> judged = pd.DataFrame({"check": "round_robin", "balancer": ["nft", "ipvs"], "verdict": ["fail", "pass"]})
    >>> [text.get_text() for text in plot_acceptance(judged).texts]
    ['fail', 'pass']
    """
    ax = axes_or_new(ax, judged=judged)
    balancers, checks = list(judged["balancer"].unique()), list(judged["check"].unique())
    for row in judged.itertuples():
        at, mark = (balancers.index(row.balancer), checks.index(row.check)), _VERDICTS[row.verdict]
        ax.plot(*at, linestyle="none", markersize=9, **mark)
        if row.verdict != "not checked":  # its mark is a dash
            write(ax, row.verdict, at, (9, 0), mark["color"])
    _label_grid(ax, balancers, checks)
    ax.grid(visible=False)  # a line would cross the words; bands lead along the rows
    for place in range(0, len(checks), 2):
        ax.axhspan(place - 0.5, place + 0.5, color=COLOURS["limit"], alpha=0.1, linewidth=0)
    ax.set_xlim(-0.25, len(balancers) - 0.25)
    return ax


def _label_grid(ax: Axes, columns: list[str], rows: list[str]) -> None:
    """Name columns at the top and rows at the left, from top to bottom, and make the figure as high as its rows."""
    slope: dict[str, Any] = (
        {"rotation": 30, "ha": "left", "rotation_mode": "anchor"} if max(map(len, columns)) > _LEVEL else {}
    )
    ax.set_xticks(range(len(columns)), columns, **slope)
    ax.set_yticks(range(len(rows)), [name.replace("_", " ") for name in rows])
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    ax.grid(visible=False, axis="x")
    figure_of(ax).set_figheight(1.1 + 0.3 * len(rows))
