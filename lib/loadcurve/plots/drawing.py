"""Return a figure as SVG text, and check that it shows data."""

import io
import itertools
import re
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PolyCollection
from matplotlib.patches import Patch

from loadcurve.plots.style import INK, TEXT_SHARE, figure_of

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
