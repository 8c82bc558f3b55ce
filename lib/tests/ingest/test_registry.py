"""Every form of output has one line in the table of forms; everything else is derived from that."""

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from one_test import in_one_test

import loadcurve
from loadcurve.errors import ParseError
from loadcurve.ingest.registry import FORMS, form_of
from loadcurve.site.formats import pages, tools
from loadcurve.site.hooks import add_pages

DATA = Path(__file__).parents[1] / "data"
INGEST = Path(loadcurve.ingest.__file__).parent


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_has_a_fixture(form):
    if form.parser.__name__.startswith("refuse_"):
        pytest.skip("it is only recognised, to be refused in clear words")
    expected = [json.loads(p.read_text("utf-8")) for p in (DATA / form.tool).glob("*.json")]
    assert any(case.get("variant", "") == form.variant for case in expected), f"no fixture in tests/data/{form.tool}"


@pytest.mark.parametrize("text", ["\n \nbought milk\nand bread\n", '\n\n{\n"bought": "milk"}\n'], ids=["lines", "JSON"])
@in_one_test("form", [form for form in FORMS if form.name != "locust:errors"])  # without errors it is empty
def test_an_error_about_a_text_of_another_program_names_the_line_it_quotes(form, text):
    with pytest.raises(ParseError) as caught:
        form.parser(text)
    line, got = text.split("\n")[caught.value.line - 1], caught.value.got
    assert got == "nothing" or line.strip()[:1] == got.strip()[:1]  # a missing key has no line


def test_every_page_has_a_tool(root):
    """A tool without a handwritten page gets one from its docstring."""
    pages = {p.stem for p in (root / "handbook" / "reference" / "formats").glob("*.md")}
    assert pages - {"index"} <= set(tools())


def test_the_navigation_names_every_tool():
    nav = [{"Home": "index.md"}, {"Reference": [{"Formats": [{"All": "reference/formats/index.md"}]}]}]
    add_pages(nav, "reference/formats/index.md", pages())
    found = nav[1]["Reference"][0]["Formats"][1:]
    assert found == [{tool: f"reference/formats/{tool}.md"} for tool in tools()]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_module_says_which_versions_it_has_seen(form):
    module = inspect.getmodule(form.parser)
    assert re.search(r"\bSeen\b", module.__doc__), "the module's docstring does not say which versions were seen"


def test_every_fixture_and_every_parser_has_a_line_in_the_table():
    """Else the parser would work in its own tests and never in the command."""
    cases = [(p.parent.name, json.loads(p.read_text("utf-8")).get("variant", "")) for p in DATA.glob("*/*.json")]
    assert [case for case in cases if not form_of(*case)] == []
    trees = [ast.parse(path.read_text("utf-8")) for path in INGEST.glob("*/*.py")]
    parsers = {
        node.name for tree in trees for node in tree.body if re.match("(parse|refuse)_", getattr(node, "name", ""))
    }
    called = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert parsers - called - {form.parser.__name__ for form in FORMS} == set()
    assert len({form.name for form in FORMS}) == len(FORMS)


GUIDE = (ROOT / "handbook" / "guides" / "add_a_tool.md").read_text("utf-8")
TINY, LINE = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[:2]
PLUGIN = f"""
import loadcurve.ingest.load
from loadcurve.ingest import registry
from loadcurve.ingest.form import Form
from pathlib import Path
loadcurve.ingest.load.__path__.append(str(Path(__file__).parent / "added"))
registry.FORMS += (
    {LINE.strip()}
)
"""
USE = """
import extended, loadcurve
from loadcurve.site import formats
from loadcurve.site.hooks import add_pages
parsed = loadcurve.parse("$ tiny http://h/\\ntiny: 25 requests in 2.0 s\\n")
nav = [{"All": "reference/formats/index.md"}]
add_pages(nav, "reference/formats/index.md", formats.pages())
print(parsed.tool, parsed.tables["runs"][["requests", "duration_s"]].values.tolist())
print([row for row in formats.formats_markdown().splitlines() if "tiny" in row])
print({"tiny": "reference/formats/tiny.md"} in nav, formats.page_markdown("tiny").splitlines())
"""


@pytest.mark.slow
def test_a_module_and_its_line_add_a_form(tmp_path):
    """The module and the line of the guide: the form is recognised, parsed, listed, has a page, and needs a fixture."""
    (tmp_path / "added").mkdir()
    (tmp_path / "added" / "tiny.py").write_text(TINY, "utf-8")
    (tmp_path / "extended.py").write_text(PLUGIN, "utf-8")
    path = [str(tmp_path), str(Path(__file__).parents[2])]

    def run(*argv):
        code = f"import sys; sys.path[:0] = {path!r}; "
        return subprocess.run([sys.executable, "-c", code + argv[0], *argv[1:]], capture_output=True, text=True)

    used = run(USE.lstrip())
    assert used.stdout.splitlines() == [
        "tiny [[25.0, 2.0]]",
        "['| [`tiny`](tiny.md) | Requests and duration of one run as a row of `runs`. |']",
        "True ['# tiny', '', 'Tiny, a load generator that prints two numbers.', '', "
        "'Seen: tiny 1.0, `tiny URL`.  It prints seconds.']",
    ], used.stderr
    tests = "import extended, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    checked = run(tests, __file__, "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "[tiny]", "--no-header", "-rf")
    failed = re.findall(r"^FAILED .*::(.*?)(?: - .*)?$", checked.stdout, re.MULTILINE)
    assert failed == ["test_every_form_has_a_fixture[tiny]"], checked.stdout + checked.stderr
    assert (
        "no fixture in tests/data/tiny" in checked.stdout and "1 passed" in checked.stdout
    )  # its docstring says which versions were seen
