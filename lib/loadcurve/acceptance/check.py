"""A check of an acceptance test, and the outcome of one."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pandas as pd

FUNCTIONS = "functions"
"""What a check needs that is decided from a functional test."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check for one balancer."""

    # `not checked` where a run is missing, the balancer has no such function, or the interval contains the limit.
    verdict: Literal["pass", "fail", "not checked"]
    numbers: str  # The numbers behind it, in a sentence
    # `value`, `lo` and `hi`: the quantity that is compared with a limit, and its 95 % interval: a ratio, or a time in
    # s; NaN where the check compares none.
    value: float = math.nan
    lo: float = math.nan
    hi: float = math.nan


@dataclass(frozen=True)
class LoadRuns:
    """The tables of a study's runs with load."""

    # Name → table with the column `variant`; generators of a run are merged in `runs`.
    tables: Mapping[str, pd.DataFrame]
    balancer: str  # Balancer that is judged; its variants begin with its name

    def of(self, what: str, table: str = "runs") -> pd.DataFrame:
        """Return the rows of the balancer's variant, such as ``nft_large`` for ``large``."""
        return self.of_variant(f"{self.balancer}_{what}", table)

    def of_variant(self, variant: str, table: str = "runs") -> pd.DataFrame:
        """Return the rows of a variant."""
        rows = self.tables[table]
        return rows[rows["variant"] == variant]


@dataclass(frozen=True)
class AcceptanceCheck:
    """A check of an acceptance test."""

    name: str  # Its name, in words joined by `_`
    proves: str  # What a pass shows
    criterion: str  # How it is decided, with the threshold
    reason: str  # Why the threshold is what it is
    # `functions`, or the last parts of the names of the variants that the decision compares: `large` of `nft_large`.  A
    # name with `direct_` is a variant without a balancer.
    needs: tuple[str, ...]
    # Folder of a functional run, or `LoadRuns` → `Outcome`.
    decide: Callable[[Path], Outcome] | Callable[[LoadRuns], Outcome]
    cannot: Mapping[str, str] = field(default_factory=dict)  # Name of a balancer that has no such function → the reason

    @property
    def is_functional(self) -> bool:
        """Whether it is decided from a functional test."""
        return self.needs == (FUNCTIONS,)
