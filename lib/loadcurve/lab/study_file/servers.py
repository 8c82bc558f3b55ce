"""The section `server`: what runs on each server host."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.generators.load import check_url
from loadcurve.lab.servers.haproxy import HaproxyProcess
from loadcurve.lab.servers.nginx import Process, Serving
from loadcurve.lab.servers.php import Page
from loadcurve.lab.servers.responses import Burn, Delay, Files, Response, Status, Text
from loadcurve.lab.servers.settings import check_program
from loadcurve.section import Check, Choice, Range, Section, broken_by

Children = Annotated[int, Range(1, 1000)]
Interval = Annotated[float | None, Range(0.1, 3600, unit="s")]
WholeInterval = Annotated[float | None, Range(1, 3600, unit="s", multiple_of=1)]


@dataclass(frozen=True)
class ResponseSection(Choice):
    """What a server responds with: one of these; a text of 616 bytes where none is given."""

    text: Text | None = None
    """A body from memory, at once."""

    files: Files | None = None
    """Files of given sizes."""

    delay: Delay | None = None
    """A body after a wait on a timer."""

    burn: Burn | None = None
    """A body after work of the processor."""

    status: Status | None = None
    """Counters of nginx itself."""

    @property
    def value(self) -> Response:
        """The response itself."""
        return self.chosen[1] or Text()


@dataclass(frozen=True)
class NginxSection(Section):
    """An nginx, or a program that reads its configuration (`process.program`)."""

    response: ResponseSection = field(default_factory=ResponseSection)
    """What it responds with."""

    process: Process = field(default_factory=Process)
    """How it runs."""

    serving: Serving = field(default_factory=Serving)
    """How it sends."""

    layout: Literal["", "A", "B", "C", "D", "E", "reuseport"] = ""
    """How it listens. ``A``: all workers on one address; ``B``: on all; ``C``: one worker alone; ``D``: an address for
    each worker; ``E``: an instance for each port; ``reuseport``: a socket for each worker. Empty for one socket."""


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
class HaproxySection(Section):
    """A haproxy that serves responses from memory."""

    response: Text = field(default_factory=Text)
    """What it responds with."""

    process: HaproxyProcess = field(default_factory=HaproxyProcess)
    """How it runs."""


@dataclass(frozen=True)
class PhpSection(Section):
    """PHP-FPM behind an nginx, before a MariaDB, all on one host."""

    children: Children = 8
    """``pm.max_children``: how many requests it works on at once."""

    page: Page = field(default_factory=Page)
    """What each request does."""

    rows: Annotated[int, Range(1, 1_000_000)] = 1000
    """Rows of the database's table, at least one for each query of the page."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if 1 <= self.rows < self.page.queries:  # where a query finds no row the database does not sleep
            rule = f"at most {self.rows}, the number of rows, because each query is for another row"
            yield ValueRuleError("page.queries", rule, self.page.queries)


@dataclass(frozen=True)
class WordpressSection(Section):
    """WordPress' front page, by PHP-FPM and MariaDB on one host."""

    children: Children = 8
    """``pm.max_children``: how many requests it works on at once."""


@dataclass(frozen=True)
class ServerSection(Choice):
    """One server program for every server host."""

    required: ClassVar[bool] = True

    nginx: NginxSection | None = None
    """An nginx, or a program that reads its configuration."""

    apache: WebSection | None = None
    """Apache's httpd, which sends files."""

    lighttpd: WebSection | None = None
    """A lighttpd, which sends files."""

    caddy: WebSection | None = None
    """A caddy, which sends files."""

    haproxy: HaproxySection | None = None
    """A haproxy that serves responses from memory."""

    php: PhpSection | None = None
    """PHP-FPM behind an nginx, before a MariaDB."""

    wordpress: WordpressSection | None = None
    """WordPress, the same way."""

    url: Annotated[str | None, Check(lambda name, value: check_url(value))] = None
    """Instead of a program: URL of a server that already runs; a host other than loopback must be listed under
    `allow_targets`."""

    port: Annotated[int, Range(0, 65_535)] = 0
    """Where it listens; 0 for a free one on loopback, 8080 elsewhere."""

    @property
    def program(self) -> str:
        """Name of the program, or ``url``."""
        return self.chosen[0]

    @property
    def work_s(self) -> float:
        """Time that the study asks of each response, in s: waits, and rounds of PHP at 1 µs each."""
        if self.nginx is not None and self.nginx.response.delay is not None:
            return self.nginx.response.delay.delay_ms / 1000
        page = self.php.page if self.php is not None else None
        return page.queries * page.wait_ms / 1000 + page.steps / 1e6 if page is not None else 0.0


@dataclass(frozen=True)
class MonitorsSection(Section):
    """What watches each host, each with its interval; a monitor that is left out does not run."""

    sar: WholeInterval = None
    """Processors, interfaces, TCP and sockets."""

    mpstat: WholeInterval = None
    """Each processor by itself."""

    ss_summary: Interval = None
    """Numbers of sockets."""

    ss_connections: Interval = None
    """Connections of the servers' ports, with their queues."""

    ss_details: Interval = None
    """The same with all that the kernel knows of each: windows, round trips, retransmissions."""

    nstat: Interval = None
    """Counters of the kernel's network stack."""

    proc: Interval = None
    """Counters of the kernel as files of ``/proc`` show them."""

    stub_status: Interval = None
    """Connections of nginx servers, from a page of their own."""

    counters: Interval = None
    """What the balancer counted for each server: nft, ipvs and haproxy."""
