"""hey, h2load, oha, vegeta, k6, fortio, siege, httperf, ghz: what holds for the reports of each of them."""

import json
from pathlib import Path

from one_test import in_one_test

from loadcurve.ingest.registry import form_of
from loadcurve.ingest.sniff import parse, sniff

DATA = Path(__file__).parents[2] / "data"
TOOLS = ("hey", "h2load", "oha", "vegeta", "k6", "fortio", "siege", "httperf", "ghz")
CASES = sorted(path.with_suffix("") for tool in TOOLS for path in (DATA / tool).glob("*.json"))
each_case = in_one_test("case", CASES, ids=lambda case: case.name, by=lambda case: case.parent.name)


def load(case):
    said = json.loads(case.with_suffix(".json").read_text(encoding="utf-8"))
    return case.with_suffix(".txt").read_text(encoding="utf-8"), form_of(case.parent.name, said.get("variant", ""))


@each_case
def test_each_case_is_told_from_what_it_says(case):
    text, form = load(case)
    assert sniff(text) == form
    assert {k: len(v) for k, v in parse(text).tables.items()} == {k: len(v) for k, v in form.parse(text).tables.items()}


@each_case
def test_prompts_and_fences_around_change_nothing(case):
    text, form = load(case)
    if "requests" in form.variant:
        return  # machine-readable lines: nobody types around them
    plain = form.parse(text).tables
    found = parse(f"root@bench:~# some command\n```\n{text}```\nroot@bench:~#\n")
    assert found.tool == case.parent.name
    for name, frame in plain.items():
        assert frame.equals(found.tables[name][frame.columns]), name  # a command in the text names its URL too


@each_case
def test_two_reports_in_one_file_are_two_runs(case):
    text, form = load(case)
    tables = form.parse(text).tables
    if "runs" not in tables:
        return
    twice = parse(f"{text}\n{text}").tables
    assert twice["runs"]["generator"].tolist() == [0, 1]
    for column in ("requests", "throughput_rps"):
        if column in tables["runs"]:
            assert twice["runs"][column].tolist() == tables["runs"][column].tolist() * 2
