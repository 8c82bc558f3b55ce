"""The sections of a study file that describe a run, and all of them together."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.network.conditions import LinkConditions
from loadcurve.lab.schedule.goals import ObjectiveSection, SearchSection, StopSection
from loadcurve.lab.study_file.hosts import HostSection, TopologySection
from loadcurve.lab.tools.balancers import BALANCERS
from loadcurve.lab.tools.balancers.functions import FunctionsSection
from loadcurve.lab.tools.faults import FAULTS
from loadcurve.lab.tools.generators import GENERATORS, generator_named
from loadcurve.lab.tools.generators.generator import (
    BodyBytes,
    Connections,
    Load,
    Mix,
    Number,
    Processes,
    Threads,
    check_url,
)
from loadcurve.lab.tools.monitors import MONITORS
from loadcurve.lab.tools.monitors.monitor import MonitorKind
from loadcurve.lab.tools.servers import SERVERS
from loadcurve.lab.tools.servers.nginx import NGINX, NginxSection
from loadcurve.study import MONITORS as DEFAULT_MONITORS
from loadcurve.study import StudyKeys
from loadcurve.study.section import Check, Choice, Range, Section, broken_by, with_keys


@dataclass(frozen=True)
@with_keys({name: (balancer.section, balancer.description) for name, balancer in BALANCERS.items()})
class BalancerSection(Choice):
    """What runs on the host ``LB``: one of these, or nothing."""


@dataclass(frozen=True)
@with_keys({name: (kind.value, kind.description) for name, kind in FAULTS.items()})
class FaultSection(Choice):
    """Something that goes wrong on purpose: one of these, each with its only number, or ``true`` where it has none."""

    host: str = ""
    """Name of the host where it happens; empty for the first host of the fault's role."""

    after_s: Annotated[float, Range(0, 3600, unit="s")] = 0.0
    """Time from the start of the load to the fault. What must be set before the start, such as a limit, holds from the
    beginning."""

    lasts_s: Annotated[float, Range(0, 3600, unit="s")] = 0.0
    """How long the fault lasts; 0 for as long as the load."""

    every_s: Annotated[float, Range(0, 3600, unit="s")] = 0.0
    """The fault begins again this time after its last beginning, for as long as the load; 0 for one time. More than
    `lasts_s`."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.every_s and not 0 < self.lasts_s < self.every_s:
            rule = f"more than lasts_s ({self.lasts_s:g} s), which must be over 0"
            yield ValueRuleError("every_s", rule, self.every_s)


@dataclass(frozen=True)
@with_keys({name: (server.section, server.description) for name, server in SERVERS.items()})
class ServerSection(Choice):
    """One server program for every server host."""

    required: ClassVar[bool] = True

    url: Annotated[str | None, Check(lambda name, value: check_url(value))] = None
    """Instead of a program: URL of a server that already runs; a host other than loopback must be listed under
    `allow_targets`."""

    status: Annotated[int, Range(0, 599)] = 0
    """Status with which the server at `url` must respond before it is loaded; 0 for any from 200 to 299."""

    port: Annotated[int, Range(0, 65_535)] = 0
    """Where it listens; 0 for a free one on loopback, 8080 elsewhere."""

    @property
    def work_s(self) -> float:
        """Time that the study asks of each response, in s: waits, and rounds of PHP at 1 µs each."""
        name, section = self.chosen
        return SERVERS[name].work_s(section) if name in SERVERS else 0.0


def _interval(monitor: MonitorKind) -> Any:
    """Type of the key of a monitor: its interval."""
    if monitor.whole_seconds:
        return Annotated[float, Range(1, 3600, unit="s", multiple_of=1)]
    return Annotated[float, Range(0.1, 3600, unit="s")]


@dataclass(frozen=True)
@with_keys({name: (_interval(monitor), monitor.description) for name, monitor in MONITORS.items()})
class MonitorsSection(Section):
    """What watches each host, each with its interval; a monitor that is left out does not run."""


_DEFAULT_S = 5.0
_METHODS = sorted({method for tool in GENERATORS.values() for method in tool.methods})


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

    tool: Annotated[
        str, Check(lambda _, tool: generator_named(tool)), Field(json_schema_extra={"enum": list(GENERATORS)})
    ] = "wrk"
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
    """Headers added to each request, name and value; ``${NAME}`` is the variable NAME of the environment."""

    method: Annotated[str, Field(json_schema_extra={"enum": _METHODS})] = "GET"
    """Method of each request: ``GET``, or what the tool takes of the others."""

    body_bytes: BodyBytes = 0
    """Length of each request's body, for ``POST`` and ``PUT``; 0 for none."""

    body: str = ""
    """Text of each request's body, instead of `body_bytes`; may name variables as `headers` do."""

    mix: Mix = field(default_factory=dict)
    """Paths with their weights, such as ``{/: 3, /search?q=a: 1}``: several paths instead of one (wrk, wrk2, k6). Each
    thread takes turns, so the shares are exact."""

    script: str = ""
    """Lua for wrk or wrk2, as in their SCRIPTING page: `request`, `init`, `response` and so on. It is a program that
    runs with your rights, or as nobody in a launch by root: read a script of somebody else before you launch it."""

    timeout_s: Annotated[float, Range(1, 86_400, unit="s", multiple_of=1)] = 4.0
    """Longest time to wait for a response."""

    processes: Processes = 1
    """Generators that start at the same instant on each client."""

    each_request: bool = False
    """Whether the tool writes a line for each request, where it can (ab, h2load); this costs the generator time."""

    path: Annotated[str, Check(check_path), Field(json_schema_extra={"pattern": "^/"})] = "/"
    """Path of each request, beginning with ``/``; a path in `server.url` comes before it.  Both may name variables as
    `headers` do."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        known = {error.name for error in self._broken_types()}
        yield from (error for error in broken_by(lambda: self._of("http://127.0.0.1/")) if error.name not in known)

    @property
    def text(self) -> str:
        """Body of each request."""
        return self.body or "x" * self.body_bytes

    @property
    def seconds(self) -> float:
        """How long the load lasts; 0 where a number of requests ends it."""
        return self.duration_s if self.duration_s is not None else 0.0 if self.requests else _DEFAULT_S

    def of(self, root: str, clients: int = 1) -> Load:
        """Return the load of all clients on a server's root, with one process of each counted."""
        return self._of(self.url_of(root), clients)

    def url_of(self, root: str, path: str = "") -> str:
        """Return the URL of each request to a server; the root of one that already runs may itself have a path."""
        base, more = urlsplit(root), urlsplit(f"http://server{path or self.path}")
        if (path or self.path) == "/" and base.path:
            return root
        query = "&".join(filter(None, (base.query, more.query)))
        return base._replace(path=base.path.rstrip("/") + more.path, query=query).geturl()

    def _of(self, url: str, clients: int = 1) -> Load:
        own = {one.name: getattr(self, one.name) for one in fields(Load) if hasattr(self, one.name)}
        mix = {
            urlsplit(self.url_of(url, path))._replace(scheme="", netloc="").geturl(): n for path, n in self.mix.items()
        }
        more = {"url": url, "duration_s": self.seconds, "processes": self.processes * clients, "mix": mix}
        load = Load(**own | more)
        if self.tool in GENERATORS:
            GENERATORS[self.tool].check(load)
        return load


