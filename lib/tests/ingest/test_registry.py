"""Every tool that is read has its fixtures and its page."""

import json
import re
from pathlib import Path

import pytest

from loadcurve.ingest.registry import FORMS

DATA = Path(__file__).parents[1] / "data"
TOOLS = sorted({form.tool for form in FORMS})


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_has_a_fixture(form):
    if form.function.__name__.startswith("refuse_"):
        pytest.skip("it is only recognised, to be refused in clear words")
    expected = [json.loads(p.read_text("utf-8")) for p in (DATA / form.tool).glob("*.json")]
    assert any(case.get("variant", "") == form.variant for case in expected), f"no fixture in tests/data/{form.tool}"


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_has_a_page(tool, root):
    assert (root / "handbook" / "reference" / "formats" / f"{tool}.md").exists()
    assert f"reference/formats/{tool}.md" in (root / "mkdocs.yml").read_text("utf-8")


def test_every_page_has_a_tool(root):
    pages = {p.stem for p in (root / "handbook" / "reference" / "formats").glob("*.md")}
    assert pages - {"index"} == set(TOOLS)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_module_says_which_versions_it_has_seen(form):
    module = __import__(f"loadcurve.ingest.{form.parser.split(':')[0]}", fromlist=["x"])
    assert re.search(r"\bSeen\b", module.__doc__), "the module's docstring does not say which versions were seen"
