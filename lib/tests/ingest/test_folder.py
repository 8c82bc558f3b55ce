"""Run folders into tables: a folder holds what its `run.json` says, and is of its study; anything else is named."""

import json
import lzma
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from loadcurve.errors import ParseError
from loadcurve.ingest.folder import read_runs
from loadcurve.study import Command, Run, Study
from loadcurve.study.records import fingerprint, line_of, read_run, write_run, write_study

REPORT = (Path(__file__).parents[1] / "data" / "wrk" / "latency.txt").read_text("utf-8")  # 2 threads, 64 connections
TIMES = {"started_at": "2026-11-21T00:23:46.919828Z", "ended_at": "2026-11-21T00:23:52.950040Z", "exit_code": 0}
NGINX = Command("server", "nginx", ("nginx",), "", "", 10, **TIMES)
WRK = Command("generator", "wrk", ("wrk",), "local.wrk.txt", "", 10, version="4.1.0", **TIMES)
SAR = Command("collector", "sar", ("sar",), "", "", 10, **TIMES)
SUMMARY = "Total: 9\nTCP:   4 (estab 1, closed 3, orphaned 0, timewait 3)\n\nTransport Total IP IPv6\nTCP 1 1 0\n\n"
# What the laboratory's reporter would have written of REPORT.
COUNTED = {
    "wrk_reporter": 1, "url": "http://198.18.0.3/616.txt", "threads": 2, "connections": 64,
    "started_us": [1795220626930000, 1795220626930100], "ended_us": 1795220628930900, "duration_us": 2000715,
    "requests": 223240, "bytes": 190872345,
    "errors": {"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": 0},
    "latency_us": {"min": 36, "max": 15893, "mean": 605.0987, "stdev": 478.9912},
    "percentiles_us": {"50": 550, "75": 594, "90": 666, "95": 702, "99": 2551}, "counters_us": [[550, 223240]],
}  # fmt: skip
FACTORS = {
    "variant": "cpu", "recipe": "cpu", "connections": 64, "repeat": 1, "order": 0, "threads": 2, "seconds": 2,
    "url": "http://127.0.0.1/", "server_cpu": 0, "generator_cpu": 1,
}  # fmt: skip
RUN_ID = "cpu-c0064-r1"
STUDY = Study(
    "small",
    "?",
    variants={"cpu": {}},
    load={"duration_s": 2, "threads": 2},
    factors={"connections": (1, 64)},
    repeats=2,
)


@pytest.fixture
def study(tmp_path) -> Path:
    """A study with one finished run."""
    folder = tmp_path / "small"
    write_study(STUDY, folder)
    run = folder / RUN_ID
    run.mkdir()
    (run / "local.wrk.txt").write_text(REPORT, "utf-8")
    (run / "local.nginx.conf").write_text("worker_processes 1;\n", "utf-8")
    files = {p.name: fingerprint(p) for p in sorted(run.iterdir())}
    write_run(Run("small", RUN_ID, "finished", FACTORS, {"cpus": 2}, (NGINX, WRK), files), run)
    return folder


def rewrite(study: Path, /, **changes) -> None:
    """Record the run with other values, sealed anew."""
    run = study / RUN_ID
    factors = {**read_run(run).factors, **changes.pop("factors", {})}
    write_run(replace(read_run(run), factors=factors, **changes), run)


def refused(study: Path) -> str:
    """Return what the one line says after the study's folder, which it must name."""
    with pytest.raises(ParseError) as caught:
        read_runs(study)
    said = str(caught.value)
    assert said.startswith(f"{study}/") and "\n" not in said
    return said.removeprefix(f"{study}/")


def test_a_whole_run_is_read(study):
    (study / ".ipynb_checkpoints").mkdir()
    found = read_runs(study)
    assert found.tables["runs"][["run_id", "requests", "connections"]].values.tolist() == [[RUN_ID, 223240, 64]]
    assert found.warnings == ()


def add_report(study: Path, **changes) -> Path:
    """Record what wrk's reporter wrote beside wrk's text."""
    file = study / RUN_ID / "local.wrk.json"
    file.write_text(json.dumps(COUNTED | changes), "utf-8")
    rewrite(study, files=read_run(study / RUN_ID).files | {file.name: fingerprint(file)})
    return file


