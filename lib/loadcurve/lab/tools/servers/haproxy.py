"""A private haproxy: the common part of its configurations, and haproxy as a server that responds from memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.tools.servers.responses import Text
from loadcurve.lab.tools.servers.server import Server, ServerGroup, ServerHost, Service
from loadcurve.lab.tools.servers.settings import Endpoint, check_endpoint, check_program
from loadcurve.study.section import Check, Range, Section

TOOL = Tool("haproxy", "server, balancer", "-v", "haproxy")

# A response must fit the buffer of a connection less the room for rewriting its header (haproxy configuration manual,
# tune.bufsize 16384, tune.maxrewrite 1024); haproxy 2.6 sends an empty body instead of a longer one.
_MAX_BODY_BYTES = 15_000

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
    # Longer than the slowest response of any run; haproxy warns if they are missing.
    timeout connect 10s
    timeout client 60s
    timeout server 60s
"""


@dataclass(frozen=True)
class HaproxyProcess(Section):
    """How a haproxy runs, as a server or as a balancer."""

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
class HaproxySection(Section):
    """A haproxy that serves responses from memory."""

    response: Text = field(default_factory=Text)
    """What it responds with."""

    process: HaproxyProcess = field(default_factory=HaproxyProcess)
    """How it runs."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not any(self._broken_types()) and self.response.body_bytes > _MAX_BODY_BYTES:
            rule = f"at most {_MAX_BODY_BYTES} bytes for haproxy"
            yield ValueRuleError("body_bytes", rule, self.response.body_bytes)


def haproxy_service(name: str, listen: Endpoint, settings: HaproxySection) -> Service:
    """Return the service of a haproxy that responds from memory.

    Examples
    --------
    >>> haproxy_service("S1", Endpoint("127.0.0.1", 8080), HaproxySection()).argv
    ('haproxy', '-db', '-f', 'S1.cfg')
    """
    check_name("name", name)
    check_endpoint("listen", listen)
    body = "x" * settings.response.body_bytes
    respond = f'http-request return status 200 content-type text/plain string "{body}"'
    lines = section(f"frontend {name}", [f"bind {listen}", respond])
    return settings.process.service(name, "http", [lines], listen.url)


def section(head: str, lines: Iterable[str]) -> str:
    """Text of a section of the configuration."""
    return "\n".join((head, *(f"    {line}" for line in lines), ""))


def _start(settings: HaproxySection, host: ServerHost) -> ServerGroup:
    process = replace(settings.process, connections=max(settings.process.connections, host.connections))
    return host.group(haproxy_service(host.name, host.listen, replace(settings, process=process)))


HAPROXY = Server("haproxy", "A haproxy that serves responses from memory.", HaproxySection, _start)
