"""Balancers that are rules of the kernel: no process runs; commands load the rules and remove them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from loadcurve.lab.hosts.tools import Tool


@dataclass(frozen=True)
class Rules:
    """Rules to load on the balancer's host before a run, and to remove after it.

    All commands run in the run's folder, on a host whose network namespace the laboratory made.

    Attributes
    ----------
    name : str
        Unique among the services of a run; its files begin with it.
    tool : Tool
        Program that loads them.
    files : mapping of str to str
        Name of each file in the run's folder → its text, written before the load and kept with the run.
    load : tuple of str
        Command that loads them; also a second time, and after a change of the file.
    remove : tuple of str
        Command that removes them.
    export : tuple of str
        Command that prints what is loaded, in a form that `load` takes for its file.
    counters : tuple of str
        Command that prints the counters of each server.
    stdin : str
        File that `load` reads from its standard input; empty for none.
    """

    name: str
    tool: Tool
    load: tuple[str, ...]
    remove: tuple[str, ...]
    export: tuple[str, ...]
    counters: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
