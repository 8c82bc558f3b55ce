"""The table of findings as readers see it: order, display, meaning, and the explanation of each rule."""

import re
import sys

import pandas as pd
import pytest

import loadcurve
from loadcurve.audit import all_rules
from loadcurve.audit.explanation import Explanation, explain, markdown_blocks, plain_formula, plain_markup, rule_named
from loadcurve.audit.findings import SEVERITIES, audit_text
from loadcurve.audit.verdict import groups_of
from loadcurve.blocks import Code, Grid, Items, Paragraph, Section, to_text
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.parsed import Parsed
from loadcurve.report.audit_page import audit_page
from loadcurve.report.data import audit_object

WRK_8000 = {
    "study": "001",
    "status": "finished",
    "connections": 8000,
    "throughput_rps": 20260.6,
    "errors_connect": 6980,
}
RUNS = pd.DataFrame([WRK_8000 | {"run_id": "c8000", "latency_mean_s": 0.04994}, {"run_id": "lost", "status": "failed"}])


@pytest.fixture(scope="module")
def found():
    return loadcurve.audit({"runs": RUNS})


def test_the_most_severe_comes_first(found):
    ranks = [SEVERITIES.index(severity) for severity in found["severity"]]
    assert ranks == sorted(ranks) and ranks[0] == 0 < ranks[-1]


def test_findings_are_a_table_that_begins_with_its_verdict(found):
    """Every operation returns a plain DataFrame, so that a part of the findings is shown as a table."""
    assert isinstance(found, pd.DataFrame) and str(found).startswith("do not use: ") and repr(found) == str(found)
    html = found._repr_html_()
    assert html.index("do not use") < html.index("In flight" if "In flight" in html else "in flight")
    for part in (found.query("severity == 'error'"), found.copy(), found[["rule"]], found.merge(RUNS[["run_id"]])):
        assert type(part) is pd.DataFrame
    assert str(loadcurve.audit({"runs": RUNS.iloc[:0]})) == "not checked: no rule had the numbers it needs"


def test_only_what_was_found_has_a_meaning(found):
    wrong = found["severity"].isin(["error", "warning"])
    assert found.loc[~wrong, "meaning"].isna().all()
    meanings = {name: explain(rule).fault for name, rule in all_rules().items()}
    told = found[wrong].fillna({"meaning": ""})
    assert (told["meaning"] == told["rule"].map(meanings)).all()


def test_every_rule_is_explained_without_markup():
    parts = ["What it means", "Why it happens", "How to fix it", "When to ignore it"]
    for name, rule in all_rules().items():
        explanation = explain(rule)
        text = to_text(explanation.blocks(), 80)
        assert list(explanation.sections) == parts, name
        opening = f"{name}: {explanation.fault}"
        assert opening.endswith(".") and " ".join(text.split()).startswith(opening), name
        lines = [line for line in to_text(explanation.blocks(), 10_000).splitlines() if not line.startswith("    ")]
        assert all(line.count("`") % 2 == 0 for line in lines), name
        prose = re.sub("`[^`]+`", "", "\n".join(lines))
        assert not any(noise in prose for noise in ("``", "**", "\\", "$")), f"{name}\n{prose}"


def test_a_docstring_becomes_sections_and_blocks():
    text = "A *lot* of [loss](a.md).\n\n| a | b |\n|---|---|\n| 1 | `x` |\n\n    $ ss -s\n\n1. one\n   more\n2. two"
    found = markdown_blocks(text)
    assert found[0] == Paragraph("", "A lot of loss.")
    assert isinstance(found[1], Grid) and found[1].rows == [["1", "`x`"]]
    assert found[2:] == [Code("$ ss -s"), Items("", ["one more", "two"])]
    rule = all_rules()["unfinished-run"]
    blocks = Explanation(rule, "It ended.", {"Why it happens": "A limit."}).blocks()
    assert blocks[2] == Section("Why it happens", [Paragraph("", "A limit.")])
    assert plain_markup("a_b ** 2 * c * d and **bold** `x`") == "a_b ** 2 * c * d and bold `x`"
    formula = r"\frac{X R}{N} \ge 0{,}9 \cdot \sqrt{n}, R^{2}_{\text{min}}"
    assert plain_formula(formula) == "(X R) / N ≥ 0,9 · √(n), R²_min"


