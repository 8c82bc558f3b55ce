"""What measured points tell the schedule, and the answers of the searches that it repeats.

A launch that resumes a study replays its recorded runs, so `answers.json` always covers all of them.
"""

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.files.atomic import replacing
from loadcurve.files.paths import shown
from loadcurve.lab.schedule.search import Result
from loadcurve.study import Run
from loadcurve.study.records import read_json
from loadcurve.units import unit_of_column


@dataclass(frozen=True)
class Measured:
    """Measurements of a finished run.

    Attributes
    ----------
    throughput_rps, latency_mean_s, received_bytes_per_s : float
        Totals over all generators (the latency: mean over all responses); NaN if unknown.
    failed_ratio : float
        Share of failed requests.
    latency_s : float
        Response time at the objective's quantile, in s; NaN if the tool does not report it or there was no response.
    frame_bytes_per_s : float
        Bytes of the frames that carry the responses, as a link with a rate counts them; NaN if unknown.
    cpu_other_ratio, cpu_steal_ratio : float
        Share of the run's processors used by processes outside the run, and by the hypervisor; NaN if unknown.

    Examples
    --------
    >>> measured = Measured(1000.0, 0.008, 2e6, 0.0, latency_s=0.02, cpu_other_ratio=0.01, cpu_steal_ratio=0.0)
    >>> measured.background
    (0.01, 0.0)
    """

    throughput_rps: float
    latency_mean_s: float
    received_bytes_per_s: float
    failed_ratio: float
    latency_s: float
    frame_bytes_per_s: float = math.nan
    cpu_other_ratio: float = math.nan
    cpu_steal_ratio: float = math.nan

    @property
    def background(self) -> tuple[float, float]:
        """Shares of the processors used by other processes and by the hypervisor."""
        return self.cpu_other_ratio, self.cpu_steal_ratio


@dataclass(frozen=True)
class Feedback:
    """Functions about the output of runs; passed by the caller, as the laboratory must not import ingest or stats.

    Attributes
    ----------
    measure : callable
        Folder of a run, and a quantile → measurements of the run, or None if it did not finish.
    rule : callable
        Stopping rule, see `NarrowMean`.
    report : callable
        Called with each sentence for the user: what a run measured, and the result of a search or a stop.
    judge : callable
        Record of a run without failed tools, its folder, and whether the study overloads the server on purpose → the
        reason why the run still counts as failed (empty if it does not), and warnings.
    describe : callable
        Record of a run that ended, and its folder → what it measured, in words with units.

    Examples
    --------
    >>> feedback = Feedback(measure=lambda folder, quantile: None, rule=lambda **known: None, report=print)
    >>> feedback.report("the search ends at 64 connections")
    the search ends at 64 connections
    """

    measure: Callable[[Path, float], Measured | None]
    rule: Callable[..., pd.DataFrame]
    report: Callable[[str], None]
    judge: Callable[[Run, Path, bool], tuple[str, tuple[str, ...]]] = lambda run, folder, meant: ("", ())
    describe: Callable[[Run, Path], str] = lambda run, folder: run.status


FILE = "answers.json"

_NOUNS = {"throughput_rps": "throughput", "latency_mean_s": "response time"}
_WORDS = {"rps": "requests/s", "bytes": "bytes", "bytes_per_s": "bytes/s", "s": "s"}

Kind = Literal["capacity", "saturating_size", "stop"]


@dataclass(frozen=True)
class Answer:
    """Answer of one search or stop."""

    of: str  # Variant and levels, as in the names of the runs; empty where the study has only one of each
    kind: Kind  # `capacity`, `saturating_size` or `stop`
    factor: str  # Factor that was searched; empty for a stop
    quantity: str  # Name of the quantity in `value`, as in a column: `throughput_rps`
    # `lower` and `upper`: for a search, the two loads between which the answer lies, in the unit of the factor; for a
    # stop, the ends of the interval of the mean.  None if there is no such end.
    lower: float | None
    upper: float | None
    value: float | None  # Quantity at the answer; None if unknown
    reached: bool  # Whether the answer is as precise as the study requests
    runs: int  # Number of runs
    load_s: float  # Total duration of their load, in s
    warnings: tuple[str, ...]  # Reasons to trust the answer less
    ended: bool = True  # Whether the search or the repetition is over; else this is what is known so far


def answer_of(of: str, kind: Kind, factor: str, quantity: str, result: Result) -> Answer:
    """Return the answer that states the result of a search or a stop."""
    lower, upper, value = (known(end) for end in (result.lower, result.upper, result.value))
    if kind != "stop":
        lower = lower or None  # 0 means that there is no lower end
    return Answer(
        of, kind, factor, quantity, lower, upper, value, result.reached, result.trials, result.trial_s, result.warnings
    )


def known(number: float) -> float | None:
    """Return a number, or None for NaN and infinity, which JSON cannot express."""
    return float(number) if math.isfinite(number) else None


def sentence(answer: Answer) -> str:
    """Return an answer as a sentence with units.

    Examples
    --------
    >>> found = Result(245, 256, 20000, True, (), 22, 51)
    >>> sentence(answer_of("", "capacity", "connections", "throughput_rps", found))
    'the objective is met up to 245 connections and missed at 256: 20,000 requests/s; 22 runs, 51 s of load'
    """
    low, high = (quantity(end, answer.factor or answer.quantity) for end in (answer.lower, answer.upper))
    value = quantity(answer.value, answer.quantity)
    if answer.kind == "stop":
        text = f"the mean {_NOUNS[answer.quantity]} is {value}"
        text += f", 95 % interval {low} to {high}" if answer.value else ""
    elif answer.kind == "saturating_size":
        text = f"{high} fill the limit" if answer.upper else "no size fills the limit"
        text += f", {low} do not" if answer.lower else ""
        text += f": {value}"
    elif answer.lower:
        missed = f"missed at {answer.upper:,g}" if answer.upper else "at no load missed"
        text = f"the objective is met up to {low} and {missed}: {value}"
    elif answer.upper:
        text = f"the objective is missed at every load from {high} on"
    else:
        text = "no load is decided"
    runs = f"{answer.runs} runs" + f", {answer.load_s:,.0f} s of load" * bool(answer.load_s)
    return "; ".join((f"{answer.of}: {text}" if answer.of else text, runs, *answer.warnings))


def quantity(value: float | None, name: str) -> str:
    """Return a value as text, with the unit from its column's name or the name of the counted items."""
    if value is None:
        return "not known"
    unit, noun = unit_of_column(name), name.rpartition(".")[2]
    words = _WORDS.get(unit, unit) or noun
    return f"{value:.3g} s" if unit == "s" else f"{value:,.10g} {words}" if unit == "" else f"{value:,.0f} {words}"


def read_answers(folder: Path) -> list[Answer]:
    """Return the answers in a study's folder, none where there is no file."""
    file = folder / FILE
    values = read_json(file)[1] if file.is_file() else []
    try:
        return [Answer(**{**value, "warnings": tuple(value["warnings"])}) for value in values]
    except (TypeError, KeyError) as error:
        raise ParseError(0, "answers of a search or a stop", str(error), shown(file)) from None


def write_answers(answers: list[Answer], folder: Path) -> None:
    """Write `answers.json` into a study's folder."""
    with replacing(folder / FILE) as draft:
        draft.write_text(json.dumps([asdict(one) for one in answers], indent=2, ensure_ascii=False) + "\n", "utf-8")
