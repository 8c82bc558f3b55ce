"""Settings that apache, lighttpd and caddy share: which files they send, and how."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.servers.responses import Files
from loadcurve.lab.servers.server import ServerHost
from loadcurve.lab.servers.settings import Endpoint, check_count, check_endpoint, check_name, check_program
from loadcurve.study.section import Range, Section, broken_by


@dataclass(frozen=True)
class WebSection(Section):
    """A server of files: apache, lighttpd or caddy."""

    files: Files = field(default_factory=lambda: Files((616,)))
    """What it sends; the first one is its root."""

    workers: Annotated[int, Range(0, 1024)] = 0
    """Threads of apache, processes of lighttpd, CPUs of caddy; 0 for the usual number. That is twice the connections
    for apache, 400–2048, as one whose threads are all busy closes connections that it keeps alive; 1 for lighttpd and
    caddy."""

    access_log: bool = False
    """Whether it writes a line for each request."""

    gzip: bool = False
    """Whether it compresses for clients that ask for it."""

    program: str = ""
    """Its absolute path; empty for the usual name."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        yield from broken_by(lambda: self.program and check_program("program", self.program))


@dataclass(frozen=True)
class WebServer:
    """A web server that sends files, on its host."""

    name: str  # Name of the service
    listen: Endpoint  # Where it listens
    settings: WebSection = field(default_factory=WebSection)  # What it sends, and how
    connections: int = 512  # Largest number of concurrent connections to expect

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_endpoint("listen", self.listen)
        check_count("connections", self.connections, 1, 1_000_000)

    @property
    def folders(self) -> tuple[str, str]:
        """Its folder for temporary files, and that of the files it sends."""
        return (f"{self.name}.work", f"{self.name}.www")

    @property
    def index(self) -> str:
        """Name of the file that is its root."""
        return f"{self.settings.files.sizes_bytes[0]}.bin"


def web_server(section: WebSection, host: ServerHost) -> WebServer:
    """Return a server of files on a host."""
    return WebServer(host.name, host.listen, section, host.connections)
