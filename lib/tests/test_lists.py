"""Each kind has one list, which names every constant of the kind once; forms of output have a test of their own."""

import pytest
from listed import constants_of

import loadcurve.lab
from loadcurve.audit import rules
from loadcurve.audit.registry import all_rules
from loadcurve.audit.rule import Rule
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.known_tools import TOOLS
from loadcurve.lab.tools import balancers, faults, generators, monitors, servers
from loadcurve.lab.tools.balancers.balancer import Balancer
from loadcurve.lab.tools.faults.fault import FaultKind
from loadcurve.lab.tools.generators.generator import Generator
from loadcurve.lab.tools.monitors.monitor import MonitorKind
from loadcurve.lab.tools.servers.server import Server

LISTS = {
    "rules": (rules, Rule, all_rules()),
    "generators": (generators, Generator, generators.GENERATORS),
    "servers": (servers, Server, servers.SERVERS),
    "balancers": (balancers, Balancer, balancers.BALANCERS),
    "monitors": (monitors, MonitorKind, monitors.MONITORS),
    "faults": (faults, FaultKind, faults.FAULTS),
    "tools": (loadcurve.lab, Tool, TOOLS),
}


@pytest.mark.parametrize("kind", LISTS)
def test_the_list_of_a_kind_names_every_constant_once(kind):
    package, cls, listed = LISTS[kind]
    assert {name: one.name for name, one in listed.items()} == {name: name for name in listed}
    defined = sorted(one.name for one in constants_of(package, cls))
    unlisted = "add the constant to the list of its kind: see handbook/guides"
    assert sorted(listed) == defined or (kind == "tools" and set(defined) <= set(listed)), unlisted


def test_rules_are_listed_in_the_order_of_their_names():
    assert list(rules.RULES) == sorted(rules.RULES) == list(all_rules())
