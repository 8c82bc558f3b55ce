"""What to measure next, from findings, from gaps of the data, and from results."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.analysis.bottlenecks import NO_SAMPLE, NOT_ATTACHED
from loadcurve.analysis.cells import FACTOR
from loadcurve.analysis.curve import Curve
from loadcurve.analysis.levels import still_rises
from loadcurve.analysis.models_of_curve import MIN_LEVELS
from loadcurve.audit.run_tables import key_of
from loadcurve.audit.verdict import OVERLOAD
from loadcurve.tables.schemas.derived import HOLD_A_RATE

ENOUGH_REPEATS = 3
"""Fewest repeats of a level whose scatter is worth an interval: the t quantile falls from 12.7 at two to 4.3."""
HELD = 0.98
"""Share of an offered rate that is served where the rate is held."""
_MIN_DURATION_S = 10.0  # a shorter run is mostly warm-up on servers that compile, cache or ramp their clock
_MOST = 5  # steps: more are read by nobody
_MOST_ERRORS = 3
_NAMED = 3  # curves before a step
_COARSE = 2.0  # ratio of neighbouring levels between which a capacity is searched
_ATTACH = "Attach the monitors to the runs, as Not used says: they show what limits the throughput."
_REPEATS = ("few-repeats", "wide-interval")


def advise(
    curves: Iterable[Curve], findings: pd.DataFrame, tables: Mapping[str, pd.DataFrame], beyond: Iterable[str] = ()
) -> list[str]:
    """Return the next measurements that would narrow the results most, the most useful first; at most five.

    Errors of the audit come first, but for those of the overloaded runs that end a sweep (`beyond`), which a capacity
    needs.  What a rule advises is not advised twice, and nothing is asked for that lies in the `tables` already.
    """
    every = [curve for curve in curves if len(curve.levels)]
    overload = set(OVERLOAD) - {"failed-requests"}  # which may have another cause
    needed = findings["rule"].isin(overload) & key_of(findings).isin(list(beyond))
    found = findings[~needed & findings["severity"].isin(["error", "warning"])].dropna(subset="advice")
    often = found.groupby("rule")["rule"].transform("size")
    found = found.loc[often.sort_values(ascending=False, kind="stable").index]
    rules: dict[str, dict[str, str]] = {
        severity: dict(rows[["rule", "advice"]].drop_duplicates("rule").to_numpy())
        for severity, rows in found.groupby("severity")
    }
    warned = rules.get("warning", {})
    often = next((warned[rule] for rule in reversed(_REPEATS) if rule in warned), "")
    others = [advice for rule, advice in warned.items() if rule not in (*_REPEATS, "short-load")]
    errors = list(rules.get("error", {}).values())[:_MOST_ERRORS]
    if not every:
        return errors
    steps = [
        *errors,
        *([_ATTACH] if any(curve.missing.get("Bottleneck") == NOT_ATTACHED for curve in every) else []),
        *_of_each(every, _range),
        *([often] if often else _of_each(every, _repeats)),
        *([warned["short-load"]] if "short-load" in warned else _of_each(every, _duration)),
        *others[:1],
        *_records(every, tables),
        *others[1:],
    ]
    return list(dict.fromkeys(steps))[:_MOST]


def _of_each(curves: list[Curve], steps: Callable[[Curve], Iterable[str]]) -> Iterator[str]:
    """Yield the steps of curves, with the names of those for which they are; of many, the first names suffice."""
    found: dict[str, list[str]] = {}
    for curve in curves:
        for sentence in steps(curve):
            found.setdefault(sentence, []).append(curve.variant)
    for sentence, variants in found.items():
        more = f" and {len(variants) - _NAMED} more curves" if len(variants) > _NAMED else ""
        named = f"{', '.join(variants[:_NAMED])}{more}: {sentence[:1].lower()}{sentence[1:]}"
        yield sentence if len(variants) == len(curves) else named


def _range(curve: Curve) -> Iterator[str]:
    """Yield which loads to measure besides those of a curve."""
    levels, load = curve.levels, curve.load
    if any(name.startswith(FACTOR) for name in levels):
        return  # the loads belong to the levels of another factor
    lowest, highest = levels[load].iloc[0], levels[load].iloc[-1]
    if load == "target_rate_rps":
        if levels["throughput_rps"].iloc[-1] >= HELD * highest:
            yield f"The highest rate offered was held: offer {2 * highest:g} and {4 * highest:g} requests/s too."
    elif len(levels) < MIN_LEVELS:
        yield f"Measure at least {MIN_LEVELS} levels of connections, each twice the one before, from 1 on."
    elif still_rises(levels):
        yield f"Throughput still rises at {highest:g} connections: measure {2 * highest:g} and {4 * highest:g} too."
    if "capacity" in curve:
        found = curve["capacity"]
        if np.isinf(found.hi) and found.value == highest:
            yield f"The objective is kept up to the highest load: measure {_words(load)} above {highest:g}."
        elif found.value > 0 and np.isinf(found.hi):
            yield f"Repeat the {_words(load)} above {found.value:g}: their runs disagree about the objective."
        elif found.value > 0 and found.hi > _COARSE * found.value:
            yield f"Measure {_words(load)} between {found.value:g} and {found.hi:g}: the capacity lies there."
        elif found.value == 0:
            yield (
                "Not even 1 connection keeps the objective: improve a single request, or relax the objective."
                if load == "connections" and lowest <= 1
                else f"No load keeps the objective: measure {_words(load)} below {lowest:g}."
            )


def _repeats(curve: Curve) -> Iterator[str]:
    few = int(curve.levels["runs"].min())
    if few < ENOUGH_REPEATS:
        why = "1 run shows no scatter" if few == 1 else f"{few} runs leave the interval wide"
        yield f"Repeat each level at least {ENOUGH_REPEATS} times, in random order: {why}."


def _duration(curve: Curve) -> Iterator[str]:
    duration = curve.runs["duration_s"].dropna() if "duration_s" in curve.runs else pd.Series(dtype=float)
    if len(duration) and duration.median() < _MIN_DURATION_S:
        yield f"Run each level for at least {_MIN_DURATION_S:g} s: these runs took {duration.median():.1g} s."


def _records(curves: list[Curve], tables: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield what to record besides, of what is not there."""
    if any(curve.missing.get("Bottleneck") == NO_SAMPLE for curve in curves):
        yield "Record `sar -A 1` and `ss -s` on server and generator while the load runs: they show what limits it."
    runs = pd.concat([curve.runs for curve in curves])
    if not runs.filter(regex=r"^latency_p[0-9]").notna().to_numpy().any():
        option = " (wrk --latency)" if runs.get("tool", pd.Series(dtype=str)).eq("wrk").any() else ""
        yield f"Print percentiles{option}: a mean response time is no promise."
    tools = tables["runs"]["tool"] if "tool" in tables["runs"] else pd.Series(dtype=str)
    if all(curve.load == "connections" for curve in curves) and not tools.isin(HOLD_A_RATE).any():
        yield "Measure an open loop (wrk2 -R, vegeta, k6) for response times at an arrival rate."


def _words(load: str) -> str:
    return {"connections": "connections", "target_rate_rps": "offered rates"}[load]
