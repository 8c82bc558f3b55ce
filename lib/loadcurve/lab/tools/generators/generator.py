"""Settings of a load, a load generator as the laboratory lists it, and the command that one of its processes runs."""

import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from loadcurve.errors import LabError, ValueRuleError, raise_all
from loadcurve.files.secrets import REFERENCE, named_in, reveal
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.hosts.unprivileged import User
from loadcurve.study.section import Check, Range, Section, broken_by

# More is a typing error.
Connections = Annotated[int, Range(1, 1_000_000)]
Threads = Annotated[int, Range(1, 1024)]
Processes = Annotated[int, Range(1, 1024)]
Number = Annotated[int, Range(0, 10**12)]
BodyBytes = Annotated[int, Range(0, 10**9)]
Mix = Annotated[dict[str, int], Check(lambda name, mix: _check_mix(name, mix))]
# Characters of a URL (RFC 3986) except the fragment, quotes, and what a shell or wrk's own Lua could interpret.
_URL = re.compile(rf"https?://[A-Za-z0-9.\[\]:_-]+(/([A-Za-z0-9._~:/?@!$&()*+,;=%-]|{REFERENCE})*)?")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
# The tools write these headers themselves; a second one would contradict them.
_OWN_HEADERS = ("connection", "content-length", "transfer-encoding")


