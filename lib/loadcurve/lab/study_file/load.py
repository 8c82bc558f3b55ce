"""The section `load`: what the generators do at each point."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from loadcurve.errors import ValueRuleError
from loadcurve.lab.generators import GENERATORS, generator_named
from loadcurve.lab.generators.load import BodyBytes, Connections, Load, Number, Processes, Threads, check_url
from loadcurve.study.section import Check, Range, Section, broken_by

_DEFAULT_S = 5.0
_METHODS = sorted({method for tool in GENERATORS.values() for method in tool.methods})


def check_tool(name: str, value: str) -> None:
    """Check that there is a load generator of this name."""
    generator_named(value)


def check_path(name: str, value: str) -> None:
    """Check that a value is a path that a generator can request."""
    try:
        if value.startswith("/"):
            check_url(f"http://127.0.0.1{value}")
            return
    except ValueRuleError:
        pass
    raise ValueRuleError(name, "beginning with /, without spaces, quotes and fragment", value)


@dataclass(frozen=True)
class LoadSection(Section):
    """What the generator does at each point."""

    tool: Annotated[str, Check(check_tool), Field(json_schema_extra={"enum": list(GENERATORS)})] = "wrk"
    """Load generator, by the name of its command."""

    connections: Connections = 1
    """Concurrent connections of all clients and processes together (N)."""

    threads: Threads = 1
    """Threads of each process; at most as many as it has connections."""

    duration_s: Annotated[float | None, Range(le=86_400, unit="s")] = None
    """How long the load lasts; 5 s where neither `duration_s` nor `requests` is given. ab stops earlier, with a warning
    of the run, after 5,000,000 requests."""

    requests: Number = 0
    """Number of requests of all processes together that ends the load, instead of `duration_s`; 0 for none. hey sends
    the same number on each connection, so it must be a multiple of them."""

    rate_rps: Number = 0
    """Requests per second of all processes together (wrk2, oha, k6, h2load); 0 for a closed loop."""

    from_due: bool = True
    """Whether response times at a rate count from the instant at which a request was due. With false they count from
    when it was sent, and the wait for a free connection is missing (oha; k6 and h2load cannot do otherwise)."""

    keep_alive: bool = True
    """Whether a connection serves more than one request."""

    headers: dict[str, str] = field(default_factory=dict)
    """Headers added to each request, name and value."""

    method: Annotated[str, Field(json_schema_extra={"enum": _METHODS})] = "GET"
    """Method of each request: ``GET``, or what the tool takes of the others."""

    body_bytes: BodyBytes = 0
    """Length of each request's body, for ``POST`` and ``PUT``; 0 for none."""

    timeout_s: Annotated[float, Range(1, 86_400, unit="s", multiple_of=1)] = 4.0
    """Longest time to wait for a response."""

    processes: Processes = 1
    """Generators that start at the same instant on each client."""

    each_request: bool = False
    """Whether the tool writes a line for each request, where it can (ab, h2load); this costs the generator time."""

    path: Annotated[str, Check(check_path), Field(json_schema_extra={"pattern": "^/"})] = "/"
    """Path of each request, beginning with ``/``; a path in `server.url` comes before it."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        known = {error.name for error in self._broken_types()}
        yield from (error for error in broken_by(lambda: self._of("http://127.0.0.1/")) if error.name not in known)

    @property
    def seconds(self) -> float:
        """How long the load lasts; 0 where a number of requests ends it."""
        return self.duration_s if self.duration_s is not None else 0.0 if self.requests else _DEFAULT_S

    def of(self, root: str, clients: int = 1) -> Load:
        """Return the load of all clients on a server's root, with one process of each counted."""
        return self._of(self.url_of(root), clients)

    def url_of(self, root: str) -> str:
        """Return the URL of each request to a server; the root of one that already runs may itself have a path."""
        base, more = urlsplit(root), urlsplit(f"http://server{self.path}")
        if self.path == "/" and base.path:
            return root
        query = "&".join(filter(None, (base.query, more.query)))
        return base._replace(path=base.path.rstrip("/") + more.path, query=query).geturl()

    def _of(self, url: str, clients: int = 1) -> Load:
        load = Load(
            self.tool,
            url,
            self.connections,
            threads=self.threads,
            duration_s=self.seconds,
            requests=self.requests,
            rate_rps=self.rate_rps,
            from_due=self.from_due,
            keep_alive=self.keep_alive,
            headers=self.headers,
            method=self.method,
            body_bytes=self.body_bytes,
            timeout_s=self.timeout_s,
            processes=self.processes * clients,
            each_request=self.each_request,
        )
        if self.tool in GENERATORS:
            GENERATORS[self.tool].check(load)
        return load
