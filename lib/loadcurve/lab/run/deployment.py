"""What runs where at one point of a study: services, load generators and monitors of each host, as data.

`deploy` is a pure function: the same settings on the same hosts give the same commands, so a study can be checked and
shown before anything starts.
"""

import itertools
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import urlsplit

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.host import LOCAL
from loadcurve.lab.hosts.network import HostSettings, LinkConditions, Topology
from loadcurve.lab.hosts.network.topology import resolve
from loadcurve.lab.hosts.unprivileged import User, unprivileged
from loadcurve.lab.study_file import HostSection, StudyFile
from loadcurve.lab.study_file.sections import LoadSection
from loadcurve.lab.tools import monitors
from loadcurve.lab.tools.balancers import BALANCERS
from loadcurve.lab.tools.balancers.balancer import NAME, Balanced, BalancerHost
from loadcurve.lab.tools.balancers.functions import FunctionTest, function_test
from loadcurve.lab.tools.faults import FAULTS
from loadcurve.lab.tools.faults.fault import Fault, FaultTarget
from loadcurve.lab.tools.generators import command_of
from loadcurve.lab.tools.generators.generator import GeneratorCommand, Load, port_of, split
from loadcurve.lab.tools.monitors.kinds import STUB_STATUS
from loadcurve.lab.tools.monitors.monitor import Monitor, MonitoredHost, watchers
from loadcurve.lab.tools.servers import SERVERS
from loadcurve.lab.tools.servers.server import ServerGroup, ServerHost, Service
from loadcurve.lab.tools.servers.settings import Endpoint
from loadcurve.study.run import FUNCTIONS

# Above the ports that need rights, below the ephemeral ones.
FIRST_PORT = 8080


@dataclass(frozen=True)
class HostSlot:
    """A host."""

    name: str  # As the study calls it
    addresses: tuple[str, ...]  # Where the other hosts reach it, the first one before all
    port: Callable[[], int]  # A free port of it, another one with each call
    cpus: tuple[int, ...] = ()  # Processors of its servers and generators; empty for all
    user: User | None = None  # Runs its generators and a study's own server; None for the user of the launch or login

    def endpoint(self, port: int = 0) -> Endpoint:
        """Return an endpoint at its first address, at a free port where none is named."""
        return Endpoint(self.addresses[0], port or self.port())


def counting() -> Callable[[], int]:
    """Return a function that gives port after port: for hosts on which nothing else listens."""
    return itertools.count(FIRST_PORT).__next__


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
    if topology.recipe == "loopback" and not topology.machines:
        return {"local": HostSlot("local", (LOCAL.address,), free_port, user=user_on(settings, "local"))}
    addresses: dict[str, tuple[str, ...]] = {name: (one.address,) for name, one in topology.machines.items()}
    shared: dict[str, tuple[int, ...]] = {}
    if not addresses:
        addresses = {node.name: node.addresses for node in topology.topology(block=block).nodes}
        shared = share_processors(tuple(addresses), tuple(sorted(os.sched_getaffinity(0))))
    return {
        name: HostSlot(name, own, counting(), section_of(settings, name).cpus or shared.get(name, ()), user)
        for name, own in addresses.items()
        for user in [user_on(settings, name)]
    }


def section_of(settings: StudyFile, name: str) -> HostSection:
    """Settings of a host in the study, by its name or by its role."""
    sections = settings.hosts
    return sections.get(name) or sections.get(name.rstrip("0123456789")) or HostSection()


def user_on(settings: StudyFile, name: str) -> User | None:
    """User without rights of root for a host of this machine; None for that of the launch or the login."""
    return None if section_of(settings, name).as_root or settings.topology.ssh_of(name) else unprivileged()


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
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Loader:
    """A generator on a host."""

    host: str
    stem: str  # What its files begin with
    generator: GeneratorCommand
    load: Load  # Of one process
    url: str  # Where it sends its requests

    @property
    def streams(self) -> tuple[str, str]:
        """Names of the files with its standard output and its error output."""
        return f"{self.stem}.{self.generator.tool}.txt", f"{self.stem}.{self.generator.tool}.err"

    @property
    def revealed(self) -> GeneratorCommand:
        """The command with the values of the variables that the study names: it is started, and never recorded."""
        made = command_of(self.load.revealed, self.stem)
        user = self.generator.user
        return replace(self.generator, argv=user.argv(made.argv) if user else made.argv, files=made.files)


def connections_of(section: LoadSection, clients: tuple[HostSlot, ...]) -> dict[str, int]:
    """Return the connections of each client, by its address; parameters as of `loaders`."""
    found = dict.fromkeys((site.addresses[0] for site in clients), 0)
    each = [site.addresses[0] for site in clients for _ in range(section.processes)]
    for address, part in zip(each, split(section.of("http://127.0.0.1/", len(clients))), strict=True):
        found[address] += part.connections
    return found


