"""Settings of a load, the same for every generator, and their division among processes."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urlsplit

from loadcurve.errors import ValueRuleError, check_all, raise_all
from loadcurve.lab.generators.rules import RULES

_MOST = 1_000_000  # connections, threads and processes beyond it are a slip of the pen
_MOST_REQUESTS = 10**12
_FROM_1 = (("connections", _MOST), ("threads", 1024), ("processes", 1024))
_FROM_0 = (("requests", _MOST_REQUESTS), ("rate_rps", _MOST_REQUESTS), ("body_bytes", 10**9))
# Signs of a URL (RFC 3986) but for the fragment, quotes, and what a shell or wrk's own Lua could take for more.
_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:_-]+(/[A-Za-z0-9._~:/?@!$&()*+,;=%-]*)?")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
# The tools write these themselves; a second one would contradict them.
_OWN_HEADERS = ("connection", "content-length", "transfer-encoding")


@dataclass(frozen=True)
class Load:
    """A load to make, by one tool.

    Attributes
    ----------
    tool : str
        One of `RULES`.
    url : str
        ``http://`` or ``https://``, a host, and a path; no fragment, no user.
    connections : int
        Concurrent connections of all processes together (N), at least 1.
    threads : int
        Threads of each process; cut to its connections.
    duration_s : float
        How long it lasts, in s; 0 where `requests` end it.
    requests : int
        How many requests of all processes together end it; 0 where `duration_s` does.
    rate_rps : int
        Requests per second of all processes together, for a tool of an open loop; 0 for one of a closed loop.
    keep_alive : bool
        Whether a connection serves more than one request.
    headers : mapping of str to str
        Added to each request.
    method : str
        Of each request.
    body_bytes : int
        Length of each request's body; 0 for none.
    timeout_s : float
        Longest time that a response is waited for, in whole s.
    processes : int
        How many of the tool are started at one instant.
    each_request : bool
        Whether a line is written for each request, by a tool that can (ab, h2load); it costs the generator time.
    """

    tool: str
    url: str
    connections: int
    threads: int = 1
    duration_s: float = 0.0
    requests: int = 0
    rate_rps: int = 0
    keep_alive: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    body_bytes: int = 0
    timeout_s: float = 4.0
    processes: int = 1
    each_request: bool = False

    def __post_init__(self) -> None:
        check_all(
            self._check_tool,
            lambda: check_url(self.url),
            *(partial(_check_whole, name, getattr(self, name), 1, most) for name, most in _FROM_1),
            *(partial(_check_whole, name, getattr(self, name), 0, most) for name, most in _FROM_0),
            lambda: _check_headers(self.headers),
            lambda: _check_time("timeout_s", self.timeout_s, 1.0),
            *(partial(_check_flag, name, getattr(self, name)) for name in ("keep_alive", "each_request")),
        )
        raise_all(self._broken_rules())
        if self.processes > 1:
            split(self)

    def _check_tool(self) -> None:
        if self.tool not in RULES:
            raise ValueRuleError("tool", f"one of {', '.join(RULES)}", self.tool)

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        """What the tool does not take of what is asked of it."""
        tool, rules = self.tool, RULES[self.tool]
        if (self.duration_s > 0) + (self.requests > 0) != 1:
            yield ValueRuleError("duration_s, requests", "one of them over 0", (self.duration_s, self.requests))
        elif (bound := "duration_s" if self.duration_s else "requests") not in rules.bounds:
            yield ValueRuleError(bound, f"0: {tool} is ended by {rules.bounds[0]}", getattr(self, bound))
        elif self.duration_s and not _is_time(self.duration_s, rules.least_s):
            yield _wrong_time("duration_s", self.duration_s, rules.least_s)
        elif self.requests and self.requests < self.connections:
            yield ValueRuleError("requests", f">= connections ({self.connections})", self.requests)
        elif self.processes == 1 and rules.rounds and self.requests % self.connections:
            made = self.requests - self.requests % self.connections
            rule = f"a multiple of {self.connections} connections ({tool} would make {made})"
            yield ValueRuleError("requests", rule, self.requests)
        if (rules.loop == "open") != (self.rate_rps > 0):
            needed = "over 0: the loop is open" if rules.loop == "open" else "0: the loop is closed"
            yield ValueRuleError("rate_rps", f"{needed} in {tool}", self.rate_rps)
        if self.method not in rules.methods:
            yield ValueRuleError("method", f"one of {', '.join(rules.methods)} for {tool}", self.method)
        elif (self.method in ("POST", "PUT")) != (self.body_bytes > 0):
            yield ValueRuleError("body_bytes", "over 0 for POST and PUT, 0 otherwise", self.body_bytes)
        if self.threads > 1 and not rules.threads:
            yield ValueRuleError("threads", f"1: {tool} has no more", self.threads)
        elif self.processes == 1 and rules.even and self.connections % self.used_threads:
            opened = self.connections - self.connections % self.used_threads
            rule = f"a multiple of {self.used_threads} threads ({tool} would open {opened})"
            yield ValueRuleError("connections", rule, self.connections)
        if not (self.keep_alive or rules.reconnects):
            yield ValueRuleError("keep_alive", f"true: {tool} keeps its connections", self.keep_alive)

    @property
    def used_threads(self) -> int:
        """Threads of one process: no more than it has connections, since wrk and weighttp refuse that."""
        return min(self.threads, self.connections)

    @property
    def header_lines(self) -> tuple[str, ...]:
        """``Name: value`` of each header."""
        return tuple(f"{name}: {value}" for name, value in self.headers.items())


def split(load: Load) -> tuple[Load, ...]:
    """One load for each process: connections, requests and rate divided exactly, the remainder spread.

    Raises
    ------
    ValueRuleError
        When there is not one connection (and one request a second, for an open loop) for each process, or the tool
        does not take a part.

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
    shares = {name: _divided(getattr(load, name), count) for name in ("connections", "requests", "rate_rps")}
    return tuple(replace(load, processes=1, **{name: parts[i] for name, parts in shares.items()}) for i in range(count))


def _divided(whole: int, count: int) -> list[int]:
    """Whole numbers that differ by 1 at most and have the sum `whole`, the greater ones first."""
    return [whole // count + (i < whole % count) for i in range(count)]


def check_url(url: str) -> None:
    """See that a URL can be sent to a generator, and be nothing else on its command line."""
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


def _check_whole(name: str, value: int, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueRuleError(name, f"a whole number of {least} to {most}", value)


def _check_time(name: str, value: float, least_s: float) -> None:
    if not _is_time(value, least_s):
        raise _wrong_time(name, value, least_s)


def _is_time(value: float, least_s: float) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return number and least_s <= value <= 86_400 and abs(value / least_s - round(value / least_s)) <= 1e-6


def _wrong_time(name: str, value: float, least_s: float) -> ValueRuleError:
    return ValueRuleError(name, f"a multiple of {least_s:g} s, up to a day", value)


def _check_flag(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise ValueRuleError(name, "true or false", value)


def _check_headers(headers: Mapping[str, str]) -> None:
    if not isinstance(headers, Mapping):
        raise ValueRuleError("headers", "names with their values", headers)
    for name, value in headers.items():
        if not (isinstance(name, str) and _HEADER.fullmatch(name)) or name.lower() in _OWN_HEADERS:
            raise ValueRuleError("headers", "named by letters, digits and '-', none that the tool writes itself", name)
        if not (isinstance(value, str) and _VALUE.fullmatch(value)):
            raise ValueRuleError("headers", "of printable ASCII without spaces at the ends", value)
