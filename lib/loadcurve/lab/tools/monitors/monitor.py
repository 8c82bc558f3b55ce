"""A monitor as it is listed, as it runs on a host, and the processes that run the monitors of a host."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loadcurve.errors import ValueRuleError
from loadcurve.lab.tools.servers.settings import Endpoint
from loadcurve.study.section import Range

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
        for key, shape in (("name", _NAME), ("tool", _NAME), ("variant", _VARIANT)):
            if not (isinstance(value := getattr(self, key), str) and shape.fullmatch(value)):
                raise ValueRuleError(key, "small letters, digits, '-' and '_'", value)
        Range(0.1, 3600, unit="s").check("interval_s", self.interval_s)
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


SAMPLER = Path(__file__).with_name("sampler.py")
"""The program that takes the snapshots."""

# Times with their date, and one clock for all.
ENV = {"S_TIME_FORMAT": "ISO", "TZ": "UTC"}


@dataclass(frozen=True)
class Watcher:
    """A process to start in a run's folder before the load, and to stop after it."""

    tool: str  # `sampler`, or the tool that samples by itself
    argv: tuple[str, ...]  # The command; never a shell
    outputs: Mapping[str, str]  # Name of each monitor it runs → file of the run's folder in which its text is found
    stdout: str  # File to which the standard output goes; empty where the process writes its files itself
    stderr: str  # File for its error messages
    # Name of each file in the run's folder → its text, written before the start.
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=lambda: dict(ENV))  # Set beyond `tools.environment`
    stop: str = "TERM"  # Signal on which it ends with a complete line


def watchers(monitors: Iterable[Monitor], host: str = "local", python: str = "python3") -> tuple[Watcher, ...]:
    """Return the processes that run some monitors on a host.

    Files begin with the host's name.  `python` is 3.9 or later; it needs no package, so any will do, and a record names
    none of one machine.  Raises ValueRuleError when two monitors have one name.

    Examples
    --------
    >>> from loadcurve.lab.tools.monitors.kinds import nstat, sar, ss_summary
    >>> for watcher in watchers([sar(), ss_summary(), nstat()], "S1"):
    ...     print(" ".join(watcher.argv), dict(watcher.outputs))
    sar -u ALL -P ALL -r ALL -n DEV -n EDEV -n TCP -n ETCP -n SOCK 1 {'sar': 'S1.sar.txt'}
    python3 -I -S S1.sampler.py S1.sampler.json {'ss-summary': 'S1.ss.summary.txt', 'nstat': 'S1.nstat.txt'}
    """
    chosen = tuple(monitors)
    for name, times in Counter(monitor.name for monitor in chosen).items():
        if times > 1:
            raise ValueRuleError("monitors", "each once", name)
    alone = tuple(_alone(monitor, host) for monitor in chosen if monitor.repeats)
    sampled = [monitor for monitor in chosen if not monitor.repeats]
    return (*alone, _sampler(sampled, host, python)) if sampled else alone


def _alone(monitor: Monitor, host: str) -> Watcher:
    file = monitor.file(host)
    error = f"{file.removesuffix('.txt')}.err"
    return Watcher(monitor.tool, monitor.argv, {monitor.name: file}, file, error, stop=monitor.stop)


def _sampler(monitors: list[Monitor], host: str, python: str) -> Watcher:
    program, plan = f"{host}.sampler.py", f"{host}.sampler.json"
    text = json.dumps([_series(monitor, host) for monitor in monitors], indent=1)
    return Watcher(
        "sampler",
        (python, "-I", "-S", program, plan),
        {monitor.name: monitor.file(host) for monitor in monitors},
        "",
        f"{host}.sampler.err",
        files={program: SAMPLER.read_text("utf-8"), plan: f"{text}\n"},
    )


def _series(monitor: Monitor, host: str) -> dict[str, Any]:
    series = {"file": monitor.file(host), "interval_s": monitor.interval_s}
    if monitor.page is not None:
        endpoint, path = monitor.page
        return series | {"url": [endpoint.address, endpoint.port, path]}
    return series | ({"argv": list(monitor.argv)} if monitor.argv else {"paths": list(monitor.paths)})
