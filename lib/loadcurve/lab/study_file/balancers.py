"""The section `balancer`: what distributes the load among the servers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.balancers.proxies import Domains
from loadcurve.lab.servers.haproxy import HaproxyProcess
from loadcurve.lab.servers.nginx import Process
from loadcurve.section import Choice, Range, Section

# As many as `NftBalancer` and `IpvsBalancer` take.
Services = Annotated[int, Range(1, 10_000)]


@dataclass(frozen=True)
class NginxL7Section(Section):
    """An nginx that balances requests."""

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    """How it chooses a server. ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``: by
    the client's address, with a seed that spreads the clients evenly."""

    keepalive: bool = True
    """Whether connections to servers are used again."""

    domains: Domains | None = None
    """Names it serves; left out for one pool of servers, whatever the name."""

    lookup: Literal["blocks", "map"] = "blocks"
    """How it finds a name. ``blocks``: a server block for each; ``map``: a table."""

    access_log: Literal["off", "on", "buffered"] = "off"
    """``off``; ``on``, a write for each request; ``buffered``, a write for each 1024 KiB."""

    process: Process = field(default_factory=Process)
    """How it runs."""


@dataclass(frozen=True)
class NginxStreamSection(Section):
    """An nginx that balances connections."""

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    """How it chooses a server. ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``: by
    the client's address, with a seed that spreads the clients evenly."""

    access_log: Literal["off", "on", "buffered"] = "off"
    """``off``; ``on``, a write for each connection; ``buffered``, a write for each 1024 KiB."""

    process: Process = field(default_factory=Process)
    """How it runs."""


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


@dataclass(frozen=True)
class NftSection(Section):
    """Rules of nftables that choose a server for each connection."""

    scheduler: Literal["rr", "random", "hash"] = "rr"
    """How it chooses a server. ``rr``: in turn; ``random``; ``hash``: by the client's address, with a seed that spreads
    the clients evenly."""

    lookup: Literal["map", "rules"] = "map"
    """How a packet finds its service. ``map``: one look into a table; ``rules``: one rule after the other."""

    services: Services = 1
    """How many services are loaded; the load goes to the last one."""


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


@dataclass(frozen=True)
class BalancerSection(Choice):
    """What runs on the host ``LB``: one of these, or nothing."""

    nginx_l7: NginxL7Section | None = None
    """An nginx that ends the clients' connections and passes on requests."""

    nginx_stream: NginxStreamSection | None = None
    """An nginx that passes on the bytes of connections."""

    haproxy: HaproxyProxySection | None = None
    """A haproxy that passes on requests, or the bytes of connections."""

    nft: NftSection | None = None
    """Rules of nftables: the kernel passes on packets."""

    ipvs: IpvsSection | None = None
    """IPVS, where the kernel has it."""

    @property
    def kind(self) -> str:
        """Name of the balancer; empty for none."""
        return self.chosen[0]
