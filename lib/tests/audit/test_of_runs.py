"""Tables by run: what a rule sees, and what rules share."""

import numpy as np
import pandas as pd

from loadcurve import tables
from loadcurve.audit.run_tables import RunTables, key_of

RUNS = pd.DataFrame({"study": ["s", "s", None], "run_id": ["a", "b", "c"], "source": None, "key": ["x", "x", "x"]})
CPU = pd.DataFrame(
    {"study": ["s", "s", "t", None], "run_id": ["a", "b", "a", "c"], "cpu_idle_ratio": [0.5, None, 1, 1]}
)
HOSTS = pd.DataFrame({"kernel": ["6.1"]})
OF_RUNS = RunTables({"runs": RUNS, "cpu": CPU, "hosts": HOSTS})
FIRST = np.array([True, False, False])


def test_a_part_has_the_rows_of_its_runs():
    part = OF_RUNS.part(FIRST)
    assert part["runs"]["run_id"].tolist() == ["a"]
    assert part["cpu"]["cpu_idle_ratio"].tolist() == [0.5]  # not the run of this name in the study t
    assert len(part["hosts"]) == 1  # without runs, so it is of all of them
    assert part.part(np.array([True]))["cpu"] is part["cpu"]


def test_rules_that_examine_the_same_runs_share_their_tables():
    assert OF_RUNS.part(FIRST)["cpu"] is OF_RUNS.part(FIRST.copy())["cpu"]
    assert OF_RUNS.having("cpu", ("cpu_idle_ratio",)) is OF_RUNS.having("cpu", ("cpu_idle_ratio",))


def test_a_run_has_what_one_of_its_rows_has():
    assert OF_RUNS.having("cpu", ("cpu_idle_ratio",)).tolist() == [True, False, True]
    assert OF_RUNS.having("cpu", ("run_id",)).tolist() == [True, True, True]
    assert OF_RUNS.having("memory", ("swap_used_bytes",)).tolist() == [False, False, False]


def test_keys_are_of_study_and_run_whatever_factors_are_called():
    assert key_of(RUNS).tolist() == key_of(OF_RUNS["runs"]).tolist() == ["s/a", "s/b", "/c"]
    assert key_of(OF_RUNS["cpu"]).tolist() == key_of(CPU).tolist() == ["s/a", "s/b", "t/a", "/c"]
    assert list(CPU) == ["study", "run_id", "cpu_idle_ratio"]  # of the caller, unchanged


def test_a_checked_table_is_independent_of_the_given_one():
    given = tables.check("cpu", CPU)
    checked = tables.check("cpu", given)
    checked.loc[0, "cpu_idle_ratio"] = 0.25
    given.loc[3, "cpu_idle_ratio"] = 0.75
    assert given["cpu_idle_ratio"].tolist()[::3] == [0.5, 0.75]
    assert checked["cpu_idle_ratio"].tolist()[::3] == [0.25, 1.0]
