"""The first lines of an answer: what limits the system, how the runs were grouped, and what was not used."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from loadcurve.analysis.advice import HELD
from loadcurve.analysis.cells import connections_words, interval_words, objective_words, range_text, shown
from loadcurve.analysis.curve import Curve, Result
from loadcurve.audit import Verdict
from loadcurve.ingest.grouping import GROUPED
from loadcurve.ingest.raw_file import NOT_ATTACHED
from loadcurve.tables.curves import OPEN_LOOP_TOOLS

_TRUST = {
    "error": "Do not rely on it: see the verdict.",
    "warning": "Use it with care: see the verdict.",
    "unchecked": "Nothing could be checked.",
}
_LOADS = {"connections": ("number", "of connections"), "target_rate_rps": ("offered rate", "")}


def answer_sentence(curves: Sequence[Curve], verdict: Verdict) -> str:
    """Return the capacity or the highest throughput, what limits it, and how far to trust it."""
    name = "capacity_throughput" if any("capacity_throughput" in curve for curve in curves) else "peak"
    known = [curve for curve in curves if name in curve]
    if not known:
        served = pd.concat([curve.runs["throughput_rps"] for curve in curves]).dropna()
        return f"{_served(served)}Their load is not known: see Not used."
    best = max(known, key=lambda curve: curve[name].value)
    result = next(each for each in best.results if each.name == name)
    several = len(known) > 1
    where = f" of {len(known)} curves, by {best.variant}" if several else ""
    limit = best.bottleneck or "What limits it was not measured"
    limit = "What limits it is not known: see Bottleneck" if limit.lower().startswith("not known") else limit
    if name == "peak":
        at = best.levels.loc[best.levels["throughput_rps"].idxmax(), best.load]
        said = (
            f"Highest throughput{where}: {_value(result)} at {_load(at, best.load)}{_few_repeats(best, at, several)}."
        )
        if best.load != "connections" and result.estimate.value >= HELD * best.levels[best.load].max():
            limit = best.bottleneck or "No limit was reached: this is the highest rate offered"
    else:
        capacity = next(each for each in best.results if each.name == "capacity")
        at = capacity.estimate.value
        goals = objective_words(capacity.label).partition(" under ")[2]
        said = (
            f"Capacity under {goals}{where}: {_load(at, best.load)}, {_value(result)}{_few_repeats(best, at, several)}."
        )
    trust = _TRUST.get(verdict.severity, "")
    return " ".join(filter(None, [said, f"{limit[0].upper()}{limit[1:]}.", trust]))


def grouping_sentence(curves: Sequence[Curve], origins: Iterable[str]) -> str:
    """Return how many runs each point has, and what distinguishes them, with the options that change it."""
    measured = [curve for curve in curves if len(curve.levels)]
    notes = [line.removeprefix(GROUPED) for line in origins if line.startswith(GROUPED)]
    if not measured:
        number = _number(sum(len(curve.runs) for curve in curves), "run")
        return "; ".join(
            [f"{number} without a known load", *(note for note in notes if not note.startswith("repeats"))]
        )
    repeats = pd.concat([curve.levels["runs"] for curve in measured])
    levels = max(len(curve.levels) for curve in measured)
    noun, of = _LOADS[measured[0].load]
    least, most = int(repeats.min()), int(repeats.max())
    each = f"{least}" if least == most else f"{least} to {most}"
    points = f"{_number(len(measured), 'curve')} × {_number(levels, noun)} {of}".strip()
    counted = f"{points}; repeats of each: {each}"
    return "; ".join([counted, *notes])


def not_used_sentences(
    finished: pd.DataFrame, runs: pd.DataFrame, curves: Sequence[Curve], warnings: Iterable[str], not_read: int
) -> Iterator[str]:
    """Yield a sentence for everything that was read or named and does not count, with what would make it count."""
    used = {row for curve in curves if len(curve.levels) for row in curve.runs["row"]}
    for tool, rows in finished[~finished["row"].isin(used)].groupby(finished["tool"].fillna("an unknown tool")):
        yield f"{_number(len(rows), 'run')} of {tool}: {_why_unused(str(tool), rows)}"
    status = runs["status"].fillna("finished")
    for name, rows in runs[status.ne("finished")].groupby(status):
        reasons = rows["reason"].dropna() if "reason" in rows else pd.Series(dtype=str)
        why = f": {reasons.iloc[0]}" if len(reasons) else ""
        yield f"{_number(len(rows), 'run')} {name}{why}"
    yield from (line for line in warnings if line.startswith(NOT_ATTACHED))
    if not_read:
        yield f"{_number(not_read, 'file')} could not be read: see Not read"


def _why_unused(tool: str, rows: pd.DataFrame) -> str:
    if not rows["throughput_rps"].gt(0).fillna(False).any():
        return "the report prints no throughput"
    is_open = tool in OPEN_LOOP_TOOLS
    column, letter = ("target_rate_rps", "R") if is_open else ("connections", "c")
    why = f"{tool} sends at a rate, which the report does not print" if is_open else f"{tool} prints no connections"
    if "source" not in rows or rows["source"].isna().all():
        return f"fill the column {column}"
    return (
        f"{why}: put the number into the file names and add --factor '{column}={letter}([0-9]+)', or name it in the "
        f"column {column} of a factors.csv"
    )


def _served(throughput: pd.Series) -> str:
    if throughput.empty:
        return ""
    return f"{_number(len(throughput), 'run')} served {range_text(throughput.min(), throughput.max(), 'rps')[1:-1]}. "


def _few_repeats(curve: Curve, at: float, several: bool) -> str:
    runs = int(curve.levels.loc[curve.levels[curve.load] == at, "runs"].iloc[0])
    order = ", which does not establish the order of the curves" if several and runs == 1 else ""
    return "" if runs > 2 else f" (measured {'once' if runs == 1 else 'twice'}{order})"


def _value(result: Result) -> str:
    estimate = result.estimate
    narrow = not np.isnan(estimate.lo)
    return f"{shown(estimate.value, result.unit)}{f' {interval_words(estimate, result.unit)}' if narrow else ''}"


def _load(at: float, load: str) -> str:
    return connections_words(at) if load == "connections" else f"{shown(at, 'rps')} offered"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
