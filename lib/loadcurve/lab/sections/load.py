"""The section `load`: what the generators do at each point."""

from dataclasses import dataclass, field

from loadcurve.errors import ValueRuleError
from loadcurve.lab.generators.load import Load, check_url
from loadcurve.lab.sections.section import strict

_USUAL_S = 5.0


@strict
@dataclass(frozen=True)
class LoadSection:
    """A load; attributes as of `Load`, and those that follow.

    Attributes
    ----------
    connections : int
        Of all clients and processes together (N).
    duration_s : float or None
        5 s where neither it nor `requests` is named.
    processes : int
        On each client.
    path : str
        Of each request.
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
        if not self.path.startswith("/"):
            raise ValueRuleError("path", "beginning with /", self.path)
        check_url(f"http://127.0.0.1{self.path}")
        self.of("http://127.0.0.1/")

    @property
    def seconds(self) -> float:
        """How long it lasts; 0 where a number of requests ends it."""
        return self.duration_s if self.duration_s is not None else 0.0 if self.requests else _USUAL_S

    def of(self, root: str, clients: int = 1) -> Load:
        """The load of all clients on a server's root, a process of each counted."""
        return Load(
            self.tool,
            f"{root.rstrip('/')}{self.path}",
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
