"""haproxy as a balancer, of requests (mode http) and of connections (mode tcp)."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.balancers.balancer import NAME, Balanced, Balancer, BalancerHost
from loadcurve.lab.balancers.proxies import Domains, Proxy
from loadcurve.lab.servers.haproxy import HaproxyProcess, section
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import Endpoint, check_choice, check_endpoint
from loadcurve.study.section import Section

_SCHEDULERS = {"rr": "roundrobin", "lc": "leastconn", "random": "random(1)", "hash": "source"}
_STATISTICS = "/haproxy?stats"


@dataclass(frozen=True)
class HaproxyProxy:
    """A haproxy before servers."""

    proxy: Proxy  # Where it listens and among whom it chooses
    mode: str = "http"  # `http`: requests; `tcp`: connections
    process: HaproxyProcess = field(default_factory=HaproxyProcess)  # How it runs
    # Where its counters are read; None for nowhere but its socket, `NAME.work/stats.sock`.
    statistics: Endpoint | None = None

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, ("http", "tcp"))
        if self.mode == "tcp" and self.proxy.domains:
            raise ValueRuleError("domains", "none for connections, whose names nobody reads", self.proxy.domains)
        if self.statistics is not None and check_endpoint("statistics", self.statistics) == self.proxy.listen:
            raise ValueRuleError("statistics", "apart from where requests go", str(self.statistics))


def haproxy_proxy_service(haproxy: HaproxyProxy) -> Service:
    """Return the service of a haproxy that balances.

    Parameters
    ----------
    haproxy : HaproxyProxy
        Its settings.
    """
    proxy, files = haproxy.proxy, {}
    choice = ["default_backend pool1"]
    if proxy.domains:
        names = f"{proxy.name}.map"
        files[names] = "".join(f"{name} {pool}\n" for name, pool in proxy.domains.pool_of_name().items())
        choice = [f"use_backend %[req.hdr(host),field(1,:),lower,map({names},pool1)]"]
    sections = [section(f"frontend {proxy.name}", [f"bind {proxy.listen}", *choice])]
    members = [f"server s{i + 1} {server}" for i, server in enumerate(proxy.servers)]
    balance = [f"balance {_SCHEDULERS[proxy.scheduler]}", *_reuse(haproxy)]
    sections += [section(f"backend {pool}", [*balance, *members]) for pool in proxy.pools]
    if haproxy.statistics:
        pages = ["mode http", f"bind {haproxy.statistics}", "stats enable", f"stats uri {_STATISTICS}"]
        sections.append(section("frontend statistics", pages))
    return haproxy.process.service(proxy.name, haproxy.mode, sections, proxy.listen.url, files)


def haproxy_counters_argv(haproxy: HaproxyProxy) -> tuple[str, ...]:
    """Return the command that prints its counters as CSV, a row for each server of each pool.

    Raises
    ------
    ValueRuleError
        When it has no `statistics`.
    """
    if haproxy.statistics is None:
        raise ValueRuleError("statistics", "an endpoint, for counters to be read", haproxy.statistics)
    url = f"http://{haproxy.statistics}{_STATISTICS};csv"
    return ("curl", "-q", "--silent", "--show-error", "--fail", "--noproxy", "*", "--max-time", "5", url)


def _reuse(haproxy: HaproxyProxy) -> list[str]:
    if haproxy.mode == "tcp":
        return []
    return ["http-reuse always"] if haproxy.proxy.keepalive else ["http-reuse never", "option http-server-close"]


@dataclass(frozen=True)
class HaproxyProxySection(Section):
    """A haproxy that balances requests or connections."""

    mode: Literal["http", "tcp"] = "http"
    """``http``: requests; ``tcp``: connections."""

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    """How it chooses a server. ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``: by
    the client's address."""

    keepalive: bool = True
    """Whether connections to servers are used again; for ``http`` only."""

    domains: Domains | None = None
    """Names it serves, by ``http`` only; left out for one pool of servers, whatever the name."""

    process: HaproxyProcess = field(default_factory=HaproxyProcess)
    """How it runs."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.mode == "tcp" and self.domains is not None:
            yield ValueRuleError("domains", "left out for tcp: a TCP proxy does not read names", "domains")


def _start(section: HaproxyProxySection, host: BalancerHost, seed: int) -> Balanced:
    listen = host.free_endpoint()
    process = replace(section.process, connections=max(section.process.connections, 2 * host.connections))
    proxy = Proxy(NAME, listen, host.servers, section.scheduler, section.keepalive, section.domains)
    haproxy = HaproxyProxy(proxy, section.mode, process, host.free_endpoint())
    return Balanced(listen, haproxy_proxy_service(haproxy), counting=("haproxy", haproxy_counters_argv(haproxy)))


HAPROXY = Balancer(
    "haproxy",
    "A haproxy that passes on requests, or the bytes of connections.",
    HaproxyProxySection,
    _start,
    counts=True,
)
