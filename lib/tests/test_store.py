"""Tidy tables: made from raw files, made anew when those change, and every reader's sources noted."""

import os
import shutil
from unittest import mock

import pandas as pd
import pytest
from conftest import copy_runs

from loadcurve import read_machine, read_table, read_warnings, tables
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest import store
from loadcurve.ingest.store import ingest
from loadcurve.runtime import many_files
from loadcurve.study.records import fingerprint, read_run, run_folders, write_run

STUDY = "connections_on_loopback"


@pytest.fixture
def study(checkout):
    """A copy of two recorded runs, which a test may change."""
    return copy_runs(checkout / "data" / "studies" / STUDY, "cpu-c0008-r1", "delay-c0008-r1")


def test_every_table_has_rows_and_its_schema(study):
    for name in ("runs", "latency", "cpu", "network", "tcp", "sockets", "connections"):
        frame = read_table(name, STUDY)
        assert len(frame) > 0
        assert list(frame.columns) == list(tables.SCHEMAS[name].columns)
        assert set(frame["run_id"]) == {"cpu-c0008-r1", "delay-c0008-r1"}


def test_numbers_are_those_of_the_raw_text(study):
    text = (study / "cpu-c0008-r1" / "local.wrk.txt").read_text()
    stated = next(line.split()[1] for line in text.split("\n") if line.startswith("Requests/sec"))
    runs = read_table("runs", STUDY).set_index("run_id")
    assert runs.loc["cpu-c0008-r1", "throughput_rps"] == float(stated)
    assert runs.loc["cpu-c0008-r1", "connections"] == 8


def test_all_collectors_stand_on_one_clock(study):
    runs = read_table("runs", STUDY).set_index("run_id")
    for name in ("cpu", "network", "tcp", "sockets", "connections"):
        frame = read_table(name, STUDY)
        expected = frame["time"] - frame["run_id"].map(runs["started_at"])
        assert ((expected.dt.total_seconds() - frame["elapsed_s"]).abs() < 1e-6).all()
        assert frame["elapsed_s"].between(-2, runs["duration_s"].max() + 3).all()


def test_a_garbled_number_names_file_and_line(study):
    file = study / "cpu-c0008-r1" / "local.wrk.txt"
    lines = file.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("Requests/sec"))
    lines[at] = "Requests/sec:  1x3456.78"
    file.write_text("\n".join(lines))
    with pytest.raises(ParseError) as caught:
        ingest(STUDY)
    assert str(caught.value).startswith(f"data/studies/{STUDY}/cpu-c0008-r1/local.wrk.txt:{at + 1}: expected ")
    assert "1x3456.78" in str(caught.value)


@pytest.mark.parametrize("name", ["local.sar.txt", "local.ss.summary.txt", "local.ss.connections.txt"])
def test_a_changed_digit_is_found_out(study, name):
    """Still a number, so no parser can tell: the fingerprint can."""
    file = study / "cpu-c0008-r1" / name
    text = file.read_text()
    at = text.rindex("0")
    file.write_text(text[:at] + "1" + text[at + 1 :])
    with pytest.raises(ParseError, match=r"cpu-c0008-r1/.*:\d+: expected "):
        ingest(STUDY)


def test_bytes_that_are_no_text_are_named(study):
    file = study / "cpu-c0008-r1" / "local.wrk.txt"
    file.write_bytes(file.read_bytes() + b"\xff\xfe")
    with pytest.raises(ParseError, match=r"local.wrk.txt:\d+: expected UTF-8"):
        ingest(STUDY)


def test_an_unfinished_run_keeps_its_row_and_warns(study):
    run = read_run(study / "cpu-c0008-r1")
    write_run(
        type(run)(**{**vars(run), "status": "interrupted", "reason": "the launcher was interrupted"}),
        study / run.run_id,
    )
    row = read_table("runs", STUDY).set_index("run_id").loc["cpu-c0008-r1"]
    assert row["status"] == "interrupted"
    assert pd.isna(row["throughput_rps"]) and pd.isna(row["requests"])
    assert any("interrupted: the launcher was interrupted" in w for w in read_warnings(STUDY))


@pytest.mark.slow
def test_tables_are_made_anew_when_a_raw_file_is_newer(study):
    read_table("runs", STUDY)
    read_only = mock.patch.object(store, "read_runs", side_effect=AssertionError("the raw files were read again"))
    with read_only:
        read_table("runs", STUDY)
    raw = study / "cpu-c0008-r1" / "local.sar.txt"
    for at in (raw.stat().st_mtime + 5, 1.0):  # touched; and replaced by a file that is older than the tables
        os.utime(raw, (at, at))
        with read_only, pytest.raises(AssertionError, match="read again"):
            read_table("runs", STUDY)
        read_table("runs", STUDY)


