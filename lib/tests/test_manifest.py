"""A study knows its runs: one that is missing, replaced or added is reported by name, however the study is read."""

import json
import re
import shutil

import pandas as pd
import pytest
from conftest import copy_runs

import loadcurve
from loadcurve.audit import audit
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.files import Hints
from loadcurve.ingest.store import read_table, read_warnings
from loadcurve.reading import read_each
from loadcurve.study.archive import opened
from loadcurve.study.manifest import NAME, read_manifest
from loadcurve.study.records import read_run, run_folders, write_run

STUDY = "connections_on_loopback"
RUNS = ("cpu-c0008-r1", "delay-c0008-r1")


@pytest.fixture
def study(checkout):
    """Two recorded runs with their manifest."""
    return copy_runs(checkout / "data" / "studies" / STUDY, *RUNS, listed=True)


def test_a_record_names_no_folder_of_the_checkout_that_made_it(root):
    own = re.compile(r"/(?:data/studies|data/atlas|lib/loadcurve|\.venv|site-packages)/")
    studies = [path.parent for path in (root / "data").glob("*/*/study.yml")]
    records = [path for study in studies for path in opened(study).glob("*/run.json")]
    assert records
    assert [path for path in records if own.search(path.read_text("utf-8"))] == []


def test_recorded_studies_list_their_runs(root):
    folders = [path.parent for path in (root / "data" / "studies").glob("*/study.yml")]
    for folder in folders:
        assert read_manifest(folder) == {run.name: read_run(run).seal for run in run_folders(folder)}
    assert STUDY in {folder.name for folder in folders}


def test_a_whole_study_has_no_gap(study):
    assert not [line for line in read_warnings(STUDY) if NAME in line]
    assert set(read_table("runs", STUDY)["run_id"]) == set(RUNS)


@pytest.mark.slow
def test_a_missing_run_is_named_wherever_the_study_is_read(study):
    shutil.rmtree(study / RUNS[0])
    said = f"data/studies/{STUDY}/{RUNS[0]}: missing: runs.json lists it, but its folder is gone"
    tables = {"store": read_table("runs", STUDY), "read": loadcurve.read(study).tables["runs"]}
    each = [reading for reading in read_each(study, Hints()) if "runs" in reading.parsed.tables]
    tables["each"] = pd.concat([reading.rows("runs") for reading in each])
    for how, runs in tables.items():
        assert dict(zip(runs["run_id"], runs["status"], strict=True)) == {RUNS[0]: "missing", RUNS[1]: "finished"}, how
    warnings = (read_warnings(STUDY), loadcurve.read(study).warnings, [w for r in each for w in r.parsed.warnings])
    assert all(len([line for line in lines if line.startswith(said)]) == 1 for lines in warnings)
    findings = audit({"runs": tables["store"]})
    found = findings[(findings["run_id"] == RUNS[0]) & (findings["rule"] == "unfinished-run")]
    assert found["severity"].tolist() == ["error"] and "missing" in found["evidence"].iloc[0]


def test_a_run_that_was_replaced_or_added_is_named(study):
    run = read_run(study / RUNS[0])
    write_run(type(run)(**{**vars(run), "warnings": ("a record of another launch",)}), study / RUNS[0])
    shutil.copytree(study / RUNS[1], study / "added")
    write_run(type(run)(**{**vars(read_run(study / RUNS[1])), "run_id": "added"}), study / "added")
    said = [line for line in read_warnings(STUDY) if NAME in line]
    assert [line.split(": ")[:2] for line in said] == [
        [f"data/studies/{STUDY}/{RUNS[0]}", "not the run that was launched"],
        [f"data/studies/{STUDY}/added", "not of this launch"],
    ]


def take_away(study):
    shutil.rmtree(study / RUNS[0])
    return RUNS[0], "missing: runs.json lists it, but its folder is gone"


def add_a_file(study):
    (study / "more.wrk.txt").write_text("Requests/sec: 1\n")
    return "more.wrk.txt", "of no run, so it is not read"


