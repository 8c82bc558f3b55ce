import re
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT
from one_test import in_one_test

from loadcurve import audit, tables
from loadcurve.audit import all_rules, rules
from loadcurve.audit.explanation import explain
from loadcurve.audit.rule import INTERNAL_ERROR
from loadcurve.audit.settings import build_settings, read_settings
from loadcurve.audit.verdict import unchecked_sentences
from loadcurve.errors import LoadcurveError
from loadcurve.files.yaml_document import parse_yaml
from loadcurve.site import rules as reference

PAGES = ("guides/gate_a_build.md", "reference/study_file.md")
GUIDE = (ROOT / "handbook" / "guides" / "add_a_rule.md").read_text("utf-8")
TOY = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)[1]


def runs(*status, **values):
    rows = [{"study": "s", "run_id": f"r{i}", "status": each, **values} for i, each in enumerate(status)]
    return {"runs": tables.check("runs", pd.DataFrame(rows))}


def test_every_page_is_of_a_rule(root):
    pages = {path.stem for path in (root / "handbook/rules").glob("*.md")} - {"error_rates", "index", "planted_faults"}
    assert pages <= set(all_rules())
    for name in pages:
        text = (root / "handbook" / "rules" / f"{name}.md").read_text("utf-8")
        assert text.startswith(f'# {name}\n\n{{{{ rule("{name}") }}}}\n')


def test_the_page_of_a_rule_is_about_it():
    for name, rule in all_rules().items():
        page = reference.page_markdown(rule)
        title, fault, asks, *_ = page.split("\n\n")
        assert title.lower().replace("_", " ") == f"# {name.replace('-', ' ')}"
        assert (fault, asks) == (f"**{explain(rule).fault}**", f"`{name}` asks: {rule.question}")
        assert f'{{{{ looks("{name}") }}}}' in page
        assert all(limit.reason in page for limit in rule.limits.values())


PARTS = ["What it means", "Why it happens", "How to fix it", "When to ignore it"]