def loaders(
    section: LoadSection,
    clients: tuple[HostSlot, ...],
    roots: tuple[str, ...],
    limit_s: float,
    suffix: str = "",
    addresses: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Loader, ...]:
    """Return the generators of all clients: the load divided exactly, every root loaded by as many of them.

    `limit_s` is the outer time limit, 0 for the generator's own; `suffix` ends the names of their files; `addresses` is
    as in `Deployment`.  Raises a ValueRuleError when there are fewer generators than servers to load.
    """
    places = [site for site in clients for _ in range(section.processes)]
    if len(places) % len(roots):
        rule = f"such that {len(roots)} servers are loaded alike (on {len(clients)} clients)"
        raise ValueRuleError("load.processes", rule, section.processes)
    parts = split(section.of(roots[0], len(clients)))
    found = []
    for at, (site, part) in enumerate(zip(places, parts, strict=True)):
        root = roots[at % len(roots)]
        url = section.url_of(root)
        # Several processes of a client are numbered.
        number = "" if section.processes == 1 else f"-{at % section.processes + 1}"
        stem = f"{site.name}{number}{suffix}"
        load = replace(part, url=url, address=addresses.get(urlsplit(root).netloc, ""))
        command = command_of(load, stem)
        if (user := site.user) is not None and user.can_run(command.argv[0]):
            command = replace(command, argv=user.argv(command.argv), user=user)
        found.append(Loader(site.name, stem, replace(command, limit_s=limit_s) if limit_s else command, load, url))
    return tuple(found)


def links_with(
    fault: Fault | None, host: str, links: Mapping[str, LinkConditions], topology: Topology
) -> dict[str, LinkConditions]:
    """Return the links' conditions with those of a fault on a host: each of its links keeps what is set, or is worse.

    Links are named as a study names them: of a host, of a network, or one link.  None, or a fault that is of no link,
    changes nothing.
    """
    if fault is None or (worse := fault.link) is None:
        return dict(links)
    changed = {}
    for (name, network), now in resolve(topology, links).items():
        if name == host:
            delay_s, loss_ratio = max(now.delay_s, worse.delay_s), max(now.loss_ratio, worse.loss_ratio)
            now = replace(now, delay_s=delay_s, loss_ratio=loss_ratio)
        changed[f"{name}.{network}"] = now
    return changed


def settings_with(fault: Fault | None, on: str, name: str, host: HostSection) -> HostSettings:
    """Return the settings of the host `name`, with those of a fault where it is `on` this host."""
    settings = host.network()
    if fault is None or on != name:
        return settings
    return replace(settings, sysctls={**settings.sysctls, **fault.sysctls})


@dataclass(frozen=True)
class Deployment:
    """Everything that runs for one point."""

    slots: Mapping[str, HostSlot]  # Hosts by name
    services: tuple[tuple[str, Service], ...]  # Name of a host, and what is started there, in order
    balanced: Balanced | None  # The balancer, which is started after the servers
    balancer: str  # Name of its host; empty where there is none
    before: tuple[tuple[str, tuple[str, ...]], ...]  # Commands that prepare a host: its name, and an argv
    loaders: tuple[Loader, ...]  # Generators
    monitors: Mapping[str, tuple[Monitor, ...]]  # What watches each host
    fault: Fault | None = None  # What goes wrong
    faulty: str = ""  # On which host
    served: Mapping[str, ServerGroup] = field(default_factory=dict)  # What serves on each server host
    functions: FunctionTest | None = None  # The test that runs instead of everything else
    # Host and port of an existing server that the study names → its checked address.
    addresses: Mapping[str, str] = field(default_factory=dict)

    def wrap(self, host: str, role: str) -> tuple[str, ...]:
        """What the fault puts before the argv of a command of this role on a host."""
        of = {"server": "S", "balancer": "LB", "generator": "C", "warm_up": "C"}
        if self.fault is None or host != self.faulty or of.get(role) != self.fault.role:
            return ()
        return self.fault.wrap


def deploy(
    settings: StudyFile,
    slots: Mapping[str, HostSlot],
    programs: Programs,
    remote: Mapping[str, Programs] | None = None,
    addresses: Mapping[str, str] = MappingProxyType({}),
) -> Deployment:
    """Return what runs for one point on the hosts of its topology: ``local`` alone on loopback.

    `programs` says where programs are that have no one name, and `remote` the same of machines by ssh, by their URLs;
    `addresses` is as in `Deployment`.  Raises ValueRuleError when the sections do not fit the hosts, and LabError when
    a program or a module is missing on a host.
    """
    if settings.functions.balancer:
        return Deployment(slots, (), None, "", (), (), {}, functions=function_test(settings.functions))
    at = {name: (remote or {}).get(settings.topology.ssh_of(name), programs) for name in slots}
    served = _served(settings, slots, at)
    endpoints = tuple(endpoint for one in served.values() for endpoint in one.endpoints)
    balanced, balancer = _balanced(settings, slots, endpoints, at) if settings.balancer.kind else (None, "")
    prepared = balanced.before if balanced else ()
    before = tuple((server.name, argv) for server in with_role(slots, "S") for argv in prepared)
    roots = _roots(settings, balanced, served)
    sending = loaders(settings.load, with_role(slots, "C"), roots, settings.limit_s, addresses=addresses)
    fault, faulty = _fault(settings, slots, served)
    return Deployment(
        slots,
        tuple((host, service) for host, one in served.items() for service in one.services),
        balanced,
        balancer,
        before,
        sending,
        _monitors(settings, slots, served, balanced, balancer, roots),
        fault,
        faulty,
        served,
        addresses=addresses,
    )


