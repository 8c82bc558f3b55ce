"""The common style of all figures: sizes, ink and colours; and a figure as SVG text."""

import io
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch
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
    "legend.handlelength": 1.4,
    "legend.columnspacing": 1.0,
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


_COLOURED_TEXT = re.compile(r"(<text [^>]*fill: )(#[0-9a-f]{6})")
_ALONE = "svg:root{color-scheme:light dark;color:CanvasText}"  # for the file itself, and for a page's <img>


def svg_text(ax: Axes, salt: str) -> str:
    """Return the figure of an Axes as SVG, the same text for the same figure."""
    drawing = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        figure_of(ax).savefig(drawing, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    # Replace the ink by the page's text colour, which differs between the light and the dark scheme, and mix it into
    # coloured text.  A reader of SVG that does not know color-mix keeps the colour before it.
    inked = re.sub(rf"(fill|stroke): {INK}", r"\1: currentColor", drawing.getvalue())
    mixed = rf"\1\2; fill: color-mix(in srgb, \2 {TEXT_SHARE:.0%}, currentColor)"
    return _COLOURED_TEXT.sub(mixed, inked).replace("</style>", f"{_ALONE}</style>", 1)


def shows_something(ax: Axes) -> bool:
    """Return whether an Axes shows a point, line, area or bar in data units; limit lines across it do not count."""
    lines = (line.get_xydata() for line in ax.lines if line.get_transform() is ax.transData)
    offsets: Iterator[Any] = (c.get_offsets() for c in ax.collections if not _has_paths(c))
    points: Iterator[Any] = (np.ma.filled(np.ma.asarray(xy, float), np.nan) for xy in offsets)
    paths = (path.vertices for c in ax.collections if _has_paths(c) for path in c.get_paths())
    drawn = any(np.isfinite(np.asarray(xy, float)).all(axis=1).any() for xy in itertools.chain(lines, points, paths))
    return drawn or bool(ax.images) or any(_is_finite_bar(ax, patch) for patch in ax.patches)


def _has_paths(collection: Collection) -> bool:
    """Return whether a collection has its data in paths, as areas and lines do, and not in offsets, as points do."""
    return isinstance(collection, PolyCollection | LineCollection)


def _is_finite_bar(ax: Axes, patch: Patch) -> bool:
    """Return whether a patch is in data units and has a known position and size."""
    if patch.get_data_transform() is not ax.transData:
        return False
    corners = patch.get_patch_transform().transform(patch.get_path().vertices)
    return bool(np.isfinite(corners).all())
