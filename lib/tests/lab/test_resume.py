"""Whose a study's folder is: its own settings in whatever form they were made, and one launch at a time."""

import json
from dataclasses import replace

import pytest

from loadcurve.errors import LabError
from loadcurve.lab.run import run_point
from loadcurve.lab.run.resume import check_folder, folder_for, lock_folder, put_in_place
from loadcurve.study import Command, Run, Study
from loadcurve.study.archive import pack
from loadcurve.study.manifest import gaps_of, list_run, read_manifest
from loadcurve.study.records import read_run, run_folders, write_run

AT = "2026-11-21T00:23:46.919828Z"
WRK = Command("generator", "wrk", ("wrk",), "local.wrk.txt", "", 10, started_at=AT, ended_at=AT, exit_code=0)
RUN = Run("s", "r1", "finished", {"connections": 1}, {}, (WRK,), {"local.wrk.txt": {"bytes": 8, "sha256": "0" * 64}})


def test_a_study_with_tuples_within_its_sections_is_the_one_that_is_written(tmp_path):
    made = Study("s", "?", hosts={"C1": {"cpus": (0,)}}, factors={"connections": (1, 2)}, load={"duration_s": 1})
    check_folder(made, tmp_path / "s")
    check_folder(made, tmp_path / "s")
    read = Study("s", "?", hosts={"C1": {"cpus": [0]}}, factors={"connections": (1, 2)}, load={"duration_s": 1.0})
    check_folder(read, tmp_path / "s")
    # Both are about the runs, and change none.
    check_folder(replace(read, question="Why?", audit={"select": ["few-repeats"]}), tmp_path / "s")
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


def recorded(folder, status, reason=""):
    folder.mkdir(parents=True)
    write_run(replace(RUN, run_id=folder.name, status=status, reason=reason), folder)
    (folder / "local.wrk.txt").write_text(status)
    list_run(folder.parent, folder.name, read_run(folder).seal)


@pytest.mark.parametrize("later", ["", "running", "failed", "half", "finished", "finished; earlier half removed"])
def test_of_a_run_that_is_measured_again_the_last_finished_measurement_is_kept(tmp_path, later):
    """Wherever the launcher is killed, readers find it, and the next launch too."""
    recorded(tmp_path / "r1", "finished", "first")
    first = read_run(tmp_path / "r1")
    place = folder_for(tmp_path, "r1")
    assert place != tmp_path / "r1" and run_folders(tmp_path) == [tmp_path / "r1"]
    if later:
        recorded(place, "running" if later == "half" else later.partition(";")[0])
    if later == "half":
        (place / "run.json").write_text("{")
    if "removed" in later:
        (tmp_path / "r1" / "run.json").unlink()
    for _ in range(2):
        put_in_place(tmp_path)
        kept = read_run(tmp_path / "r1")
        assert (kept.seal == first.seal) == (not later.startswith("finished")) and kept.status == "finished"
        assert read_manifest(tmp_path) == {"r1": kept.seal} and list(gaps_of(tmp_path, {"r1": kept.seal})) == []
        assert sorted(path.name for path in tmp_path.iterdir()) == ["r1", "runs.json"]
        replaced = json.loads((tmp_path / "runs.json").read_text("utf-8")).get("replaced", [])
        assert [one["seal"] for one in replaced] == [first.seal] * (later == "finished")


def test_a_run_that_was_packed_meanwhile_is_replaced_all_the_same(tmp_path):
    recorded(tmp_path / "r1", "finished", "first")
    recorded(folder_for(tmp_path, "r1"), "finished", "second")
    (tmp_path / "study.yml").touch()
    pack(tmp_path, ["r1"])
    put_in_place(tmp_path)
    assert read_run(tmp_path / "r1").reason == "second" and not (tmp_path / "runs.tar.xz").exists()


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    recorded(tmp_path / "s" / "r1", "finished", "first")
    (tmp_path / "s" / "r1").rename(tmp_path / "elsewhere")
    (tmp_path / "s" / "r1").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "s" / ".again").mkdir()
    recorded(tmp_path / "s" / ".again" / "r1", "finished", "second")
    put_in_place(tmp_path / "s")
    assert read_run(tmp_path / "s" / "r1").reason == "second" and read_run(tmp_path / "elsewhere").reason == "first"


def test_an_unfinished_run_is_measured_again_in_its_place(tmp_path):
    recorded(tmp_path / "r1", "failed", "no server")
    assert folder_for(tmp_path, "r1") == tmp_path / "r1"
    (replaced,) = json.loads((tmp_path / "runs.json").read_text("utf-8"))["replaced"]
    assert replaced["why"] == "failed no server"


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
