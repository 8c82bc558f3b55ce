"""The section `balancer`: what stands before the servers."""

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from loadcurve.errors import ValueRuleError, check_all
from loadcurve.lab.balancers.proxies import Domains
from loadcurve.lab.servers.haproxy import HaproxyProcess
from loadcurve.lab.servers.nginx import Process
from loadcurve.lab.servers.settings import check_count
from loadcurve.lab.study_file.section import check_one, chosen, strict

strict(Domains)


@strict
@dataclass(frozen=True)
class NginxL7Section:
    """An nginx that balances requests.

    Attributes
    ----------
    scheduler : str
        How it chooses a server.  ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``:
        by the client's address, with a seed that spreads the clients evenly.
    keepalive : bool
        Whether connections to servers are used again.
    domains : Domains or None
        Names it serves; none for one pool of servers, whatever the name.
    lookup : str
        How it finds a name.  ``blocks``: a server block for each; ``map``: a table.
    access_log : str
        ``off``; ``on``, a write for each request; ``buffered``, a write for each 1024 KiB.
    process : Process
        How it runs.
    """

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    keepalive: bool = True
    domains: Domains | None = None
    lookup: Literal["blocks", "map"] = "blocks"
    access_log: Literal["off", "on", "buffered"] = "off"
    process: Process = field(default_factory=Process)


@strict
@dataclass(frozen=True)
class NginxStreamSection:
    """An nginx that balances connections.

    Attributes
    ----------
    scheduler : str
        How it chooses a server.  ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``:
        by the client's address, with a seed that spreads the clients evenly.
    access_log : str
        ``off``; ``on``, a write for each connection; ``buffered``, a write for each 1024 KiB.
    process : Process
        How it runs.
    """

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    access_log: Literal["off", "on", "buffered"] = "off"
    process: Process = field(default_factory=Process)


@strict
@dataclass(frozen=True)
class HaproxyProxySection:
    """A haproxy that balances requests or connections.

    Attributes
    ----------
    mode : str
        ``http``: requests; ``tcp``: connections.
    scheduler : str
        How it chooses a server.  ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``:
        by the client's address.
    keepalive : bool
        Whether connections to servers are used again; of ``http`` only.
    domains : Domains or None
        Names it serves, by ``http`` only; none for one pool of servers, whatever the name.
    process : HaproxyProcess
        How it runs.
    """

    mode: Literal["http", "tcp"] = "http"
    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    keepalive: bool = True
    domains: Domains | None = None
    process: HaproxyProcess = field(default_factory=HaproxyProcess)

    def __post_init__(self) -> None:
        if self.mode == "tcp" and self.domains is not None:
            raise ValueRuleError("domains", "left out for tcp: nobody reads the names of connections", "domains")


@strict
@dataclass(frozen=True)
class NftSection:
    """Rules of nftables that choose a server for each connection.

    Attributes
    ----------
    scheduler : str
        How it chooses a server.  ``rr``: in turn; ``random``; ``hash``: by the client's address, with a
        seed that spreads the clients evenly.
    lookup : str
        How a packet finds its service.  ``map``: one look into a table; ``rules``: one rule after the other.
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
    scheduler : str
        How it chooses a server.  ``rr``, ``wrr``: in turn, by weight; ``wlc``: the fewest connections for its weight;
        ``sh``, ``mh``: by the client's address.
    forward : str
        ``nat``: the balancer rewrites addresses both ways; ``dr``: it passes on frames, and the servers answer by
        themselves.
    weights : tuple of int
        Weight of each server, 0–65535, 0 for no new connections; empty for 1 each.
    services : int
        How many services are loaded, 1–10000; the load goes to the last one.
    """

    scheduler: Literal["rr", "wrr", "wlc", "sh", "mh"] = "rr"
    forward: Literal["nat", "dr"] = "nat"
    weights: tuple[int, ...] = ()
    services: int = 1

    def __post_init__(self) -> None:
        check_all(
            lambda: check_count("services", self.services, 1, 10_000),
            *(partial(check_count, "weights", weight, 0, 65_535) for weight in self.weights),
        )
        if self.forward == "dr" and self.services > 1:
            raise ValueRuleError("services", "1: direct routing cannot change the servers' only port", self.services)


@strict
@dataclass(frozen=True)
class BalancerSection:
    """What stands on the host ``LB``: one of these, or nothing.

    Attributes
    ----------
    nginx_l7 : NginxL7Section or None
        An nginx that ends the clients' connections and passes on requests.
    nginx_stream : NginxStreamSection or None
        An nginx that passes on what connections say.
    haproxy : HaproxyProxySection or None
        A haproxy that does the one or the other.
    nft : NftSection or None
        Rules of nftables: the kernel passes on packets.
    ipvs : IpvsSection or None
        IPVS, where the kernel has it.
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
