"""From the section `load` to the generators of every client, and where each sends its requests."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import urlsplit

from loadcurve.errors import ValueRuleError
from loadcurve.lab.deployment.host_slot import HostSlot
from loadcurve.lab.generators import GeneratorCommand, command_of, split
from loadcurve.lab.study_file.load import LoadSection


@dataclass(frozen=True)
class Loader:
    """A generator on a host."""

    host: str
    stem: str  # What its files begin with
    generator: GeneratorCommand
    url: str  # Where it sends its requests


def connections_of(section: LoadSection, clients: tuple[HostSlot, ...]) -> dict[str, int]:
    """Return the connections of each client, by its address; parameters as of `loaders`."""
    found = dict.fromkeys((site.addresses[0] for site in clients), 0)
    each = [site.addresses[0] for site in clients for _ in range(section.processes)]
    for address, part in zip(each, split(section.of("http://127.0.0.1/", len(clients))), strict=True):
        found[address] += part.connections
    return found


def loaders(
    section: LoadSection,
    clients: tuple[HostSlot, ...],
    roots: tuple[str, ...],
    limit_s: float,
    suffix: str = "",
    addresses: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Loader, ...]:
    """Return the generators of all clients: the load divided exactly, every root loaded by as many of them.

    `limit_s` is the outer time limit, 0 for the generator's own; `suffix` ends the names of their files; `addresses` is
    as in `Deployment`.  Raises a ValueRuleError when there are fewer generators than servers to load.
    """
    places = [site for site in clients for _ in range(section.processes)]
    if len(places) % len(roots):
        rule = f"such that {len(roots)} servers are loaded alike (on {len(clients)} clients)"
        raise ValueRuleError("load.processes", rule, section.processes)
    parts = split(section.of(roots[0], len(clients)))
    found = []
    for at, (site, part) in enumerate(zip(places, parts, strict=True)):
        root = roots[at % len(roots)]
        url = section.url_of(root)
        # Several processes of a client are numbered.
        number = "" if section.processes == 1 else f"-{at % section.processes + 1}"
        stem = f"{site.name}{number}{suffix}"
        command = command_of(replace(part, url=url, address=addresses.get(urlsplit(root).netloc, "")), stem)
        found.append(Loader(site.name, stem, replace(command, limit_s=limit_s) if limit_s else command, url))
    return tuple(found)
