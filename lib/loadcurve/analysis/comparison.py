"""What a comparison of two measurements found, and how it is shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.analysis.gate import Gate
from loadcurve.blocks import Block, Grid, Items, Paragraph, to_display, to_text
from loadcurve.stats import Estimate
from loadcurve.tables.curves import LOOPS
from loadcurve.units import format_quantity, unit_of_column


@dataclass(frozen=True, repr=False)
class Comparison:
    """B against the baseline A, by one metric.

    Attributes
    ----------
    metric : str
        Column of the runs.
    baseline, other : str
        Names of A and B.
    levels : pandas.DataFrame
        One row for each variant and load that both have: ``variant``, a column for each kind of load (``connections``,
        ``target_rate_rps``), ``baseline_runs``,
        ``other_runs``, ``baseline`` and ``other`` (geometric means), ``ratio``, ``lo``, ``hi`` and ``verdict``:
        ``equivalent within ±2 %``, ``different`` or ``undecided``.
    overall : Estimate
        Geometric mean of the ratios of all levels.
    warnings : tuple of str
        What only one of the two has, and what weakens the overall ratio.
    """

    metric: str
    baseline: str
    other: str
    levels: pd.DataFrame
    overall: Estimate
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return to_text(self.blocks())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_display(self.blocks())

    def blocks(self) -> list[Block]:
        """Return what the comparison says: the overall ratio, a row for each level, and the warnings."""
        ratio = f"B / A = {ratio_words(self.overall)}, {100 * self.overall.level:g} % interval"
        headings, rows = self.cells()
        levels = Grid(headings, rows, "Ratio at each level", left=int(headings[0] == "variant"))
        title = Paragraph(self.metric, self.title)
        return [title, Paragraph("All levels", ratio), levels, Items("Warnings", self.warnings)]

    @property
    def title(self) -> str:
        """What is compared."""
        named = (
            f"{side} = {name}" if name != side else side for side, name in (("B", self.other), ("A", self.baseline))
        )
        return f"{' against '.join(named)} (geometric means over the runs)"

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows, with units, of the table of levels."""
        unit = unit_of_column(self.metric)
        loads = [name for name in LOOPS if name in self.levels]
        several = self._has_variants()
        at = loads[0] if len(loads) == 1 else "load"
        headings = [*(["variant"] if several else []), at, "runs", "A", "B", "B / A", "interval", "verdict"]
        rows = [
            [
                *([row["variant"]] if several else []),
                f"{row[at]:,g}" if len(loads) == 1 else _load_words(row),
                f"{row['baseline_runs']}, {row['other_runs']}",
                format_quantity(row["baseline"], unit),
                format_quantity(row["other"], unit),
                f"{row['ratio']:.3f}",
                _ends(row["lo"], row["hi"]),
                row["verdict"],
            ]
            for row in self.levels.to_dict("records")
        ]
        return headings, rows

    def judge(self, gate: Gate) -> Iterator[tuple[str, Estimate, str]]:
        """Yield name, ratio and verdict for the overall ratio and for each level that has an interval."""
        yield "all levels", self.overall, gate.judge(self.overall)
        for row in self.levels.to_dict("records"):
            if not np.isnan(row["lo"]):
                ratio = Estimate(row["ratio"], row["lo"], row["hi"], self.overall.level, "geometric means over runs")
                yield self._name_of(row), ratio, gate.judge(ratio)

    def _name_of(self, row: dict[str, Any]) -> str:
        variant = f"{row['variant']}, " if self._has_variants() else ""
        return f"{variant}{_load_words(row)}"

    def _has_variants(self) -> bool:
        return len(self.levels["variant"].unique()) > 1


def _load_words(row: Mapping[str, Any]) -> str:
    return next(f"{name} = {row[name]:g}" for name in LOOPS if name in row and not np.isnan(row[name]))


def ratio_words(ratio: Estimate) -> str:
    """A ratio with its interval: ``0.950 [0.940, 0.960]``."""
    return f"{ratio.value:.3f} {_ends(ratio.lo, ratio.hi) or '(no interval)'}"


def _ends(lo: float, hi: float) -> str:
    return "" if np.isnan(lo) or np.isnan(hi) else f"[{lo:.3f}, {hi:.3f}]"
