"""A figure for the width of a phone: the same artists in a narrower figure, with smaller and wrapped text."""

import contextlib
import textwrap
from collections.abc import Iterator

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.text import Text

from loadcurve.plots.style import figure_of

# A phone of 390 px leaves 358 px beside the page's margins.  Text of 12 px is a thirtieth of them, so a figure of 3.45
# inches (248.4 points) has text of 8.33 points, 40 letters of which are a line beside the labels of the y axis.
WIDTH_INCHES, TEXT_POINTS, LETTERS = 3.45, 8.33, 40


@contextlib.contextmanager
def narrowed(ax: Axes) -> Iterator[None]:
    """Make the figure of an Axes as wide as a phone during a block, and restore it at the end.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, ax = plt.subplots(figsize=(5.4, 3.5))
    >>> with narrowed(ax):
    ...     print(figure.get_size_inches())
    [3.45 3.5 ]
    >>> print(figure.get_size_inches())
    [5.4 3.5]
    """
    figure = figure_of(ax)
    width, height = figure.get_size_inches()
    texts = [(text, text.get_text(), text.get_fontsize()) for text in figure.findobj(Text)]
    axes = [axis for one in figure.axes for axis in (one.xaxis, one.yaxis)]
    sizes = [axis.get_tick_params().get("labelsize", mpl.rcParams["xtick.labelsize"]) for axis in axes]
    try:
        figure.set_size_inches(WIDTH_INCHES, height)
        for text, words, points in texts:
            text.set_fontsize(min(points, TEXT_POINTS))
            if not text.get_rotation():
                text.set_text("\n".join(textwrap.fill(line, LETTERS) for line in words.split("\n")))
        for axis in axes:
            axis.set_tick_params(which="both", labelsize=TEXT_POINTS)
        if any(len(one.get_xlabel()) > LETTERS / 2 for one in figure.axes):
            figure.draw_without_rendering()  # the labels of the y axis decide how wide the axes are
            for one in figure.axes:
                letters = one.get_window_extent().width * 72 / figure.dpi / (0.55 * TEXT_POINTS)
                one.set_xlabel(textwrap.fill(one.get_xlabel(), max(round(letters), LETTERS // 2)))
        yield
    finally:
        figure.set_size_inches(width, height)
        for axis, size in zip(axes, sizes, strict=True):
            axis.set_tick_params(which="both", labelsize=size)
        for text, words, points in texts:
            text.set(text=words, fontsize=points)