def _balanced(
    settings: StudyFile, slots: Mapping[str, HostSlot], servers: tuple[Endpoint, ...], at: Mapping[str, Programs]
) -> tuple[Balanced, str]:
    """Return what balances the load over the servers, and the name of its host."""
    (site,) = with_role(slots, "LB")
    clients = connections_of(settings.load, with_role(slots, "C"))
    host = BalancerHost(site.addresses[0], site.endpoint, servers, clients, at[site.name])
    return BALANCERS[settings.balancer.kind].balance(settings.balancer.chosen[1], host), site.name


def argvs(deployment: Deployment) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Host, role and argv of each command of a deployment, in the order of their start."""
    if deployment.functions is not None:
        yield "local", FUNCTIONS, deployment.functions.argv()
    yield from ((host, "setup", argv) for host, argv in deployment.before)
    yield from ((host, "server", service.argv) for host, service in deployment.services)
    if (balanced := deployment.balanced) is not None:
        yield deployment.balancer, "balancer", balanced.argv
    for host, chosen in deployment.monitors.items():
        yield from ((host, "collector", watcher.argv) for watcher in watchers(chosen, host))
    yield from ((loader.host, "generator", loader.generator.argv) for loader in deployment.loaders)


def _served(
    settings: StudyFile, slots: Mapping[str, HostSlot], programs: Mapping[str, Programs]
) -> dict[str, ServerGroup]:
    kind, section = settings.server.chosen
    if kind not in SERVERS:  # a URL
        return {}
    return {
        site.name: SERVERS[kind].start(
            section,
            ServerHost(
                "S1" if site.name == "local" else site.name,
                site.addresses,
                site.endpoint(settings.server.port),
                site.endpoint,
                settings.load.connections,
                programs[site.name],
                getattr(settings.monitors, STUB_STATUS.name) is not None,
                site.user,
            ),
        )
        for site in with_role(slots, "S")
    }


def _fault(
    settings: StudyFile, slots: Mapping[str, HostSlot], served: Mapping[str, ServerGroup]
) -> tuple[Fault | None, str]:
    section = settings.fault
    if not section.kind:
        return None, ""
    server = section.host if section.host in served else next(iter(served), "")
    first = served[server].endpoints[0] if server else None
    port, address = (first.port, first.address) if first else (0, "")
    service = served[server].services[-1].name if server else NAME
    target = FaultTarget(service, port, section.host.rstrip("0123456789"), address)
    made = FAULTS[section.kind].make(section.chosen[1], target)
    return made, section.host or with_role(slots, made.role)[0].name


def _monitors(
    settings: StudyFile,
    slots: Mapping[str, HostSlot],
    served: Mapping[str, ServerGroup],
    balanced: Balanced | None,
    balancer: str,
    roots: tuple[str, ...],
) -> dict[str, tuple[Monitor, ...]]:
    ports = {port_of(root) for root in roots} | {e.port for one in served.values() for e in one.endpoints}
    intervals = {name: getattr(settings.monitors, name) for name in monitors.MONITORS}
    found: dict[str, tuple[Monitor, ...]] = {}
    for name in slots:
        counters = balanced.counting if balanced is not None and name == balancer else ("", ())
        host = MonitoredHost(tuple(sorted(ports)), served[name].status if name in served else None, counters)
        chosen = (
            kind.on_host(intervals[kind.name], host)
            for kind in monitors.MONITORS.values()
            if intervals[kind.name] is not None
        )
        if present := tuple(one for one in chosen if one is not None):
            found[name] = present
    return found


def warm_ups(warm_up_s: float, settings: StudyFile, deployment: Deployment) -> tuple[Loader, ...]:
    """Return the same load for the time of a warm-up, into files of their own."""
    section = replace(settings.load, duration_s=warm_up_s, requests=0, each_request=False)
    clients = with_role(deployment.slots, "C")
    roots = _roots(settings, deployment.balanced, deployment.served)
    return loaders(section, clients, roots, 0.0, "-warm-up", deployment.addresses)


def _roots(settings: StudyFile, balanced: Balanced | None, served: Mapping[str, ServerGroup]) -> tuple[str, ...]:
    """Return where the load goes: to the balancer, else to every server."""
    if balanced:
        return (balanced.endpoint.url,)
    return tuple(e.url for one in served.values() for e in one.endpoints) or (settings.server.url or "",)
