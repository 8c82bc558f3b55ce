"""haproxy as a balancer, of requests (mode http) and of connections (mode tcp)."""

from dataclasses import dataclass, field

from loadcurve.errors import ValueRuleError
from loadcurve.lab.balancers.proxies import Proxy
from loadcurve.lab.servers.haproxy import HaproxyProcess, section
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import Endpoint, check_choice, check_endpoint

_SCHEDULERS = {"rr": "roundrobin", "lc": "leastconn", "random": "random(1)", "hash": "source"}
_STATISTICS = "/haproxy?stats"


@dataclass(frozen=True)
class HaproxyProxy:
    """A haproxy before servers.

    Attributes
    ----------
    proxy : Proxy
        Where it listens and among whom it chooses.
    mode : str
        ``http``: requests; ``tcp``: connections.
    process : HaproxyProcess
        How it runs.
    statistics : Endpoint or None
        Where its counters are read; None for nowhere but its socket, ``NAME.work/stats.sock``.
    """

    proxy: Proxy
    mode: str = "http"
    process: HaproxyProcess = field(default_factory=HaproxyProcess)
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
