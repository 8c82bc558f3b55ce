"""A new study: its file is checked by the reader of studies, holds what was asked, and is listed."""

import pytest

from loadcurve.analysis.objective import parse_objective
from loadcurve.errors import LoadcurveError
from loadcurve.files.yaml_document import parse_yaml
from loadcurve.lab.study_file import read_checked
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.launching.studies import list_studies, parse_levels, study_text
from loadcurve.launching.studies import test_text as text_of_test


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
    text = text_of_test("t", "http://127.0.0.1:8080/a?id=5", goal_of, installed.__contains__, 10)
    (tmp_path / "t/study.yml").write_text(text, "utf-8")
    study = read_checked(tmp_path / "t")
    assert (study.load["tool"], (study.search or {}).get("factor"), study.objective) == (tool, factor, goal)
    assert bool(study.factors) is not bool(study.search)


def test_a_test_of_a_url_is_a_study_of_its_own(called, checkout):
    for number in (1, 2):
        code, _, said = called("test", "http://127.0.0.1:9/", "--busy", "--objective", "p99=50ms")
        assert code == 1 and "target must answer" in said and "http://127.0.0.1:9/" in said
        assert read_checked(checkout / f"data/studies/test_127_0_0_1_9_{number}").objective["latency_s"] == 0.05
    code, _, said = called("test", "http://127.0.0.1:9/", "--objective", "mean=5ms")
    assert code == 1 and "objective must be a percentile such as p99=50ms" in said
