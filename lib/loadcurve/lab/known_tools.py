"""Every tool that a module of the laboratory registers: for `loadcurve doctor`, versions, and missing programs."""

from loadcurve.discovery import registered
from loadcurve.lab import balancers, faults, functions, generators, hosts, monitors, servers
from loadcurve.lab.hosts.tools import Tool

PACKAGES = (generators, servers, balancers, functions, monitors, faults, hosts)
"""Packages that register tools, in the order in which `loadcurve doctor` lists them."""

TOOLS = {tool.name: tool for package in PACKAGES for tool in registered(package, Tool)}
"""Tools by name."""


def tool_named(name: str) -> Tool:
    """Return a tool by its name; one without a version where no module registers it, such as a source of counters."""
    return TOOLS.get(name) or Tool(name, "", "")
