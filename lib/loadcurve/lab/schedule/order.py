"""Order the points of a study: as planned, or depending on the measurements.

Each order is an iterator of points.  The launch advances the iterator when the previous run has finished, so an
adaptive order can use the measurements of that run; with recorded runs it repeats the same decisions.
"""

import itertools
import math
import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loadcurve.errors import LabError
from loadcurve.lab.schedule.background_warnings import warning_of_runs
from loadcurve.lab.schedule.feedback import Answer, Feedback, Measured, answer_of, sentence, write_answers
from loadcurve.lab.schedule.goals import Goals, ObjectiveSection, SearchSection, StopSection
from loadcurve.lab.schedule.points import (
    Point,
    arm,
    block,
    level_sets,
    named_level,
    plan,
    repeats_of,
    settings_of_point,
)
from loadcurve.lab.schedule.search import (
    Capacity,
    NarrowMean,
    Observation,
    Result,
    SaturatingSize,
    Search,
    Trial,
    begin,
    step,
)
from loadcurve.lab.schedule.search.bracket import seconds_of
from loadcurve.study import Study, place_of, settled
from loadcurve.study.archive import opened
from loadcurve.study.records import read_run

_DEFAULT_MTU = 1500


def link_rate_bps(settings: Mapping[str, Any]) -> float:
    """Return the rate of the only server's link, in bit/s; NaN if the point sets none, or has several servers.

    It is NaN as well for an MTU other than 1500 bytes, because the bytes of frames are not measured there.

    Examples
    --------
    >>> link_rate_bps({"topology": {"recipe": "client_server"}, "links": {"S1": {"rate_bps": 1e8}}})
    100000000.0
    """
    if (settings.get("topology") or {}).get("servers") not in (None, 1):
        return math.nan
    links = list((settings.get("links") or {}).values())
    rates = [float(link["rate_bps"]) for link in links if math.isfinite(link.get("rate_bps", math.inf))]
    plain = all(link.get("mtu", _DEFAULT_MTU) == _DEFAULT_MTU for link in links)
    return min(rates) if rates and plain else math.nan


# A failed run is repeated.  After three failures in a row, a search ends, and a stop rule stops repeating the point.
_TRIES = 3
_HELD = 0.95  # of an offered rate: the last requests of a short trial are cut off, and rates scatter


def points_of(study: Study, goals: Goals, folder: Path, feedback: Feedback | None) -> Iterator[Point]:
    """Yield the points of a study, each when the run before it has finished.

    A study that searches or stops needs a feedback.  Raises LabError without it, or when a run of a search fails three
    times in a row.
    """
    if goals.search is None and goals.stop is None:
        return iter(plan(study))
    if feedback is None:
        raise LabError("a study with search or stop needs feedback from its runs: use `loadcurve launch`")
    if goals.search is not None:
        return _searched(study, goals.search, goals.objective, folder, feedback)
    assert goals.stop is not None
    return _repeated(study, goals.stop, goals.objective, folder, feedback)


def max_points(study: Study, goals: Goals) -> int:
    """Return the number of runs; for an adaptive study, the largest possible number."""
    arms = len(study.variants) * sum(1 for _ in level_sets(study))
    if goals.search is not None:
        return arms * goals.search.goal.most_trials
    if goals.stop is not None:
        return arms * goals.stop.most_repeats
    every = itertools.product(study.variants, level_sets(study))
    return sum(min(repeats_of(study, *one), study.repeats) for one in every)


def _searched(
    study: Study, search: SearchSection, objective: ObjectiveSection, folder: Path, feedback: Feedback
) -> Iterator[Point]:
    """Yield the points of one search after the other, for each variant and each set of levels."""
    count = itertools.count()
    answers: list[Answer] = []
    for variant, levels in itertools.product(study.variants, list(level_sets(study))):
        goal, searched = _searched_quantity(search, settings_of_point(study, variant, levels))
        state, following = begin(goal)
        background: list[tuple[float, float]] = []
        while isinstance(following, Trial):
            point = _trial(study, search.factor, variant, levels, following, len(state.observations) + 1, next(count))
            measured = yield from _measured(point, objective, folder, feedback)
            state, following = step(state, _observation(search, searched, objective, following, measured))
            background.append(measured.background)
            # Whatever ends the launch, the file has what is known so far.
            seen = state.observations
            known = following if isinstance(following, Result) else replace(goal, most_trials=len(seen)).next(seen)
            assert isinstance(known, Result)
            found = _with_background(known, background)
            answer = answer_of(arm(study, variant, levels), search.kind, search.factor, searched, found)
            write_answers([*answers, replace(answer, ended=isinstance(following, Result))], folder)
        answers.append(answer)
        _report_last(answers, folder, feedback)


def _measured(
    point: Point, objective: ObjectiveSection, folder: Path, feedback: Feedback
) -> Generator[Point, None, Measured]:
    """Yield a point until its run finishes; return the measurements of that run."""
    for _ in range(_TRIES):
        yield point
        measured = feedback.measure(opened(folder / point.run_id), objective.quantile)
        if measured is not None:
            return measured
    reason = read_run(opened(folder / point.run_id)).reason
    raise LabError(f"{point.run_id} failed {_TRIES} times ({reason}): the search cannot go on")


