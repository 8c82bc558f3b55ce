"""A load generator as the laboratory lists it, and the command that one of its processes runs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from loadcurve.errors import ValueRuleError, raise_all
from loadcurve.lab.generators.load import Load, is_duration, split, wrong_duration
from loadcurve.lab.hosts.names import check_stem
from loadcurve.lab.hosts.tools import Tool

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
    max_requests: int = 0  # It ends after so many requests although its duration is not over; 0 for no such limit

    @property
    def name(self) -> str:
        """By which a study names it."""
        return self.tool.name

    def command(self, load: Load, stem: str = "local") -> GeneratorCommand:
        """Return the command of a load of one process, see `split`.

        Parameters
        ----------
        load : Load
            What to send.
        stem : str
            What its files begin with: the host's name, and a number where the host runs several processes.

        Raises
        ------
        ValueRuleError
            When the load is divided among processes, this tool cannot make it, or `stem` is no name.
        """
        check_stem(stem)
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
        tool, unit_s = self.name, self.duration_unit_s
        if (load.duration_s > 0) + (load.requests > 0) != 1:
            yield ValueRuleError("duration_s, requests", "one of them over 0", (load.duration_s, load.requests))
        elif (bound := "duration_s" if load.duration_s else "requests") not in self.bounds:
            yield ValueRuleError(bound, f"0: {tool} is ended by {self.bounds[0]}", getattr(load, bound))
        elif load.duration_s and not is_duration(load.duration_s, unit_s):
            yield wrong_duration("duration_s", load.duration_s, unit_s)
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
        elif (load.method in ("POST", "PUT")) != (load.body_bytes > 0):
            yield ValueRuleError("body_bytes", "over 0 for POST and PUT, 0 otherwise", load.body_bytes)
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
    return {f"{stem}.{load.tool}.body.txt": "x" * load.body_bytes} if load.body_bytes else {}


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
