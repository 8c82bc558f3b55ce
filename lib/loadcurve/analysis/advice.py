"""What to measure next, from what the analysis could not say."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from loadcurve.analysis.curve import Curve
from loadcurve.analysis.models_of_curve import MIN_LEVELS
from loadcurve.analysis.usage import NO_SAMPLE

ENOUGH_REPEATS = 3
"""Fewest repeats of a level whose scatter is worth an interval: the t quantile falls from 12.7 at two to 4.3."""
_MIN_DURATION_S = 10.0  # a shorter run is mostly warm-up on servers that compile, cache or ramp their clock
_MOST = 5  # steps: more are read by nobody
_MOST_ERRORS = 3
_NAMED = 3  # curves before a step
_COARSE = 2.0  # ratio of neighbouring levels between which a capacity is searched


def advise(curves: Iterable[Curve], findings: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the next measurements that would narrow the results most, the most useful first; at most five.

    Errors of the audit come first.  Nothing is asked for that lies in the `tables` already.
    """
    every = list(curves)
    found: dict[str, list[str]] = {}
    has_open_loop = any(curve.load != "connections" for curve in every)
    for curve in every:
        for sentence in _of_curve(curve, has_open_loop, tables):
            found.setdefault(sentence, []).append(curve.variant)
    errors = findings[findings["severity"] == "error"].drop_duplicates("rule")["advice"].dropna()[:_MOST_ERRORS]
    # What holds for every curve needs no name; of many, the first names suffice.
    rest = [
        sentence if len(variants) == len(every) else f"{_listed(variants)}: {sentence[:1].lower()}{sentence[1:]}"
        for sentence, variants in found.items()
    ]
    return list(dict.fromkeys([*errors, *rest]))[:_MOST]


def _listed(variants: list[str]) -> str:
    more = f" and {len(variants) - _NAMED} more curves" if len(variants) > _NAMED else ""
    return ", ".join(variants[:_NAMED]) + more


def _of_curve(curve: Curve, has_open_loop: bool, tables: Mapping[str, pd.DataFrame]) -> Iterable[str]:
    levels, load = curve.levels, curve.load
    if levels.empty:
        return
    highest = levels[load].iloc[-1]
    if len(levels) < MIN_LEVELS:
        yield f"Measure at least {MIN_LEVELS} levels of {_words(load)}, each twice the one before, from 1 on."
    elif load == "connections" and _still_rises(levels):
        yield f"Throughput still rises at {highest:g} connections: measure {2 * highest:g} and {4 * highest:g} too."
    if "capacity" in curve:
        found = curve["capacity"]
        if np.isinf(found.hi):
            yield f"The objective is kept up to the highest load: measure {_words(load)} above {highest:g}."
        elif found.value > 0 and found.hi > _COARSE * found.value:
            yield f"Measure {_words(load)} between {found.value:g} and {found.hi:g}: the capacity lies there."
        elif found.value == 0:
            yield _below(load, levels[load].iloc[0])
    if levels["runs"].min() < ENOUGH_REPEATS:
        few = int(levels["runs"].min())
        why = "1 run shows no scatter" if few == 1 else f"{few} runs leave the interval wide"
        yield f"Repeat each level at least {ENOUGH_REPEATS} times, in random order: {why}."
    duration = curve.runs["duration_s"].dropna() if "duration_s" in curve.runs else pd.Series(dtype=float)
    if len(duration) and duration.median() < _MIN_DURATION_S:
        yield f"Run each level for at least {_MIN_DURATION_S:g} s: these runs took {duration.median():.1g} s."
    if curve.missing.get("Bottleneck") == NO_SAMPLE and tables.get("cpu", pd.DataFrame()).empty:
        yield "Record `sar -A 1` and `ss -s` on server and generator while the load runs: they show what limits it."
    if tables.get("latency", pd.DataFrame()).empty:
        yield "Print percentiles (wrk --latency): a mean response time is no promise."
    if not has_open_loop:
        yield "Measure an open loop (wrk2 -R, vegeta, k6) for response times at an arrival rate."


def _below(load: str, lowest: float) -> str:
    if load == "connections" and lowest <= 1:
        return "Not even 1 connection keeps the objective: improve a single request, or relax the objective."
    return f"No load keeps the objective: measure {_words(load)} below {lowest:g}."


def _still_rises(levels: pd.DataFrame) -> bool:
    """Whether the last level is the fastest, by more than the scatter between runs of a quiet or of this machine."""
    last, before = levels.iloc[-1], levels["throughput_rps"].iloc[:-1].max()
    above = last["throughput_rps"] if np.isnan(last["throughput_lo"]) else last["throughput_lo"]
    return bool(last["throughput_rps"] > 1.05 * before and above > before)


def _words(load: str) -> str:
    return {"connections": "connections", "target_rate_rps": "offered rates"}[load]