def test_the_report_beside_the_text_of_wrk_refines_its_row(study):
    alone = read_runs(study).tables
    add_report(study)
    found = read_runs(study)
    (row,) = found.tables["runs"].to_dict("records")
    assert (row["duration_s"], row["received_bytes"], row["latency_min_s"]) == (
        pytest.approx(2.000715), 190872345, pytest.approx(36e-6)
    )  # fmt: skip
    same = ["study", "run_id", "source", "generator", "status", "tool", "url", "started_at", "requests", "variant"]
    assert found.tables["runs"][same].equals(alone["runs"][same])
    latency = found.tables["latency"].set_index("quantile")["latency_s"]
    assert latency.to_dict() == pytest.approx({0.5: 550e-6, 0.75: 594e-6, 0.9: 666e-6, 0.95: 702e-6, 0.99: 2551e-6})
    assert set(found.tables["histogram"]["source"]) == {"local.wrk.json"}
    assert set(found.tables["histogram"]["corrected"]) == {True, False}
    assert {path.name for path in found.sources["runs"]} >= {"local.wrk.txt", "local.wrk.json", "run.json"}
    assert found.warnings == ()
    # The laboratory packs a large report (xz); what is read of it stays the same.
    file = study / RUN_ID / "local.wrk.json"
    packed = file.with_name("local.wrk.json.xz")
    packed.write_bytes(lzma.compress(file.read_bytes()))
    file.unlink()
    others = {name: of for name, of in read_run(study / RUN_ID).files.items() if name != file.name}
    rewrite(study, files=others | {packed.name: fingerprint(packed)})
    again = read_runs(study).tables
    for table in ("runs", "latency", "histogram"):
        assert again[table].drop(columns="source").equals(found.tables[table].drop(columns="source"))


def test_a_report_that_contradicts_the_text_is_left_out(study):
    alone = read_runs(study).tables
    file = add_report(study, requests=223241)
    found = read_runs(study)
    said = "requests is 223241 here, 223240 in the text (and 1 more)"
    assert found.warnings == (f"{file}: not of the run that the text reports, and left out: {said}",)
    assert all(found.tables[name].equals(table) for name, table in alone.items())


def test_a_report_that_is_garbled_or_changed_is_refused(study):
    file = add_report(study, requests="x")
    assert f"{RUN_ID}/{file.name}:" in refused(study)
    add_report(study)
    file.write_text(json.dumps(COUNTED | {"ended_us": 5}), "utf-8")
    assert f"{RUN_ID}/{file.name}:1: expected the bytes that run.json recorded" in refused(study)
    file.unlink()
    assert refused(study) == f"{RUN_ID}/{file.name}: expected the file that run.json names, got 'no file'"


def test_a_folder_without_a_record_is_a_run_made_by_hand(study):
    run = study / "by-hand"
    run.mkdir()
    (run / "load.txt").write_text("$ wrk -t2 -c64 http://198.18.0.3/\n" + REPORT, "utf-8")
    (run / "notes.txt").write_text("The cable was loose.\n", "utf-8")
    found = read_runs(study)
    row = found.tables["runs"].set_index("run_id").loc["by-hand"]
    assert (row["requests"], row["connections"], row["source"]) == (223240, 64, "load.txt")
    assert row[["variant", "repeat", "started_at", "server_cpu", "host"]].isna().all()
    assert len(found.tables["latency"].query("run_id == 'by-hand'")) == 4
    assert [w.split(": ", 1)[1] for w in found.warnings] == [
        f"{run}/notes.txt:1: expected output of a tool that loadcurve reads, got 'The cable was loose.'"
    ]


def test_a_garbled_record_is_named_as_its_folder_is(study):
    file = study / RUN_ID / "run.json"
    file.write_text(file.read_text("utf-8").replace('"order": 0', '"order": 1'), "utf-8")
    assert f"{RUN_ID}/run.json:{line_of('seal', file)}: expected the seal of what was recorded" in refused(study)


@pytest.mark.parametrize("status", ["finished", "failed"])
def test_a_run_is_of_its_folder(study, status):
    rewrite(study, status=status)
    (study / RUN_ID).rename(study / "cpu-c0064-r2")
    said = f"cpu-c0064-r2/run.json:3: expected the run_id 'cpu-c0064-r2' of this folder, got '{RUN_ID}'"
    assert refused(study) == said


@pytest.mark.parametrize("status", ["finished", "failed"])
def test_a_run_is_of_its_study(study, status):
    rewrite(study, study="other", status=status)
    assert refused(study) == f"{RUN_ID}/run.json:2: expected the study 'small' of this folder, got 'other'"


