"""Rules between sections: the hosts that are named exist, a balancer has a host, and so on."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from loadcurve.errors import LabError, ParseError, ValueRuleError
from loadcurve.files.document import Document, Place, PlacedError
from loadcurve.lab.hosts.network.topology import resolve
from loadcurve.lab.schedule.points import level_sets
from loadcurve.lab.schedule.search.bracket import Bracket
from loadcurve.lab.study_file.sections import Sections
from loadcurve.lab.tools.balancers import BALANCERS
from loadcurve.lab.tools.balancers.kernel import IpvsSection
from loadcurve.lab.tools.faults import FAULTS
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.lab.tools.monitors.kinds import COUNTERS, STUB_STATUS
from loadcurve.lab.tools.servers.nginx import NginxSection
from loadcurve.study import Study, place_of


def broken_together(settings: Sections) -> Iterator[ValueRuleError]:
    """Yield each rule between sections of a study, or of one point of it, that does not hold."""
    for check in (_hosts, _links, _layout, _balancer, _generators, _monitors, _fault, _adaptive):
        yield from check(settings)


def _hosts(settings: Sections) -> list[ValueRuleError]:
    names, roles = settings.topology.names, {name.rstrip("0123456789") for name in settings.topology.names}
    found = []
    for name, host in settings.hosts.items():
        if name not in {*names, *roles}:
            found.append(ValueRuleError(f"hosts.{name}", f"one of {', '.join(sorted({*names, *roles}))}", name))
        elif (role := name.rstrip("0123456789")) != name and role in settings.hosts:
            rule = f"the only settings of this host: those of its role, {role}, would not count"
            found.append(ValueRuleError(f"hosts.{name}", rule, f"{name} and {role}"))
        elif (host.sysctls or host.congestion_control != "reno") and (
            settings.topology.machines or settings.topology.recipe == "loopback"
        ):
            rule = "without settings of the kernel: the laboratory sets those of its own namespaces alone"
            found.append(ValueRuleError(f"hosts.{name}", rule, ", ".join(host.sysctls) or host.congestion_control))
        elif host.cpu_quota is not None and _elsewhere(settings, name):
            rule = "left out for a machine by ssh: the laboratory makes control groups on this one alone"
            found.append(ValueRuleError(f"hosts.{name}.cpu_quota", rule, host.cpu_quota))
    return found


def _elsewhere(settings: Sections, name: str) -> bool:
    """Whether a host, or one of a role, is reached by ssh."""
    machines = settings.topology.machines.items()
    return any(machine.ssh for host, machine in machines if name in (host, host.rstrip("0123456789")))


def _links(settings: Sections) -> list[ValueRuleError]:
    topology, found = settings.topology.topology() if not settings.topology.machines else None, []
    for name in settings.links:
        try:
            if topology is None:
                raise LabError("machines have links that the laboratory does not set")
            topology.links(name)
        except LabError as error:
            found.append(ValueRuleError(f"links.{name}", f"a link of the topology ({error})", name))
    if topology is not None and not found:
        try:
            resolve(topology, settings.links)
        except LabError as error:
            rule = f"set so that they fit each other ({error})"
            found.append(ValueRuleError("links", rule, ", ".join(settings.links)))
    return found


def _endpoints(settings: Sections) -> int:
    """Number of endpoints of all servers."""
    servers = sum(name.startswith("S") for name in settings.topology.names) or 1
    nginx = _nginx(settings)
    return servers * (nginx.process.workers if nginx is not None and nginx.layout in ("D", "E") else 1)


def _nginx(settings: Sections) -> NginxSection | None:
    section = settings.server.chosen[1]
    return section if isinstance(section, NginxSection) else None


def _clients(settings: Sections) -> int:
    """Number of hosts that send the load."""
    return sum(name.startswith("C") for name in settings.topology.names) or 1


def _layout(settings: Sections) -> list[ValueRuleError]:
    nginx, topology, port = _nginx(settings), settings.topology, settings.server.port
    if nginx is None or not nginx.layout:
        return []
    workers, found = nginx.process.workers, []
    addresses = 1 if topology.machines or topology.recipe == "loopback" else topology.addresses or 1
    local = topology.names == ("local",) or any(m.address.startswith("127.") for m in topology.machines.values())
    if nginx.layout in ("B", "E") and local:
        rule = "one that listens on one address: on loopback it would be open to all networks of this machine"
        found.append(ValueRuleError("server.nginx.layout", rule, nginx.layout))
    if nginx.layout == "D" and workers > addresses:
        rule = f"one without an address for each of {workers} workers: there are {addresses} (topology.addresses)"
        found.append(ValueRuleError("server.nginx.layout", rule, nginx.layout))
    if nginx.layout == "E" and port + workers - 1 > 65_535:
        found.append(ValueRuleError("server.port", f"at most {65_536 - workers} for {workers} instances", port))
    return found


def _generators(settings: Sections) -> list[ValueRuleError]:
    """Check that the servers get equal loads, and that the tool can send the warm-up."""
    load, found = settings.load, []
    clients = _clients(settings)
    roots = 1 if settings.balancer.kind or settings.server.url is not None else _endpoints(settings)
    try:
        if (load.processes * clients) % roots:
            rule = f"such that {roots} servers are loaded alike (on {clients} clients)"
            found.append(ValueRuleError("load.processes", rule, load.processes))
        else:
            load.of("http://127.0.0.1/", clients)
    except ValueRuleError as error:
        found.append(ValueRuleError(f"load.{error.name}", error.rule, error.got))
    try:
        if settings.warm_up_s:
            replace(load, duration_s=settings.warm_up_s, requests=0, each_request=False)
    except ValueRuleError as error:
        rule = f"0 for this load: a warm-up is one of a duration, and {error.name} must be {error.rule}"
        found.append(ValueRuleError("warm_up_s", rule, settings.warm_up_s))
    return found


def _balancer(settings: Sections) -> list[ValueRuleError]:
    kind, has_balancer = settings.balancer.kind, "LB" in settings.topology.names
    if not kind:
        return []
    if BALANCERS[kind].in_kernel and settings.topology.recipe != "client_l4_servers":
        return [ValueRuleError("balancer", f"a program: {kind} needs the topology client_l4_servers", kind)]
    if not has_balancer and settings.topology.names != ("local",):
        return [ValueRuleError("balancer", "left out: this topology has no LB", kind)]
    if settings.server.url is not None:
        return [ValueRuleError("balancer", "left out before a server that runs already", kind)]
    ipvs, servers = settings.balancer.chosen[1], _endpoints(settings)
    if not isinstance(ipvs, IpvsSection):
        return []
    if ipvs.weights and len(ipvs.weights) != servers:
        return [ValueRuleError("balancer.ipvs.weights", f"one for each of {servers} servers, or none", ipvs.weights)]
    nginx = _nginx(settings)
    if ipvs.forward == "dr" and nginx is not None and nginx.layout == "E":
        rule = "nat: direct routing cannot change the port, E has several"
        return [ValueRuleError("balancer.ipvs.forward", rule, "dr")]
    return []


def _monitors(settings: Sections) -> list[ValueRuleError]:
    nginx, balancer = _nginx(settings), settings.balancer.kind
    if getattr(settings.monitors, STUB_STATUS.name) is not None and (nginx is None or nginx.layout):
        if nginx is None:
            return [ValueRuleError("monitors.stub_status", "left out: the server is no nginx", settings.server.kind)]
        rule = "left out: a server with a layout has no page of its own"
        return [ValueRuleError("monitors.stub_status", rule, nginx.layout)]
    if getattr(settings.monitors, COUNTERS.name) is not None and not (balancer and BALANCERS[balancer].counts):
        *first, last = (name for name, one in BALANCERS.items() if one.counts)
        rule = f"left out: only {', '.join(first)} and {last} count for each server"
        return [ValueRuleError("monitors.counters", rule, balancer or "no balancer")]
    return []


def _fault(settings: Sections) -> list[ValueRuleError]:
    fault = settings.fault
    if not fault.kind:
        return []
    if settings.topology.names == ("local",) or settings.topology.machines:
        return [ValueRuleError("fault", "made in namespaces: choose a topology of them", fault.kind)]
    if fault.host and fault.host not in settings.topology.names:
        return [ValueRuleError("fault.host", f"one of {', '.join(settings.topology.names)}", fault.host)]
    if settings.server.url is not None and FAULTS[fault.kind].acts_on != "host":
        rule = "left out for a server that runs already: it has no process of this study"
        return [ValueRuleError("fault", rule, fault.kind)]
    if FAULTS[fault.kind].acts_on == "process" and fault.host and not fault.host.startswith("S"):
        return [ValueRuleError("fault.host", f"a server's: {fault.kind} happens to its process", fault.host)]
    if 0 < settings.load.seconds <= fault.after_s:
        rule = f"less than the {settings.load.seconds:g} s of load, or the fault comes when the load is over"
        return [ValueRuleError("fault.after_s", rule, fault.after_s)]
    return []


def _adaptive(settings: Sections) -> list[ValueRuleError]:
    found, search = [], settings.search
    if search is not None:
        if place_of(search.factor) in {place_of(name) for name in settings.factors}:
            found.append(ValueRuleError("search", "for a place that is no factor of the study", search.factor))
        if place_of(search.factor) == ("load", "connections"):
            found += _connections(settings, search.goal)
        if settings.stop is not None:
            found.append(ValueRuleError("stop", "left out beside a search, which repeats by its own rule", "stop"))
        if search.capacity and settings.objective.latency_s is None and settings.objective.failed_ratio is None:
            rule = "given, with latency_s or failed_ratio: a search for capacity finds where it breaks"
            found.append(ValueRuleError("objective", rule, "none"))
    return found


def _connections(settings: Sections, goal: Bracket) -> list[ValueRuleError]:
    """Check that every number of connections of a search can be divided among processes and threads."""
    load, processes = settings.load, settings.load.processes * _clients(settings)
    threads = load.threads if GENERATORS[load.tool].even_connections else 1
    loads, step = (goal.lowest, goal.resolution, goal.highest), threads * processes if threads > 1 else 1
    if any(load % step for load in loads):
        each = f" of {processes} processes" if processes > 1 else ""
        those = f"multiples of {threads} threads{each}" if threads > 1 else "whole numbers"
        rule = f"with a lowest load and a resolution that are {those}, and a highest too"
        return [ValueRuleError("search", rule, ", ".join(f"{load:g}" for load in loads))]
    if goal.lowest < processes:
        rule = f"with a lowest load of a connection for each of {processes} processes"
        return [ValueRuleError("search", rule, f"{goal.lowest:g}")]
    return []


Fault = tuple[Place, str, str]
Search = Mapping[str, Any]


@dataclass(frozen=True)
class _Point:
    """A point: its changes; place of each change in the file → place that it changes; the point's name in messages."""

    changes: tuple[Mapping[str, Any], ...]
    owners: Mapping[Place, Place]
    named: str


