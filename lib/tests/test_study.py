import hashlib
import json
from dataclasses import replace

import pytest

from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError
from loadcurve.records import read_run, read_study, write_run, write_study
from loadcurve.study import Command, Run, Study

BEGUN, ENDED = "2026-11-21T00:23:46.919828Z", "2026-11-21T00:23:52.950040Z"
WRK = Command(
    "generator", "wrk", ("wrk", "-c1", "http://127.0.0.1/"), "local.wrk.txt", "", 10,
    version="4.1.0", env={"TZ": "UTC"}, started_at=BEGUN, ended_at=ENDED, exit_code=0,
)  # fmt: skip
FILES = {"local.wrk.txt": {"bytes": 417, "sha256": hashlib.sha256(b"wrk").hexdigest()}}
RUN = Run(
    "s", "c1-r1", "finished", {"connections": 1, "seconds": 6.5, "server_cpu": None},
    {"cpus": 2, "kernel": "6.18", "virtual_machine": True}, (WRK,), FILES, ("a — warning",),
)  # fmt: skip


def test_a_study_survives_its_file(tmp_path, small_study):
    write_study(small_study, tmp_path / "small")
    assert read_study(tmp_path / "small") == small_study


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("seconds: fast", r":3: expected seconds to be float, got .*fast"),
        ("repeat: 3", r":3: expected one of the keys study, .*got 'repeat'"),
        ("repeats: 0", r":3: expected repeats must be at least 1, got '0'"),
        ("connections: [0, 1]", r":3: expected connections must be one or more levels"),
        ("connections: [1, two]", r":3: expected connections to be tuple.*got .*two"),
        ("connections: [1, 2", r"expected YAML"),
        ("connections: [1, 2, 1]", r":3: expected connections must be levels that are each stated once"),
        ("seconds: 0.5", r":3: expected seconds must be at least 1, got '0.5'"),
        ("seconds: 1.5", r":3: expected seconds must be a whole number.*got '1.5'"),
        ("seconds: .nan", r":3: expected seconds must be a whole number"),
        ("seconds: .inf", r":3: expected seconds must be a whole number"),
        ("seconds: 2026-99-99", r"study.yml:0: expected YAML"),
        ("seconds: !!bool 1", r"study.yml:0: expected YAML"),
        ("seconds: 1\x07", r"study.yml:3: expected YAML"),
    ],
)
def test_a_wrong_study_is_one_line_with_its_place(tmp_path, line, says):
    folder = tmp_path / "s"
    folder.mkdir()
    needed = "" if line.startswith("connections") else "connections: [1]\n"
    (folder / "study.yml").write_text(f"study: s\nquestion: '?'\n{line}\nvariants: {{cpu: cpu}}\n{needed}")
    with pytest.raises(ParseError, match=says) as caught:
        read_study(folder)
    assert str(caught.value).startswith(str(folder / "study.yml"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seconds", [6, 6.0])
def test_whole_seconds_are_right(small_study, seconds):
    assert replace(small_study, seconds=seconds).seconds == 6


@pytest.mark.parametrize("name", ["", "a b", "../a", "ä", "a/b", "a.b", "a\n"])
def test_names_are_fit_for_folders(small_study, name):
    with pytest.raises(ValueRuleError, match="study must be a name of letters"):
        replace(small_study, study=name)
    with pytest.raises(ValueRuleError, match="variants must be named with letters"):
        replace(small_study, variants={"cpu": "cpu", name: "cpu"})


@pytest.mark.parametrize(
    "url",
    ["https://h/", "ftp://h/", "://h", "http://", "http:///a", "http://:80/", "http://h:x/", "http://h:70000/",
     "http://h:0/", "http://[::1/", "http://h/a b"],
)  # fmt: skip
def test_urls_are_http_with_host_and_port(small_study, url):
    with pytest.raises(ValueRuleError, match="variants must be recipes, or http://"):
        replace(small_study, variants={"own": url})


@pytest.mark.parametrize("url", ["http://h", "http://127.0.0.1:8080/a?b=c", "http://[::1]:80/"])
def test_right_urls_are_taken(small_study, url):
    assert replace(small_study, variants={"own": url}).variants == {"own": url}


def test_a_study_that_is_no_text_is_one_line(tmp_path):
    (tmp_path / "study.yml").write_bytes(b"study: s\nquestion: \xff\n")
    with pytest.raises(ParseError, match=r"study.yml:2: expected UTF-8"):
        read_study(tmp_path)


def test_a_study_bears_its_folders_name(tmp_path, small_study):
    write_study(small_study, tmp_path / "other")
    with pytest.raises(ParseError, match=":1: expected the folder's name other, got 'small'"):
        read_study(tmp_path / "other")


def test_no_study_is_one_line(tmp_path):
    with pytest.raises(LoadcurveError, match="expected a study.yml, got no file"):
        read_study(tmp_path)


def test_a_run_survives_its_file(tmp_path):
    write_run(RUN, tmp_path)
    assert replace(read_run(tmp_path), seal="") == RUN
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.json"], "the draft is gone"


def test_a_seal_is_of_the_other_values_and_made_at_each_writing(tmp_path):
    sealed = read_run(write_run(replace(RUN, seal="stale"), tmp_path))
    values = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert values.pop("seal") == sealed.seal
    assert sealed.seal == hashlib.sha256(json.dumps(values, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    failed = read_run(write_run(replace(sealed, status="failed"), tmp_path))
    assert failed.seal != sealed.seal
    assert read_run(write_run(sealed, tmp_path)) == sealed


def test_every_changed_character_of_a_run_is_found_out(tmp_path):
    file = write_run(RUN, tmp_path)
    text = file.read_text("utf-8")
    for at, old in enumerate(text.rstrip("\n")):
        for new in set("0123456789") - {old} if old.isdigit() else ("~", '"'):
            if new == old:
                continue
            file.write_text(text[:at] + new + text[at + 1 :], "utf-8")
            with pytest.raises(ParseError, match=r"run.json:\d+: expected "):
                read_run(file)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[:40], r"run.json:\d+: expected JSON"),
        (lambda text: "[" * 100_000, r"run.json:0: expected JSON"),
        (lambda text: "7", r"run.json:1: expected a mapping"),
        (lambda text: text.replace('"finished"', '"done"'), r":4: expected one of running, finished.*got 'done'"),
        (lambda text: text.replace('"run_id"', '"run"'), r":3: expected one of the keys"),
        (lambda text: text.replace('"cpus": 2', '"cpus": NaN'), r"expected JSON, got 'NaN'"),
        (lambda text: text.replace('"cpus"', '"kernel"'), r"expected JSON, got .a key twice"),
        (lambda text: text.replace('"c1-r1"', '"c2-r1"'), r":\d+: expected the seal of what was recorded \(sha256 "),
    ],
)
def test_a_wrong_run_is_one_line_with_its_place(tmp_path, change, says):
    file = write_run(RUN, tmp_path)
    file.write_text(change(file.read_text("utf-8")), "utf-8")
    with pytest.raises(ParseError, match=says):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"seal": None}, "expected seal to be str"),
        ({"seal": ""}, r"expected the seal of what was recorded \(none here\)"),
        ({"seal": "0" * 64}, r"expected the seal of what was recorded \(sha256 000000000000…\), got 'sha256 "),
        ({"factors": 7}, r":5: expected factors to be dict.*got '7'"),
        ({"commands": None}, "expected commands to be a list"),
        ({"commands": {"a": 1}}, "expected commands to be a list"),
        ({"commands": [7]}, "expected a mapping with the keys of a command"),
        ({"commands": [{"role": "server"}]}, "expected every key of a command"),
        ({"commands": []}, "expected a generator, as the run is finished, got 'none'"),
        ({"role": "watcher"}, "expected role to be one of server, collector, generator, got 'watcher'"),
        ({"role": "server"}, "expected a generator, as the run is finished"),
        ({"argv": "wrk"}, "expected argv to be tuple"),
        ({"argv": [1]}, "expected argv to be tuple"),
        ({"env": {"a": 1}}, "expected env to be dict"),
        ({"limit_s": True}, "expected limit_s to be float"),
        ({"exit_code": "0"}, "expected exit_code to be"),
        ({"stdout": "../a"}, "expected the name of a file in the run's folder, got '../a'"),
        ({"stdout": ".."}, "expected the name of a file in the run's folder"),
        ({"stdout": "\ud800"}, "expected the name of a file in the run's folder"),
        ({"started_at": "yesterday"}, "expected a time in UTC.*got 'yesterday'"),
        ({"started_at": "2026-13-21T00:23:46Z"}, "expected a time in UTC"),
        ({"started_at": "2026-11-21T00:23:46"}, "expected a time in UTC"),
        ({"ended_at": ""}, "expected a time in UTC.*got ''"),
        ({"started_at": "", "ended_at": "", "exit_code": None}, "expected a generator that ran"),
        ({"files": {"f": 1}}, "expected files to be dict"),
        ({"files": {"f": {"bytes": 1}}}, "expected bytes and sha256 of 'f', got 'bytes'"),
        ({"files": {"f": {"bytes": 1, "sha256": "0" * 64, "x": 1}}}, "expected bytes and sha256 of 'f'"),
        ({"files": {"f": {"bytes": 1.0, "sha256": "0" * 64}}}, "expected bytes of 'f' to be a whole number"),
        ({"files": {"f": {"bytes": -1, "sha256": "0" * 64}}}, "expected bytes of 'f' to be a whole number"),
        ({"files": {"f": {"bytes": 1, "sha256": "0" * 63}}}, "expected sha256 of 'f' to be 64 hexadecimal"),
        ({"files": {"f": {"bytes": 1, "sha256": 7}}}, "expected sha256 of 'f' to be 64 hexadecimal"),
        ({"files": {"a/b": {"bytes": 1, "sha256": "0" * 64}}}, "expected the name of a file in the run's folder"),
    ],
)
def test_a_wrong_value_is_named_before_the_seal(tmp_path, changes, says):
    file = write_run(RUN, tmp_path)
    values = json.loads(file.read_text("utf-8"))
    for key, value in changes.items():
        (values if key in values else values["commands"][0])[key] = value
    file.write_text(json.dumps(values, indent=2), "utf-8")
    with pytest.raises(ParseError, match=says):
        read_run(tmp_path)


