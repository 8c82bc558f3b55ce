"""Captions and alt texts of figures that show the runs of several curves over connections."""

from collections.abc import Callable, Iterable

import pandas as pd

from loadcurve.analysis.cells import connections_words, shown
from loadcurve.analysis.sentences.levels import latency_words, percent, throughput_words
from loadcurve.tables.curves import UNNAMED, curves

_NAMED = 4  # curves of which a caption speaks; more sentences are read by nobody
_WORDS: dict[str, tuple[Callable[[pd.DataFrame], str], str, str]] = {
    "throughput_rps": (throughput_words, "Throughput", "rps"),
    "latency_mean_s": (latency_words, "Mean response time", "s"),
}


def curves_caption(runs: pd.DataFrame, column: str = "throughput_rps") -> str:
    """What throughput or the mean response time of each curve does as connections grow.

    Runs without connections, or without the quantity, are not drawn and not counted.

    Examples
    --------
    >>> rates = [10.0, 20.0, 30.0]
    >>> runs = pd.DataFrame({"variant": ["a", "a", "b"], "connections": [1, 2, 1], "throughput_rps": rates})
    >>> print(curves_caption(runs))
    a: throughput still rises at the highest load, 2 connections (20.0 requests/s; 100 % more than at the load \
before). b: throughput was measured at one load, 1 connection: 30.0 requests/s.
    """
    say = _WORDS[column][0]
    return each_curve((name, say(levels)) for name, levels in _levels(runs, column))


def curves_alt(runs: pd.DataFrame, column: str = "throughput_rps") -> str:
    """Describe the figure of a quantity over connections, with its first and its last level, for each curve.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": None, "connections": [1, 2], "latency_mean_s": [0.01, 0.02]})
    >>> curves_alt(runs, "latency_mean_s")
    'Mean response time over connections. From 10.0 ms at 1 connection to 20.0 ms at 2 connections.'
    """
    _, quantity, unit = _WORDS[column]
    ends = [
        (name, f"From {_point(levels.iloc[0], column, unit)} to {_point(levels.iloc[-1], column, unit)}.")
        for name, levels in _levels(runs, column)
    ]
    return f"{quantity} over connections. {each_curve(ends)}"


def scatter_caption(runs: pd.DataFrame) -> str:
    """Where the repeats of one load differ most in throughput.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": None, "connections": [1, 1, 2], "throughput_rps": [90.0, 110.0, 200.0]})
    >>> scatter_caption(runs)
    'Repeats of one load differ most at 1 connection: their standard deviation is 14 % of their mean.'
    """
    points = [
        (name, at, rows) for name, rows in curves(runs) for at, rows in rows.groupby("connections")["throughput_rps"]
    ]
    scatter = {(name, at): rows.std() / rows.mean() for name, at, rows in points if rows.count() > 1}
    if not scatter:
        return "No load was repeated, so the scatter between repeats is unknown: run each load at least 3 times."
    (name, at), most = max(scatter.items(), key=lambda item: item[1])
    where = f"{connections_words(at)}{of_curve(name)}"
    return f"Repeats of one load differ most at {where}: their standard deviation is {percent(most)} of their mean."


def missing_sentences(runs: pd.DataFrame) -> list[str]:
    """What these runs cannot show over connections: one sentence for each gap, with what would close it.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": "a", "connections": [1, 2], "throughput_rps": [1.0, 2.0]})
    >>> missing_sentences(runs)
    ['No load was repeated, so no interval over repeats is known: run each load at least 3 times.']
    """
    found = []
    known = runs.dropna(subset=["connections", "throughput_rps"])
    if lost := len(runs) - len(known):
        found.append(
            f"Without a number of connections or without throughput, and left out: {lost} of {len(runs)} runs; "
            "name connections in factors.csv, or read open loops in notebook 01_your_own_files."
        )
    if len(known) and known.groupby([known["variant"].fillna(UNNAMED), "connections"]).size().max() == 1:
        found.append("No load was repeated, so no interval over repeats is known: run each load at least 3 times.")
    return found


def each_curve(sentences: Iterable[tuple[str, str]]) -> str:
    """Join sentences about curves, each after the name of its curve unless that is the only one and has no name."""
    said = list(sentences)
    if [name for name, _ in said] == [UNNAMED]:
        return said[0][1]
    parts = [f"{name}: {text[:1].lower()}{text[1:]}" for name, text in said[:_NAMED]]
    more = len(said) - len(parts)
    return " ".join([*parts, f"{more} more curves."] if more else parts)


def of_curve(name: str) -> str:
    """Name a curve after a noun; empty for runs without a variant."""
    return "" if name in ("", UNNAMED) else f" of {name}"


def _levels(runs: pd.DataFrame, column: str) -> list[tuple[str, pd.DataFrame]]:
    known = runs.dropna(subset=["connections", column])
    return [
        (name, rows.astype({column: float}).groupby("connections", as_index=False)[column].mean())
        for name, rows in curves(known)
    ]


def _point(level: pd.Series, column: str, unit: str) -> str:
    return f"{shown(level[column], unit)} at {connections_words(level['connections'])}"
