"""The sections `topology`, `hosts` and `links`: where things run, and what lies between them."""

import inspect
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema

from loadcurve.errors import ValueRuleError, check_all, raise_all
from loadcurve.lab.hosts.network.conditions import HostSettings, LinkConditions
from loadcurve.lab.hosts.network.named_topologies import BLOCKS, TOPOLOGIES
from loadcurve.lab.hosts.network.topology import Topology
from loadcurve.lab.hosts.ssh.address import parse_url
from loadcurve.lab.servers.settings import check_address, check_count
from loadcurve.lab.study_file.section import check_range, strict

strict(LinkConditions)

# As many as `loadcurve.lab.hosts.network.named_topologies` has room for, of each role and of each host.
_MOST_HOSTS, _MOST_ADDRESSES = 62, 254
MACHINE = re.compile(r"[CS][1-9][0-9]{0,3}|LB")
# sysctl(8) takes words; in YAML a number is none, and people write one.
Numbers = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    WithJsonSchema({"type": ["string", "integer"]}),
]

Recipe = Literal["loopback", "client_server", "several_clients", "client_proxy_servers", "client_l4_servers"]


@strict
@dataclass(frozen=True)
class Machine:
    """A machine that is there.

    Attributes
    ----------
    ssh : str
        ``ssh://USER@HOST`` or with ``:PORT``; empty for the machine of the launcher.
    address : str
        IPv4 address where the others reach it.
    """

    ssh: str
    address: str

    def __post_init__(self) -> None:
        check_all(lambda: check_address("address", self.address), lambda: self.ssh and parse_url(self.ssh))


@strict
@dataclass(frozen=True)
class TopologySection:
    """Hosts and networks: a recipe with its numbers, or machines that are there.

    Attributes
    ----------
    recipe : str
        Which recipe; the numbers are those that it takes.
    clients : int or None
        How many clients, 1–62, for several_clients and client_l4_servers.
    servers : int or None
        How many servers, 1–62, for every recipe but loopback and client_server.
    addresses : int or None
        How many addresses each server has, 1–254: a client has about 28,000 connections to each.
    machines : dict of str to Machine
        Instead of a recipe: ``C1``, ``LB``, ``S1`` and so on.
    """

    recipe: Recipe = "loopback"
    clients: int | None = None
    servers: int | None = None
    addresses: int | None = None
    machines: dict[str, Machine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        raise_all(self._broken_rules())

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not self.machines:
            yield from self._broken_numbers()
            return
        if self.recipe != "loopback" or self._numbers:
            yield ValueRuleError("machines", "alone, without a recipe and its numbers", ", ".join(self.machines))
        for name in self.machines:
            if not MACHINE.fullmatch(name):
                yield ValueRuleError("machines", "named C1, C2 …, S1, S2 … and LB", name)
        for role in ("C1", "S1"):
            if role not in self.machines:
                yield ValueRuleError("machines", f"with {role} among them", ", ".join(self.machines))

    def _broken_numbers(self) -> Iterator[ValueRuleError]:
        takes, right = _numbers_of(self.recipe), True
        for name, value in self._numbers.items():
            most = _MOST_ADDRESSES if name == "addresses" else _MOST_HOSTS
            if name not in takes:
                known = ", ".join(takes) or "no number"
                yield ValueRuleError(name, f"left out: {self.recipe} takes {known}", value)
            elif not 1 <= value <= most:
                yield ValueRuleError(name, f"a whole number of 1 to {most}", value)
            right = right and name in takes and 1 <= value <= most
        if right:
            try:
                self.topology()
            except ValueRuleError as error:  # clients and servers each, but not together
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
    """A study asks for the same ones at each of its points."""
    return TOPOLOGIES[recipe](**dict(numbers), **({} if recipe == "loopback" else {"block": block}))


@cache
def _numbers_of(recipe: str) -> list[str]:
    return [name for name in inspect.signature(TOPOLOGIES[recipe]).parameters if name != "block"]


@strict
@dataclass(frozen=True)
class HostSection:
    """What a host is set to; the network's settings are of namespaces alone.

    Attributes
    ----------
    cpus : tuple of int
        Processors of its commands, 0–4095; empty for the laboratory's choice: clients apart from the others.
    open_files : int or None
        Limit of open files of each of its commands but monitors (``ulimit -n``), 16–1000000.
    cpu_quota : float or None
        Processors' worth of time that all its commands but monitors have together, such as 0.5; 0.01 or more.
    congestion_control : str
        Of TCP: ``reno`` unless the study asks about another one, such as ``cubic`` or ``bbr``.
    sysctls : dict of str to str
        Settings of its namespace, such as ``net.core.somaxconn: 128``, of those that the kernel has for each one.
    """

    cpus: tuple[int, ...] = ()
    open_files: int | None = None
    cpu_quota: float | None = None
    congestion_control: str = "reno"
    sysctls: dict[str, Numbers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_all(
            *(partial(check_count, "cpus", cpu, 0, 4095) for cpu in self.cpus),
            lambda: self.open_files is None or check_count("open_files", self.open_files, 16, 1_000_000),
            self._check_quota,
            self.network,
        )

    def _check_quota(self) -> None:
        most = os.cpu_count() or 1
        check_range("cpu_quota", self.cpu_quota, f"0.01 to {most} processors", lambda quota: 0.01 <= quota <= most)

    def network(self) -> HostSettings:
        """Settings of its namespace."""
        return HostSettings(self.congestion_control, self.sysctls)
