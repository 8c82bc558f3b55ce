"""A server as the laboratory lists it, the host on which it starts, and the processes that it comes to there, as data.

A pure function returns a `Service` for given settings; a run writes its files, starts it on its host, waits until it
responds, and stops it.
"""

import io
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.unprivileged import User
from loadcurve.lab.tools.servers.settings import Endpoint


@dataclass(frozen=True)
class Service:
    """A process to start in a run's folder."""

    name: str  # Unique among the services of a run: letters, digits and `-`.  Its files and streams begin with it.
    tool: str
    argv: tuple[str, ...]  # The command, run in the run's folder; no shell reads a value of a study
    # Name of each file in the run's folder → its text, written before the start and kept with the run.
    files: Mapping[str, str] = field(default_factory=dict)
    # Made empty in the run's folder before the start, and removed after the end with all that is in them.
    folders: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)  # Set beyond `tools.environment`
    url: str = ""  # Where it responds when it is ready; empty for a process without a URL
    stop: str = "TERM"  # Signal that ends it cleanly
    program: str = ""  # Name or path of the program itself, where it is not the first word of `argv`
    user: User | None = None  # Without rights of root, as whom `argv` runs the program


def packed(service: Service, folder: Path) -> str:
    """Pack the files in the folders of a service, which are removed after a run: ``NAME.folders.tar.gz``.

    Returns the name of the archive; empty if there are no such files.
    """
    inner = {name: text.encode("utf-8") for name, text in service.files.items() if "/" in name}
    if not inner:
        return ""
    archive = folder / f"{service.name}.folders.tar.gz"
    # The fastest compression, because the load waits for it; bodies of one repeated letter still shrink.
    with tarfile.open(archive, "w:gz", compresslevel=1) as file:
        for name, content in inner.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            file.addfile(entry, io.BytesIO(content))
    return archive.name


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
    user: User | None = None  # Runs a program of the study's own; None for the user of the launch or the login

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