@dataclass(frozen=True)
class AuditSection(Section):
    """Rules of the audit for the runs of this study, with the keys of `[audit]` in a loadcurve.toml, and `accept`."""

    select: tuple[str, ...] = ()
    """Names of the rules that run; all rules where it is left out."""

    ignore: dict[str, str] = field(default_factory=dict)
    """Rule → the reason why its findings do not count. They are listed with the reason."""

    accept: dict[str, str] = field(default_factory=dict)
    """Run, file or link that differs from the manifest `runs.json` → the reason: `c0001-r2: lost with a disk`. For any
    other, `loadcurve tidy` ends with exit code 1."""

    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    """Rule → threshold → another value; `loadcurve explain RULE` lists the thresholds."""


_DEFAULT_SERVER: dict[str, Any] = {NGINX.name: NginxSection()}


@dataclass(frozen=True)
class Sections(StudyKeys):
    """A study with each section checked by itself."""

    topology: TopologySection = field(default_factory=TopologySection)
    """A recipe of hosts and networks with its numbers, or machines that already run; this machine's loopback where
    the section is left out."""

    hosts: dict[str, HostSection] = field(default_factory=dict)
    """What each host is set to: name of the host, such as ``S1``, or of its role, ``S`` → its settings."""

    links: dict[str, LinkConditions] = field(default_factory=dict)
    """What each link does to packets: ``S1`` (that host's), ``LB.back``, or a network's name (all of it) → its
    conditions."""

    server: ServerSection = field(default_factory=lambda: ServerSection(**_DEFAULT_SERVER))
    """What runs on each server host; an nginx where the section is left out."""

    balancer: BalancerSection = field(default_factory=BalancerSection)
    """What distributes the load among the servers."""

    load: LoadSection = field(default_factory=LoadSection)
    """What the generator does at each point."""

    monitors: MonitorsSection = field(default_factory=lambda: MonitorsSection(**DEFAULT_MONITORS))
    """What watches each host, each with its interval in s."""

    fault: FaultSection = field(default_factory=FaultSection)
    """What goes wrong on purpose during each run."""

    functions: FunctionsSection = field(default_factory=FunctionsSection)
    """A test of functions instead of load."""

    objective: ObjectiveSection = field(default_factory=ObjectiveSection)
    """What a run must keep: a latency at a quantile, a share of failed requests."""

    search: SearchSection | None = None
    """Instead of levels for one factor: search the level at which the objective breaks."""

    stop: StopSection | None = None
    """Instead of a number of repeats: repeat until the mean is known well enough."""

    audit: AuditSection = field(default_factory=AuditSection)
    """Which rules of the audit judge the runs, and with which limits."""
