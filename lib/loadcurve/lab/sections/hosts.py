"""The sections `topology`, `hosts` and `links`: where things run, and what lies between them."""

import inspect
import os
from dataclasses import dataclass, field
from typing import Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.network.conditions import HostSettings, LinkConditions
from loadcurve.lab.network.nodes import Topology
from loadcurve.lab.network.topology import TOPOLOGIES
from loadcurve.lab.sections.section import strict
from loadcurve.lab.servers.settings import check_address, check_count

strict(LinkConditions)

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
        Where the others reach it.
    """

    ssh: str
    address: str

    def __post_init__(self) -> None:
        check_address("address", self.address)


@strict
@dataclass(frozen=True)
class TopologySection:
    """Hosts and networks: a recipe with its numbers, or machines that are there.

    Attributes
    ----------
    recipe : str
        Which one; the numbers are those that it takes.
    clients, servers, addresses : int or None
        Hosts of each role, and addresses of each server.
    machines : dict of str to Machine
        Instead of a recipe: ``C1``, ``LB``, ``S1`` and so on.
    """

    recipe: Recipe = "loopback"
    clients: int | None = None
    servers: int | None = None
    addresses: int | None = None
    machines: dict[str, Machine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.machines:
            self._check_machines()
        else:
            self.topology()

    def _check_machines(self) -> None:
        if self.recipe != "loopback" or self._numbers:
            raise ValueRuleError("machines", "alone, without a recipe and its numbers", ", ".join(self.machines))
        for name in self.machines:
            role = name.rstrip("0123456789")
            if role not in ("C", "S", "LB") or (role == "LB") != (name == "LB"):
                raise ValueRuleError("machines", "named C1, C2 …, S1, S2 … and LB", name)
        for role in ("C1", "S1"):
            if role not in self.machines:
                raise ValueRuleError("machines", f"with {role} among them", ", ".join(self.machines))

    @property
    def _numbers(self) -> dict[str, int]:
        return {k: v for k in ("clients", "servers", "addresses") if (v := getattr(self, k)) is not None}

    def topology(self, **block: str) -> Topology:
        """Topology of the recipe.

        Raises
        ------
        ValueRuleError
            When the recipe does not take one of the numbers, or not this one.
        """
        recipe = TOPOLOGIES[self.recipe]
        takes = set(inspect.signature(recipe).parameters)
        for name, value in self._numbers.items():
            if name not in takes:
                known = ", ".join(sorted(takes - {"block"})) or "no number"
                raise ValueRuleError(name, f"left out: {self.recipe} takes {known}", value)
        return recipe(**self._numbers, **({} if self.recipe == "loopback" else block))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hosts, in order of their roles; ``local`` alone on loopback."""
        return tuple(self.machines) or tuple(node.name for node in self.topology().nodes) or ("local",)


@strict
@dataclass(frozen=True)
class HostSection:
    """What a host is set to; the network's settings are of namespaces alone.

    Attributes
    ----------
    cpus : tuple of int
        Processors of its commands; empty for the laboratory's choice: clients apart from the others.
    open_files : int or None
        Limit of open files of each of its commands but monitors (``ulimit -n``).
    cpu_quota : float or None
        Processors' worth of time that all its commands but monitors have together, such as 0.5.
    congestion_control : str
        Of TCP.
    sysctls : dict of str to str
        Settings of its namespace.
    """

    cpus: tuple[int, ...] = ()
    open_files: int | None = None
    cpu_quota: float | None = None
    congestion_control: str = "reno"
    sysctls: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for cpu in self.cpus:
            check_count("cpus", cpu, 0, 4095)
        if self.open_files is not None:
            check_count("open_files", self.open_files, 16, 1_000_000)
        if self.cpu_quota is not None and not 0.01 <= self.cpu_quota <= (most := os.cpu_count() or 1):
            raise ValueRuleError("cpu_quota", f"0.01 to {most} processors", self.cpu_quota)
        self.network()

    def network(self) -> HostSettings:
        """Settings of its namespace."""
        return HostSettings(self.congestion_control, self.sysctls)
