"""In which order the points of a study are run: as planned, or as what was measured asks for.

Each order is an iterator of points.  It is advanced when the point before is finished, so an adaptive one looks at
what that run showed, and goes the same way again through recorded runs.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from loadcurve.errors import LabError
from loadcurve.lab.schedule.answers import Answer, answer_of, sentence, write_answers
from loadcurve.lab.schedule.background_warnings import warning_of_runs
from loadcurve.lab.schedule.points import Point, arm, block, level_sets, named_level, plan, settings_of_point
from loadcurve.lab.schedule.search import NarrowMean, Observation, Result, Search, Trial, begin, step
from loadcurve.lab.schedule.search.trials import seconds_of
from loadcurve.lab.study_file import StudyFile
from loadcurve.records import read_run
from loadcurve.study import Run, Study, place_of, settled

# A run that failed is made again; what fails three times in a row will not become better.  So a search ends there, and
# a stop leaves that point alone.
_TRIES = 3
# What each kind of search measures at the answer.
_SEARCHED = {"capacity": "throughput_rps", "saturating_size": "received_bytes_per_s"}


@dataclass(frozen=True)
class Measured:
    """What a finished run showed.

    Attributes
    ----------
    throughput_rps, latency_mean_s, received_bytes_per_s : float
        Of all generators together; NaN where it is not known.
    failed_ratio : float
        Share of failed requests.
    latency_s : float
        At the objective's quantile; NaN where there is none: the tool does not tell it, or no request was answered.
    cpu_other_ratio, cpu_steal_ratio : float
        What processes outside the run, and the hypervisor, took of its processors; NaN where it is not known.

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
    cpu_other_ratio: float = math.nan
    cpu_steal_ratio: float = math.nan

    @property
    def background(self) -> tuple[float, float]:
        """Both ratios of what the run did not get."""
        return self.cpu_other_ratio, self.cpu_steal_ratio


@dataclass(frozen=True)
class Feedback:
    """How an adaptive order sees; given by the caller, since the laboratory lies below ingestion and statistics.

    Attributes
    ----------
    measure : callable
        Folder of a run, and a quantile → what it showed, or None where it did not finish.
    rule : callable
        Of `NarrowMean`.
    tell : callable
        What to do with the sentence in which a search or a stop ends.
    judge : callable
        Record of a run whose tools ended well, its folder, and whether the study means to break the server → why the
        run has failed all the same, empty where it has not, and warnings.

    Examples
    --------
    >>> feedback = Feedback(measure=lambda folder, quantile: None, rule=lambda **known: None, tell=print)
    >>> feedback.tell("the search ends at 64 connections")
    the search ends at 64 connections
    """

    measure: Callable[[Path, float], Measured | None]
    rule: Callable[..., pd.DataFrame]
    tell: Callable[[str], None]
    judge: Callable[[Run, Path, bool], tuple[str, tuple[str, ...]]] = lambda run, folder, meant: ("", ())


def points_of(study: Study, settings: StudyFile, folder: Path, feedback: Feedback | None) -> Iterator[Point]:
    """Points of a study, each when the one before is finished.

    Parameters
    ----------
    study : Study
        What is run.
    settings : StudyFile
        Its sections, checked.
    folder : pathlib.Path
        Of the study.
    feedback : Feedback or None
        Needed by a study that searches or stops.

    Raises
    ------
    LabError
        When an adaptive study has no eyes, or a run of a search fails again and again.
    """
    if (settings.search or settings.stop) and feedback is None:
        raise LabError("a study with search or stop needs eyes: `loadcurve launch` has them")
    if settings.search:
        return _searched(study, settings, folder, feedback)
    if settings.stop:
        return _repeated(study, settings, folder, feedback)
    return iter(plan(study))


def most_points(study: Study, settings: StudyFile) -> int:
    """Return the number of runs, or the most there can be of an adaptive study."""
    arms = len(study.variants) * sum(1 for _ in level_sets(study))
    if settings.search:
        return arms * settings.search.goal.most_trials
    return arms * (settings.stop.most_repeats if settings.stop else study.repeats)


def _searched(study: Study, settings: StudyFile, folder: Path, feedback: Feedback) -> Iterator[Point]:
    """One search after the other, for each variant and each set of levels."""
    count, answers = itertools.count(), []
    kind, factor = settings.search.kind, settings.search.factor
    for variant, levels in itertools.product(study.variants, list(level_sets(study))):
        state, following = begin(settings.search.goal)
        background: list[tuple[float, float]] = []
        while isinstance(following, Trial):
            point = _trial(study, settings, variant, levels, following, len(state.observations) + 1, next(count))
            for _ in range(_TRIES):
                yield point
                measured = feedback.measure(folder / point.run_id, settings.objective.quantile)
                if measured is not None:
                    break
            else:
                reason = read_run(folder / point.run_id).reason
                raise LabError(f"{point.run_id} failed {_TRIES} times ({reason}): the search cannot go on")
            state, following = step(state, _observed(settings, following, measured))
            background.append(measured.background)
        found = _warned(following, background)
        answers.append(answer_of(arm(study, variant, levels), kind, factor, _SEARCHED[kind], found))
        write_answers(answers, folder)
        feedback.tell(sentence(answers[-1]))


