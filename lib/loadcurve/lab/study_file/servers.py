"""The sections `server` and `monitors`: what runs and what is sampled on each host."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from loadcurve.lab.generators.load import check_url
from loadcurve.lab.monitors import MONITORS, MonitorKind
from loadcurve.lab.servers import SERVERS
from loadcurve.study.section import Check, Choice, Range, Section, with_keys


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
    def program(self) -> str:
        """Name of the program, or ``url``."""
        return self.chosen[0]

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
