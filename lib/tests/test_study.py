"""Files of a study and its runs are read, or refused in one line; a new study holds what was asked, and is listed."""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from one_test import in_one_test

from loadcurve.analysis.objective import parse_objective
from loadcurve.cli import launching
from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError
from loadcurve.files import paths
from loadcurve.files.yaml_document import parse_yaml
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.schedule.feedback import Answer, write_answers
from loadcurve.lab.study_file import read_checked
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.launching.studies import list_studies, parse_levels, study_text, text_for_url
from loadcurve.study import Command, Run, Study, settled
from loadcurve.study.manifest import read_manifest
from loadcurve.study.records import read_run, read_study, write_run, write_study

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


@in_one_test(
    ("line", "says"),
    [
        ("rest_s: fast", r":3: expected rest_s to be number, got 'fast'"),
        ("repeat: 3", r":3: expected one of the keys study, .*got 'repeat'"),
        ("repeats: 0", r":3: expected repeats to be a whole number of 1 to 10000, got '0'"),
        ("repeats: 1.5", r":3: expected repeats to be .*integer.*got '1.5'"),
        ("repeats: true", r":3: expected repeats to be integer, got 'true'"),
        ("repeats: 1\nrepeats: 2", r":4: expected each key once, got 'repeats'"),
        ("factors: {connections: []}", r":3: expected factors to be one or more levels of connections, got '\[\]'"),
        ("factors: {connections: 3}", r":3: expected factors.connections to be array, got '3'"),
        ("factors: {connections: [1, 2", r"expected YAML"),
        ("factors: {connections: [1, 2, 1]}", r":3: expected factors to be levels of connections without repetition"),
        ("factors: {balance.nft: [1]}", r":3: expected factors to be places such as .*got 'balance.nft'"),
        ("points: [{connections: 1}]\nfactors: {threads: [1]}", r":3: expected points to be left out where"),
        ("design: star", r":3: expected design to be 'grid' or 'one_at_a_time', got 'star'"),
        ("warm_up_s: 0.5", r":3: expected warm_up_s to be a multiple of 1 s, 0 to 86400 s, got '0.5'"),
        ("rest_s: -1", r":3: expected rest_s to be 0 to 86400 s, got '-1.0'"),
        ("rest_s: .nan", r":3: expected rest_s to be 0 to 86400 s"),
        ("rest_s: .inf", r":3: expected rest_s to be 0 to 86400 s"),
        ("rest_s: 2026-99-99", r"study.yml: expected YAML|rest_s to be number"),
        ("rest_s: !!bool 1", r":3: expected a value without a YAML tag, got 'tag:yaml.org,2002:bool'"),
        ("load: !!pairs [a: 1]", r":3: expected a value without a YAML tag"),
        ("load: ! {}", r":3: expected a value without a YAML tag, got '!'"),
        ("rest_s: 1\x07", r"study.yml:3: expected YAML"),
        ("variants: {cpu: cpu}", r":3: expected variants.cpu to be an object, got 'cpu'"),
    ],
)
def test_a_wrong_study_is_one_line_with_its_place(tmp_path, line, says):
    folder = tmp_path / "s"
    folder.mkdir(exist_ok=True)
    (folder / "study.yml").write_text(f"study: s\nquestion: '?'\n{line}\n")
    with pytest.raises(ParseError, match=says) as caught:
        read_study(folder)
    assert str(caught.value).startswith(str(folder / "study.yml"))
    assert "\n" not in str(caught.value)


def test_several_faults_are_a_line_each_in_the_order_of_the_file(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "study.yml").write_text("study: s\nquestion: 7\nrepeats: many\nseed: [1]\nfactor: {}\n")
    with pytest.raises(LoadcurveError) as caught:
        read_study(folder)
    said = [line.removeprefix(f"{folder}/study.yml:") for line in str(caught.value).splitlines()]
    assert [line.partition(":")[0] for line in said] == ["2", "3", "4", "5"]


def test_a_missing_key_is_named(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "study.yml").write_text("study: s\n")
    with pytest.raises(ParseError, match="expected the key question, got 'none'"):
        read_study(folder)


