import json

import pytest

from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError
from loadcurve.study import Command, Run, Study, read_run, read_study, write_run, write_study


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


def test_a_study_bears_its_folders_name(tmp_path, small_study):
    write_study(small_study, tmp_path / "other")
    with pytest.raises(ParseError, match=":1: expected the folder's name other, got 'small'"):
        read_study(tmp_path / "other")


def test_no_study_is_one_line(tmp_path):
    with pytest.raises(LoadcurveError, match="expected a study.yml, got no file"):
        read_study(tmp_path)


def test_a_run_survives_its_file(tmp_path):
    command = Command("generator", "wrk", ("wrk", "-c1", "http://127.0.0.1/"), "local.wrk.txt", "", 10, exit_code=0)
    run = Run("s", "c1", "finished", {"connections": 1}, {"cpus": 2}, (command,), {"f": {"bytes": 1}}, ("w",))
    write_run(run, tmp_path)
    assert read_run(tmp_path) == run
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.json"], "the draft is gone"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[:40], r"run.json:\d+: expected JSON"),
        (lambda text: text.replace('"finished"', '"done"'), r":4: expected one of running, finished.*got 'done'"),
        (lambda text: text.replace('"run_id"', '"run"'), r":3: expected one of the keys"),
        (lambda text: text.replace('"factors": {}', '"factors": 7'), r":5: expected factors to be dict, got '7'"),
    ],
)
def test_a_wrong_run_is_one_line_with_its_place(tmp_path, change, says):
    file = write_run(Run("s", "c1", "finished", {}, {}), tmp_path)
    file.write_text(change(file.read_text()))
    with pytest.raises(ParseError, match=says):
        read_run(tmp_path)


def test_rules_are_kept_where_a_study_is_made():
    with pytest.raises(ValueRuleError, match="seconds must be at least 1, got 0.5"):
        Study("s", "?", {"cpu": "cpu"}, (1,), seconds=0.5)


def test_run_json_is_json_for_others(tmp_path):
    file = write_run(Run("s", "c1", "finished", {}, {}), tmp_path)
    assert json.loads(file.read_text())["status"] == "finished"