def _repeated(study: Study, settings: StudyFile, folder: Path, feedback: Feedback) -> Iterator[Point]:
    """Block after block, each with the points whose mean is not yet known well enough."""
    stop, order, begun = settings.stop, random.Random(study.seed), 0
    wanted = {"load": 1.0, "duration_s": 1.0, "half_width_ratio": stop.half_width_ratio}
    first = _Arm(*begin(NarrowMean(rule=feedback.rule, most_trials=stop.most_repeats, **wanted)))
    arms: dict[str, _Arm] = {}
    answers: list[Answer] = []
    for repeat in range(1, stop.most_repeats + 1):
        points = [(arm(study, point.variant, point.levels), point) for point in block(study, repeat, order, begun)]
        left = [(name, point) for name, point in points if arms.setdefault(name, first).goes_on]
        for i, (name, point) in enumerate(left):
            yield replace(point, order=begun + i)
            measured = feedback.measure(folder / point.run_id, settings.objective.quantile)
            # A failed run is told at the end, and made again by the next launch.
            now = arms[name] = arms[name].after(measured, stop.quantity)
            if (result := now.result(last=repeat == stop.most_repeats)) is None:
                continue
            answers.append(answer_of(name, "stop", "", stop.quantity, _warned(result, now.background)))
            write_answers(answers, folder)
            feedback.tell(sentence(answers[-1]))
        begun += len(left)


@dataclass(frozen=True)
class _Arm:
    """A point under a stop: its state, what follows, what its last runs could not show, and what all did not get."""

    state: Search
    following: Trial | Result
    unknown: int = 0
    background: tuple[tuple[float, float], ...] = ()

    @property
    def goes_on(self) -> bool:
        return isinstance(self.following, Trial) and self.unknown < _TRIES

    def result(self, last: bool) -> Result | None:
        """Return where it ended, None where it goes on; what was too seldom measured has no mean."""
        if isinstance(self.following, Result):
            return self.following
        if self.goes_on and not last:
            return None
        measured = self.state.observations
        why = "too few runs could be measured: see why the others failed, and launch again"
        unknown = (math.nan, math.nan, math.nan)
        return Result(*unknown, False, measured, len(measured), seconds_of(measured), (why,))

    def after(self, measured: Measured | None, quantity: str) -> "_Arm":
        """The same after one more run, which is unknown where it failed, or had no response."""
        if measured is None or math.isnan(value := getattr(measured, quantity)):
            return replace(self, unknown=self.unknown + 1)
        background = (*self.background, measured.background)
        return _Arm(*step(self.state, Observation(1.0, 1.0, value)), background=background)


def _trial(
    study: Study, settings: StudyFile, variant: str, levels: Mapping[str, Any], trial: Trial, number: int, order: int
) -> Point:
    factor = settings.search.factor
    place = place_of(factor)
    level = int(trial.load) if float(trial.load).is_integer() else trial.load
    names = [name for name in (arm(study, variant, levels), named_level(place, level, number)) if name]
    merged = settled(
        settings_of_point(study, variant, levels), {factor: level, "load.duration_s": float(trial.duration_s)}
    )
    run_id = "-".join((*names, f"t{number:03d}"))
    return Point(run_id, variant, {**levels, factor: level}, number, order, merged)


def _observed(settings: StudyFile, trial: Trial, measured: Measured) -> Observation:
    if settings.search.kind == "saturating_size":
        return Observation(trial.load, trial.duration_s, measured.received_bytes_per_s)
    objective = settings.objective
    kept = measured.failed_ratio <= (objective.failed_ratio or 0.0)
    if kept and objective.latency_s is not None:  # where no request was answered, there is no latency to ask for
        if math.isnan(measured.latency_s):
            raise LabError(f"no latency at quantile {objective.quantile:g}: {settings.load.tool} does not tell it")
        kept = measured.latency_s <= objective.latency_s
    return Observation(trial.load, trial.duration_s, measured.throughput_rps, bool(kept))


def _warned(result: Result, background: Sequence[tuple[float, float]]) -> Result:
    """The result with a warning where others took too much of the processors of its runs."""
    said = warning_of_runs(background)
    return replace(result, warnings=(*result.warnings, said)) if said else result