@pytest.mark.parametrize(
    ("name", "near"), [("Effective Concurrency", None), ("concurency", "effective-concurrency"), ("xyzzy", "")]
)
def test_a_wrong_name_gets_the_nearest(name, near):
    if near is None:
        assert rule_named(name, all_rules()).name == "effective-concurrency"
        return
    with pytest.raises(LoadcurveError, match=f"such as .*{near}" if near else "lists, got 'xyzzy'"):
        rule_named(name, all_rules())


def test_the_page_is_one_file_with_the_rules_that_found_something(found):
    page = audit_page([("a<b>.txt", found), ("c.txt", found)])
    assert "<b>" not in page and "http" not in page.split("</style>")[1].partition("<main>")[0]
    for rule in found["rule"][found["severity"] == "error"].unique():
        assert page.count(f'id="{rule}"') == 1 and f'<a href="#{rule}">' in page
    assert page.index("Verdict") < page.index("Findings") < page.index("The rules that found something")
    assert not any(word in page for word in ("<script", "src=", "@import"))


def test_the_audit_is_called_in_one_form(root):
    """`loadcurve.audit(...)`, whatever was imported before; notebooks and pages use no other form."""
    assert type(sys.modules["loadcurve.audit"](data={"runs": RUNS})) is loadcurve.audit.Findings
    pages = [*(root / "notebooks").glob("*.ipynb"), *(root / "handbook").rglob("*.md")]
    pages = [page for page in pages if page.parent.name != "decisions"]
    wrong = [page.name for page in pages if re.search(r"audit\.audit\b|registry import audit", page.read_text("utf-8"))]
    assert not wrong and len(pages) > 50


def test_what_the_readers_reported_is_in_every_form_that_is_kept():
    said = {"warnings": ("c8000.txt: line 3: the text ends here",), "origins": ("variant of 2 runs: factors.csv",)}
    found = loadcurve.audit(Parsed("", {"runs": RUNS}, **said))
    known = audit_object("results", found)
    assert {key: tuple(known[key]) for key in said} == said
    for text in (audit_page([("results", found)]), found._repr_html_()):
        assert all(line in text for lines in said.values() for line in lines)


def test_a_group_says_the_same_about_all_its_runs():
    """One run with too few and one with too many requests in flight are two findings, not one line."""
    run = {"status": "finished", "tool": "hey", "connections": 100, "throughput_rps": 1000.0}
    runs = [run | {"run_id": name, "latency_mean_s": mean} for name, mean in zip("abc", (0.01, 0.02, 0.9), strict=True)]
    groups = [group for group in groups_of(loadcurve.audit({"runs": pd.DataFrame(runs)})) if group.severity == "error"]
    assert [group.runs for group in groups] == ["2 runs, such as a", "c"]


def test_what_was_not_checked_is_one_line_and_listed_on_request(found):
    short = audit_text(pd.DataFrame(found), 2)
    number = found[found["severity"] == "unchecked"]["rule"].nunique()
    [line] = re.findall("^Not checked.*$", short, re.M)
    assert line.startswith(f"Not checked: {number} of {found['rule'].nunique()} rules, ") and "--all" in line
    assert "Record `ss -tan`" not in short and "Record `ss -tan`" in audit_text(pd.DataFrame(found), 2, every=True)
    assert "not checked" in found._repr_html_().lower() and len(short.splitlines()) <= 40


def test_the_grouping_comes_under_the_verdict_and_notes_come_last(found):
    warnings, origins = ["not attached to a run: a.sar.txt", "a.txt: odd"], ["grouping: 2 servers", "x: names of files"]
    lines = audit_text(pd.DataFrame(found), 2, "r", 400, (), warnings, None, origins).splitlines()
    runs, not_used = lines.index("Runs: 2; 2 servers"), lines.index("Not used: not attached to a run: a.sar.txt")
    assert runs < not_used < lines.index("")
    assert lines[-2:] == ["Notes:", "- a.txt: odd"]