def test_a_run_without_a_seal_is_refused(tmp_path):
    file = write_run(RUN, tmp_path)
    values = json.loads(file.read_text("utf-8"))
    del values["seal"]
    file.write_text(json.dumps(values), "utf-8")
    with pytest.raises(ParseError, match=r"run.json:0: expected the seal of what was recorded \(none here\)"):
        read_run(tmp_path)


def test_no_run_and_no_text_are_one_line(tmp_path):
    with pytest.raises(ParseError, match=r"run.json:0: expected a run.json, got 'no file'"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_bytes(b'{\n"study": "\xff"}')
    with pytest.raises(ParseError, match=r"run.json:2: expected UTF-8"):
        read_run(tmp_path)


def test_a_command_that_never_started_has_no_times(tmp_path):
    idle = replace(WRK, started_at="", ended_at="", exit_code=None)
    run = replace(RUN, status="failed", commands=(idle,))
    assert replace(read_run(write_run(run, tmp_path)), seal="") == run


def test_rules_are_kept_where_a_study_is_made():
    with pytest.raises(ValueRuleError, match="seconds must be at least 1, got 0.5"):
        Study("s", "?", {"cpu": "cpu"}, (1,), seconds=0.5)


def test_run_json_is_json_for_others(tmp_path):
    file = write_run(RUN, tmp_path)
    assert json.loads(file.read_text("utf-8"))["status"] == "finished"