def add_a_folder(study):
    (study / "more").mkdir()
    return "more", "not of this launch: runs.json does not list it"


def link_within(study):
    raw = study / RUNS[0] / "local.wrk.txt"
    raw.rename(study / ".kept")
    raw.symlink_to(study / ".kept")
    return f"{RUNS[0]}/local.wrk.txt", "a link; replace it by what was recorded"


def link_a_run_away(study):
    elsewhere = study.parents[2] / "elsewhere"
    shutil.move(study / RUNS[0], elsewhere)
    (study / RUNS[0]).symlink_to(elsewhere)
    return RUNS[0], "a link out of the study, so it is not read"


@pytest.mark.parametrize("change", [take_away, add_a_file, add_a_folder, link_within, link_a_run_away])
def test_tidy_ends_with_1_at_a_difference_that_the_study_does_not_accept(study, called, change):
    assert called("tidy", STUDY)[0] == 0
    name, difference = change(study)
    said = f"data/studies/{STUDY}/{name}: {difference}"
    code, _, err = called("tidy", STUDY)
    assert code == 1 and err.count(said) == 1 and "or give a reason under audit.accept in study.yml" in err
    assert called("tidy", STUDY)[0] == 1, "also where the tables are there already"
    assert [line.startswith(said) for line in loadcurve.read(study).warnings if NAME in line or name in line] == [True]
    assert said in " ".join(called("audit", STUDY)[1].split())
    with (study / "study.yml").open("a") as file:
        file.write(f"audit: {{accept: {{{name}: known}}}}\n")
    code, _, err = called("tidy", STUDY)
    assert code == 0 and f"{said}" in err and "; accepted in study.yml: known" in err


def test_a_raw_file_that_is_a_link_out_of_the_study_is_not_read(study, called, tmp_path):
    (tmp_path / "secret").write_text("of somebody else\n")
    raw = study / RUNS[0] / "local.wrk.txt"
    raw.unlink()
    raw.symlink_to(tmp_path / "secret")
    code, _, err = called("tidy", STUDY)
    assert code == 1 and "somebody" not in err
    assert f"{RUNS[0]}/local.wrk.txt: expected the file that run.json names, got 'a link out of the study'" in err


@pytest.mark.parametrize("accept", ["x", "[r1]", "{r1: ''}", "{r1: 5}"])
def test_what_accepts_no_difference_for_a_reason_is_refused(study, called, accept):
    with (study / "study.yml").open("a") as file:
        file.write(f"audit: {{accept: {accept}}}\n")
    code, _, err = called("tidy", STUDY)
    assert code == 1 and "study.yml audit: expected name: reason in accept" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"runs": []}', '{"runs": {"a": 1}}', '{"runs": {}, "x": 1}', '{"runs": {"a": "", "a": ""}}', "\ud800"],
)
def test_a_broken_manifest_is_one_line(study, text):
    (study / NAME).write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(LoadcurveError, match="runs.json(:1)?: expected ") as caught:
        read_table("runs", STUDY)
    assert "\n" not in str(caught.value)


def test_a_run_of_an_unknown_generator_keeps_its_row(study):
    folder = study / RUNS[0]
    record = json.loads((folder / "run.json").read_text())
    for command in record["commands"]:
        command["tool"] = {"wrk": "vegeta9", "sar": "sar9"}.get(command["tool"], command["tool"])
    run = read_run(study / RUNS[1])
    commands = tuple(type(run.commands[0])(**command) for command in record.pop("commands"))
    write_run(type(run)(**{**record, "commands": commands}), folder)
    row = read_table("runs", STUDY).set_index("run_id").loc[RUNS[0]]
    assert (row["status"], row["tool"], row["connections"], row["variant"]) == ("finished", "vegeta9", 8, "cpu")
    assert pd.isna(row["throughput_rps"]) and pd.isna(row["requests"])
    said = [line for line in read_warnings(STUDY) if RUNS[0] in line]
    assert any("vegeta9 is a generator whose output loadcurve does not read" in line for line in said)
    assert any("sar9 is a collector whose output loadcurve does not read" in line for line in said)
