"""Which points a study has, and which an adaptive one asks for, whatever its runs show; nothing is started."""

import itertools
import math
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.schedule import background_warnings
from loadcurve.lab.schedule.feedback import Feedback, Measured
from loadcurve.lab.schedule.goals import StopSection
from loadcurve.lab.schedule.order import max_points, points_of
from loadcurve.lab.schedule.points import plan
from loadcurve.lab.study_file import check_study, settings_of
from loadcurve.stats import summarise_stopping
from loadcurve.stats.stopping import MINIMUM
from loadcurve.study import Study

NOTHING = Measured(0.0, math.nan, 0.0, 1.0, math.nan)
"""A run whose server answered no request."""


def asked(study, measure):
    """The points of a study whose runs show `measure(run_id)`, at most 500, and what is said."""
    check_study(study)
    settings, said = settings_of(study), []
    feedback = Feedback(lambda folder, quantile: measure(folder.name), summarise_stopping, said.append)
    with tempfile.TemporaryDirectory() as folder:
        points = list(itertools.islice(points_of(study, settings, Path(folder), feedback), 500))
    assert len(points) <= max_points(study, settings)
    assert [point.order for point in points] == list(range(len(points)))
    return [point.run_id for point in points], said


def good(rps=100.0, latency_s=0.01):
    return Measured(rps, latency_s, rps, 0.0, latency_s)


STOP = {"half_width_ratio": 0.02, "most_repeats": 12}


@pytest.mark.parametrize("shown", [None, NOTHING])
def test_a_stop_leaves_a_point_that_is_not_measured_three_times_in_a_row(shown):
    study = Study("s", "?", variants={"a": {}, "b": {}}, stop={**STOP, "quantity": "latency_mean_s"})
    ids, said = asked(study, lambda run_id: shown if run_id.startswith("a-") else good())
    assert sorted(i for i in ids if i.startswith("a-")) == ["a-r1", "a-r2", "a-r3"]
    assert sum(i.startswith("b-") for i in ids) == 10, "the other one goes on"
    assert said[0].startswith("a: the mean response time is not known; 0 runs; too few runs could be measured")
    assert said[1].startswith("b: the mean response time is 0.01 s, 95 % interval 0.01 s to 0.01 s") and len(said) == 2


def test_a_stop_ends_after_its_most_repeats_whatever_fails():
    ids, said = asked(Study("s", "?", stop=STOP), lambda run_id: None if int(run_id[1:]) % 2 else good())
    assert ids == [f"r{n}" for n in range(1, 13)]
    assert len(said) == 1 and said[0].startswith("the mean throughput is not known; 6 runs; ")


def test_a_stop_makes_up_for_a_run_that_failed():
    ids, said = asked(Study("s", "?", stop=STOP), lambda run_id: None if run_id in ("r2", "r3") else good())
    assert ids == [f"r{n}" for n in range(1, 13)] and said[0].startswith("the mean throughput is 100 requests/s, ")


CAPACITY = {"capacity": {"lowest": 1, "highest": 64, "final_s": 2}}


def test_a_load_at_which_nothing_is_answered_breaks_the_objective():
    def measure(run_id):
        return good() if int(run_id[1:5]) <= 20 else NOTHING

    _, (said,) = asked(Study("s", "?", objective={"latency_s": 0.1}, search=CAPACITY), measure)
    assert said.startswith("the objective is met up to 20 connections and missed at 21: 100 requests/s; "), said


def test_a_rate_that_the_generator_does_not_hold_breaks_the_objective():
    """A closed server holds its percentile while it falls behind the offered rate: 300 requests/s at most."""
    study = Study(
        "s", "?", load={"tool": "oha", "connections": 64}, objective={"latency_s": 0.1},
        search={"capacity": {"lowest": 16, "highest": 1024, "final_s": 2}, "factor": "rate_rps"},
    )  # fmt: skip
    _, (said,) = asked(study, lambda run_id: good(min(float(run_id.split("-")[0].removeprefix("rate_rps")), 300.0)))
    bounds = re.match(r"the objective is met up to (\d+) requests/s and missed at (\d+): ", said)
    assert bounds, said
    assert 285 <= int(bounds[1]) < int(bounds[2]) <= 330, "at least 95 % of the rate counts as held"


def test_an_answer_names_the_runs_of_which_others_took_processors(monkeypatch):
    """Others took 5 % at 16 connections, 7.4 % at 20, and at 8 just the 2 % that may be."""
    monkeypatch.setattr(background_warnings, "BUSY_RATIO", 0.02)
    taken = {"c0016": 0.05, "c0020": 0.074, "c0008": 0.02}

    def measure(run_id):
        shown = good() if int(run_id[1:5]) <= 20 else NOTHING
        return replace(shown, cpu_other_ratio=taken.get(run_id[:5], 0.001), cpu_steal_ratio=0.0)

    ids, (said,) = asked(Study("s", "?", objective={"latency_s": 0.1}, search=CAPACITY), measure)
    busy = sum(run_id[:5] in ("c0016", "c0020") for run_id in ids)
    assert said.endswith(
        f"; others took more than 2% of the processors in {busy} of {len(ids)} runs "
        "(other processes up to 7.4%, steal up to 0.0%)"
    )


def test_a_tool_that_does_not_tell_the_latency_is_named():
    study = Study("s", "?", load={"tool": "hey"}, objective={"latency_s": 0.1, "quantile": 0.97}, search=CAPACITY)
    with pytest.raises(LabError, match="no latency at quantile 0.97: the load generator does not report it"):
        asked(study, lambda run_id: Measured(100.0, 0.01, 100.0, 0.0, math.nan))


def test_a_stop_takes_the_least_repeats_of_the_rule_and_no_fewer():
    assert StopSection(most_repeats=MINIMUM).most_repeats == MINIMUM
    with pytest.raises(ValueRuleError, match=f"most_repeats must be a whole number of {MINIMUM} to 10000"):
        StopSection(most_repeats=MINIMUM - 1)


@given(
    levels=st.lists(st.integers(1, 9999), min_size=1, max_size=6, unique=True),
    repeats=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_a_plan_is_blocks_of_every_point(levels, repeats, seed):
    study = Study(
        "s", "?", variants={"a": {}, "b": {}}, factors={"connections": tuple(levels)}, repeats=repeats, seed=seed
    )
    points = plan(study)
    assert points == plan(study), "the order is the seed's"
    assert len({p.run_id for p in points}) == len(points) == 2 * len(levels) * repeats
    size = 2 * len(levels)
    for start in range(0, len(points), size):
        block = points[start : start + size]
        assert {(p.variant, p.levels["connections"]) for p in block} == {(v, n) for v in "ab" for n in levels}
        assert len({p.repeat for p in block}) == 1


def test_another_seed_is_another_order():
    study = Study("s", "?", factors={"connections": tuple(range(1, 30))}, seed=1)
    assert [p.run_id for p in plan(study)] != [p.run_id for p in plan(replace(study, seed=2))]


def test_a_functional_test_is_repeated_less_often_than_loads():
    variants = {"load": {}, "once": {"functions": {"balancer": "nft", "repeats": 1}}}
    study = Study("s", "?", variants=variants, repeats=3)
    assert sorted(point.run_id for point in plan(study)) == ["load-r1", "load-r2", "load-r3", "once-r1"]
    assert max_points(study, settings_of(study)) == 4
