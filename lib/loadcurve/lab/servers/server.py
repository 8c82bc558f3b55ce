"""A server as the laboratory lists it, the host on which it starts, and what it comes to there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import Endpoint


@dataclass(frozen=True)
class ServerHost:
    """What a server has to know of its host and study."""

    name: str  # Name of its services, and what their files begin with
    addresses: tuple[str, ...]  # Addresses of the host, the main one first
    listen: Endpoint  # Where requests arrive
    free_endpoint: Callable[[], Endpoint]  # Returns another endpoint of the host at each call
    connections: int  # Largest number of concurrent connections to expect
    programs: Programs  # Where programs and modules are that each distribution names in its own way
    status: bool = False  # Whether the study reads the page on which nginx counts its connections

    def group(self, *services: Service) -> "ServerGroup":
        """Return services of which the last one serves at `listen`."""
        return ServerGroup(services, (self.listen,))


@dataclass(frozen=True)
class ServerGroup:
    """What serves on a host."""

    services: tuple[Service, ...]  # In the order of their start
    endpoints: tuple[Endpoint, ...]  # Where requests go, the same number to each
    status: Endpoint | None = None  # Page on which nginx counts its connections


@dataclass(frozen=True)
class Server:
    """A server that a study can name."""

    name: str  # Its key in the section `server`
    description: str  # A sentence for the schema and the reference page
    section: type  # The dataclass that is the key's value
    start: Callable[[Any, ServerHost], ServerGroup]  # Section and `ServerHost` → `ServerGroup`
    # Section and `Programs`: raises `LabError` for a module or a program that is missing.
    require: Callable[[Any, Programs], object] = lambda section, programs: None
    # Section → time in s that the study asks of each response: waits and computation.
    work_s: Callable[[Any], float] = lambda section: 0.0
