"""What web servers other than nginx have in common: files that they send, and how."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.servers.responses import Files
from loadcurve.lab.servers.server import ServerHost
from loadcurve.lab.servers.settings import Endpoint, check_count, check_endpoint, check_flag, check_name, check_program
from loadcurve.section import Range, Section, broken_by


@dataclass(frozen=True)
class WebServer:
    """A web server that sends files.

    Attributes
    ----------
    name : str
        Of the service.
    listen : Endpoint
        Where it is asked.
    files : Files
        What it sends.
    workers : int
        1–1024: threads of apache, which is how many requests it works on at once (its `event` has two at least);
        processes of lighttpd; processors that caddy may use.  0 for the usual number: enough threads of apache that it
        closes no connection for want of them, one of the others.
    connections : int
        Largest number of concurrent connections to expect.
    access_log : bool
        Whether it writes ``NAME.access.log``, a line for each request.
    gzip : bool
        Whether it compresses for clients that ask for it.
    program : str
        Its absolute path; empty for the usual name.
    """

    name: str
    listen: Endpoint
    files: Files
    workers: int = 0
    connections: int = 512
    access_log: bool = False
    gzip: bool = False
    program: str = ""

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_endpoint("listen", self.listen)
        check_count("workers", self.workers, 0, 1024)
        check_count("connections", self.connections, 1, 1_000_000)
        check_flag("access_log", self.access_log)
        check_flag("gzip", self.gzip)
        if self.program:
            check_program("program", self.program)

    @property
    def folders(self) -> tuple[str, str]:
        """What goes with it: its own things, and what it sends."""
        return (f"{self.name}.work", f"{self.name}.www")

    @property
    def index(self) -> str:
        """Name of the file that is its root."""
        return f"{self.files.sizes_bytes[0]}.bin"


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


def web_server(section: WebSection, host: ServerHost) -> WebServer:
    """Return the settings of a server of files on a host."""
    own = (section.files, section.workers, host.connections, section.access_log, section.gzip, section.program)
    return WebServer(host.name, host.listen, *own)
