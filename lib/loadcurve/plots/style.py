"""One style for every figure: sizes, ink and colours."""

import itertools
from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

# The text colour of a figure; published drawings replace it by the page's own, so it occurs nowhere else.
INK = "#1c1e21"

# Okabe and Ito's hues (Color Universal Design, 2008), tuned so that each keeps a contrast of 3:1 and more on white
# and on the dark scheme's background: safe for colour-blind readers, readable in both.
PALETTE = ("#2f7fc1", "#d2690e", "#2a9270", "#b0609f", "#8a7a1f", "#6f7a86")

# The same entity has the same colour everywhere.
COLOURS = {"cpu": PALETTE[0], "delay": PALETTE[1], "law": PALETTE[3], "limit": PALETTE[5]}

STYLE: dict[Any, Any] = {
    "figure.figsize": (5.4, 3.5),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.size": 10,
    "font.sans-serif": ["DejaVu Sans"],
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name with dollars in it is a name
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
    """Make this the style of every figure drawn from now on."""
    mpl.rcParams.update(STYLE)


def figure_of(ax: Axes) -> Figure:
    """Return the whole figure that holds an Axes, also where a part of the figure holds it.

    Raises
    ------
    ValueError
        When the Axes was removed from its figure.
    """
    if (figure := ax.get_figure(root=True)) is None:
        raise ValueError("ax must be of a figure, got removed Axes")
    return figure


def colours(entities: Iterable[str]) -> dict[str, str]:
    """Colour of each entity: its own where it has one, else the next of the palette that none of them has.

    Examples
    --------
    >>> colours(["cpu", "alpha"]) == {"cpu": PALETTE[0], "alpha": PALETTE[1]}
    True
    """
    found = {name: COLOURS[name] for name in entities if name in COLOURS}
    free = itertools.cycle([c for c in PALETTE if c not in found.values()])
    return {name: found.get(name) or next(free) for name in entities}