@dataclass(frozen=True)
class Load(Section):
    """A load to send with one tool; whether the tool can is a matter of `Generator.check`."""

    tool: str  # One of `GENERATORS`
    # `http://` or `https://`, a host, and a path; no fragment, no user.
    url: Annotated[str, Check(lambda _, url: check_url(url))]
    connections: Connections  # Concurrent connections of all processes together (N), at least 1
    threads: Threads = 1  # Threads of each process; cut to its connections
    duration_s: float = 0.0  # How long it lasts, in s; 0 where `requests` end it
    requests: Number = 0  # Number of requests of all processes together that ends it; 0 where `duration_s` does
    # Requests per second of all processes together, for a tool of an open loop; 0 for one of a closed loop.
    rate_rps: Number = 0
    from_due: bool = True  # Whether response times at a rate count from the instant at which a request was due
    keep_alive: bool = True  # Whether a connection serves more than one request
    # Added to each request.
    headers: Annotated[Mapping[str, str], Check(lambda _, headers: _check_headers(headers))] = field(
        default_factory=dict
    )
    method: str = "GET"  # Of each request
    body_bytes: BodyBytes = 0  # Length of each request's body; 0 for none
    body: str = ""  # Text of each request's body, instead of its length
    # Path → its share of the requests, instead of the path of `url`; empty for one path.
    mix: Mix = field(default_factory=dict)
    script: str = ""  # Lua of wrk and wrk2, before the laboratory's own
    # Longest wait for a response, in whole s.
    timeout_s: Annotated[float, Check(lambda name, value: _check_duration(name, value, 1.0))] = 4.0
    processes: Processes = 1  # Number of processes that start at one instant
    # Whether the tool writes a line for each request, if it can (`Generator.logs_requests`); this costs it time.
    each_request: bool = False
    # Address to which the host of the URL resolved when the target was checked; empty if the host is an address.
    # Connections go there, without another lookup; requests still name the host.
    address: str = ""

    @property
    def paths(self) -> list[str]:
        """Paths of the mix in an order that repeats, each as often as its weight and evenly spread.

        Smooth weighted round robin, as nginx takes turns (ngx_http_upstream_get_peer).

        Examples
        --------
        >>> Load("wrk", "http://127.0.0.1/", 1, duration_s=5, mix={"/a": 3, "/b": 1}).paths
        ['/a', '/a', '/b', '/a']
        """
        total, now, order = sum(self.mix.values()), dict.fromkeys(self.mix, 0), []
        for _ in range(total):
            now = {path: value + self.mix[path] for path, value in now.items()}
            order.append(max(now, key=lambda path: now[path]))
            now[order[-1]] -= total
        return order

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the variables whose values its requests contain."""
        return named_in(self.url, *self.headers.values(), self.body, *self.mix)

    @property
    def revealed(self) -> "Load":
        """The same load with the values of its variables: for its requests alone, and never recorded."""
        headers = {name: reveal(value) for name, value in self.headers.items()}
        mix = {reveal(path): weight for path, weight in self.mix.items()}
        try:
            return replace(self, url=reveal(self.url), headers=headers, body=reveal(self.body), mix=mix)
        except ValueRuleError as error:  # its text contains the value
            names = " and ".join(f"${{{name}}}" for name in self.secrets)
            raise LabError(f"load.{error.name} must be {error.rule}, got another with the value of {names}") from None

    @property
    def endpoint(self) -> str:
        """``ADDRESS:PORT`` to which the connections go, where `address` is given."""
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{address}:{port_of(self.url)}"

    @property
    def by_address(self) -> "Load":
        """The same load with `address` in the URL, for a tool that looks up the host of the URL in any case."""
        if not self.address:
            return self
        parts = urlsplit(self.url)
        # ab and hey send the Host header as TLS server name, in which a port matches no server.
        host = parts.hostname if parts.scheme == "https" else parts.netloc
        url = parts._replace(netloc=self.endpoint).geturl()
        return replace(self, url=url, address="", headers={"Host": str(host), **self.headers})

    @property
    def used_threads(self) -> int:
        """Threads of one process: at most one per connection, because wrk and weighttp refuse more."""
        return min(self.threads, self.connections)


def split(load: Load) -> tuple[Load, ...]:
    """One load for each process: connections, requests and rate divided exactly, the remainder spread.

    Raises ValueRuleError when there is not one connection (and one request a second, for an open loop) for each
    process.

    Examples
    --------
    >>> parts = split(Load("wrk", "http://127.0.0.1/", 10, duration_s=5, processes=4))
    >>> [part.connections for part in parts]
    [3, 3, 2, 2]
    """
    count = load.processes
    for name in ("connections", "requests", "rate_rps"):
        if 0 < getattr(load, name) < count:
            raise ValueRuleError(name, f">= processes ({count})", getattr(load, name))
    shares = zip(*(_divided(whole, count) for whole in (load.connections, load.requests, load.rate_rps)), strict=True)
    return tuple(
        replace(load, processes=1, connections=connections, requests=requests, rate_rps=rate_rps)
        for connections, requests, rate_rps in shares
    )


def _divided(whole: int, count: int) -> list[int]:
    """Whole numbers with the sum `whole` that differ by at most 1, the larger ones first."""
    return [whole // count + (i < whole % count) for i in range(count)]


def port_of(url: str) -> int:
    """Return the port of a URL, which may be that of its scheme."""
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def check_url(url: str) -> None:
    """Raise a `ValueRuleError` for what is no URL, or could be an option of a command line."""
    rule = "http:// or https://, a host and perhaps a path, without spaces, quotes, user and fragment"
    if not (isinstance(url, str) and _URL.fullmatch(url)):
        raise ValueRuleError("url", rule, url)
    try:
        parts = urlsplit(url)
        right = bool(parts.hostname) and parts.port != 0 and not parts.netloc.startswith("-")
    except ValueError:
        right = False
    if not right:
        raise ValueRuleError("url", rule, url)


def _check_duration(name: str, value: float, unit_s: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not (number and unit_s <= value <= 86_400 and abs(value / unit_s - round(value / unit_s)) <= 1e-6):
        raise ValueRuleError(name, f"a multiple of {unit_s:g} s, up to a day", value)


def _check_headers(headers: Mapping[str, str]) -> None:
    if not isinstance(headers, Mapping):
        raise ValueRuleError("headers", "names with their values", headers)
    for name, value in headers.items():
        if not (isinstance(name, str) and _HEADER.fullmatch(name)) or name.lower() in _OWN_HEADERS:
            raise ValueRuleError("headers", "named by letters, digits and '-', none that the tool writes itself", name)
        if not (isinstance(value, str) and _VALUE.fullmatch(value)):
            raise ValueRuleError("headers", "of printable ASCII without spaces at the ends", value)


# More would make the order of a mix long: 1 of 1000 requests is rare enough.
_MOST_WEIGHTS = 1000


def _check_mix(name: str, mix: Mapping[str, int]) -> None:
    if not isinstance(mix, Mapping):
        raise ValueRuleError(name, "paths with their weights", mix)
    for path, weight in mix.items():
        if not isinstance(weight, int) or isinstance(weight, bool) or weight < 1:
            raise ValueRuleError(name, f"a whole number of at least 1 as weight of {path}", weight)
        if not path.startswith("/") or path.startswith("//"):  # the latter could name another host
            raise ValueRuleError(name, "paths that begin with one /", path)
        check_url(f"http://127.0.0.1{path}")
    if sum(mix.values()) > _MOST_WEIGHTS:
        raise ValueRuleError(name, f"weights of at most {_MOST_WEIGHTS} together", sum(mix.values()))


# To open and close every connection, and to write the report, on a busy machine.
_OVERHEAD_S = 6.0
# The length of a run that a number of requests ends is unknown: allow one second per response on each connection, and
# ten minutes in all.
_SLOWEST_RESPONSE_S = 1.0
_LONGEST_S = 600.0


@dataclass(frozen=True)
class CommandLine:
    """How one process of a generator is started in a run's folder."""

    argv: tuple[str, ...]  # The command; never a shell
    # Name of each file in the run's folder → its text, written before the start.
    files: Mapping[str, str] = field(default_factory=dict)
    # Variant of each further output, as ingestion calls it → the file of the run's folder that the tool writes. The
    # report goes to standard output.
    outputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GeneratorCommand(CommandLine):
    """A command line with what the laboratory has to know to run it."""

    tool: str = ""
    limit_s: float = 0.0  # Outer time limit, in s
    user: User | None = None  # Without rights of root, as whom `argv` runs the tool


