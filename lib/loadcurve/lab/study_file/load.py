"""The section `load`: what the generators do at each point."""

from dataclasses import dataclass, field

from loadcurve.errors import ValueRuleError, check_all
from loadcurve.lab.generators import GENERATORS, generator_named
from loadcurve.lab.generators.load import Load, check_url
from loadcurve.lab.study_file.section import strict

_USUAL_S = 5.0


@strict
@dataclass(frozen=True)
class LoadSection:
    """What the generator does at each point.

    Attributes
    ----------
    tool : str
        Load generator, by the name of its command.
    connections : int
        Concurrent connections of all clients and processes together (N), 1–1000000.
    threads : int
        Threads of each process, 1–1024; no more than it has connections.
    duration_s : float or None
        How long the load lasts, in s, up to a day; 5 s where neither it nor `requests` is named.  ab ends before, and
        the run warns of it, when it has made 5,000,000 requests.
    requests : int
        How many requests of all processes together end it, instead of `duration_s`; 0 for none.  hey makes the same
        number on each connection: a multiple of them.
    rate_rps : int
        Requests per second of all processes together, for a tool of an open loop (wrk2); 0 for one of a closed loop.
    keep_alive : bool
        Whether a connection serves more than one request.
    headers : dict of str to str
        Added to each request, name and value.
    method : str
        Of each request: ``GET``, and what the tool takes of ``HEAD``, ``POST``, ``PUT``, ``DELETE`` and ``OPTIONS``.
    body_bytes : int
        Length of each request's body, for ``POST`` and ``PUT``; 0 for none.
    timeout_s : float
        Longest time that a response is waited for, in whole s, 1–86400.
    processes : int
        Generators that start at one instant on each client, 1–1024.
    each_request : bool
        Whether a line is written for each request, by a tool that can (ab, h2load); it costs the generator time.
    path : str
        Of each request, beginning with ``/``.
    """

    tool: str = "wrk"
    connections: int = 1
    threads: int = 1
    duration_s: float | None = None
    requests: int = 0
    rate_rps: int = 0
    keep_alive: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "GET"
    body_bytes: int = 0
    timeout_s: float = 4.0
    processes: int = 1
    each_request: bool = False
    path: str = "/"

    def __post_init__(self) -> None:
        check_all(self._check_path, lambda: generator_named(self.tool), lambda: self._of("http://127.0.0.1/"))

    def _check_path(self) -> None:
        try:
            if self.path.startswith("/"):
                check_url(f"http://127.0.0.1{self.path}")
                return
        except ValueRuleError:
            pass
        raise ValueRuleError("path", "beginning with /, without spaces, quotes and fragment", self.path)

    @property
    def seconds(self) -> float:
        """How long it lasts; 0 where a number of requests ends it."""
        return self.duration_s if self.duration_s is not None else 0.0 if self.requests else _USUAL_S

    def of(self, root: str, clients: int = 1) -> Load:
        """The load of all clients on a server's root, a process of each counted."""
        return self._of(f"{root.rstrip('/')}{self.path}", clients)

    def _of(self, url: str, clients: int = 1) -> Load:
        load = Load(
            self.tool,
            url,
            self.connections,
            threads=self.threads,
            duration_s=self.seconds,
            requests=self.requests,
            rate_rps=self.rate_rps,
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
