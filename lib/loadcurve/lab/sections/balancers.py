"""The section `balancer`: what stands before the servers."""

from dataclasses import dataclass, field
from typing import Literal

from loadcurve.lab.balancers.proxies import Domains
from loadcurve.lab.sections.section import check_one, chosen, strict
from loadcurve.lab.servers.haproxy import HaproxyProcess
from loadcurve.lab.servers.nginx import Process
from loadcurve.lab.servers.settings import check_count

strict(Domains)


@strict
@dataclass(frozen=True)
class NginxL7Section:
    """An nginx that balances requests; attributes as of `Proxy` and `NginxProxy`."""

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    keepalive: bool = True
    domains: Domains | None = None
    lookup: Literal["blocks", "map"] = "blocks"
    access_log: Literal["off", "on", "buffered"] = "off"
    process: Process = field(default_factory=Process)


@strict
@dataclass(frozen=True)
class NginxStreamSection:
    """An nginx that balances connections; attributes as of `Proxy` and `NginxProxy`."""

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    access_log: Literal["off", "on", "buffered"] = "off"
    process: Process = field(default_factory=Process)


@strict
@dataclass(frozen=True)
class HaproxyProxySection:
    """A haproxy that balances requests (``http``) or connections (``tcp``); attributes as of `Proxy`."""

    mode: Literal["http", "tcp"] = "http"
    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    keepalive: bool = True
    domains: Domains | None = None
    process: HaproxyProcess = field(default_factory=HaproxyProcess)


@strict
@dataclass(frozen=True)
class NftSection:
    """Rules of nftables that choose a server for each connection.

    Attributes
    ----------
    scheduler, lookup
        As of `NftBalancer`.
    services : int
        How many services are loaded, 1–10000; the load goes to the last one.
    """

    scheduler: Literal["rr", "random", "hash"] = "rr"
    lookup: Literal["map", "rules"] = "map"
    services: int = 1

    def __post_init__(self) -> None:
        check_count("services", self.services, 1, 10_000)


@strict
@dataclass(frozen=True)
class IpvsSection:
    """IPVS, where the kernel has it.

    Attributes
    ----------
    scheduler, forward, weights
        As of `IpvsBalancer`.
    services : int
        How many services are loaded, 1–10000; the load goes to the last one.
    """

    scheduler: Literal["rr", "wrr", "wlc", "sh", "mh"] = "rr"
    forward: Literal["nat", "dr"] = "nat"
    weights: tuple[int, ...] = ()
    services: int = 1

    def __post_init__(self) -> None:
        check_count("services", self.services, 1, 10_000)


@strict
@dataclass(frozen=True)
class BalancerSection:
    """What stands on the host ``LB``: one of these, or nothing.

    Attributes
    ----------
    nginx_l7, nginx_stream, haproxy
        Programs that end the clients' connections and make their own to the servers.
    nft, ipvs
        Rules of the kernel, which pass on packets.
    """

    nginx_l7: NginxL7Section | None = None
    nginx_stream: NginxStreamSection | None = None
    haproxy: HaproxyProxySection | None = None
    nft: NftSection | None = None
    ipvs: IpvsSection | None = None

    def __post_init__(self) -> None:
        check_one("balancer", self, "nginx_l7", "nginx_stream", "haproxy", "nft", "ipvs", least=0)

    @property
    def kind(self) -> str:
        """Which of them it is; empty for none."""
        return chosen(self)[0]
