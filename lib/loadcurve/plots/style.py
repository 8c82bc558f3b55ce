"""The common style of all figures: sizes, ink and colours."""

import itertools
from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

# Text colour of a figure; publishing replaces it by the page's text colour, so nothing else may use this colour.
INK = "#1c1e21"

# Okabe and Ito's hues (Color Universal Design, 2008), adjusted to a contrast of at least 3:1 on white and on the
# background of the dark scheme: safe for colour-blind readers, readable in both schemes.
PALETTE = ("#2f7fc1", "#d2690e", "#2a9270", "#b0609f", "#8a7a1f", "#6f7a86")

# Share of a palette colour in text of that colour; the rest is the page's text colour.  No colour alone has a contrast
# of 4.5:1 on white and on the dark background (WCAG 2.2, 1.4.3).
TEXT_SHARE = 0.7

# An entity has the same colour in every figure.
COLOURS = {"cpu": PALETTE[0], "delay": PALETTE[1], "law": PALETTE[3], "limit": PALETTE[5]}

STYLE: dict[Any, Any] = {
    "figure.figsize": (5.4, 3.5),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.size": 10,
    "font.sans-serif": ["DejaVu Sans"],
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar sign in a name is not a formula
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#888888",
    "grid.alpha": 0.25,
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "axes.prop_cycle": cycler(color=PALETTE),
}


def use() -> None:
    """Set this style for all figures created later."""
    mpl.rcParams.update(STYLE)


def figure_of(ax: Axes) -> Figure:
    """Return the figure that contains an Axes, also if the Axes is in a subfigure."""
    if (figure := ax.get_figure(root=True)) is None:
        raise ValueError("ax must be of a figure, got removed Axes")
    return figure


def colours(entities: Iterable[str]) -> dict[str, str]:
    """Return the colour of each entity: its fixed colour, or else the next unused colour of the palette.

    Examples
    --------
    >>> colours(["cpu", "alpha"]) == {"cpu": PALETTE[0], "alpha": PALETTE[1]}
    True
    """
    found = {name: COLOURS[name] for name in entities if name in COLOURS}
    free = itertools.cycle([c for c in PALETTE if c not in found.values()])
    return {name: found.get(name) or next(free) for name in entities}
