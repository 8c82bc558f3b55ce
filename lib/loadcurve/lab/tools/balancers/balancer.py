"""A balancer as the laboratory lists it, the host on which it starts, and what it comes to there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.tools.balancers.shares import ServerOf, expected_shares, seed_of_shares
from loadcurve.lab.tools.servers.server import Service
from loadcurve.lab.tools.servers.settings import Endpoint
from loadcurve.study.section import Range


@dataclass(frozen=True)
class Rules:
    """Rules to load on the balancer's host before a run, and to remove after it.

    All commands run in the run's folder, on a host whose network namespace the laboratory made.
    """

    name: str  # Unique among the services of a run; its files begin with it
    tool: Tool  # Program that loads them
    load: tuple[str, ...]  # Command that loads them; also a second time, and after a change of the file
    remove: tuple[str, ...]  # Command that removes them
    export: tuple[str, ...]  # Command that prints what is loaded, in a form that `load` takes for its file
    counters: tuple[str, ...]  # Command that prints the counters of each server
    # Name of each file in the run's folder → its text, written before the load and kept with the run.
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""  # File that `load` reads from its standard input; empty for none


NAME = "LB"
# Kernel rules use adjacent ports for their services, below the ephemeral ports of Linux (from 32768).
_FIRST_SERVICE = 20_000
Services = Annotated[int, Range(1, 10_000)]
"""Number of services that kernel rules have."""


@dataclass(frozen=True)
class BalancerHost:
    """What a balancer has to know of its host and study."""

    address: str  # Main address of the host
    free_endpoint: Callable[[], Endpoint]  # Returns another endpoint of the host at each call
    servers: tuple[Endpoint, ...]  # The servers among which it chooses
    clients: Mapping[str, int]  # Address of each client → its connections
    programs: Programs  # Where programs and modules are that each distribution names in its own way

    @property
    def connections(self) -> int:
        """Connections of all clients."""
        return sum(self.clients.values())

    def service_endpoints(self, count: int, first: int = _FIRST_SERVICE) -> tuple[Endpoint, ...]:
        """Return endpoints at adjacent ports, for the services of kernel rules; the load goes to the last one."""
        return tuple(Endpoint(self.address, first + i) for i in range(count))


@dataclass(frozen=True)
class Balanced:
    """What balances."""

    endpoint: Endpoint  # Where requests go
    service: Service | None = None  # A program
    rules: Rules | None = None  # Rules of the kernel, instead
    # Tool and command that print its counters for each server; empty where it has none.
    counting: tuple[str, tuple[str, ...]] = ("", ())
    # Endpoint of each server → its expected part of all connections (for an L7 proxy: of all requests); empty where the
    # part depends on the servers.
    expected: Mapping[str, float] = field(default_factory=dict)
    before: tuple[tuple[str, ...], ...] = ()  # Commands that prepare each server's host

    @property
    def argv(self) -> tuple[str, ...]:
        """Command that starts the program, or that loads the rules."""
        return self.service.argv if self.service else self.rules.load if self.rules else ()


@dataclass(frozen=True)
class Balancer:
    """A balancer that a study can name."""

    name: str  # Its key in the section `balancer`
    description: str  # A sentence for the schema and the reference page
    section: type  # The dataclass that is the key's value; it has a `scheduler`
    start: Callable[[Any, BalancerHost, int], Balanced]  # Section, `BalancerHost` and seed of its hash → `Balanced`
    # The hash by which its scheduler `hash` chooses, where the laboratory can compute it.
    server_of: ServerOf | None = None
    counts: bool = False  # Whether it counts connections or requests for each server
    in_kernel: bool = False  # Whether it is rules of the kernel, which need the topology `client_l4_servers`
    # Section and `Programs`: raises `LabError` for a module or a program that is missing.
    require: Callable[[Any, Programs], object] = lambda section, programs: None
    # Returns what is missing in the kernel and what to do instead; None if nothing is.
    missing_in_kernel: Callable[[], tuple[str, str] | None] = lambda: None

    def balance(self, section: Any, host: BalancerHost) -> Balanced:
        """Return what balances on a host, with the expected share of each server."""
        servers = len(host.servers)
        if self.server_of is not None and section.scheduler == "hash":
            seed = seed_of_shares(host.clients, servers, self.server_of)
            shares = expected_shares(host.clients, servers, self.server_of, seed)
        else:
            seed, shares = 1, _shares(section, servers)
        balanced = self.start(section, host, seed)
        return replace(balanced, expected=dict(zip(map(str, host.servers), shares, strict=False)))


def _shares(section: Any, servers: int) -> tuple[float, ...]:
    """Part of each server by weight, or equal parts, which schedulers with an unknown hash promise, too."""
    weights = getattr(section, "weights", ()) if section.scheduler != "rr" else ()
    if section.scheduler in ("lc", "wlc") or (weights and not sum(weights)):
        return ()  # the servers' current connections decide
    weights = weights or (1,) * servers
    return tuple(weight / sum(weights) for weight in weights)