@pytest.mark.parametrize("status", ["finished", "failed"])
@pytest.mark.parametrize("name", ["local.nginx.conf", "local.wrk.txt"])
def test_every_listed_file_is_as_it_was_recorded(study, status, name):
    rewrite(study, status=status)
    file = study / RUN_ID / name
    old = fingerprint(file)["sha256"][:12]
    file.write_text("\n" + file.read_text("utf-8"), "utf-8")
    new = fingerprint(file)["sha256"][:12]
    assert refused(study) == (
        f"{RUN_ID}/{name}:1: expected the bytes that run.json recorded (sha256 {old}…), got 'sha256 {new}…'"
    )


@pytest.mark.parametrize("name", ["local.nginx.conf", "local.wrk.txt"])
def test_a_file_that_is_gone_is_named(study, name):
    (study / RUN_ID / name).unlink()
    assert refused(study) == f"{RUN_ID}/{name}: expected the file that run.json names, got 'no file'"


def test_fingerprints_that_begin_alike_are_shown_whole(study):
    files = read_run(study / RUN_ID).files
    sha = files["local.nginx.conf"]["sha256"]
    other = sha[:-1] + ("0" if sha[-1] != "0" else "1")
    rewrite(study, files=files | {"local.nginx.conf": files["local.nginx.conf"] | {"sha256": other}})
    said = refused(study)
    assert other in said and sha in said


def test_a_wrong_size_is_named(study):
    files = read_run(study / RUN_ID).files
    rewrite(study, files=files | {"local.nginx.conf": files["local.nginx.conf"] | {"bytes": 7}})
    assert refused(study) == f"{RUN_ID}/local.nginx.conf:1: expected 7 bytes as run.json recorded, got '20 bytes'"


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "run.json.tmp", "folder"])
def test_a_file_nobody_recorded_is_refused(study, name):
    if name == "folder":
        (study / RUN_ID / name).mkdir()
    else:
        (study / RUN_ID / name).write_text("x", "utf-8")
    assert refused(study) == f"{RUN_ID}/{name}: expected only the files that run.json lists, got '{name}'"


def test_a_file_that_only_a_command_names_is_refused(study):
    files = read_run(study / RUN_ID).files
    rewrite(study, files={k: v for k, v in files.items() if k != "local.wrk.txt"})
    assert "local.wrk.txt: expected only the files that run.json lists" in refused(study)


def test_an_unfinished_run_may_hold_more(study):
    rewrite(study, status="running")
    (study / RUN_ID / ".work").mkdir()
    assert read_runs(study).tables["runs"]["status"].tolist() == ["running"]


def test_a_parser_speaks_before_the_fingerprint(study):
    file = study / RUN_ID / "local.wrk.txt"
    file.write_text(REPORT.replace("223240 requests", "22x240 requests"), "utf-8")
    assert "local.wrk.txt:11: expected a whole number, got '22x240'" in refused(study)


def test_a_silent_collector_is_a_warning(study):
    summary = replace(SAR, tool="ss", variant="summary")
    rewrite(study, commands=(NGINX, SAR, summary, WRK))
    assert read_runs(study).warnings == (
        f"{study / RUN_ID}: sar printed nothing",
        f"{study / RUN_ID}: ss summary printed nothing",
    )


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ({"connections": 1, "threads": 1}, "expected 1 connections as run.json records, got '64'"),
        ({"threads": 4}, "expected 4 threads as run.json records, got '2'"),
    ],
)
def test_the_generator_tells_of_the_load_that_is_recorded(study, factors, says):
    rewrite(study, factors=factors)
    assert refused(study) == f"{RUN_ID}/local.wrk.txt:2: {says}"


def test_threads_are_never_more_than_connections(study):
    file = study / RUN_ID / "local.wrk.txt"
    file.write_text(REPORT.replace("2 threads and 64", "1 threads and 1"), "utf-8")
    files = read_run(study / RUN_ID).files
    rewrite(study, factors={"connections": 1}, files=files | {file.name: fingerprint(file)})
    assert read_runs(study).tables["runs"]["threads"].tolist() == [1]


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ({"variant": []}, "factors.variant to be string, got '[]'"),
        ({"connections": True}, "factors.connections to be integer, got 'true'"),
        ({"repeat": 0}, "factors.repeat to be a whole number >= 1, got '0'"),
        ({"settings": {}, "levels": 64}, "factors.levels to be an object, got '64'"),
        ({"settings": {}}, "the key levels, got 'none'"),
        ({"settings": {"load": {"connections": 1}}, "levels": {}}, "connections to be 1 as in its settings, got '64'"),
    ],
)
def test_a_record_agrees_with_itself(study, factors, says):
    rewrite(study, factors=factors)
    assert refused(study) == f"{RUN_ID}/run.json:5: expected {says}"


