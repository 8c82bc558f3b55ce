"""From the section `balancer` to what stands before the servers."""

from dataclasses import dataclass, replace

from loadcurve.errors import LabError
from loadcurve.lab.arrangement.servers import nginx_process
from loadcurve.lab.arrangement.site import Site
from loadcurve.lab.balancers import (
    HaproxyProxy,
    IpvsBalancer,
    NftBalancer,
    NginxProxy,
    Proxy,
    Rules,
    haproxy_counters_argv,
    haproxy_proxy_service,
    ipvs_rules,
    nft_rules,
    nginx_l7_service,
    nginx_stream_service,
)
from loadcurve.lab.programs import Programs
from loadcurve.lab.sections.balancers import BalancerSection, HaproxyProxySection
from loadcurve.lab.servers import Endpoint
from loadcurve.lab.service import Service

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
    """

    endpoint: Endpoint
    service: Service | None = None
    rules: Rules | None = None
    counters: tuple[str, ...] = ()


def balance(
    section: BalancerSection, site: Site, servers: tuple[Endpoint, ...], connections: int, programs: Programs
) -> Balanced:
    """Return what balances on a host.

    Parameters
    ----------
    section : BalancerSection
        What the study says; not empty.
    site : Site
        The host.
    servers : tuple of Endpoint
        Among which it chooses.
    connections : int
        Largest number of concurrent connections to expect.
    programs : Programs
        Where programs are that have no one name.
    """
    if section.nft is not None or section.ipvs is not None:
        return _rules(section, site, servers)
    listen = site.endpoint()
    if section.haproxy is not None:
        return _haproxy(section.haproxy, site, listen, servers, connections)
    if section.nginx_l7 is not None:
        chosen = section.nginx_l7
        proxy = Proxy(NAME, listen, servers, chosen.scheduler, chosen.keepalive, chosen.domains)
        process = nginx_process(chosen.process, connections, programs)
        service = nginx_l7_service(NginxProxy(proxy, process, chosen.access_log, chosen.lookup))
    elif section.nginx_stream is not None:
        chosen = section.nginx_stream
        process = nginx_process(chosen.process, connections, programs)
        process = replace(process, modules=(*process.modules, programs.module(programs.STREAM)))
        proxy = Proxy(NAME, listen, servers, chosen.scheduler)
        service = nginx_stream_service(NginxProxy(proxy, process, chosen.access_log))
    else:
        raise LabError("no balancer is named")
    return Balanced(listen, service)


def _haproxy(
    section: HaproxyProxySection, site: Site, listen: Endpoint, servers: tuple[Endpoint, ...], connections: int
) -> Balanced:
    process = replace(section.process, connections=max(section.process.connections, 2 * connections))
    proxy = Proxy(NAME, listen, servers, section.scheduler, section.keepalive, section.domains)
    haproxy = HaproxyProxy(proxy, section.mode, process, site.endpoint())
    return Balanced(listen, haproxy_proxy_service(haproxy), counters=haproxy_counters_argv(haproxy))


def _rules(section: BalancerSection, site: Site, servers: tuple[Endpoint, ...]) -> Balanced:
    chosen = section.nft or section.ipvs
    direct = section.ipvs is not None and section.ipvs.forward == "dr"
    # Direct routing cannot change the port: the only service has that of the servers.
    first = servers[0].port if direct else _FIRST_SERVICE
    listens = tuple(Endpoint(site.addresses[0], first + i) for i in range(chosen.services))
    if section.nft is not None:
        rules = nft_rules(NftBalancer(NAME, listens, servers, section.nft.scheduler, section.nft.lookup))
    else:
        ipvs = section.ipvs
        rules = ipvs_rules(IpvsBalancer(NAME, listens, servers, ipvs.scheduler, ipvs.forward, ipvs.weights))
    return Balanced(listens[-1], rules=rules, counters=rules.counters)
