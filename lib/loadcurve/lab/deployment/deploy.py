"""From the checked sections of a point to its deployment on hosts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

from loadcurve.lab import monitors
from loadcurve.lab.balancers import BALANCERS, NAME, Balanced, BalancerHost
from loadcurve.lab.deployment.faults import fault_of
from loadcurve.lab.deployment.host_slot import HostSlot, with_role
from loadcurve.lab.deployment.loads import Loader, connections_of, loaders
from loadcurve.lab.faults import Fault
from loadcurve.lab.functions import FunctionTest, function_test
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.monitors import Monitor, MonitoredHost
from loadcurve.lab.monitors.counters import STUB_STATUS
from loadcurve.lab.servers import SERVERS, Endpoint, ServerGroup, ServerHost
from loadcurve.lab.servers.service import Service
from loadcurve.lab.study_file.study_file import StudyFile
from loadcurve.study.run import FUNCTIONS


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
    roots = (balanced.endpoint.url,) if balanced else tuple(e.url for e in endpoints) or (settings.server.url or "",)
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
        yield from ((host, "collector", watcher.argv) for watcher in monitors.watchers(chosen, host))
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
    made = fault_of(section, served[server].services[-1].name if server else NAME, port, address)
    return made, section.host or with_role(slots, made.role)[0].name


def _monitors(
    settings: StudyFile,
    slots: Mapping[str, HostSlot],
    served: Mapping[str, ServerGroup],
    balanced: Balanced | None,
    balancer: str,
    roots: tuple[str, ...],
) -> dict[str, tuple[Monitor, ...]]:
    ports = tuple(sorted({_port(root) for root in roots} | {e.port for one in served.values() for e in one.endpoints}))
    intervals = {name: getattr(settings.monitors, name) for name in monitors.MONITORS}
    found: dict[str, tuple[Monitor, ...]] = {}
    for name in slots:
        counters = balanced.counting if balanced is not None and name == balancer else ("", ())
        host = MonitoredHost(ports, served[name].status if name in served else None, counters)
        chosen = (
            kind.on_host(intervals[kind.name], host)
            for kind in monitors.MONITORS.values()
            if intervals[kind.name] is not None
        )
        if present := tuple(one for one in chosen if one is not None):
            found[name] = present
    return found


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)
