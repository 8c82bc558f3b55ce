"""The section `server`: what runs on each server host."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from loadcurve.errors import ValueRuleError, check_all, raise_all
from loadcurve.lab.generators.load import check_url
from loadcurve.lab.servers.haproxy import HaproxyProcess
from loadcurve.lab.servers.nginx import Process, Serving
from loadcurve.lab.servers.php import Page
from loadcurve.lab.servers.responses import Burn, Delay, Files, Response, Status, Text
from loadcurve.lab.servers.settings import check_count, check_program
from loadcurve.lab.study_file.section import check_one, chosen, strict

PROGRAMS = ("nginx", "apache", "lighttpd", "caddy", "haproxy", "php", "wordpress")

for _kind in (Text, Files, Delay, Burn, Status, Process, Serving, Page, HaproxyProcess):
    strict(_kind)


@strict
@dataclass(frozen=True)
class ResponseSection:
    """What a server answers: one of these; a text of 616 bytes where none is named.

    Attributes
    ----------
    text : Text or None
        A body from memory, at once.
    files : Files or None
        Files of given sizes.
    delay : Delay or None
        A body after a wait on a timer.
    burn : Burn or None
        A body after work of the processor.
    status : Status or None
        Counters of nginx itself.
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
    response : ResponseSection
        What it answers.
    process : Process
        How it runs.
    serving : Serving
        How it sends.
    layout : str
        How it listens.  ``A``: all workers on one address; ``B``: on all; ``C``: one worker alone; ``D``: an address
        for each worker; ``E``: an instance for each port; ``reuseport``: a socket for each worker.  Empty for one
        socket.
    """

    response: ResponseSection = field(default_factory=ResponseSection)
    process: Process = field(default_factory=Process)
    serving: Serving = field(default_factory=Serving)
    layout: Literal["", "A", "B", "C", "D", "E", "reuseport"] = ""


@strict
@dataclass(frozen=True)
class WebSection:
    """A server of files: apache, lighttpd or caddy.

    Attributes
    ----------
    files : Files
        What it sends; the first one is its root.
    workers : int
        Threads of apache, processes of lighttpd, CPUs of caddy, 1–1024; 0 for the usual number.  That is twice the
        connections for apache, 400–2048, as one whose threads are all busy closes connections that it keeps alive;
        1 for lighttpd and caddy.
    access_log : bool
        Whether it writes a line for each request.
    gzip : bool
        Whether it compresses for clients that ask for it.
    program : str
        Its absolute path; empty for the usual name.
    """

    files: Files = field(default_factory=lambda: Files((616,)))
    workers: int = 0
    access_log: bool = False
    gzip: bool = False
    program: str = ""

    def __post_init__(self) -> None:
        check_all(
            lambda: check_count("workers", self.workers, 0, 1024),
            lambda: self.program and check_program("program", self.program),
        )


@strict
@dataclass(frozen=True)
class HaproxySection:
    """A haproxy that answers by itself.

    Attributes
    ----------
    response : Text
        What it answers.
    process : HaproxyProcess
        How it runs.
    """

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
        Rows of the database's table, 1–1000000, at least one for each query of the page.
    """

    children: int = 8
    page: Page = field(default_factory=Page)
    rows: int = 1000

    def __post_init__(self) -> None:
        check_all(
            lambda: check_count("children", self.children, 1, 1000),
            lambda: check_count("rows", self.rows, 1, 1_000_000),
            self._check_queries,
        )

    def _check_queries(self) -> None:
        if 1 <= self.rows < self.page.queries:  # where a query finds no row the database does not sleep
            rule = f"at most {self.rows}: each query is for another row, and there are so many (rows)"
            raise ValueRuleError("page.queries", rule, self.page.queries)


@strict
@dataclass(frozen=True)
class WordpressSection:
    """WordPress' front page, by PHP-FPM and MariaDB on one host.

    Attributes
    ----------
    children : int
        ``pm.max_children``: how many requests it works on at once, 1–1000.
    """

    children: int = 8

    def __post_init__(self) -> None:
        check_count("children", self.children, 1, 1000)


@strict
@dataclass(frozen=True)
class ServerSection:
    """One server program for every server host.

    Attributes
    ----------
    nginx : NginxSection or None
        An nginx, or a program that reads its configuration.
    apache : WebSection or None
        Apache's httpd, which sends files.
    lighttpd : WebSection or None
        A lighttpd, which sends files.
    caddy : WebSection or None
        A caddy, which sends files.
    haproxy : HaproxySection or None
        A haproxy that answers by itself.
    php : PhpSection or None
        PHP-FPM behind an nginx, before a MariaDB.
    wordpress : WordpressSection or None
        WordPress, the same way.
    url : str or None
        Instead of one: where a server answers that runs already; its host beyond loopback is named under
        `allow_targets`.
    port : int
        Where it listens, 1–65535; 0 for a free one on loopback, 8080 elsewhere.
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
        check_all(
            lambda: check_one("server", self, *PROGRAMS, "url"),
            lambda: check_count("port", self.port, 0, 65_535),
            lambda: self.url is None or check_url(self.url),
        )

    @property
    def program(self) -> str:
        """Which of them it is."""
        return chosen(self)[0]

    @property
    def work_s(self) -> float:
        """What the study has it do for each answer, in s: waits, and rounds of PHP at a µs each."""
        if self.nginx is not None and self.nginx.response.delay is not None:
            return self.nginx.response.delay.delay_ms / 1000
        page = self.php.page if self.php is not None else None
        return page.queries * page.wait_ms / 1000 + page.steps / 1e6 if page is not None else 0.0


@strict
@dataclass(frozen=True)
class MonitorsSection:
    """What watches each host, each with its interval, 0.1–3600 s; a key that is not there is not run.

    Attributes
    ----------
    sar : float or None
        Processors, interfaces, TCP and sockets; in whole s, 1–3600.
    mpstat : float or None
        Each processor by itself; in whole s, 1–3600.
    ss_summary : float or None
        Numbers of sockets.
    ss_connections : float or None
        Connections of the servers' ports, with their queues.
    ss_details : float or None
        The same with all that the kernel knows of each: windows, round trips, retransmissions.
    nstat : float or None
        Counters of the kernel's network stack.
    proc : float or None
        Counters of the kernel as files of ``/proc`` show them.
    stub_status : float or None
        Connections of nginx servers, from a page of their own.
    counters : float or None
        What the balancer counted for each server: nft, ipvs and haproxy.
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
        raise_all(self._broken_rules())

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        for name, value in vars(self).items():
            if value is not None and not 0.1 <= value <= 3600:
                yield ValueRuleError(name, "0.1 to 3600 s", value)
            elif value is not None and name in ("sar", "mpstat") and value % 1:
                yield ValueRuleError(name, "whole seconds", value)
