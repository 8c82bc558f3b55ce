"""From the section `balancer` to what stands before the servers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loadcurve.errors import LabError
from loadcurve.lab.balancers import (
    HaproxyProxy,
    IpvsBalancer,
    NftBalancer,
    NginxProxy,
    Proxy,
    Rules,
    expected_shares,
    find_seed,
    haproxy_counters_argv,
    haproxy_proxy_service,
    ipvs_rules,
    nft_rules,
    nft_server,
    nginx_l7_service,
    nginx_server,
    nginx_stream_service,
)
from loadcurve.lab.balancers.shares import ServerOf
from loadcurve.lab.deployment.host_slot import HostSlot
from loadcurve.lab.deployment.servers import nginx_process
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.servers import Endpoint
from loadcurve.lab.servers.service import Service
from loadcurve.lab.study_file.balancers import BalancerSection, HaproxyProxySection

NAME = "LB"
# Services of rules of the kernel lie side by side, below the ephemeral ports of Linux (32768 on).
_FIRST_SERVICE = 20_000


@dataclass(frozen=True)
class Balanced:
    """What balances.

    Attributes
    ----------
    endpoint : Endpoint
        Where requests go.
    service : Service or None
        A program.
    rules : Rules or None
        Rules of the kernel, instead.
    counters : tuple of str
        Command that prints what it counted for each server; empty where it does not.
    expected : mapping of str to float
        Endpoint of each server → the part of all connections (of an L7 proxy: requests) that the scheduler gives it;
        empty where that depends on the servers.
    """

    endpoint: Endpoint
    service: Service | None = None
    rules: Rules | None = None
    counters: tuple[str, ...] = ()
    expected: Mapping[str, float] = field(default_factory=dict)

    @property
    def counting(self) -> tuple[str, tuple[str, ...]]:
        """Tool and command of its counters, for `MonitoredHost`."""
        return (self.rules.tool.name if self.rules else "haproxy"), self.counters


def balance(
    section: BalancerSection,
    site: HostSlot,
    servers: tuple[Endpoint, ...],
    clients: Mapping[str, int],
    programs: Programs,
) -> Balanced:
    """Return what balances on a host.

    Parameters
    ----------
    section : BalancerSection
        What the study says; not empty.
    site : HostSlot
        The host.
    servers : tuple of Endpoint
        Among which it chooses.
    clients : mapping of str to int
        Address of each client → its connections.
    programs : Programs
        Where programs are that have no one name.
    """
    made, seed = _made(section, site, servers, clients, programs)
    shares = _shares(section, clients, len(servers), seed)
    return replace(made, expected=dict(zip(map(str, servers), shares, strict=False)))


def _made(
    section: BalancerSection,
    site: HostSlot,
    servers: tuple[Endpoint, ...],
    clients: Mapping[str, int],
    programs: Programs,
) -> tuple[Balanced, int]:
    """What balances, and the seed of its hash."""
    connections = sum(clients.values())
    server_of = _server_of(section)
    seed = find_seed(clients, len(servers), server_of) if server_of else 1
    if section.nft is not None or section.ipvs is not None:
        return _rules(section, site, servers, seed), seed
    listen = site.endpoint()
    if section.haproxy is not None:
        return _haproxy(section.haproxy, site, listen, servers, connections), seed
    if section.nginx_l7 is not None:
        chosen = section.nginx_l7
        proxy = Proxy(NAME, listen, servers, chosen.scheduler, chosen.keepalive, chosen.domains)
        process = nginx_process(chosen.process, connections, programs)
        service = nginx_l7_service(NginxProxy(proxy, process, chosen.access_log, chosen.lookup, seed))
    elif section.nginx_stream is not None:
        chosen = section.nginx_stream
        process = nginx_process(chosen.process, connections, programs)
        process = replace(process, modules=(*process.modules, programs.module(programs.STREAM)))
        proxy = Proxy(NAME, listen, servers, chosen.scheduler)
        service = nginx_stream_service(NginxProxy(proxy, process, chosen.access_log, seed=seed))
    else:
        raise LabError("no balancer is named")
    return Balanced(listen, service), seed


def _server_of(section: BalancerSection) -> ServerOf | None:
    """The hash by which it chooses, where it does and the hash is known here."""
    proxy = section.nginx_l7 or section.nginx_stream
    if section.nft is not None and section.nft.scheduler == "hash":
        return nft_server
    return nginx_server if proxy is not None and proxy.scheduler == "hash" else None


def _shares(section: BalancerSection, clients: Mapping[str, int], servers: int, seed: int) -> tuple[float, ...]:
    """What each server is to get: by a known hash, by weight, or alike, as schedulers of other hashes promise too."""
    if server_of := _server_of(section):
        return expected_shares(clients, servers, server_of, seed)
    (chosen,) = (value for value in vars(section).values() if value is not None)
    weights = section.ipvs.weights if section.ipvs is not None and section.ipvs.scheduler != "rr" else ()
    if chosen.scheduler in ("lc", "wlc") or (weights and not sum(weights)):
        return ()  # by the connections that the servers have now
    weights = weights or (1,) * servers
    return tuple(weight / sum(weights) for weight in weights)


def _haproxy(
    section: HaproxyProxySection, site: HostSlot, listen: Endpoint, servers: tuple[Endpoint, ...], connections: int
) -> Balanced:
    process = replace(section.process, connections=max(section.process.connections, 2 * connections))
    proxy = Proxy(NAME, listen, servers, section.scheduler, section.keepalive, section.domains)
    haproxy = HaproxyProxy(proxy, section.mode, process, site.endpoint())
    return Balanced(listen, haproxy_proxy_service(haproxy), counters=haproxy_counters_argv(haproxy))


def _rules(section: BalancerSection, site: HostSlot, servers: tuple[Endpoint, ...], seed: int) -> Balanced:
    chosen = section.nft or section.ipvs
    direct = section.ipvs is not None and section.ipvs.forward == "dr"
    # Direct routing cannot change the port: the only service has that of the servers.
    first = servers[0].port if direct else _FIRST_SERVICE
    listens = tuple(Endpoint(site.addresses[0], first + i) for i in range(chosen.services))
    if section.nft is not None:
        rules = nft_rules(NftBalancer(NAME, listens, servers, section.nft.scheduler, section.nft.lookup, seed))
    else:
        ipvs = section.ipvs
        rules = ipvs_rules(IpvsBalancer(NAME, listens, servers, ipvs.scheduler, ipvs.forward, ipvs.weights))
    return Balanced(listens[-1], rules=rules, counters=rules.counters)