def _repeated(
    study: Study, stop: StopSection, objective: ObjectiveSection, folder: Path, feedback: Feedback
) -> Iterator[Point]:
    """Yield blocks of points; each block has the points for which the mean is not yet known precisely enough."""
    order, begun = random.Random(study.seed), 0
    mean = NarrowMean(
        load=1.0, duration_s=1.0, rule=feedback.rule, half_width_ratio=stop.half_width_ratio,
        most_trials=stop.most_repeats,
    )  # fmt: skip
    first = _Arm(*begin(mean))
    arms: dict[str, _Arm] = {}
    answers: list[Answer] = []
    for repeat in range(1, stop.most_repeats + 1):
        points = [(arm(study, point.variant, point.levels), point) for point in block(study, repeat, order, begun)]
        left = [(name, point) for name, point in points if arms.setdefault(name, first).continues]
        for i, (name, point) in enumerate(left):
            yield replace(point, order=begun + i)
            measured = feedback.measure(opened(folder / point.run_id), objective.quantile)
            # The launch reports failed runs at its end, and the next launch repeats them.
            now = arms[name] = arms[name].after(measured, stop.quantity)
            if (result := now.result(last=repeat == stop.most_repeats)) is None:
                continue
            load_s = result.trials * (point.settings["load"].get("duration_s") or 0.0)
            found = _with_background(replace(result, trial_s=load_s), now.background)
            answers.append(answer_of(name, "stop", "", stop.quantity, found))
            _report_last(answers, folder, feedback)
        begun += len(left)


@dataclass(frozen=True)
class _Arm:
    """A point under a stop rule."""

    # `state` and `following`: state of the search for the mean, and its next trial or result.
    state: Search
    following: Trial | Result
    unknown: int = 0  # Number of consecutive last runs that failed or did not measure the quantity
    background: tuple[tuple[float, float], ...] = ()  # `Measured.background` of each run

    @property
    def continues(self) -> bool:
        return isinstance(self.following, Trial) and self.unknown < _TRIES

    def result(self, last: bool) -> Result | None:
        """Return the result, or None while repeats continue; there is no mean if too few runs could be measured."""
        if isinstance(self.following, Result):
            return self.following
        if self.continues and not last:
            return None
        measured = self.state.observations
        why = "too few runs could be measured: see why the others failed, and launch again"
        unknown = (math.nan, math.nan, math.nan)
        return Result(*unknown, False, measured, len(measured), seconds_of(measured), (why,))

    def after(self, measured: Measured | None, quantity: str) -> "_Arm":
        """Return the arm after one more run; a run that failed or had no response does not measure the quantity."""
        if measured is None or math.isnan(value := getattr(measured, quantity)):
            return replace(self, unknown=self.unknown + 1)
        background = (*self.background, measured.background)
        return _Arm(*step(self.state, Observation(1.0, 1.0, value)), background=background)


def _trial(
    study: Study, factor: str, variant: str, levels: dict[str, Any], trial: Trial, number: int, order: int
) -> Point:
    level = int(trial.load) if float(trial.load).is_integer() else trial.load
    names = [name for name in (arm(study, variant, levels), named_level(place_of(factor), level, number)) if name]
    changes = {factor: level, "load.duration_s": float(trial.duration_s)}
    merged = settled(settings_of_point(study, variant, levels), changes)
    run_id = "-".join((*names, f"t{number:03d}"))
    return Point(run_id, variant, {**levels, factor: level}, number, order, merged)


def _searched_quantity(search: SearchSection, settings: Mapping[str, Any]) -> tuple[Capacity | SaturatingSize, str]:
    """Return the goal of a search, and the quantity that it reports.

    A search for a size compares with the rate of the server's link where the study sets one; otherwise with a limit
    that is given or measured, in bytes of responses.
    """
    goal = search.goal
    if isinstance(goal, Capacity):
        return goal, "throughput_rps"
    rate_bps = link_rate_bps(settings)
    if not math.isnan(goal.limit) or math.isnan(rate_bps):
        return goal, "received_bytes_per_s"
    return replace(goal, limit=rate_bps / 8), "frame_bytes_per_s"


def _observation(
    search: SearchSection, quantity: str, objective: ObjectiveSection, trial: Trial, measured: Measured
) -> Observation:
    if search.kind == "saturating_size":
        return Observation(trial.load, trial.duration_s, getattr(measured, quantity))
    asked = trial.load if search.factor.endswith("rate_rps") else 0.0
    kept = measured.failed_ratio <= (objective.failed_ratio or 0.0) and not measured.throughput_rps < _HELD * asked
    if kept and objective.latency_s is not None:  # without a response there is no latency
        if math.isnan(measured.latency_s):
            raise LabError(
                f"no latency at quantile {objective.quantile:g}: the load generator does not report it; choose another "
                "tool or quantile"
            )
        kept = measured.latency_s <= objective.latency_s
    return Observation(trial.load, trial.duration_s, measured.throughput_rps, bool(kept))


def _report_last(answers: list[Answer], folder: Path, feedback: Feedback) -> None:
    """Write all answers so far, and report the last one."""
    write_answers(answers, folder)
    feedback.report(sentence(answers[-1]))


def _with_background(result: Result, background: Sequence[tuple[float, float]]) -> Result:
    """Return the result, with a warning if other processes used too much of the processors during its runs."""
    warning = warning_of_runs(background)
    return replace(result, warnings=(*result.warnings, warning)) if warning else result