def point_faults(
    study: Study,
    document: Document,
    check: Callable[..., Iterable[PlacedError]],
    known: Iterable[PlacedError] = (),
    searched: Iterable[Search] = (),
) -> tuple[list[ParseError], list[PlacedError]]:
    """Return the faults that only points of a study have, and the faults of the study itself that its points share.

    A fault of every point with a level (a variant's setting, a listed value) is reported at the line of that level.  A
    fault of a combination of levels names the first point that has it.  `check` returns the faults of a point with some
    changes; `known` are those of the study by itself; `searched` are levels that a search may try.
    """
    points = list(_points(study, tuple(searched) or ({},)))
    having: dict[Fault, dict[int, None]] = {}
    for at, point in enumerate(points):
        for fault in check(*point.changes):
            having.setdefault(fault.key, {})[at] = None
    kept = [fault for fault in known if having.pop(fault.key, None)]
    if not having:
        return [], kept
    of_owner: dict[Place, set[int]] = {}
    for at, point in enumerate(points):
        for owner in point.owners:
            of_owner.setdefault(owner, set()).add(at)
    found = [
        ParseError(line, f"in {where}: {expected}", got)
        for (place, expected, got), failing in having.items()
        for where, line in _causes(place, set(failing), points, of_owner, document)
    ]
    return found, kept


