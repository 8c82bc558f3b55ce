"""Networks of a study on one machine: topologies as data, namespaces that hold them, conditions of their links.

`TOPOLOGIES` lists the recipes, `build` creates a topology for as long as a context lasts, `network_facts` describes it.
A `Ledger` records every resource before it is created, so that `clean` can remove what a killed launcher left.
"""

from loadcurve.lab.hosts.network.conditions import HostSettings, LinkConditions, has_netem
from loadcurve.lab.hosts.network.ledger import Ledger, Resource, clean
from loadcurve.lab.hosts.network.namespaces import SetupLog, build, network_facts, unused_block
from loadcurve.lab.hosts.network.topology import TOPOLOGIES, Topology

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