@dataclass(frozen=True)
class Generator:
    """A load generator: its command, and which loads it can make.  Any other load is refused before the start."""

    tool: Tool  # The program; a study names the generator by the name of this tool
    description: str  # A sentence for the reference page
    # A `Load` of one process, and what the names of its files begin with → `CommandLine`.
    command_line: Callable[[Load, str], CommandLine]
    bounds: tuple[str, ...]  # What may end a run: `duration_s`, `requests`
    # `closed`: a connection sends its next request after the last response, so a slow server receives fewer requests.
    # `open`: requests are due at a fixed rate, and a response time counts from the instant at which a request was due.
    # `both`: an open loop if the load has a rate.
    loop: str = "closed"
    methods: tuple[str, ...] = ("GET",)  # HTTP methods that it sends
    duration_unit_s: float = 1.0  # Unit of the duration on its command line, in s: 1 where it takes whole seconds only
    has_threads: bool = True  # Whether it can have more than one thread
    # Whether each thread opens the same number of connections, and the remainder is not opened.
    even_connections: bool = False
    # Whether each connection sends the same number of requests, and the remainder is not sent.
    even_requests: bool = False
    reconnects: bool = True  # Whether it can open a connection for each request
    logs_requests: bool = False  # Whether it can write a line for each request (`Load.each_request`)
    times_from_due: bool = True  # Whether response times at a rate can count from when a request was due
    mixes: bool = False  # Whether it can request several paths
    runs_lua: bool = False  # Whether it runs a script of the study
    max_requests: int = 0  # It ends after so many requests although its duration is not over; 0 for no such limit

    @property
    def name(self) -> str:
        """By which a study names it."""
        return self.tool.name

    def command(self, load: Load, stem: str = "local") -> GeneratorCommand:
        """Return the command of a load of one process, see `split`.

        `stem` is what its files begin with: the host's name, and a number where the host runs several processes.
        Raises ValueRuleError when the load is divided among processes, this tool cannot make it, or `stem` is no name.
        """
        check_name("stem", stem)
        if load.processes != 1:
            raise ValueRuleError("processes", "1 here: split the load first", load.processes)
        self.check(load)
        line = self.command_line(load, stem)
        return GeneratorCommand(line.argv, line.files, line.outputs, self.name, limit_s(load))

    def check(self, load: Load) -> None:
        """Raise a `ValueRuleError` with all that this tool cannot do of a load, or of its division by processes."""
        raise_all(self._broken_rules(load))
        if load.processes > 1:
            for part in split(load):
                self.check(part)

    def _broken_rules(self, load: Load) -> Iterator[ValueRuleError]:
        tool = self.name
        if (load.duration_s > 0) + (load.requests > 0) != 1:
            yield ValueRuleError("duration_s, requests", "one of them over 0", (load.duration_s, load.requests))
        elif (bound := "duration_s" if load.duration_s else "requests") not in self.bounds:
            yield ValueRuleError(bound, f"0: {tool} is ended by {self.bounds[0]}", getattr(load, bound))
        elif load.duration_s:
            yield from broken_by(partial(_check_duration, "duration_s", load.duration_s, self.duration_unit_s))
        elif load.requests and load.requests < load.connections:
            yield ValueRuleError("requests", f">= connections ({load.connections})", load.requests)
        elif load.processes == 1 and self.even_requests and (remainder := load.requests % load.connections):
            rule = f"a multiple of {load.connections} connections ({tool} would send {load.requests - remainder})"
            yield ValueRuleError("requests", rule, load.requests)
        if not load.from_due and not (self.loop == "both" and load.rate_rps):
            yield ValueRuleError("from_due", "true, except at a rate of a tool of both loops", load.from_due)
        if load.from_due and load.rate_rps and not self.times_from_due:
            yield ValueRuleError("from_due", f"false at a rate: {tool} counts from when it sends", load.from_due)
        if self.loop != "both" and (self.loop == "open") != (load.rate_rps > 0):
            needed = "over 0: the loop is open" if self.loop == "open" else "0: the loop is closed"
            yield ValueRuleError("rate_rps", f"{needed} in {tool}", load.rate_rps)
        if load.method not in self.methods:
            yield ValueRuleError("method", f"one of {', '.join(self.methods)} for {tool}", load.method)
        elif (load.method in ("POST", "PUT")) != (load.body_bytes > 0 or load.body != ""):
            yield ValueRuleError("body_bytes", "over 0 for POST and PUT without `body`, 0 otherwise", load.body_bytes)
        elif load.body_bytes and load.body:
            yield ValueRuleError("body_bytes", "0 beside a `body`", load.body_bytes)
        for name, can in (("mix", self.mixes), ("script", self.runs_lua)):
            if getattr(load, name) and not can:
                yield ValueRuleError(name, f"left out: {tool} has no such option", getattr(load, name))
        if load.mix and load.script:
            yield ValueRuleError("mix", "left out beside a script, which chooses the requests", dict(load.mix))
        if load.threads > 1 and not self.has_threads:
            yield ValueRuleError("threads", f"1: {tool} has no more", load.threads)
        elif load.processes == 1 and self.even_connections and (remainder := load.connections % load.used_threads):
            rule = f"a multiple of {load.used_threads} threads ({tool} would open {load.connections - remainder})"
            yield ValueRuleError("connections", rule, load.connections)
        if not (load.keep_alive or self.reconnects):
            yield ValueRuleError("keep_alive", f"true: {tool} keeps its connections", load.keep_alive)