def test_words_and_numbers_are_those_of_yaml_1_2(tmp_path):
    """``off`` is a word, as nginx writes it, and 1e8 is a number; YAML 1.1 has it the other way round."""
    folder = tmp_path / "s"
    folder.mkdir()
    text = "study: s\nquestion: '?'\nserver: {nginx: {serving: {access_log: off}}}\nlinks: {S1: {rate_bps: 1e8}}\n"
    (folder / "study.yml").write_text(text)
    study = read_study(folder)
    assert study.server["nginx"]["serving"] == {"access_log": "off"}
    assert study.links == {"S1": {"rate_bps": 1e8}}
    write_study(study, tmp_path / "again" / "s")
    assert read_study(tmp_path / "again" / "s") == study


TEXTS = (
    st.text()
    | st.text(st.sampled_from(" \n\t'\"\\:#-\x85a"), min_size=60, max_size=300)
    | st.from_regex(r"[-+]?[0-9._:]{0,5}(e[-+]?[0-9]{1,2}|o[0-7]{2})?", fullmatch=True)
)


@examples(200)
@given(TEXTS, TEXTS)
@example("1e8", "0o17")
@example("no", "2026-11-29")
def test_any_text_of_a_study_is_read_as_it_was_written(tmp_path_factory, name, text):
    study = Study("1e8", "on", load={"headers": {name: text}, "lines": [text, [name]]})
    written = write_study(study, tmp_path_factory.getbasetemp() / study.study)
    assert read_study(written) == study


@pytest.mark.parametrize("study", ["nginx_requested_names", "listening_layouts"])  # with a script; with long texts
def test_a_recorded_study_is_written_as_it_was(root, tmp_path, study):
    recorded = root / "data" / "studies" / study
    assert write_study(read_study(recorded), tmp_path / study).read_text() == (recorded / "study.yml").read_text()


@in_one_test("name", ["", "a b", "../a", "ä", "a/b", "a.b", "a\n", "-a", "a" * 65])
def test_names_are_fit_for_folders(small_study, name):
    with pytest.raises(ValueRuleError, match="study must be a name of letters"):
        replace(small_study, study=name)
    with pytest.raises(ValueRuleError, match="variants must be named with letters"):
        replace(small_study, variants={"cpu": {}, name: {}})


def test_a_study_that_is_no_text_is_one_line(tmp_path):
    (tmp_path / "study.yml").write_bytes(b"study: s\nquestion: \xff\n")
    with pytest.raises(ParseError, match=r"study.yml:2: expected UTF-8"):
        read_study(tmp_path)


def test_a_study_bears_its_folders_name(tmp_path, small_study, monkeypatch):
    write_study(small_study, tmp_path / "small")
    monkeypatch.chdir(tmp_path / "small")
    assert read_study(Path()) == small_study
    write_study(small_study, tmp_path / "other")
    with pytest.raises(ParseError, match=":1: expected the folder's name other, got 'small'"):
        read_study(tmp_path / "other")


def test_a_path_is_not_taken_for_the_name_of_a_recorded_study(tmp_path, monkeypatch):
    write_study(Study("scale_out", "Another one?"), tmp_path / "scale_out")
    monkeypatch.chdir(tmp_path)
    assert paths.study_folder("./scale_out") == tmp_path / "scale_out"
    assert paths.study_folder("scale_out") == paths.studies() / "scale_out"


def test_no_study_is_one_line(tmp_path):
    with pytest.raises(LoadcurveError, match="expected a study.yml, got 'no file'"):
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


@pytest.mark.slow
def test_every_changed_character_of_a_run_is_found_out(tmp_path):
    file = write_run(RUN, tmp_path)
    text = file.read_text("utf-8")
    for at, old in enumerate(text.rstrip("\n")):
        for new in (str((int(old) + 1) % 10), "~") if old.isdigit() else ("~", '"'):
            if new == old:
                continue
            file.write_text(text[:at] + new + text[at + 1 :], "utf-8")
            with pytest.raises(ParseError, match=r"run.json(:\d+)?: expected "):
                read_run(file)


