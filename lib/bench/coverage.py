"""Coverage of the 95 % intervals of a fitted curve in every cell, with more studies than the page of the handbook."""

from pathlib import Path

from report import say

from validation.coverage import CLAIMED, summarise_bootstrap_coverage, summarise_usl_coverage, summarise_weight_coverage

# 1,000 studies leave an error of 0.7 points, 200 one of 1.5.
_RUNS, _DRAWN_RUNS = 1000, 200
_ASKED = f"{CLAIMED[0]:.0%}–{CLAIMED[1]:.0%}"


def coverage(_: Path) -> None:
    """A line for each method, quantity and cell: its coverage, and in brackets the interval of that coverage."""
    for table in (
        summarise_usl_coverage(runs=_RUNS),
        summarise_bootstrap_coverage(runs=_DRAWN_RUNS, draws=500),
        summarise_weight_coverage(runs=_DRAWN_RUNS),
    ):
        for row in table.itertuples():
            what = f"{row.quantity}, {row.n}×{row.repeats:.0f}, {row.setting}, {row.method}"
            figure = f"{row.coverage:.1%} ({row.lo:.1%}–{row.hi:.1%})"
            say(what, figure, _ASKED, row.verdict not in ("too low", "too high"))


CASES = {"coverage": coverage}
