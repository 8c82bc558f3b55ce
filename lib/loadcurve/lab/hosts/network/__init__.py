"""Networks of a study on one machine: topologies as data, namespaces that hold them, conditions of their links.

`TOPOLOGIES` lists the recipes, `build` creates a topology for as long as a context lasts, `network_facts` describes it.
A `Ledger` records every resource before it is created, so that `clean` can remove what a killed launcher left.
"""

from loadcurve.lab.hosts.network.conditions import HostSettings, LinkConditions, has_netem
from loadcurve.lab.hosts.network.facts import network_facts
from loadcurve.lab.hosts.network.ledger import Ledger, clean
from loadcurve.lab.hosts.network.named_topologies import TOPOLOGIES
from loadcurve.lab.hosts.network.namespaces import SetupLog, build, unused_block
from loadcurve.lab.hosts.network.resources import Resource
from loadcurve.lab.hosts.network.topology import Topology

__all__ = [
    "TOPOLOGIES",
    "HostSettings",
    "Ledger",
    "LinkConditions",
    "Resource",
    "SetupLog",
    "Topology",
    "build",
    "clean",
    "has_netem",
    "network_facts",
    "unused_block",
]
