"""One curve: its runs, levels and results, and how they are shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from loadcurve.analysis.cells import (
    interval_cell,
    level_cells,
    objective_words,
    range_text,
    rate_cell,
    result_cells,
    shown,
)
from loadcurve.analysis.sentences.levels import saturation_words
from loadcurve.blocks import Block, Grid, Items, Paragraph, Section, to_display, to_text
from loadcurve.models import Fit
from loadcurve.stats import Estimate
from loadcurve.units import format_quantity

_HEADINGS = ["resource", "against the observed throughput", "busy", "work per request", "interval"]
_HEADINGS += ["allows [requests/s]", "interval"]


def bottleneck_grid(ranked: pd.DataFrame) -> Grid:
    """Return the resources as a table, the one that allows least first."""
    rows = [
        [
            row["resource"] if row["servers"] == 1 else f"{row['resource']} ({row['servers']:g})",
            row["meaning"],
            format_quantity(row["utilisation_ratio"], "ratio", 2),
            "" if np.isnan(row["demand_s"]) else shown(row["demand_s"], "s"),
            range_text(row["demand_lo"], row["demand_hi"], "s"),
            rate_cell(row["saturation_rps"]),
            interval_cell(row["saturation_lo"], row["saturation_hi"]),
        ]
        for row in ranked.to_dict("records")
    ]
    caption = (
        f"Bottlenecks (work per request: U/X of saturated loads, else the slope below them); {plateau_text(ranked)}"
    )
    return Grid(_HEADINGS, rows, caption, left=2)


def plateau_text(ranked: pd.DataFrame) -> str:
    """Return the observed plateau in words.

    Examples
    --------
    >>> plateau_text(pd.DataFrame({"plateau_rps": [400.0], "plateau_lo": [390.0], "plateau_hi": [410.0]}))
    'the observed plateau is 400 requests/s [390 to 410 requests/s]'
    """
    value, lo, hi = ranked[["plateau_rps", "plateau_lo", "plateau_hi"]].clip(lower=0).iloc[0]
    if np.isnan(value):
        return "throughput has no plateau yet"
    return f"the observed plateau is {shown(value, 'rps')} {range_text(lo, hi, 'rps')}".strip()


def bottlenecks_caption(ranked: pd.DataFrame, of: str = "") -> str:
    """Return which resource allows least, and what the observed throughput says about it.

    Parameters
    ----------
    ranked : pandas.DataFrame
        As for `bottleneck_grid`.
    of : str
        `` of NAME`` of the curve, or empty.

    Examples
    --------
    >>> row = {"resource": "CPU", "saturation_rps": 404.0, "saturation_lo": 390.0, "saturation_hi": 420.0,
    ...        "meaning": "saturated", "plateau_rps": 400.0, "plateau_lo": 390.0, "plateau_hi": 410.0}
    >>> bottlenecks_caption(pd.DataFrame([row]))
    'The tightest resource is CPU, which allows 404 requests/s [390 to 420 requests/s]; the observed plateau is \
400 requests/s [390 to 410 requests/s]: saturated.'
    """
    row = ranked.iloc[0]
    if np.isnan(row["saturation_rps"]):
        return f"The tightest resource{of} is not known: {row['resource']} is {row['meaning']}."
    ends = range_text(row["saturation_lo"], row["saturation_hi"], "rps")
    allows = f"which allows {shown(row['saturation_rps'], 'rps')} {ends}".strip()
    return f"The tightest resource{of} is {row['resource']}, {allows}; {plateau_text(ranked)}: {row['meaning']}."


LEVELS = "Levels (throughput and mean response time: mean of the runs; percentiles and errors: worst run)"


@dataclass(frozen=True)
class Result:
    """A quantity of a curve.

    Attributes
    ----------
    name : str
        ``peak``, ``latency_min``, ``demand``, ``saturation``, ``usl.peak`` …: unique in its curve.
    label : str
        The quantity in words, with its symbol.
    unit : str
        As `loadcurve.units.format_quantity` takes it.
    estimate : Estimate
        Value and interval.

    Examples
    --------
    >>> Result("peak", "Highest mean throughput", "rps", Estimate(400.0, 390.0, 410.0, 0.95, "mean")).estimate.value
    400.0
    """

    name: str
    label: str
    unit: str
    estimate: Estimate


@dataclass(frozen=True, repr=False)
class Curve:
    """Runs of one variant over their loads, and what the models find in them.

    Attributes
    ----------
    variant : str
        Name, with every factor that differs between runs of one load.
    load : str
        Column of the load: ``connections`` or ``target_rate_rps``.
    runs : pandas.DataFrame
        One row for each run, with its quantiles and ``error_ratio``.
    levels : pandas.DataFrame
        As `summarise_load_levels` returns it.
    results : tuple of Result
        In the order in which a report shows them.
    fit : Fit or None
        The Universal Scalability Law; None without enough levels.
    usage : pandas.DataFrame
        Utilisation of each watched resource in each run; empty without monitors.
    demands : pandas.DataFrame
        As `summarise_demands` returns it; empty without monitors.
    bottlenecks : pandas.DataFrame
        As `summarise_bottlenecks` returns it; empty without monitors.
    bottleneck : str
        What limits the throughput, in a sentence; empty where nothing was watched.
    missing : mapping of str to str
        Quantity -> why there is no result.
    """

    variant: str
    load: str
    runs: pd.DataFrame
    levels: pd.DataFrame
    results: tuple[Result, ...]
    fit: Fit | None
    usage: pd.DataFrame
    demands: pd.DataFrame
    bottlenecks: pd.DataFrame
    bottleneck: str
    missing: Mapping[str, str]

    def __str__(self) -> str:
        return to_text([Section(self.variant, self.blocks())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_display([Section(self.variant, self.blocks())])

    def blocks(self, draw: "Draw | None" = None, left_out: Sequence[str] = ()) -> list[Block]:
        """Return what is known about the curve, and what is not and why.

        Parameters
        ----------
        draw : callable, optional
            Returns the figures of a curve; by default there are none.
        left_out : sequence of str
            Sentences about what was not computed that are said elsewhere.
        """
        blocks: list[Block] = []
        if len(self.levels):
            throughput = self.levels["throughput_rps"].to_list()
            blocks.append(Grid(*level_cells(self.levels, self.load), LEVELS, bars=throughput, bars_title="throughput"))
        blocks += draw(self) if draw else []
        if self.results:
            level = f"{self.results[0].estimate.level:.0%} interval".replace("%", " %")
            cells = [result_cells(result.label, result.estimate, result.unit) for result in self.results]
            blocks.append(Grid(["quantity", "value", level], cells, "Results", left=3))
        if "saturation" in self:
            costs = saturation_words(self.levels, self["saturation"].value, self["latency_min"].value)
            blocks.append(Paragraph("Around N*", costs))
        if self.bottleneck:
            blocks += [Paragraph("Bottleneck", self.bottleneck), bottleneck_grid(self.bottlenecks)]
        notes = dict.fromkeys(warning for result in self.results for warning in result.estimate.warnings)
        absent = [sentence for sentence in self.absent() if sentence not in left_out]
        return [*blocks, Items("Weak points", list(notes)), Items("Not computed", absent)]

    def absent(self) -> list[str]:
        """Return a sentence for each quantity that was not computed."""
        return [f"{objective_words(name)}: {reason}" for name, reason in self.missing.items()]

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of a quantity by its name; raises KeyError where there is none."""
        for result in self.results:
            if result.name == name:
                return result.estimate
        raise KeyError(name)

    def __contains__(self, name: str) -> bool:
        """Whether there is a result with this name."""
        return any(result.name == name for result in self.results)


Draw = Callable[[Curve], Sequence[Block]]
"""Returns the figures of a curve, or the reason why there is none."""
