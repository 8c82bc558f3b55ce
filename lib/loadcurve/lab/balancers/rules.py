"""Balancers that are rules of the kernel: no process runs; commands load the rules and remove them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from loadcurve.lab.hosts.tools import Tool


@dataclass(frozen=True)
class Rules:
    """Rules to load on the balancer's host before a run, and to remove after it.

    All commands run in the run's folder, on a host whose network namespace the laboratory made.
    """

    name: str  # Unique among the services of a run; its files begin with it
    tool: Tool  # Program that loads them
    load: tuple[str, ...]  # Command that loads them; also a second time, and after a change of the file
    remove: tuple[str, ...]  # Command that removes them
    export: tuple[str, ...]  # Command that prints what is loaded, in a form that `load` takes for its file
    counters: tuple[str, ...]  # Command that prints the counters of each server
    # Name of each file in the run's folder → its text, written before the load and kept with the run.
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""  # File that `load` reads from its standard input; empty for none
