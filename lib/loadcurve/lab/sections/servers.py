"""The section `server`: what runs on each server host."""

from dataclasses import dataclass, field
from typing import Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.generators.load import check_url
from loadcurve.lab.sections.section import check_one, chosen, strict
from loadcurve.lab.servers.haproxy import HaproxyProcess
from loadcurve.lab.servers.nginx import Process, Serving
from loadcurve.lab.servers.php import Page
from loadcurve.lab.servers.responses import Burn, Delay, Files, Response, Status, Text
from loadcurve.lab.servers.settings import check_count

for _kind in (Text, Files, Delay, Burn, Status, Process, Serving, Page, HaproxyProcess):
    strict(_kind)


@strict
@dataclass(frozen=True)
class ResponseSection:
    """What a server answers: one of these; a text of 616 bytes where none is named.

    Attributes
    ----------
    text, files, delay, burn, status
        See `loadcurve.lab.servers.responses`.
    """

    text: Text | None = None
    files: Files | None = None
    delay: Delay | None = None
    burn: Burn | None = None
    status: Status | None = None

    def __post_init__(self) -> None:
        check_one("response", self, "text", "files", "delay", "burn", "status", least=0)

    @property
    def value(self) -> Response:
        """The response itself."""
        return chosen(self)[1] or Text()


@strict
@dataclass(frozen=True)
class NginxSection:
    """An nginx, or a program that reads its configuration (`process.program`).

    Attributes
    ----------
    response, process, serving
        What it answers, how it runs, how it sends.
    layout : str
        How it listens, ``A`` to ``E`` or ``reuseport``; empty for one socket.
    """

    response: ResponseSection = field(default_factory=ResponseSection)
    process: Process = field(default_factory=Process)
    serving: Serving = field(default_factory=Serving)
    layout: Literal["", "A", "B", "C", "D", "E", "reuseport"] = ""


@strict
@dataclass(frozen=True)
class WebSection:
    """A server of files: apache, lighttpd or caddy; attributes as of `WebServer`.

    Attributes
    ----------
    files : Files
        What it sends; the first one is its root.
    workers : int
        Threads of apache, processes of lighttpd, processors of caddy.
    access_log, gzip : bool
        Whether it writes a log, and compresses.
    program : str
        Its absolute path; empty for the usual name.
    """

    files: Files = field(default_factory=lambda: Files((616,)))
    workers: int = 1
    access_log: bool = False
    gzip: bool = False
    program: str = ""


@strict
@dataclass(frozen=True)
class HaproxySection:
    """A haproxy that answers by itself."""

    response: Text = field(default_factory=Text)
    process: HaproxyProcess = field(default_factory=HaproxyProcess)


@strict
@dataclass(frozen=True)
class PhpSection:
    """PHP-FPM behind an nginx, before a MariaDB, all on one host.

    Attributes
    ----------
    children : int
        ``pm.max_children``: how many requests it works on at once, 1–1000.
    page : Page
        What each request does.
    rows : int
        Of the database's table, 1–1000000.
    """

    children: int = 8
    page: Page = field(default_factory=Page)
    rows: int = 1000

    def __post_init__(self) -> None:
        check_count("children", self.children, 1, 1000)
        check_count("rows", self.rows, 1, 1_000_000)


@strict
@dataclass(frozen=True)
class WordpressSection:
    """WordPress' front page, by PHP-FPM and MariaDB on one host; `children` as of `PhpSection`."""

    children: int = 8

    def __post_init__(self) -> None:
        check_count("children", self.children, 1, 1000)


@strict
@dataclass(frozen=True)
class ServerSection:
    """One server program for every server host.

    Attributes
    ----------
    nginx, apache, lighttpd, caddy, haproxy, php, wordpress
        One of these.
    url : str
        Instead of one: where a server answers that runs already.
    port : int
        Where it listens; 0 for a free one on loopback, 8080 elsewhere.
    """

    nginx: NginxSection | None = None
    apache: WebSection | None = None
    lighttpd: WebSection | None = None
    caddy: WebSection | None = None
    haproxy: HaproxySection | None = None
    php: PhpSection | None = None
    wordpress: WordpressSection | None = None
    url: str | None = None
    port: int = 0

    def __post_init__(self) -> None:
        check_one("server", self, "nginx", "apache", "lighttpd", "caddy", "haproxy", "php", "wordpress", "url")
        check_count("port", self.port, 0, 65_535)
        if self.url is not None:
            check_url(self.url)

    @property
    def program(self) -> str:
        """Which of them it is."""
        return chosen(self)[0]


@strict
@dataclass(frozen=True)
class MonitorsSection:
    """What watches each host, each with its interval in s; a key that is not there is not run.

    Attributes
    ----------
    sar, mpstat
        The machine, in whole seconds.
    ss_summary, ss_connections, ss_details
        Sockets: counts, those of the servers' ports, all that the kernel knows of them.
    nstat, proc
        Counters of the kernel.
    stub_status
        Connections of nginx servers, from a page of their own.
    counters
        What the balancer counted for each server.
    """

    sar: float | None = None
    mpstat: float | None = None
    ss_summary: float | None = None
    ss_connections: float | None = None
    ss_details: float | None = None
    nstat: float | None = None
    proc: float | None = None
    stub_status: float | None = None
    counters: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not 0.1 <= value <= 3600:
                raise ValueRuleError(name, "0.1 to 3600 s", value)
            if value is not None and name in ("sar", "mpstat") and value % 1:
                raise ValueRuleError(name, "whole seconds", value)
