"""The page of what the laboratory offers: every name that a study may use stands there, with a sentence."""

import re
from dataclasses import fields
from typing import get_args

import pytest

from loadcurve.lab.generators import RULES
from loadcurve.lab.sections import adaptive, balancers, hosts, servers
from loadcurve.site.laboratory import RECIPES, recipes_markdown

PROGRAMS = {one.name for one in fields(servers.ServerSection)} - {"port"}
NAMES = {
    "topologies": set(get_args(hosts.Recipe)),
    "servers": PROGRAMS,
    "responses": {one.name for one in fields(servers.ResponseSection)},
    "balancers": {one.name for one in fields(balancers.BalancerSection)},
    "generators": set(RULES),
    "monitors": {one.name for one in fields(servers.MonitorsSection)},
    "faults": set(adaptive.FAULTS),
    "searches": {one.name for one in fields(adaptive.SearchSection)} - {"factor"} | {"stop"},
}


def test_each_kind_has_its_table_on_the_page(root):
    page = (root / "handbook" / "reference" / "laboratory.md").read_text("utf-8")
    assert re.findall(r'recipes\("(\w+)"\)', page) == list(RECIPES) == list(NAMES)


@pytest.mark.parametrize("kind", NAMES)
def test_each_name_that_a_study_may_use_is_there_with_a_sentence(kind):
    heads, _, *rows = [line.strip("| ").split(" | ") for line in recipes_markdown(kind).splitlines()]
    assert {row[0].strip("`") for row in rows} == NAMES[kind]
    for row in rows:
        assert len(row) == len(heads)
        # Whole sentences, of words and not of reStructuredText, nor a stub of a docstring.
        assert all(len(cell) > 3 for cell in row)
        assert re.search(r"\w+ .*[\w`)]\.$", row[1]) and "``" not in row[1]