def test_the_page_of_a_rule_has_the_same_parts_and_a_family():
    """The fifth part, how it looks, is between why it happens and how to fix it; the gallery shows rules by family."""
    for name, rule in all_rules().items():
        headings = re.findall(r"^## (.+)$|^(\{\{ looks)", reference.page_markdown(rule), re.MULTILINE)
        assert [one or "How it looks" for one, _ in headings][:5] == [*PARTS[:2], "How it looks", *PARTS[2:]], name
        assert rule.family, name


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the package of the rules, for a rule that is listed; what is imported from it is forgotten."""
    before = set(sys.modules)
    monkeypatch.setattr(rules, "__path__", [*rules.__path__, str(tmp_path)])
    monkeypatch.setattr(rules, "RULES", (*rules.RULES, "steal-time"))
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_module_and_its_name_add_a_rule(folder):
    """The audit runs it; the reference lists it, has a page of it and names it in the navigation."""
    (folder / "steal_time.py").write_text(TOY, "utf-8")
    for stolen, severity in ((0.002, "ok"), (0.05, "warning"), (float("nan"), "unchecked")):
        found = audit(runs("finished", cpu_steal_ratio=stolen)).set_index("rule")
        assert found.loc["steal-time", "severity"] == severity
    assert '<a href="steal-time.html">' in reference.gallery_html()
    assert "Did other guests take CPU time?" in reference.gallery_html()
    assert any({"Steal time": "rules/steal-time.md"} in entries for entries in reference.pages().values())
    page = reference.page_markdown(all_rules()["steal-time"])
    assert page.startswith("# Steal time\n\n**The hypervisor ran other")


OF_ALL_RUNS = {
    "few-repeats", "mixed-environments", "drift-of-repeats", "nothing-saturated", "wide-interval",
    "undecided-comparison",
}  # fmt: skip
"""Rules about all runs together, which say nothing about a few runs."""


def test_every_rule_that_applies_reports_on_every_finished_run():
    found = audit(runs("finished", "failed", "finished"))
    of_runs = found.dropna(subset=["run_id"])
    for _, rows in of_runs.groupby("rule"):
        assert {"r0", "r2"} <= set(rows["run_id"])
    for name in set(all_rules()) - set(of_runs["rule"]):
        rule = all_rules()[name]
        assert name in OF_ALL_RUNS or rule.tools or any(not need.applies for need in rule.needs), name


def test_every_severity_is_documented():
    for rule in audit(runs("finished", "running")).itertuples():
        assert rule.severity == "unchecked" or rule.severity in all_rules()[rule.rule].severities


def test_a_rule_that_raises_is_reported_and_stops_nothing(folder):
    (folder / "steal_time.py").write_text(TOY.replace("share, most = run", "share, most = 1 / 0 + run"), "utf-8")
    every = audit(runs("finished", "finished", cpu_steal_ratio=0.1))
    assert (every["rule"] == "steal-time").sum() == 1
    found = every.drop_duplicates("rule").set_index("rule")
    assert found.loc["steal-time", "severity"] == "unchecked"
    assert "internal error of this rule (ZeroDivisionError: division by zero)" in found.loc["steal-time", "evidence"]
    assert found.loc["unfinished-run", "severity"] == "ok"
    [told] = [line for line in unchecked_sentences(found.reset_index()) if "ZeroDivisionError" in line]
    assert told.startswith("steal-time, all runs together: internal error")


REPORTS = ("bottleneck_listeners", "lvs_acceptance", "nginx_10gbe", "rt_qps_threads", "scale_out_lvs")
REAL = [f"lib/tests/data/folders/{name}" for name in ("ab_sar", "garbled", "json_tools", "wrk_monitors", "wrk_only")]


@pytest.mark.slow
@pytest.mark.parametrize("path", [*REAL, *(f"data/published/{name}" for name in REPORTS)])
def test_no_rule_raises_on_real_data(path):
    found = audit(ROOT / path)
    failed = found[found["evidence"].str.startswith(INTERNAL_ERROR)]
    assert failed.empty, failed[["rule", "evidence"]].drop_duplicates().to_string()


WRONG = [
    ({"speed": 1}, "expected a key (select, ignore, limits), got 'speed'"),
    ([], "expected a table, got []"),
    ({"select": "unfinished-run"}, "expected a list of rules as select"),
    ({"select": ["speed"]}, "got 'speed'"),
    ({"ignore": {"unfinished-run": " "}}, "expected a reason for ignoring unfinished-run"),
    ({"limits": {"effective-concurrency": {"size": 1}}}, "a limit of effective-concurrency (factor), got 'size'"),
    ({"limits": {"effective-concurrency": {"factor": "2"}}}, "expected a number as effective-concurrency.factor"),
    ({"limits": {"failed-requests": {"warning": float("nan")}}}, "expected a number of at least 0"),
    ({"limits": {"failed-requests": {"warning": float("inf")}}}, "ignore turns it off"),
    ({"limits": {"failed-requests": {"warning": -1}}}, "got -1"),
]


@in_one_test("case", WRONG)
def test_wrong_settings_are_one_line(case):
    values, words = case
    with pytest.raises(LoadcurveError, match=re.escape(words)) as error:
        build_settings(values, all_rules(), "loadcurve.toml [audit]")
    assert "\n" not in str(error.value)


@in_one_test(
    ("text", "says"),
    [
        ("[audit\n", ":1: expected TOML, got"),
        ("# a comment\n[audit]\nselect = ['speed']\n", ":3: expected a rule that loadcurve explain lists, got 'speed'"),
        ("[audit]\nselect = [[1]]\n", ":2: expected a rule that loadcurve explain lists, got [1]"),
        ("audit = 1979-05-27\n", ":1: expected a table, got '1979-05-27'"),
        ("[audit.ignore]\ntimeouts = 'why'\n[audit.limits]\ntimeouts = {warning = 'x'}\n",
         ":4: expected a number as timeouts.warning, got 'x'"),
        (f"[audit.limits.timeouts]\nwarning = 1{'0' * 300}\n", ": expected numbers of at most 300 digits"),
        (f"a = {'9' * 5001}\n", ": expected numbers of at most 300 digits"),
        (f"a = {'[' * 21}{']' * 21}\n", ": expected values nested at most 20 deep"),
        (f"a = {'[' * 5000}{']' * 5000}\n", ": expected values nested at most 20 deep"),
        (f"[{'a.' * 5000}a]\n", ": expected values nested at most 20 deep"),
        (f"a = '{'x' * (1 << 20)}'\n", ": expected at most 1048576 bytes, got 'more'"),
        ("a = '\udcff'\n", ":1: expected UTF-8, got"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_settings_is_one_line(tmp_path, text, says):
    (tmp_path / "loadcurve.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(LoadcurveError, match=re.escape(f"loadcurve.toml{says}")) as error:
        read_settings(all_rules(), tmp_path)
    assert "\n" not in str(error.value) and len(str(error.value)) < 900


def test_nothing_to_audit_is_no_finding():
    assert audit({"runs": tables.empty("runs")}).empty


def test_runs_are_required():
    with pytest.raises(LoadcurveError, match="tables must include 'runs', got 'cpu'"):
        audit({"cpu": tables.empty("cpu")})


def test_settings_on_pages_are_settings(root):
    """The loadcurve.toml of the guide and the section of the reference name rules and limits that there are."""
    guide, reference = ((root / "handbook" / page).read_text("utf-8") for page in PAGES)
    values = tomllib.loads(re.search(r"```toml\n(.*?)```", guide, re.DOTALL)[1])["audit"]
    text = re.search(r"```yaml\n(audit:.*?)```", reference, re.DOTALL)[1]
    section = parse_yaml(text, Path("study.yml")).values["audit"]  # noqa: PD011
    for given in (values, section):
        settings = build_settings(given, all_rules(), "a page")
        assert settings.ignore and settings.limits
