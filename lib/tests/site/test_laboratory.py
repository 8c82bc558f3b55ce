"""The page of what the laboratory offers: every name that a study may use stands there, with a sentence."""

import html
import re
from dataclasses import fields
from typing import get_args

import pytest

from loadcurve.files import paths
from loadcurve.lab.schedule.goals import SearchSection
from loadcurve.lab.study_file import hosts
from loadcurve.lab.study_file import sections as servers
from loadcurve.lab.study_file.sections import BalancerSection, FaultSection
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.lab.tools.servers.responses import ResponseSection
from loadcurve.site.laboratory import OFFERS, designs_markdown, recipes_markdown

NAMES = {
    "topologies": set(get_args(hosts.Recipe)),
    "servers": set(servers.ServerSection.alternatives()),
    "responses": set(ResponseSection.alternatives()),
    "balancers": set(BalancerSection.alternatives()),
    "generators": set(GENERATORS),
    "monitors": {one.name for one in fields(servers.MonitorsSection)},
    "faults": set(FaultSection.alternatives()),
    "searches": {*SearchSection.alternatives(), "stop"},
}


def test_each_kind_has_its_table_on_the_page(root):
    page = (root / "handbook" / "reference" / "laboratory.md").read_text("utf-8")
    assert re.findall(r'recipes\("(\w+)"\)', page) == list(OFFERS) == list(NAMES)


@pytest.mark.parametrize("kind", NAMES)
def test_each_name_that_a_study_may_use_is_there_with_a_sentence(kind):
    _, _, *rows = [line.strip("| ").split(" | ") for line in recipes_markdown(kind).splitlines()]
    assert {name.strip("`") for name, _ in rows} == NAMES[kind]
    for _, said in rows:
        # A sentence of words, not of reStructuredText, and no stub of a docstring.
        assert re.fullmatch(r"[`\w]+.* .*[\w`)]\.", said) and "``" not in said


def test_each_design_stands_in_the_guide(root):
    said = html.unescape(designs_markdown(lambda target: f"../{target}"))
    names = sorted(one.name for one in paths.designs().iterdir())
    assert re.findall(r"^\| <code>(\w+)</code> \| .+\?<br>.+\s(?:s|min)\. \|$", said, re.MULTILINE) == names
    for page in re.findall(r'href="\.\./(.+?)\.html"', said):
        assert (root / "handbook" / f"{page}.md").is_file()
    assert "{{ designs() }}" in (root / "handbook" / "guides" / "run_a_study.md").read_text("utf-8")


@pytest.mark.parametrize(
    "comment", ["", "# handbook/studies/none.md\n", "# handbook/studies/untitled.md\n", "# handbook/x\n"]
)
def test_a_design_needs_no_comment_on_a_report(checkout, monkeypatch, comment):
    monkeypatch.setattr(paths, "designs", lambda: checkout / "designs")
    (checkout / "designs/mine").mkdir(parents=True)
    (checkout / "designs/mine/study.yml").write_text(f"{comment}study: mine\nquestion: Does it show?\n")
    (checkout / "handbook/studies").mkdir(parents=True)
    (checkout / "handbook/studies/untitled.md").write_text("no heading\n")
    last = designs_markdown(str).splitlines()[-1]
    assert re.fullmatch(r"\| <code>mine</code> \| .+<br>\d+\s(?:s|min)\. \|", html.unescape(last))