SETTINGS = {**STUDY.sections(), "load": {**STUDY.load, "connections": 64}}


@pytest.mark.parametrize(
    ("factors", "edit"),
    [
        ({"variant": "delay"}, "variant delay then, cpu now"),
        ({"recipe": "delay 10ms"}, "recipe delay 10ms then, cpu now"),
        ({"seconds": 3}, "seconds 3 then, 2 now"),
        ({"repeat": 3}, "repeat 3 then, 2 repeats now"),
        ({"settings": SETTINGS, "levels": {"connections": 65}}, "connections 65 then, 1, 64 now"),
        ({"settings": SETTINGS, "levels": {"threads": 2}}, "threads 2 then, none now"),
        (
            {"settings": {**SETTINGS, "server": {"url": "http://127.0.0.1/"}}, "levels": {"connections": 64}},
            "server.url http://127.0.0.1/ then, not set now",
        ),
    ],
)
def test_an_edited_study_keeps_its_runs_and_says_what_differs(study, factors, edit):
    rewrite(study, factors=factors)
    found = read_runs(study)
    (row,) = found.tables["runs"].to_dict("records")
    assert (row["requests"], row["variant"]) == (223240, factors.get("variant", "cpu"))
    assert any(f"study.yml: edited after {RUN_ID}: {edit}; these runs keep" in words for words in found.warnings)


def test_factors_that_are_not_recorded_are_not_asked_for(study):
    file = study / RUN_ID
    write_run(replace(read_run(file), factors={"variant": "cpu", "repeat": 1}), file)
    assert len(read_runs(study).tables["runs"]) == 1


@pytest.mark.slow
def test_a_changed_digit_anywhere_in_a_folder_is_found_out(study):
    for file in sorted((study / RUN_ID).iterdir()):
        text = file.read_text("utf-8")
        for at in (i for i, c in enumerate(text) if c.isdigit()):
            file.write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :], "utf-8")
            refused(study)
        file.write_text(text, "utf-8")
    assert json.loads((study / RUN_ID / "run.json").read_text("utf-8"))
    assert len(read_runs(study).tables["runs"]) == 1


def test_levels_and_faults_of_the_record_are_tables(study):
    factors = {name: value for name, value in FACTORS.items() if name != "recipe"}
    factors |= {"levels": {"connections": 64}, "settings": SETTINGS}
    event = {"at": "2026-11-21T00:23:47.919828Z", "host": "S1", "what": "KILL sent to S1: 7"}
    run = study / RUN_ID
    write_run(replace(read_run(run), factors=factors, events=(event,)), run)
    found = read_runs(study).tables
    assert found["factors"][["run_id", "factor", "level", "number"]].values.tolist() == [
        [RUN_ID, "load.connections", "64", 64.0]
    ]
    assert found["events"][["elapsed_s", "host", "tool", "event", "text"]].values.tolist() == [
        [1.0, "S1", "loadcurve", "fault", "KILL sent to S1: 7"]
    ]


def test_times_of_another_host_are_put_on_the_clock_of_the_launcher(study):
    """Both hosts saw their sockets at one instant, 2 s after the load's start; the clock of one is 100 s ahead."""
    started_at = datetime.fromisoformat(WRK.started_at)
    commands = [NGINX]
    for host, ahead_s in {"C1": 0.0, "S1": 100.0}.items():
        at = (started_at + timedelta(seconds=2 + ahead_s)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        (study / RUN_ID / f"{host}.ss.txt").write_text(f"## {at}\n{SUMMARY}", "utf-8")
        commands.append(replace(SAR, tool="ss", variant="summary", host=host, stdout=f"{host}.ss.txt"))
    offset = {"ssh": "ssh://bench@server", "clock_offset_s": 100.0, "clock_offset_bound_s": 0.001}
    files = {path.name: fingerprint(path) for path in (study / RUN_ID).iterdir() if path.name != "run.json"}
    rewrite(study, commands=(*commands, WRK), files=files, machine={"cpus": 2, "hosts": {"C1": {}, "S1": offset}})
    sockets = read_runs(study).tables["sockets"]
    assert set(sockets["host"]) == {"C1", "S1"}
    assert sockets["elapsed_s"].tolist() == pytest.approx([2.0] * len(sockets), abs=1e-6)
    printed = sockets.groupby("host")["time"].first()
    assert (printed["S1"] - printed["C1"]).total_seconds() == 100, "what the tool printed stays as it is"