def limit_s(load: Load) -> float:
    """Return the outer time limit in s, because every tool hangs in its own way.

    wrk waits minutes for connections whose SYNs are dropped, in spite of its ``--timeout``; weighttp waits forever for
    a response.  With a number of requests, hey waits the timeout for each of them, one after the other on each
    connection.  Where a server accepts connections and never responds, wrk and h2load end with exit code 0 and no
    response, ab with 119 and no report.
    """
    slowest = min(_LONGEST_S, -(-load.requests // load.connections) * _SLOWEST_RESPONSE_S)
    return (load.duration_s or slowest) + load.timeout_s + _OVERHEAD_S


def body_file(load: Load, stem: str) -> dict[str, str]:
    """Name and text of the file with a request's body; empty without a body."""
    return {f"{stem}.{load.tool}.body.txt": load.body or "x" * load.body_bytes} if load.body or load.body_bytes else {}


def header_options(load: Load, host: tuple[str, str] = ("-H", "Host: ")) -> list[str]:
    """``-H`` and each header; `host` is the option and the prefix of the Host header, which tools treat differently."""
    options = [
        (host[0], f"{host[1]}{value}") if name.lower() == "host" else ("-H", f"{name}: {value}")
        for name, value in load.headers.items()
    ]
    return [word for option in options for word in option]


def milliseconds(seconds: float) -> str:
    """A time as ``1500ms``."""
    return f"{round(seconds * 1000)}ms"


_AT = Path(__file__).with_name("at.py").read_text("utf-8")
# A process of the laboratory (setpriv, timeout, python) waits for the instant after some 20 ms; a busy machine needs
# longer.
_LEAD_S = 0.2
_LEAD_EACH_S = 0.03


def common_instant_ns(processes: int) -> int:
    """Return an instant of the monotonic clock by which so many processes will have started."""
    return time.monotonic_ns() + round((_LEAD_S + _LEAD_EACH_S * processes) * 1e9)


def start_at(command: GeneratorCommand, instant_ns: int, stem: str, python: str = sys.executable) -> GeneratorCommand:
    """Return a command that waits until an instant before it becomes the generator.

    Namespaces of one machine share its monotonic clock; other machines have their own.  `instant_ns` is by the
    monotonic clock, see `common_instant_ns`; the files are ``STEM.at.py``, and ``STEM.at.json`` for `start_delay_s`;
    `python` is the interpreter on its host.

    Examples
    --------
    >>> waiting = start_at(GeneratorCommand(("hey", "http://127.0.0.1/"), tool="hey"), 5, "C1", "python3")
    >>> " ".join(waiting.argv)
    'python3 -I -S C1.at.py 5 C1.at.json hey http://127.0.0.1/'
    """
    check_name("stem", stem)
    if not isinstance(instant_ns, int) or instant_ns < 0:
        raise ValueRuleError("instant_ns", "a whole number of at least 0", instant_ns)
    argv = (python, "-I", "-S", f"{stem}.at.py", str(instant_ns), f"{stem}.at.json", *command.argv)
    return replace(command, argv=argv, files={**command.files, f"{stem}.at.py": _AT})


def start_delay_s(report: str) -> float:
    """Return the time in s from the common instant to the start of a generator, from its ``STEM.at.json``.

    Examples
    --------
    >>> start_delay_s('{"instant_ns": 1000000, "begun_ns": 1200000}')
    0.0002
    """
    noted = json.loads(report)
    return float(noted["begun_ns"] - noted["instant_ns"]) / 1e9
