"""Captions of figures about the quality of a measurement."""

import pandas as pd

from loadcurve.analysis.cells import connections_words, shown
from loadcurve.analysis.sentences.levels import percent
from loadcurve.tables.curves import UNNAMED, curves

_WITHIN = 0.03  # deviation that counts as agreement with a law, the band of the figure


def concurrency_caption(findings: pd.DataFrame) -> str:
    """In how many runs of each curve as many requests were in flight as connections were requested.

    `findings` are of the rule effective-concurrency, with the column ``variant`` of their runs.

    Examples
    --------
    >>> findings = pd.DataFrame({"variant": "a", "expected": [4, 16], "observed": [4.0, 12.0]})
    >>> concurrency_caption(findings.assign(severity=["ok", "warning"]))
    'Requests in flight matched the connections requested within 10 %: a, 1 of 2 runs.'
    """
    known = findings.dropna(subset=["observed", "expected"])
    counts = [f"{name}, {int((rows['severity'] == 'ok').sum())} of {len(rows)} runs" for name, rows in curves(known)]
    return f"Requests in flight matched the connections requested within 10 %: {'; '.join(counts)}."


def established_caption(established: pd.DataFrame) -> str:
    """In how many runs ss saw all requested connections, and the run that lacked most.

    Examples
    --------
    >>> established_caption(pd.DataFrame({"run_id": ["a", "b"], "connections": [1, 64], "established": [1, 60]}))
    'ss saw all requested connections at the server in 1 of 2 runs; fewest in b: 60 of 64.'
    """
    share = (established["established"] / established["connections"]).astype(float)
    whole, every = int((share >= 1).sum()), len(established)
    seen = f"ss saw all requested connections at the server in {whole} of {every} runs"
    if whole == every:
        return f"{seen}."
    worst = established.loc[share.idxmin()]
    least = f"{worst['established']:,} of {worst['connections']:,}"
    return f"{seen}; fewest in {worst['run_id']}: {least}."


def busy_caption(busy: pd.DataFrame) -> str:
    """How busy each processor was at most, and at which connections, for each curve.

    Examples
    --------
    >>> busy = pd.DataFrame({"variant": None, "connections": [1, 8], "role": "server", "busy_ratio": [0.5, 1.0]})
    >>> busy_caption(busy)
    'Highest mean busy share: server 100 % at 8 connections.'
    """
    said = []
    for name, rows in curves(busy):
        means = rows.groupby(["role", "connections"])["busy_ratio"].mean()
        most = [means[role].idxmax() for role in means.index.unique("role")]
        parts = [
            f"{role} {percent(means[role, at])} at {connections_words(at)}"
            for role, at in zip(means.index.unique("role"), most, strict=True)
        ]
        said.append((name, ", ".join(parts)))
    if [name for name, _ in said] == [UNNAMED]:
        return f"Highest mean busy share: {said[0][1]}."
    return f"Highest mean busy share: {'; '.join(f'{name}, {parts}' for name, parts in said)}."


def deviation_caption(deviation: pd.DataFrame) -> str:
    """How well N/R predicts throughput, with R of the same run and with the least R.

    `deviation` is as `loadcurve.audit.summarise_deviation` returns it.

    Examples
    --------
    >>> rows = [(1, "N/R", 0.0), (8, "N/R", 0.01), (1, "N/R_min", 0.0), (8, "N/R_min", -0.4)]
    >>> deviation_caption(pd.DataFrame(rows, columns=["connections", "law", "deviation_ratio"]))
    'With R of the same run, N/R is within 1.00 % of throughput at every level; with the least R (Rₘᵢₙ), within 3 % up \
to 1 connection, but measured throughput is 40 % below it at 8 connections.'
    """
    means = deviation.groupby(["law", "connections"])["deviation_ratio"].mean()
    own, least = means["N/R"], means["N/R_min"]
    within = (least.abs() <= _WITHIN).cummin()
    at, last = least.index[-1], least.iloc[-1]
    near = f"within 3 % up to {connections_words(within[within].index.max())}" if within.any() else ""
    side = "below" if last < 0 else "above"
    far = f"measured throughput is {percent(abs(last))} {side} it at {connections_words(at)}"
    rest = near if within.iloc[-1] else ", but ".join(filter(None, [near, far]))
    size = shown(float(own.abs().max()), "ratio")
    return (
        f"With R of the same run, N/R is within {size} of throughput at every level; with the least R (Rₘᵢₙ), {rest}."
    )