def test_a_study_that_a_launch_changes_while_it_is_read_is_read_again(study):
    whole, calls = store.read_runs, []

    def read(folder, each):
        calls.append(folder)
        if len(calls) == 1:
            (folder / ".changed").touch()
            raise ParseError(0, "a run.json", "no file", "run.json")
        return whole(folder, each)

    with mock.patch.object(store, "read_runs", side_effect=read):
        assert len(read_table("runs", STUDY)) == len(calls) == 2


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["edited", "cut", "empty", "deleted", "sums edited", "sums deleted"])
def test_a_damaged_table_is_made_again(study, damage):
    expected = read_table("runs", STUDY)
    table, sums = store._file("runs", study), store._sums(study)
    content = table.read_bytes()
    if damage == "edited":  # a whole table, newer than all it was made from, with one number changed
        expected.assign(throughput_rps=1.0).to_parquet(table)
    elif damage.startswith("sums"):
        sums.unlink() if damage.endswith("deleted") else sums.write_text(sums.read_text().replace("a", "b"))
    elif damage == "deleted":
        table.unlink()
    else:
        table.write_bytes(content[: len(content) // 2 if damage == "cut" else 0])
    pd.testing.assert_frame_equal(read_table("runs", STUDY), expected)
    assert store.tidy(STUDY)["runs"] == 2


def test_a_table_of_the_same_content_keeps_its_time(study):
    read_table("runs", STUDY)
    before = {path: path.stat().st_mtime_ns for path in study.parents[2].glob("build/tidy/*/*.parquet")}
    raw = study / "cpu-c0008-r1" / "local.sar.txt"
    os.utime(raw, (1.0, 1.0))
    store.tidy(STUDY)
    assert {path: path.stat().st_mtime_ns for path in before} == before and before


@pytest.mark.slow
def test_studies_beside_each_other_are_read_as_one_after_the_other(study, called, monkeypatch):
    shutil.copytree(study, study.with_name("broken"))  # another study's runs
    (code, out, err), refused = called("tidy", STUDY), called("tidy", "broken")
    shutil.rmtree(study.parents[2] / "build/tidy")
    monkeypatch.setattr(many_files, "_WORTH_WORKERS_S", 0)
    assert (code, out.count("\n"), refused[1]) == (0, 2, "")
    expected = out.replace(STUDY, f"data/studies/{STUDY}"), sorted([*err.splitlines(), *refused[2].splitlines()])
    code, out, err = called("tidy")
    assert (code, out, sorted(err.splitlines())) == (1, *expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", [b"caf\xe9", b"a\nb\x1b[31m", b"a b;#=%$"])
def test_a_run_by_hand_has_files_of_any_name(study, root, name):
    folder = study / os.fsdecode(name)
    folder.mkdir()
    shutil.copy(root / "lib/tests/data/wrk/fdlimit.txt", folder / f"{folder.name}.txt")
    runs = read_table("runs", STUDY)
    (found,) = runs[~runs["run_id"].str.contains("-c0008-")].itertuples()
    assert found.source.isprintable() and found.source == f"{found.run_id}.txt"
    assert all(line.isprintable() for line in read_warnings(STUDY))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["build/studies", "elsewhere/a_b", "elsewhere_a/b"])
def test_a_study_of_the_same_name_elsewhere_has_tables_of_its_own(study, checkout, where):
    other = checkout / where / STUDY
    shutil.copytree(study, other)
    shutil.rmtree(other / "cpu-c0008-r1")
    third = checkout / "elsewhere/a" / "b" / STUDY
    shutil.copytree(study, third)
    assert [len(read_table("runs", folder)) for folder in (other, STUDY, third, other)] == [1, 2, 2, 1]


def test_a_reader_depends_on_the_raw_files_of_its_tables_alone(study, checkout, monkeypatch):
    ledger = checkout / "reads"
    monkeypatch.setenv("LOADCURVE_READS", str(ledger))
    read_table("runs", STUDY)
    read = set(ledger.read_text().split("\0")) - {""}
    assert any(p.endswith("cpu-c0008-r1/local.wrk.txt") for p in read)
    assert any(p.endswith("cpu-c0008-r1/run.json") for p in read)
    assert not any("sar" in p or ".ss." in p for p in read)
    ledger.write_text("")
    read_table("cpu", STUDY)
    read = set(ledger.read_text().split("\0")) - {""}
    assert any(p.endswith("local.sar.txt") for p in read)
    assert not any("wrk" in p for p in read)


def test_a_machine_has_its_facts(study):
    facts = read_machine(STUDY).set_index("fact")["value"]
    assert facts["system"] == "Linux"
    assert int(facts["cpus"]) >= 1


def test_unknown_names_are_refused(study):
    with pytest.raises(LoadcurveError, match="table must be one of runs, .*got 'run'"):
        read_table("run", STUDY)
    with pytest.raises(LoadcurveError, match=f"study must be one of {STUDY}, .* or a folder"):
        read_table("runs", "no_such_study")


def test_every_recorded_file_is_as_it_was_recorded(root):
    checked = 0
    studies = (path.parent for path in (root / "data" / "studies").glob("*/study.yml"))
    for folder in (run for study in studies for run in run_folders(study)):
        run = read_run(folder)
        assert run.status == "finished"
        assert {p.name for p in folder.iterdir()} == {*run.files, "run.json"}
        for name, recorded in run.files.items():
            assert fingerprint(folder / name) == recorded
            checked += 1
    assert checked > 0
