"""The sections `topology`, `hosts` and `links`: where things run, and the links between hosts."""

import inspect
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.network.conditions import SYSCTLS, HostSettings
from loadcurve.lab.hosts.network.topology import BLOCKS, TOPOLOGIES, Topology
from loadcurve.lab.hosts.ssh.connection import parse_url
from loadcurve.lab.tools.servers.settings import check_address
from loadcurve.study.section import Check, Range, Section, broken_by

# As many as `loadcurve.lab.hosts.network.topology` has room for, of each role.
Hosts = Annotated[int | None, Range(1, 62)]
_MACHINE = re.compile(r"[CS][1-9][0-9]{0,3}|LB")
# sysctl(8) takes text; in YAML a number is not text, and people write one.
Numbers = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    WithJsonSchema({"type": ["string", "integer"]}),
]

Recipe = Literal["loopback", "client_server", "several_clients", "client_proxy_servers", "client_l4_servers"]


@dataclass(frozen=True)
class Machine(Section):
    """A machine that already runs."""

    ssh: str
    """``ssh://USER@HOST`` or with ``:PORT``; empty for the machine of the launcher."""

    address: Annotated[str, Check(check_address)]
    """IPv4 address at which the other machines reach it."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        yield from broken_by(lambda: self.ssh and parse_url(self.ssh))


@dataclass(frozen=True)
class TopologySection(Section):
    """Hosts and networks: a recipe with its numbers, or machines that already run."""

    recipe: Recipe = "loopback"
    """Which recipe; the next three keys are its numbers."""

    clients: Hosts = None
    """How many clients, for several_clients and client_l4_servers."""

    servers: Hosts = None
    """How many servers, for every recipe but loopback and client_server."""

    addresses: Annotated[int | None, Range(1, 254)] = None
    """How many addresses each server has: a client has about 28,000 connections to each."""

    machines: Annotated[
        dict[str, Machine], Field(json_schema_extra={"propertyNames": {"pattern": f"^({_MACHINE.pattern})$"}})
    ] = field(default_factory=dict)
    """Instead of a recipe: ``C1``, ``LB``, ``S1`` and so on."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not self.machines:
            yield from self._broken_numbers()
            return
        if self.recipe != "loopback" or self._numbers:
            yield ValueRuleError("machines", "alone, without a recipe and its numbers", ", ".join(self.machines))
        for name in self.machines:
            if not _MACHINE.fullmatch(name):
                yield ValueRuleError("machines", "named C1, C2 …, S1, S2 … and LB", name)
        for role in ("C1", "S1"):
            if role not in self.machines:
                yield ValueRuleError("machines", f"with {role} among them", ", ".join(self.machines))

    def _broken_numbers(self) -> Iterator[ValueRuleError]:
        takes = _numbers_of(self.recipe)
        if foreign := {name: value for name, value in self._numbers.items() if name not in takes}:
            rule = f"left out: {self.recipe} takes {', '.join(takes) or 'no number'}"
            yield from (ValueRuleError(name, rule, value) for name, value in foreign.items())
        elif not any(self._broken_types()):
            try:
                self.topology()
            except ValueRuleError as error:  # clients and servers are right, but not together
                got = f"{self.clients} clients, {self.servers} servers"
                yield ValueRuleError("servers", f"such that the {error.name} is {error.rule}", got)

    @property
    def _numbers(self) -> dict[str, int]:
        return {k: v for k in ("clients", "servers", "addresses") if (v := getattr(self, k)) is not None}

    def topology(self, block: str = BLOCKS[0]) -> Topology:
        """Topology of the recipe, its addresses taken from a block."""
        return _made(self.recipe, tuple(self._numbers.items()), block)

    def ssh_of(self, host: str) -> str:
        """Return the ssh URL of a host; empty for one of the launcher's own machine."""
        return self.machines[host].ssh if host in self.machines else ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hosts, in order of their roles; ``local`` alone on loopback."""
        return tuple(self.machines) or tuple(node.name for node in self.topology().nodes) or ("local",)


@cache
def _made(recipe: str, numbers: tuple[tuple[str, int], ...], block: str) -> Topology:
    """Topology of a recipe; cached, because every point of a study asks for the same one."""
    return TOPOLOGIES[recipe](**dict(numbers), **({} if recipe == "loopback" else {"block": block}))


@cache
def _numbers_of(recipe: str) -> list[str]:
    return [name for name in inspect.signature(TOPOLOGIES[recipe]).parameters if name != "block"]


@dataclass(frozen=True)
class HostSection(Section):
    """Settings of a host; those of the network are for namespaces only."""

    cpus: Annotated[tuple[int, ...], Range(0, 4095)] = ()
    """Processors of its commands; empty for the laboratory's choice: clients apart from the others."""

    open_files: Annotated[int | None, Range(16, 1_000_000)] = None
    """Limit of open files of each of its commands but monitors (``ulimit -n``)."""

    cpu_quota: Annotated[float | None, Range(ge=0.01)] = None
    """Processor time per second that all its commands but monitors share, in processors, such as 0.5; at most the
    processors of this machine."""

    as_root: str = ""
    """Why its generators and the server of `server.command` need root. Where this is left out, a launch by root runs
    them as the user who called sudo, or as nobody; a machine by ssh runs them as the user of the login."""

    congestion_control: str = "reno"
    """TCP's congestion control, such as ``reno``, ``cubic`` or ``bbr``."""

    sysctls: Annotated[dict[str, Numbers], Field(json_schema_extra={"propertyNames": {"enum": sorted(SYSCTLS)}})] = (
        field(default_factory=dict)
    )
    """Settings of its namespace, such as ``net.core.somaxconn: 128``, of those that the kernel has for each one."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.cpu_quota is not None and self.cpu_quota > (most := os.cpu_count() or 1):
            yield ValueRuleError("cpu_quota", f"0.01 to {most} processors", self.cpu_quota)
        yield from broken_by(self.network)

    def network(self) -> HostSettings:
        """Settings of its namespace."""
        return HostSettings(self.congestion_control, self.sysctls)
