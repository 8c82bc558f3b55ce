"""IPVS as a balancer of connections, in the kernel: by address translation (NAT) or by direct routing (DR)."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.balancers.balancer import NAME, Balanced, Balancer, BalancerHost, Services
from loadcurve.lab.balancers.rules import Rules
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import Tool, which
from loadcurve.lab.servers.settings import (
    Endpoint,
    check_address,
    check_endpoints,
    check_name,
)
from loadcurve.study.section import Range, Section

TOOL = Tool("ipvsadm", "balancer", "--version", "ipvsadm")

MAX_SERVICES = 10_000
_FORWARDS = {"nat": "-m", "dr": "-g"}  # ipvsadm(8): masquerading, gatewaying
_PATIENCE_S = 10.0


@dataclass(frozen=True)
class IpvsSection(Section):
    """IPVS, where the kernel has it."""

    scheduler: Literal["rr", "wrr", "wlc", "sh", "mh"] = "rr"
    """How it chooses a server. ``rr``, ``wrr``: in turn, by weight; ``wlc``: the fewest connections for its weight;
    ``sh``, ``mh``: by the client's address."""

    forward: Literal["nat", "dr"] = "nat"
    """``nat``: the balancer rewrites addresses both ways; ``dr``: it passes on frames, and the servers send their
    responses directly."""

    weights: Annotated[tuple[int, ...], Range(0, 65_535)] = ()
    """Weight of each server, 0 for no new connections; empty for 1 each."""

    services: Services = 1
    """How many services are loaded; the load goes to the last one."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.forward == "dr" and self.services > 1:
            yield ValueRuleError("services", "1: direct routing cannot change the servers' only port", self.services)


def ipvs_rules(
    section: IpvsSection, listens: tuple[Endpoint, ...], servers: tuple[Endpoint, ...], name: str = NAME
) -> Rules:
    """Return the rules that pass connections to some services of the balancer's host on to servers.

    They replace everything that IPVS has in the host's namespace, and `Rules.remove` removes all of it, so use them
    only in namespaces that the laboratory made.  The kernel updates its counters every 2 s: read them 2 s later.  A
    server that is loaded again within a minute keeps its old counters: take differences.

    Parameters
    ----------
    section : IpvsSection
        Scheduler, forwarding and weights.
    listens : tuple of Endpoint
        1–10000 services; under direct routing at the servers' only port.
    servers : tuple of Endpoint
        1–256, for all services.
    name : str
        Name of the rules.

    Examples
    --------
    >>> here, there = Endpoint("10.99.0.1", 80), Endpoint("10.99.65.1", 8080)
    >>> print(ipvs_rules(IpvsSection("wrr", weights=(3,)), (here,), (there,)).files["LB.ipvs"], end="")
    -C
    -A -t 10.99.0.1:80 -s wrr
    -a -t 10.99.0.1:80 -r 10.99.65.1:8080 -m -w 3
    """
    check_name("name", name)
    check_endpoints("listens", listens, maximum=MAX_SERVICES)
    check_endpoints("servers", servers, maximum=256)
    if section.weights and len(section.weights) != len(servers):
        raise ValueRuleError("weights", f"one for each of {len(servers)} servers, or none", section.weights)
    ports = {endpoint.port for endpoint in (*listens, *servers)}
    if section.forward == "dr" and len(ports) > 1:
        raise ValueRuleError("servers", "of the services' only port, which direct routing cannot change", ports)
    weights, flag = section.weights or (1,) * len(servers), _FORWARDS[section.forward]
    lines = ["-C"]
    for listen in listens:
        lines.append(f"-A -t {listen} -s {section.scheduler}")
        for server, weight in zip(servers, weights, strict=True):
            lines.append(f"-a -t {listen} -r {server} {flag} -w {weight}")
    file = f"{name}.ipvs"
    return Rules(
        name,
        TOOL,
        load=("ipvsadm", "-R"),
        remove=("ipvsadm", "-C"),
        export=("ipvsadm", "-S", "-n"),
        counters=("ipvsadm", "-L", "-n", "--stats", "--exact"),
        files={file: "\n".join((*lines, ""))},
        stdin=file,
    )


def direct_routing_argvs(address: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands with which a server responds from the balancer's address without announcing it by ARP.

    Parameters
    ----------
    address : str
        The balancer's.

    Examples
    --------
    >>> for argv in direct_routing_argvs("10.99.0.1"):
    ...     print(*argv)
    sysctl -q -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
    ip address add 10.99.0.1/32 dev lo
    """
    check_address("address", address)
    quiet = ("net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.arp_announce=2")
    return (("sysctl", "-q", "-w", *quiet), ("ip", "address", "add", f"{address}/32", "dev", "lo"))


@cache
def has_ipvs() -> bool:
    """Whether this kernel has IPVS, tried in a temporary namespace."""
    program = which("ipvsadm")
    if program is None or which("unshare") is None:
        return False
    argv = guarded(("unshare", "--net", program, "-L", "-n"), _PATIENCE_S)
    return subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0


def _start(section: IpvsSection, host: BalancerHost, seed: int) -> Balanced:
    direct = section.forward == "dr"
    # Direct routing cannot change the port: the only service has that of the servers.
    listens = host.service_endpoints(section.services, *((host.servers[0].port,) if direct else ()))
    rules = ipvs_rules(section, listens, host.servers)
    before = direct_routing_argvs(host.address) if direct else ()
    return Balanced(listens[-1], rules=rules, counting=(TOOL.name, rules.counters), before=before)


_NO_IPVS = ("this kernel has no IPVS", "choose the balancer nft, or a kernel with ip_vs")
IPVS = Balancer(
    "ipvs",
    "IPVS, where the kernel has it.",
    IpvsSection,
    _start,
    counts=True,
    in_kernel=True,
    missing_in_kernel=lambda: None if has_ipvs() else _NO_IPVS,
)
