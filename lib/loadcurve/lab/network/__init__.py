"""Networks of a study on one machine: topologies as data, namespaces that hold them, conditions of their links.

`TOPOLOGIES` are the recipes, `build` makes one for as long as a context lasts, `network_facts` says what it was.
Everything is written in a `Ledger` before it is made, so that `clean` can remove what a killed launcher left.
"""

from loadcurve.lab.network.conditions import HostSettings, LinkConditions, has_netem
from loadcurve.lab.network.facts import network_facts
from loadcurve.lab.network.ledger import Ledger, clean
from loadcurve.lab.network.making import Making
from loadcurve.lab.network.namespaces import build, find_block
from loadcurve.lab.network.nodes import Topology
from loadcurve.lab.network.things import Thing
from loadcurve.lab.network.topology import TOPOLOGIES

__all__ = [
    "TOPOLOGIES",
    "HostSettings",
    "Ledger",
    "LinkConditions",
    "Making",
    "Thing",
    "Topology",
    "build",
    "clean",
    "find_block",
    "has_netem",
    "network_facts",
]
