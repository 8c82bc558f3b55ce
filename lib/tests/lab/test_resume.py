"""Whose a study's folder is: its own settings in whatever form they were made, and one launch at a time."""

from dataclasses import replace

import pytest

from loadcurve.errors import LabError
from loadcurve.lab.run import run_point
from loadcurve.lab.run.resume import check_folder, lock_folder
from loadcurve.study import Study


def test_a_study_with_tuples_within_its_sections_is_the_one_that_is_written(tmp_path):
    made = Study("s", "?", hosts={"C1": {"cpus": (0,)}}, factors={"connections": (1, 2)}, load={"duration_s": 1})
    check_folder(made, tmp_path / "s")
    check_folder(made, tmp_path / "s")
    read = Study("s", "?", hosts={"C1": {"cpus": [0]}}, factors={"connections": (1, 2)}, load={"duration_s": 1.0})
    check_folder(read, tmp_path / "s")
    check_folder(replace(read, audit={"select": ["few-repeats"]}), tmp_path / "s")  # judges the runs, changes none
    other = Study("s", "?", hosts={"C1": {"cpus": (1,)}}, factors=made.factors, load=made.load, repeats=4)
    with pytest.raises(LabError, match="holds this study with other repeats, hosts: "):
        check_folder(other, tmp_path / "s")


def test_two_launches_never_write_into_one_folder(tmp_path):
    refused = pytest.raises(LabError, match="is being written by another launch")
    with lock_folder(tmp_path), refused, lock_folder(tmp_path):
        pass
    with lock_folder(tmp_path):
        pass


def test_what_a_launch_lacks_is_not_taken_for_another_launch(tmp_path):
    """A limit on processes refuses a fork with the same error as a lock that is held."""
    with pytest.raises(BlockingIOError, match="unavailable"), lock_folder(tmp_path):
        raise BlockingIOError(11, "Resource temporarily unavailable")


def test_what_a_killed_run_left_goes_but_its_record_stays_until_the_next_one_replaces_it(tmp_path):
    """A reader beside the launch finds one record or the other, and nothing that a link leads to is removed."""
    (run := tmp_path / "r1").mkdir()
    (other := tmp_path / "other").mkdir()
    (run / "S1-www").mkdir()
    for file in (run / "run.json", run / "local.wrk.txt", run / "S1-www" / "x", other / "x"):
        file.touch()
    (run / "link").symlink_to(other)
    (linked := tmp_path / "r2").symlink_to(other)
    for folder in (run, linked, tmp_path / "r3"):
        run_point._empty(folder)
    assert [path.name for path in run.iterdir()] == ["run.json"] and [path.name for path in other.iterdir()] == ["x"]
    assert list(linked.iterdir()) == list((tmp_path / "r3").iterdir()) == []
