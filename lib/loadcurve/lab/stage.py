"""The hosts of a run, made and connected: where servers and generators work, and where monitors do."""

import contextlib
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loadcurve.lab import network, ssh
from loadcurve.lab.arrangement import Arrangement, Site, counting, share_processors
from loadcurve.lab.arrangement.faults import links_with, settings_with
from loadcurve.lab.hosts import LOCAL, Host
from loadcurve.lab.limits import Limits, Prefix, limited, throttling
from loadcurve.lab.network import Ledger
from loadcurve.lab.network.commands import Invocation
from loadcurve.lab.places import LocalPlace, Place
from loadcurve.lab.sections import HostSection, StudyFile, TopologySection


@dataclass(frozen=True)
class Stage:
    """Hosts for the time of one run.

    Attributes
    ----------
    work, watch : mapping of str to Place
        Name of each host → where its servers and generators work, with the host's limits, and where its monitors do.
    own : tuple of str
        Networks that the laboratory made.
    limits : mapping of str to Prefix
        What limits the commands of a host.
    making : Making
        How they were made.
    """

    work: Mapping[str, Place]
    watch: Mapping[str, Place]
    own: tuple[str, ...] = ()
    limits: Mapping[str, Prefix] = field(default_factory=dict)
    making: network.Making = field(default_factory=network.Making)

    def far_clocks(self) -> dict[str, tuple[float, float]]:
        """Wall clock and monotonic clock, in s, of each host that is not this machine."""
        return {name: place.clocks() for name, place in self.watch.items() if not place.is_here}

    def facts(self) -> dict[str, Any]:
        """What of each host decides what its numbers mean: its network, its clock, what its limits did."""
        found: dict[str, Any] = {}
        local = {name: place.host for name, place in self.watch.items() if place.is_here}
        if self.own:
            found |= network.network_facts(local)
        found |= {name: place.facts() for name, place in self.watch.items() if name not in local}
        for name, prefix in self.limits.items():
            found[name] = found.get(name, {}) | {"throttling": throttling(prefix)}
        return found


@contextlib.contextmanager
def connections(topologies: Iterable[TopologySection]) -> Iterator[dict[str, ssh.Connection]]:
    """Log in to the machines of topologies, once for a whole launch: ssh URL of each → its connection."""
    urls = [machine.ssh for topology in topologies for machine in topology.machines.values() if machine.ssh]
    with contextlib.ExitStack() as stack:
        yield {url: stack.enter_context(ssh.connected(url)) for url in dict.fromkeys(urls)}


@contextlib.contextmanager
def staged(
    settings: StudyFile, arrangement: Arrangement, folder: Path, logins: Mapping[str, ssh.Connection]
) -> Iterator[Stage]:
    """Make the hosts of a run, and remove at the end what was made.

    Parameters
    ----------
    settings : StudyFile
        Sections of the point.
    arrangement : Arrangement
        What is to run on them.
    folder : pathlib.Path
        Of the run.
    logins : mapping of str to Connection
        As `connections` made them.
    """
    with contextlib.ExitStack() as stack:
        recipe = settings.topology.recipe
        ledger, making = None, network.Making()
        if recipe != "loopback" or any(host.cpu_quota for host in settings.hosts.values()):
            ledger = stack.enter_context(Ledger())
        if settings.topology.machines:
            watch = _machines(settings, folder, logins, stack)
        elif recipe == "loopback":
            watch = {"local": LocalPlace(LOCAL, folder)}
        else:
            watch = _namespaces(settings, arrangement, folder, ledger, stack, making)
        work, limits = dict(watch), {}
        for name, place in watch.items():
            section = section_of(settings, name)
            if section.open_files is None and section.cpu_quota is None:
                continue
            bounds = Limits(section.open_files, section.cpu_quota)
            limits[name] = stack.enter_context(limited(bounds, ledger, name, "python3"))
            place.put(limits[name].files)
            if group := limits[name].group:
                making.note([Invocation(("mkdir", group))])
                making.after.append(Invocation(("rmdir", group)))
            host = replace(place.host, prefix=(*limits[name].argv, *place.host.prefix))
            work[name] = replace(place, host=host)
        own = (_block(arrangement),) if recipe != "loopback" else ()
        yield Stage(work, watch, own, limits, making)


def sites_of(settings: StudyFile, block: str) -> dict[str, Site]:
    """Hosts of a point as its arrangement sees them, before anything is made.

    Parameters
    ----------
    settings : StudyFile
        Its sections.
    block : str
        Addresses of the laboratory's own networks, see `network.find_block`.
    """
    topology = settings.topology
    here = tuple(sorted(os.sched_getaffinity(0)))
    if topology.machines:
        return {
            name: Site(name, (machine.address,), counting(), section_of(settings, name).cpus)
            for name, machine in topology.machines.items()
        }
    if topology.recipe == "loopback":
        return {"local": Site("local", (LOCAL.address,), free_port)}
    nodes = topology.topology(block=block).nodes
    shared = share_processors(tuple(node.name for node in nodes), here)
    return {
        node.name: Site(
            node.name, node.addresses, counting(), section_of(settings, node.name).cpus or shared[node.name]
        )
        for node in nodes
    }


def section_of(settings: StudyFile, name: str) -> HostSection:
    """What the study says of a host, by its name or by its role."""
    sections = settings.hosts
    return sections.get(name) or sections.get(name.rstrip("0123456789")) or HostSection()


def processors(settings: StudyFile, sites: Mapping[str, Site], host: str, role: str) -> tuple[int, ...]:
    """Processors of a role's commands on a host; on loopback the roles share out those of the machine."""
    if host != "local":
        return sites[host].cpus
    if named := section_of(settings, host).cpus:
        return named
    return share_processors((role,), tuple(sorted(os.sched_getaffinity(0))))[role]


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((LOCAL.address, 0))
        return probe.getsockname()[1]


def _block(arrangement: Arrangement) -> str:
    first = next(iter(arrangement.sites.values())).addresses[0]
    return f"{'.'.join(first.split('.')[:2])}.0.0/16"


def _namespaces(
    settings: StudyFile,
    arrangement: Arrangement,
    folder: Path,
    ledger: Ledger,
    stack: contextlib.ExitStack,
    making: network.Making,
) -> dict[str, Place]:
    topology = settings.topology.topology(block=_block(arrangement))
    fault, faulty = arrangement.fault, arrangement.faulty
    hosts = {
        node.name: settings_with(fault, faulty, node.name, section_of(settings, node.name)) for node in topology.nodes
    }
    links = links_with(fault, faulty, settings.links, topology)
    built = stack.enter_context(network.build(topology, ledger, links, hosts, making))
    return {name: LocalPlace(host, folder) for name, host in built.items()}


def _machines(
    settings: StudyFile, folder: Path, logins: Mapping[str, ssh.Connection], stack: contextlib.ExitStack
) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for name, machine in settings.topology.machines.items():
        host = Host(name, machine.address)
        place = ssh.open_place(logins[machine.ssh], host, folder) if machine.ssh else LocalPlace(host, folder)
        stack.callback(place.close)
        places[name] = place
    return places