@in_one_test(
    ("change", "says"),
    [
        (lambda text: text[:40], r"run.json:\d+: expected JSON"),
        (lambda text: "[" * 100_000, r"run.json: expected JSON"),
        (lambda text: "7", r"run.json:1: expected a mapping"),
        (
            lambda text: text.replace('"finished"', '"done"'),
            r":4: expected status to be 'running', 'finished', .*got 'done'",
        ),
        (lambda text: text.replace('"run_id"', '"run"'), "expected the key run_id, got 'none'"),
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


@in_one_test(
    ("changes", "says"),
    [
        ({"seal": None}, "expected seal to be str"),
        ({"seal": ""}, r"expected the seal of what was recorded \(none here\)"),
        ({"seal": "0" * 64}, r"expected the seal of what was recorded \(sha256 000000000000…\), got 'sha256 "),
        ({"factors": 7}, r":5: expected factors to be an object, got '7'"),
        ({"commands": None}, "expected commands to be array"),
        ({"commands": {"a": 1}}, "expected commands to be array"),
        ({"commands": [7]}, "expected commands.0 to be an object, got '7'"),
        ({"commands": [{"role": "server"}]}, "expected the key commands.0.tool, got 'none'"),
        ({"commands": []}, "expected commands to be complete: a run that finished had a generator, got 'none'"),
        ({"role": "watcher"}, "expected commands.0.role to be 'server', .*'generator' or 'functions', got 'watcher'"),
        ({"role": "server"}, "expected commands to be complete: a run that finished had a generator"),
        ({"argv": "wrk"}, "expected commands.0.argv to be array"),
        ({"argv": [1]}, "expected commands.0.argv.0 to be string"),
        ({"env": {"a": 1}}, "expected commands.0.env.a to be string"),
        ({"limit_s": True}, "expected commands.0.limit_s to be number"),
        ({"exit_code": "0"}, "expected commands.0.exit_code to be"),
        ({"stdout": "../a"}, "expected commands.0.stdout to be the name of a file in the run's folder, got '../a'"),
        ({"stdout": ".."}, "expected commands.0.stdout to be the name of a file in the run's folder"),
        ({"stdout": "\ud800"}, "expected text of whole characters"),
        ({"started_at": "yesterday"}, "expected commands.0.[a-z]+_at to be a time in UTC.*got 'yesterday'"),
        ({"started_at": "2026-13-21T00:23:46Z"}, "expected commands.0.[a-z]+_at to be a time in UTC"),
        ({"started_at": "2026-11-21T00:23:46"}, "expected commands.0.[a-z]+_at to be a time in UTC"),
        ({"ended_at": ""}, "expected commands.0.[a-z]+_at to be a time in UTC.*got ''"),
        ({"started_at": "", "ended_at": "", "exit_code": None}, "got 'one that never started'"),
        ({"files": {"f": 1}}, "expected files.f to be an object"),
        ({"files": {"f": {"bytes": 1}}}, "expected the key files.f.sha256, got 'none'"),
        ({"files": {"f": {"bytes": 1, "sha256": "0" * 64, "x": 1}}}, "expected one of the keys bytes, sha256, got 'x'"),
        ({"files": {"f": {"bytes": 1.0, "sha256": "0" * 64}}}, "expected files.f.bytes to be "),
        ({"files": {"f": {"bytes": -1, "sha256": "0" * 64}}}, "expected files.f.bytes to be "),
        ({"files": {"f": {"bytes": 1, "sha256": "0" * 63}}}, "expected files.f.sha256 to be|should match pattern"),
        ({"files": {"f": {"bytes": 1, "sha256": 7}}}, "expected files.f.sha256 to be|should match pattern"),
        (
            {"files": {"a/b": {"bytes": 1, "sha256": "0" * 64}}},
            "expected files to be the name of a file in the run's folder",
        ),
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
    with pytest.raises(ParseError, match=r"run.json: expected the seal of what was recorded \(none here\)"):
        read_run(tmp_path)


def test_no_run_and_no_text_are_one_line(tmp_path):
    with pytest.raises(ParseError, match=r"run.json: expected a run.json, got 'no file'"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_bytes(b'{\n"study": "\xff"}')
    with pytest.raises(ParseError, match=r"run.json:2: expected UTF-8"):
        read_run(tmp_path)


@pytest.mark.parametrize(("read", "name"), [(read_run, "run.json"), (read_manifest, "runs.json")])
def test_a_record_that_would_take_for_ever_is_one_line(tmp_path, read, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ParseError, match=f"{name}: expected a {name}, got 'something that is no file'"):
        read(tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).touch()
    os.truncate(tmp_path / name, 1 << 40)
    with pytest.raises(ParseError, match=f"{name}: expected at most 16777216 bytes"):
        read(tmp_path)


def test_a_command_that_never_started_has_no_times(tmp_path):
    idle = replace(WRK, started_at="", ended_at="", exit_code=None)
    run = replace(RUN, status="failed", commands=(idle,))
    assert replace(read_run(write_run(run, tmp_path)), seal="") == run


def test_rules_are_kept_where_a_study_is_made():
    with pytest.raises(ValueRuleError, match="repeats must be a whole number of 1 to 10000, got 0"):
        Study("s", "?", repeats=0)


def test_changes_are_put_in_their_places_and_nothing_given_is_changed():
    sections = {"load": {"connections": 1}, "server": {"nginx": {"process": {"workers": 1}}}, "balancer": {}}
    changed = settled(sections, {"connections": 8, "server.nginx.process.workers": 2}, {"server": {"apache": {}}})
    assert changed == {"load": {"connections": 8}, "server": {"apache": {}}, "balancer": {}}
    assert sections["load"] == {"connections": 1}


def test_run_json_is_json_for_others(tmp_path):
    file = write_run(RUN, tmp_path)
    assert json.loads(file.read_text("utf-8"))["status"] == "finished"


@pytest.fixture
def called(checkout, called):
    return called


def test_a_new_study_is_written_checked_and_listed(called, checkout):
    code, out, _ = called(
        "new", "shop", "--url", "http://shop.example:8080/", "--connections", "1..10", "--repeats", "5"
    )
    assert code == 0 and "loadcurve launch shop --plan" in out
    study = read_checked(checkout / "data/studies/shop")
    assert study.factors["connections"] == (1, 2, 4, 8, 10)
    assert (study.repeats, study.server, study.allow_targets) == (
        5,
        {"url": "http://shop.example:8080/"},
        ("shop.example",),
    )
    row = list_studies().set_index("study").loc["shop"]
    assert (row["state"], row["finished"], row["planned"]) == ("not run", 0, 25)
    code, out, _ = called("list")
    assert code == 0 and "not run  0/25" in out
    assert called("new", "shop")[0] == 1  # nothing is overwritten
    code, _, said = called("show", "shop")
    assert code == 1 and "loadcurve launch shop" in said


@pytest.mark.parametrize("tool", sorted(GENERATORS.keys() - {"wrk2", "weighttp"}))
def test_every_generator_of_a_closed_loop_can_be_named(tmp_path, tool):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.yml").write_text(study_text("s", tool=tool, connections="4", seconds=3))
    assert read_checked(tmp_path / "s").load["tool"] == tool


def test_an_open_loop_has_rates(called, checkout):
    assert called("new", "open", "--tool", "wrk2", "--rates", "100..400")[0] == 0
    study = read_checked(checkout / "data/studies/open")
    assert (study.factors["rate_rps"], study.load["connections"]) == ((100, 200, 400), 64)
    code, _, said = called("new", "closed", "--tool", "wrk2")
    assert code == 1 and "rate_rps" in said
    assert not (checkout / "data/studies/closed").exists()


@pytest.mark.parametrize("url", ["ftp://x", "http://a b", "x", 'http://x"y', "http://x\ny"])
def test_a_wrong_url_is_one_line(url):
    with pytest.raises(LoadcurveError, match="url must begin with http"):
        study_text("s", url=url)


@pytest.mark.parametrize(
    "url",
    [f"http://127.0.0.1/{path}" for path in ("a,b", "a,nginx:", "{a}", "}", "[1]", "a:", "#x", "{url}", "%7Ba%7D")]
    + ["http://user:word@[::1]:80/"],
)
def test_a_url_is_one_value_of_its_study(tmp_path, url):
    text = study_text("s", url=url, tool="wrk")
    values = parse_yaml(text, tmp_path).values
    assert (values["server"], values["load"]["tool"]) == ({"url": url}, "wrk")
    assert url in values["question"] and "allow_targets" not in values
    assert parse_yaml(study_text("s", tool="wrk, threads: 9"), tmp_path).values["load"].keys() == {"tool", "duration_s"}


@pytest.mark.parametrize("text", ["", "0..4", "8..1", "a", "1,,2", "0", "1..", "-1"])
def test_wrong_connections_are_one_line(text):
    with pytest.raises(LoadcurveError, match=r"levels must be a range such as 1\.\.256"):
        parse_levels(text)


def test_a_wrong_file_is_listed_with_its_fault(checkout):
    (checkout / "data/studies/broken").mkdir()
    (checkout / "data/studies/broken/study.yml").write_text("study: broken\nquestion: 7\n")
    row = list_studies().set_index("study").loc["broken"]
    assert row["state"] == "wrong" and "study.yml:2" in row["question"]


def test_a_search_is_answered_when_it_is_over_and_wrong_answers_are_listed_with_their_fault(checkout):
    folder = checkout / "data/studies/searched"
    folder.mkdir()
    text = text_for_url("searched", "http://127.0.0.1:1/", parse_objective("p99=50ms"), {"oha"}.__contains__, 10, 120)
    (folder / "study.yml").write_text(text)
    assert list_studies().set_index("study").loc["searched", "state"] == "not run"
    for wrong in ("[", '[{"of": ""}]'):
        (folder / "answers.json").write_text(wrong)
        row = list_studies().set_index("study").loc["searched"]
        assert row["state"] == "wrong" and "answers.json" in row["question"]
    for ended, state in ((False, "not run"), (True, "answered")):  # missed at every load, so that there is no value
        missed = Answer("", "capacity", "rate_rps", "throughput_rps", None, 5.0, None, True, 9, 90.0, (), ended)
        write_answers([missed], folder)
        assert list_studies().set_index("study").loc["searched", "state"] == state


@pytest.mark.parametrize(
    ("objective", "installed", "tool", "factor", "goal"),
    [
        ("", {"ab", "wrk", "oha"}, "wrk", None, {}),
        ("p99=50ms", {"wrk", "oha"}, "oha", "rate_rps", {"latency_s": 0.05, "quantile": 0.99}),
        ("p99.9=2s", {"ab"}, "ab", "connections", {"latency_s": 2, "quantile": 0.999}),
        ("errors=1%", {"wrk"}, "wrk", "connections", {"failed_ratio": 0.01}),
    ],
)
def test_a_test_of_a_url_searches_the_rate_where_a_tool_can_hold_one(
    tmp_path, objective, installed, tool, factor, goal
):
    goal_of = parse_objective(objective) if objective else None
    (tmp_path / "t").mkdir()
    text = text_for_url("t", "http://127.0.0.1:8080/a?id=5", goal_of, installed.__contains__, 10, 120)
    (tmp_path / "t/study.yml").write_text(text, "utf-8")
    study = read_checked(tmp_path / "t")
    assert (study.load["tool"], (study.search or {}).get("factor"), study.objective) == (tool, factor, goal)
    assert bool(study.factors) is not bool(study.search)


def test_a_test_of_a_url_is_a_study_of_its_own(called, checkout, monkeypatch):
    monkeypatch.setattr(launching, "launch", lambda name, **_: None)
    for number in (1, 2):
        code, out, _ = called("test", "http://127.0.0.1:9/", "--busy", "--objective", "p99=50ms")
        assert (code, "A closed loop" in out) == (0, not any(map(which, ("oha", "k6", "wrk2"))))
        assert read_checked(checkout / f"data/studies/test_127_0_0_1_9_{number}").objective["latency_s"] == 0.05
    code, _, said = called("test", "http://127.0.0.1:9/", "--objective", "mean=5ms")
    assert code == 1 and "objective must be a percentile such as p99=50ms" in said
