"""The hosts of a point as its deployment sees them: name, addresses, processors and free ports of each."""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loadcurve.lab.hosts.host import LOCAL
from loadcurve.lab.servers.settings import Endpoint
from loadcurve.lab.study_file import HostSection, StudyFile

# Above the ports that need rights, below the ephemeral ones.
FIRST_PORT = 8080


@dataclass(frozen=True)
class HostSlot:
    """A host."""

    name: str  # As the study calls it
    addresses: tuple[str, ...]  # Where the other hosts reach it, the first one before all
    port: Callable[[], int]  # A free port of it, another one with each call
    cpus: tuple[int, ...] = ()  # Processors of its servers and generators; empty for all

    def endpoint(self, port: int = 0) -> Endpoint:
        """Return an endpoint at its first address, at a free port where none is named."""
        return Endpoint(self.addresses[0], port or self.port())


def counting() -> Callable[[], int]:
    """Return a function that gives port after port: for hosts on which nothing else listens."""
    last = FIRST_PORT - 1

    def port() -> int:
        nonlocal last
        last += 1
        return last

    return port


def with_role(slots: Mapping[str, HostSlot], role: str) -> tuple[HostSlot, ...]:
    """Return the hosts of a role, C, LB or S; on loopback the only host has each."""
    if "local" in slots:
        return (slots["local"],)
    return tuple(site for name, site in slots.items() if name.rstrip("0123456789") == role)


def share_processors(names: tuple[str, ...], cpus: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Return the processors of each host where the study names none: the upper half for clients, the lower for others.

    Examples
    --------
    >>> share_processors(("LB", "C1", "S1"), (0, 1, 2, 3))
    {'LB': (0, 1), 'C1': (2, 3), 'S1': (0, 1)}
    >>> share_processors(("C1", "S1"), (0,))
    {'C1': (), 'S1': ()}
    """
    half = len(cpus) // 2
    return {name: () if not half else cpus[half:] if name.startswith("C") else cpus[:half] for name in names}


def host_slots(settings: StudyFile, block: str) -> dict[str, HostSlot]:
    """Hosts of a point as its deployment sees them, before any network is made.

    `block` has the addresses of the laboratory's own networks, see `network.unused_block`.
    """
    topology = settings.topology
    here = tuple(sorted(os.sched_getaffinity(0)))
    if topology.machines:
        return {
            name: HostSlot(name, (machine.address,), counting(), section_of(settings, name).cpus)
            for name, machine in topology.machines.items()
        }
    if topology.recipe == "loopback":
        return {"local": HostSlot("local", (LOCAL.address,), free_port)}
    nodes = topology.topology(block=block).nodes
    shared = share_processors(tuple(node.name for node in nodes), here)
    return {
        node.name: HostSlot(
            node.name, node.addresses, counting(), section_of(settings, node.name).cpus or shared[node.name]
        )
        for node in nodes
    }


def section_of(settings: StudyFile, name: str) -> HostSection:
    """Settings of a host in the study, by its name or by its role."""
    sections = settings.hosts
    return sections.get(name) or sections.get(name.rstrip("0123456789")) or HostSection()


def processors(settings: StudyFile, slots: Mapping[str, HostSlot], host: str, role: str) -> tuple[int, ...]:
    """Processors of a role's commands on a host; on loopback the roles share out those of the machine."""
    if host != "local":
        return slots[host].cpus
    if named := section_of(settings, host).cpus:
        return named
    return share_processors((role,), tuple(sorted(os.sched_getaffinity(0))))[role]


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((LOCAL.address, 0))
        return probe.getsockname()[1]
