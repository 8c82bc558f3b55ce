"""A monitor as it is listed, and as it runs on a host: what it samples, how often, and which form reads it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from loadcurve.errors import ValueRuleError
from loadcurve.lab.servers.settings import Endpoint

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_VARIANT = re.compile(r"[a-z0-9_]{0,32}")
_PAGE = re.compile(r"/[A-Za-z0-9_/.-]{0,200}")


@dataclass(frozen=True)
class Monitor:
    """What one monitor samples on a host."""

    name: str  # Unique among the monitors of a host
    # `tool` and `variant`: the form that reads its text, as ingestion calls it: `ss` and `summary`.
    tool: str
    variant: str = ""
    interval_s: float = 1.0  # Between two snapshots, 0.1–3600 s
    argv: tuple[str, ...] = ()  # Command that prints one snapshot, or all of them where it `repeats`
    paths: tuple[str, ...] = ()  # Files that are one snapshot together, instead of a command
    page: tuple[Endpoint, str] | None = None  # A page of a server that is one snapshot, instead of a command
    repeats: bool = False  # Whether the command takes the snapshots itself, and prints the time of each
    stop: str = "TERM"  # Signal on which a command that `repeats` ends with a complete line

    def __post_init__(self) -> None:
        for field, shape in (("name", _NAME), ("tool", _NAME), ("variant", _VARIANT)):
            if not (isinstance(getattr(self, field), str) and shape.fullmatch(getattr(self, field))):
                raise ValueRuleError(field, "small letters, digits, '-' and '_'", getattr(self, field))
        number = isinstance(self.interval_s, int | float) and not isinstance(self.interval_s, bool)
        if not number or not 0.1 <= self.interval_s <= 3600:
            raise ValueRuleError("interval_s", "0.1 to 3600 s", self.interval_s)
        if self.repeats and not float(self.interval_s).is_integer():
            raise ValueRuleError("interval_s", f"whole seconds for {self.tool}", self.interval_s)
        if bool(self.argv) + bool(self.paths) + (self.page is not None) != 1:
            raise ValueRuleError("argv, paths, page", "one of them", (self.argv, self.paths, self.page))
        if self.page is not None and not _PAGE.fullmatch(self.page[1]):
            raise ValueRuleError("page", "a path of letters, digits and _ / . -", self.page[1])

    @property
    def form(self) -> tuple[str, str]:
        """Tool and variant, by which ingestion knows its reader."""
        return self.tool, self.variant

    def file(self, host: str) -> str:
        """Return the name of its file in a run's folder: host, tool, and what else its name says.

        Examples
        --------
        >>> Monitor("ss-summary", "ss", "summary", argv=("ss", "-s")).file("S1")
        'S1.ss.summary.txt'
        """
        more = "" if self.name == self.tool else f".{self.name.removeprefix(f'{self.tool}-')}"
        return f"{host}.{self.tool}{more}.txt"


@dataclass(frozen=True)
class MonitoredHost:
    """What a monitor has to know of its host and study."""

    ports: tuple[int, ...] = ()  # Ports of the servers and of the balancer
    status: Endpoint | None = None  # Page on which this host's nginx counts its connections
    # Tool and command that print the counters of the balancer on this host; empty where there is none.
    counters: tuple[str, tuple[str, ...]] = ("", ())


@dataclass(frozen=True)
class MonitorKind:
    """A monitor that a study can name."""

    name: str  # Its key in the section `monitors`, whose value is the interval in s
    description: str  # A sentence for the reference page and the schema
    # Interval and host → `Monitor`, or None where the host has nothing to sample.
    on_host: Callable[[float, MonitoredHost], Monitor | None]
    whole_seconds: bool = False  # Whether its tool takes intervals of whole seconds only
