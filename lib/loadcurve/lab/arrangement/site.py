"""A host as an arrangement sees it: a name, addresses, processors and free ports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loadcurve.lab.servers.settings import Endpoint

# Above the ports that need rights, below the ephemeral ones.
FIRST_PORT = 8080


@dataclass(frozen=True)
class Site:
    """A host.

    Attributes
    ----------
    name : str
        As the study calls it.
    addresses : tuple of str
        Where the other hosts reach it, the first one before all.
    port : callable
        A free port of it, another one with each call.
    cpus : tuple of int
        Processors of its servers and generators; empty for all.
    """

    name: str
    addresses: tuple[str, ...]
    port: Callable[[], int]
    cpus: tuple[int, ...] = ()

    def endpoint(self, port: int = 0) -> Endpoint:
        """Return an endpoint at its first address, at a free port where none is named."""
        return Endpoint(self.addresses[0], port or self.port())


def counting(first: int = FIRST_PORT) -> Callable[[], int]:
    """Return a function that gives port after port: for hosts on which nothing else listens."""
    last = first - 1

    def port() -> int:
        nonlocal last
        last += 1
        return last

    return port


def with_role(sites: Mapping[str, Site], role: str) -> tuple[Site, ...]:
    """Return the hosts of a role, C, LB or S; on loopback the only host has each."""
    if "local" in sites:
        return (sites["local"],)
    return tuple(site for name, site in sites.items() if name.rstrip("0123456789") == role)


def share_processors(names: tuple[str, ...], cpus: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Return the processors of each host where the study names none: the upper half for clients, the lower for others.

    Examples
    --------
    >>> share_processors(("LB", "C1", "S1"), (0, 1, 2, 3))
    {'LB': (0, 1), 'C1': (2, 3), 'S1': (0, 1)}
    >>> share_processors(("C1", "S1"), (0,))
    {'C1': (), 'S1': ()}
    """
    half = len(cpus) // 2
    return {name: () if not half else cpus[half:] if name.startswith("C") else cpus[:half] for name in names}
