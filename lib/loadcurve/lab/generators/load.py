"""Settings of a load, the same for every generator, and their division among processes."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated
from urllib.parse import urlsplit

from loadcurve.errors import ValueRuleError
from loadcurve.study.section import Check, Range, Section

# More is a typing error.
Connections = Annotated[int, Range(1, 1_000_000)]
Threads = Annotated[int, Range(1, 1024)]
Processes = Annotated[int, Range(1, 1024)]
Number = Annotated[int, Range(0, 10**12)]
BodyBytes = Annotated[int, Range(0, 10**9)]
# Characters of a URL (RFC 3986) except the fragment, quotes, and what a shell or wrk's own Lua could interpret.
_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:_-]+(/[A-Za-z0-9._~:/?@!$&()*+,;=%-]*)?")
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
    # Longest wait for a response, in whole s.
    timeout_s: Annotated[float, Check(lambda name, value: _check_duration(name, value, 1.0))] = 4.0
    processes: Processes = 1  # Number of processes that start at one instant
    # Whether the tool writes a line for each request, if it can (`Generator.logs_requests`); this costs it time.
    each_request: bool = False
    # Address to which the host of the URL resolved when the target was checked; empty if the host is an address.
    # Connections go there, without another lookup; requests still name the host.
    address: str = ""

    @property
    def endpoint(self) -> str:
        """``ADDRESS:PORT`` to which the connections go, where `address` is given."""
        parts = urlsplit(self.url)
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{address}:{parts.port or (443 if parts.scheme == 'https' else 80)}"

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

    Raises
    ------
    ValueRuleError
        When there is not one connection (and one request a second, for an open loop) for each process.

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
    if not is_duration(value, unit_s):
        raise wrong_duration(name, value, unit_s)


def is_duration(value: float, unit_s: float) -> bool:
    """Whether a value is a positive multiple of a unit in s, up to a day."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return number and unit_s <= value <= 86_400 and abs(value / unit_s - round(value / unit_s)) <= 1e-6


def wrong_duration(name: str, value: float, unit_s: float) -> ValueRuleError:
    """The error of a value that is no duration."""
    return ValueRuleError(name, f"a multiple of {unit_s:g} s, up to a day", value)


def _check_headers(headers: Mapping[str, str]) -> None:
    if not isinstance(headers, Mapping):
        raise ValueRuleError("headers", "names with their values", headers)
    for name, value in headers.items():
        if not (isinstance(name, str) and _HEADER.fullmatch(name)) or name.lower() in _OWN_HEADERS:
            raise ValueRuleError("headers", "named by letters, digits and '-', none that the tool writes itself", name)
        if not (isinstance(value, str) and _VALUE.fullmatch(value)):
            raise ValueRuleError("headers", "of printable ASCII without spaces at the ends", value)
