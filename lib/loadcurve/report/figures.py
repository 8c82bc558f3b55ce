"""Figures of curves and of all runs for a page: SVG within it, with caption and alt text computed from the results."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from loadcurve.analysis import Curve, summarise_timeline
from loadcurve.analysis.sentences import (
    bottlenecks_caption,
    latency_alt,
    latency_caption,
    throughput_alt,
    throughput_caption,
    throughput_key,
    usage_alt,
    usage_caption,
)
from loadcurve.blocks import Block, Drawing, Items, Section
from loadcurve.errors import LoadcurveError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CHARACTERS = 350_000
"""Of all drawings of a page: with its tables it stays below 500 kB, the size that mail and review tools accept."""

_FULL = "the page would exceed 500 kB; analyse fewer curves for their figures"

_PROLOGUE = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->", re.S)
_SIZE = re.compile(r' (?:width|height)="[0-9.]+pt"')
_ID = re.compile(r' id="([^"]*)"')
_LONG_NUMBER = re.compile(r"(\d+\.\d\d)\d+")


def _throughput_words(curve: Curve) -> str:
    return f"{throughput_caption(curve)} {throughput_key(curve)}"


def _bottlenecks_words(curve: Curve) -> str:
    key = "Filled: measured at saturation; open: extrapolated from lower loads; grey: observed throughput."
    return f"{bottlenecks_caption(curve.bottlenecks)} {key}"


def _bottlenecks_alt(curve: Curve) -> str:
    return f"What each resource allows, beside the observed throughput. {bottlenecks_caption(curve.bottlenecks)}"


class Figures:
    """Draws the figures of each curve, as long as the page stays small.

    A figure that cannot be drawn is left out, and the page shows the reason.
    """

    def __init__(self) -> None:
        self._left = _MOST_CHARACTERS
        self._number = 0
        self._full = False

    def __call__(self, curve: Curve) -> Sequence[Block]:
        """Return the figures of a curve, and the reasons for those that are left out."""
        from loadcurve import plots  # a text report needs no matplotlib

        if curve.levels.empty:
            return []  # the reason is listed as that of the throughput over load
        drawn: list[Block] = []
        left_out: list[str] = []
        figures: list[tuple[str, Callable[[], Axes], Callable[[Curve], str], Callable[[Curve], str]]] = [
            ("Throughput over load", lambda: plots.plot_curve_throughput(curve), _throughput_words, throughput_alt),
            ("Response time over load", lambda: plots.plot_curve_latency(curve), latency_caption, latency_alt),
            ("Utilisation", lambda: plots.plot_utilisation(curve.usage, curve.demands), usage_caption, usage_alt),
            ("Bottlenecks", lambda: plots.plot_bottlenecks(curve.bottlenecks), _bottlenecks_words, _bottlenecks_alt),
        ]
        for name, plot, caption, alt in figures:
            if name in ("Utilisation", "Bottlenecks") and curve.demands.empty:
                continue  # the reason is listed as that of the bottleneck
            block, reason = self._drawn(name, plot, partial(caption, curve), partial(alt, curve))
            drawn += block
            left_out += reason
        return [*drawn, Items("Figures left out", left_out)]

    def timeline(self, tables: Mapping[str, pd.DataFrame]) -> Sequence[Block]:
        """Return a section with all samples of monitors on one clock, and nothing where there are none with a time."""
        runs = tables["runs"]
        if runs["started_at"].isna().all():
            return []
        timeline = summarise_timeline(tables)
        if timeline["panel"].nunique() < 2:
            return []
        try:
            from loadcurve import plots
        except ImportError:
            return []  # the first curve gives the reason
        what = ", ".join(name.partition(" [")[0] for name in timeline["panel"].unique())
        names = runs["run_id"].unique()
        number = f"run {names[0]}" if len(names) == 1 else f"{len(names)} runs"
        caption = (
            f"{what} of {number} on one clock. Throughput is counted each second where every request was "
            "recorded, otherwise it is the mean of each run; all else are samples of the monitors, or, where runs "
            "are short, the mean of each run (the largest number of sockets)."
        )
        alt = f"Panels above each other over the seconds since the load began: {what}."
        drawn, left_out = self._drawn("Timeline", lambda: plots.plot_timeline(timeline), lambda: caption, lambda: alt)
        return [Section("Timeline", [*drawn, Items("Figures left out", left_out)])]

    def _drawn(
        self, name: str, plot: Callable[[], "Axes"], caption: Callable[[], str], alt: Callable[[], str]
    ) -> tuple[list[Block], list[str]]:
        """Return the drawing, or why it is left out."""
        if self._full:
            return [], [f"{name}: {_FULL}"]
        try:
            svg = self._svg(plot(), alt())
        except LoadcurveError as error:
            return [], [f"{name}: {error}"]
        if len(svg) > self._left:
            self._full = True
            return [], [f"{name}: {_FULL}"]
        self._left -= len(svg)
        return [Drawing(svg, caption(), alt())], []

    def _svg(self, ax: "Axes", alt: str) -> str:
        """Return the figure as one element for a page: as wide as its box, named by its alt text, few digits."""
        import matplotlib.pyplot as plt

        from loadcurve.plots.style import figure_of, svg_text

        self._number += 1
        drawing = _PROLOGUE.sub("", svg_text(ax, f"report/{self._number}"))
        plt.close(figure_of(ax))
        drawing = _SIZE.sub("", drawing, count=2).replace("xlink:href", "href")
        drawing = drawing.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
        drawing = drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
        used = set(re.findall(r"#([\w.-]+)", drawing))
        drawing = _ID.sub(lambda found: found[0] if found[1] in used else "", drawing)
        return _LONG_NUMBER.sub(r"\1", drawing).strip()
