"""Captions of figures that compare two loads or two servers."""

import pandas as pd

from loadcurve.analysis.cells import connections_words, shown
from loadcurve.analysis.sentences.levels import change_words, percent


def blocks_caption(runs: pd.DataFrame) -> str:
    """Whether the throughput of each load rises or falls from the first repeat to the last.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [8, 8, 9, 9], "repeat": [1, 2] * 2, "throughput_rps": [100.0, 80, 50, 51]})
    >>> blocks_caption(runs)
    'From block 1 to block 2, throughput at 8 connections falls by 20 %, at 9 connections it stays level (+2 %).'
    """
    order = runs.sort_values("repeat")
    first, last = order["repeat"].iloc[0], order["repeat"].iloc[-1]
    if first == last:
        return (
            "Each load was run once, so a disturbance of a whole block cannot be seen: run each load at least 3 times."
        )
    parts: list[str] = []
    for load, rows in order.groupby("connections"):
        change = change_words(rows["throughput_rps"].iloc[-1] / rows["throughput_rps"].iloc[0])
        parts.append(f"at {connections_words(load)} {'it ' if parts else ''}{change}")
    return f"From block {first} to block {last}, throughput {', '.join(parts)}."


def ratios_caption(ratios: pd.DataFrame) -> str:
    """How far the methods of `loadcurve.stats.summarise_ratios` agree, and how many of their intervals exclude 1.

    Examples
    --------
    >>> ratios = pd.DataFrame({"method": ["a", "b", "c"], "ratio": [1.1, 1.12, 1.1], "lo": [1.0, 1.05, None],
    ...                        "hi": [1.2, 1.19, None]})
    >>> ratios_caption(ratios)
    'The methods give a ratio of A to B of 1.10 to 1.12; 1 of 2 intervals leaves out 1.'
    """
    known = ratios.dropna(subset=["lo", "hi"])
    outside = int(((known["lo"] > 1) | (known["hi"] < 1)).sum())
    ends = list(dict.fromkeys(shown(end, "") for end in (ratios["ratio"].min(), ratios["ratio"].max())))
    say = (
        f"{outside} of {len(known)} intervals {'leaves' if outside == 1 else 'leave'} out 1"
        if len(known)
        else "no method has an interval"
    )
    return f"The methods give a ratio of A to B of {' to '.join(ends)}; {say}."


def coverage_caption(coverage: pd.DataFrame) -> str:
    """Which method covers the true ratio least and most often, with the fewest and with the most runs.

    `coverage` is as `validation.coverage.summarise_coverage` returns it.

    Examples
    --------
    >>> rows = [("a", 3, 0.8), ("b", 3, 0.95), ("a", 30, 0.94), ("b", 30, 0.95)]
    >>> coverage = pd.DataFrame(rows, columns=["method", "runs", "coverage_ratio"])
    >>> coverage_caption(coverage)
    'Intervals contain the true ratio in 80 % (a) to 95 % (b) of the simulations with 3 runs, and in 94 % (a) to 95 % \
(b) with 30 runs.'
    """
    worst = coverage.groupby(["runs", "method"])["coverage_ratio"].min().dropna()
    fewest, most = worst.index[0][0], worst.index[-1][0]
    few, many = (_range(worst[runs]) for runs in (fewest, most))
    return (
        f"Intervals contain the true ratio in {few} of the simulations with {fewest} runs, and in {many} "
        f"with {most} runs."
    )


def _range(worst: pd.Series) -> str:
    return f"{percent(worst.min())} ({worst.idxmin()}) to {percent(worst.max())} ({worst.idxmax()})"
