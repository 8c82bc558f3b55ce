"""A private haproxy: what all of its configurations begin with, and haproxy as a server that answers by itself."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.servers.responses import Text
from loadcurve.lab.servers.server import Server, ServerGroup, ServerHost
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import Endpoint, check_endpoint, check_name, check_program
from loadcurve.section import Check, Range, Section

TOOL = Tool("haproxy", "server, balancer", "-v", "haproxy")

_HEAD = """\
# A private haproxy of the laboratory; started in the run's folder by the command in run.json.
global
    maxconn {connections}
    nbthread {threads}
    stats socket unix@{name}.work/stats.sock mode 600 level operator

defaults
    mode {mode}
    maxconn {connections}
    backlog {connections}
    # Long enough for any run's slowest answer; haproxy warns where they are missing.
    timeout connect 10s
    timeout client 60s
    timeout server 60s
"""


@dataclass(frozen=True)
class HaproxyProcess(Section):
    """How a haproxy runs, whatever it serves."""

    program: Annotated[str, Check(check_program)] = "haproxy"
    """Its name, or its absolute path."""

    threads: Annotated[int, Range(1, 64)] = 1
    """Its threads."""

    connections: Annotated[int, Range(1, 1_000_000)] = 1024
    """Largest number of concurrent connections to expect; haproxy raises its own limit of open files."""

    def service(
        self, name: str, mode: str, sections: Iterable[str], url: str, files: dict[str, str] | None = None
    ) -> Service:
        """Return the service whose configuration has the given sections, its files in the run's folder."""
        head = _HEAD.format(name=name, mode=mode, connections=self.connections, threads=self.threads)
        return Service(
            name,
            "haproxy",
            (self.program, "-db", "-f", f"{name}.cfg"),
            files={f"{name}.cfg": "\n".join((head, *sections, "")), **(files or {})},
            folders=(f"{name}.work",),
            url=url,
        )


@dataclass(frozen=True)
class Haproxy:
    """A haproxy that answers by itself, from memory.

    Attributes
    ----------
    name : str
        Of the service.
    listen : Endpoint
        Where it is asked.
    response : Text
        What it answers.
    process : HaproxyProcess
        How it runs.
    """

    name: str
    listen: Endpoint
    response: Text = field(default_factory=Text)
    process: HaproxyProcess = field(default_factory=HaproxyProcess)

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_endpoint("listen", self.listen)
        if not isinstance(self.response, Text):
            raise ValueRuleError("response", "a Text", self.response)


def haproxy_service(haproxy: Haproxy) -> Service:
    """Return the service of a haproxy that answers by itself.

    Parameters
    ----------
    haproxy : Haproxy
        Its settings.

    Examples
    --------
    >>> haproxy_service(Haproxy("S1", Endpoint("127.0.0.1", 8080))).argv
    ('haproxy', '-db', '-f', 'S1.cfg')
    """
    body = "x" * haproxy.response.body_bytes
    answer = f'http-request return status 200 content-type text/plain string "{body}"'
    lines = section(f"frontend {haproxy.name}", [f"bind {haproxy.listen}", answer])
    return haproxy.process.service(haproxy.name, "http", [lines], haproxy.listen.url)


def section(head: str, lines: Iterable[str]) -> str:
    """Text of a section of the configuration."""
    return "\n".join((head, *(f"    {line}" for line in lines), ""))


@dataclass(frozen=True)
class HaproxySection(Section):
    """A haproxy that serves responses from memory."""

    response: Text = field(default_factory=Text)
    """What it responds with."""

    process: HaproxyProcess = field(default_factory=HaproxyProcess)
    """How it runs."""


def _start(section: HaproxySection, host: ServerHost) -> ServerGroup:
    process = replace(section.process, connections=max(section.process.connections, host.connections))
    return host.group(haproxy_service(Haproxy(host.name, host.listen, section.response, process)))


HAPROXY = Server("haproxy", "A haproxy that serves responses from memory.", HaproxySection, _start)
