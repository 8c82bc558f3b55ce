"""One curve: its runs, levels and results, and how they are shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from loadcurve.analysis.bottlenecks import bottleneck_grid
from loadcurve.analysis.cells import level_cells, objective_words, result_cells
from loadcurve.analysis.sentences.levels import saturation_words
from loadcurve.blocks import Block, Grid, Items, Paragraph, Section, to_display, to_text
from loadcurve.models import Fit
from loadcurve.stats import Estimate
from loadcurve.tables.curves import SATURATED_RATIO

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

    @property
    def generator_full(self) -> pd.Series:
        """Whether the load generator's processor was full at each of `levels`: the server may serve more there."""
        return self.levels.get("generator_ratio", pd.Series(np.nan, self.levels.index)) >= SATURATED_RATIO

    def __str__(self) -> str:
        return to_text([Section(self.variant, self.blocks())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_display([Section(self.variant, self.blocks())])

    def blocks(self, draw: "Draw | None" = None, left_out: Sequence[str] = ()) -> list[Block]:
        """Return what is known about the curve, and what is not and why.

        ``left_out`` are the sentences about what was not computed that are said elsewhere.
        """
        blocks: list[Block] = []
        if len(self.levels):
            throughput = self.levels["throughput_rps"].to_list()
            blocks.append(Grid(*level_cells(self.levels, self.load), LEVELS, bars=throughput, bars_title="throughput"))
        blocks += draw(self) if draw else []
        if self.results:
            level = f"{self.results[0].estimate.level:.0%} interval".replace("%", " %")
            usual = self.results[0].estimate.level
            cells = [result_cells(result.label, result.estimate, result.unit, usual) for result in self.results]
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
