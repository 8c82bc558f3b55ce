"""Settings that proxies share: where they listen, their servers, their scheduler, and the names they serve."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.servers.settings import (
    Endpoint,
    check_choice,
    check_endpoint,
    check_endpoints,
    check_flag,
    check_name,
)
from loadcurve.study.section import Range, Section, broken_by


@dataclass(frozen=True)
class Domains(Section):
    """Names that a proxy answers for, ``d00001.test`` and on, and the pools of servers behind them."""

    count: Annotated[int, Range(1, 10_000)]
    """How many names."""

    pools: int = 1
    """How many pools, at most `count`; the names take turns, and each pool is of all servers."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not any(self._broken_types()):
            yield from broken_by(lambda: Range(1, self.count).check("pools", self.pools, whole=True))

    def pool_of_name(self) -> dict[str, str]:
        """Name → its pool.

        Examples
        --------
        >>> Domains(3, pools=2).pool_of_name()
        {'d00001.test': 'pool1', 'd00002.test': 'pool2', 'd00003.test': 'pool1'}
        """
        return {f"d{i + 1:05}.test": f"pool{i % self.pools + 1}" for i in range(self.count)}


@dataclass(frozen=True)
class Proxy:
    """A balancer that terminates the clients' connections and opens its own to the servers."""

    name: str  # Of the service
    listen: Endpoint  # Where it listens
    # Among whom it chooses; several addresses of one host are several servers, with ports enough for each.
    servers: tuple[Endpoint, ...]
    # `rr`: in turn; `lc`: the one with the fewest connections; `random`; `hash`: by the client's address.
    scheduler: str = "rr"
    # Whether connections to servers are used again.  Of HTTP only: a TCP proxy has one for each client's.
    keepalive: bool = True
    domains: Domains | None = None  # Names it serves, by HTTP only; None for one pool, whatever the name

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_endpoint("listen", self.listen)
        check_endpoints("servers", self.servers, maximum=256)
        check_flag("keepalive", self.keepalive)
        if not isinstance(self.domains, Domains | None):
            raise ValueRuleError("domains", "Domains or None", self.domains)
        check_choice("scheduler", self.scheduler, ("rr", "lc", "random", "hash"))
        if self.listen in self.servers:
            raise ValueRuleError("servers", f"other than the proxy itself, {self.listen}", str(self.listen))

    @property
    def pools(self) -> tuple[str, ...]:
        """Names of its pools."""
        return tuple(f"pool{i + 1}" for i in range(self.domains.pools if self.domains else 1))