def _points(study: Study, searched: tuple[Search, ...]) -> Iterator[_Point]:
    number = {name: {id(level): at for at, level in enumerate(levels)} for name, levels in study.factors.items()}
    for variant, (index, levels), ends in itertools.product(study.variants, enumerate(level_sets(study)), searched):
        settings = study.variants[variant]
        owners: dict[Place, Place] = {("variants", variant, name): place_of(name) for name in settings}
        for name, level in levels.items():
            place = ("points", index, name) if study.points else ("factors", name, number[name][id(level)])
            owners[place] = place_of(name)
        if ends:  # a trial's duration, which follows its level, is the search's own
            owners["search", "factor"] = place_of(next(iter(ends)))
        words = [f"{name} {value}" for name, value in (*levels.items(), *ends.items())]
        head = f"variants.{variant}" if len(study.variants) > 1 else "the point"
        yield _Point((settings, levels, ends), owners, f"{head} with {', '.join(words)}" if words else head)


def _causes(
    place: Place, failing: set[int], points: list[_Point], of_owner: Mapping[Place, set[int]], document: Document
) -> Iterator[tuple[str, int]]:
    """Name and line of each change that alone causes a fault, and of the first combination that does."""
    first = points[min(failing)]
    always = [owner for at in sorted(failing) for owner in points[at].owners if of_owner[owner] <= failing]
    always = list(dict.fromkeys(always))
    path = {owner: points[min(of_owner[owner])].owners[owner] for owner in always}
    # The change nearest to the place of the fault comes first.
    always.sort(key=lambda owner: -_shared(path[owner], place))
    left = set(failing)
    for owner in always:
        if left & of_owner[owner] and (_shared(path[owner], place) == len(path[owner]) or left == failing):
            left -= of_owner[owner]
            yield ".".join(map(str, owner)), document.line(owner)
    if left:
        first = points[min(left)]
        near = max(first.owners, key=lambda owner: _shared(first.owners[owner], place), default=())
        yield first.named, document.line(near)


def _shared(one: Place, other: Place) -> int:
    """Number of words that two places have in common from the left."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
