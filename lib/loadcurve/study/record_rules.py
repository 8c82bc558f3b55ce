"""Schema of `run.json`, beyond the types of `Run` and `Command`: what each value that is read later may be.

The seal shows that a record was not changed, but another program or version may have written invalid values.  Values
that pass these rules need no further checks; keys that are not listed here are kept, and printed at most.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import ConfigDict, Field

from loadcurve.errors import ParseError, ValueRuleError
from loadcurve.files.checked import built
from loadcurve.files.document import Document
from loadcurve.study import SECTIONS, Run
from loadcurve.study.run import FUNCTIONS
from loadcurve.study.section import Check, Range, Section, broken_by

_UTC = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00)")
_Status = Literal["running", "finished", "failed", "interrupted"]
STATUSES = get_args(_Status)


def faults_of(document: Document) -> Iterator[ParseError]:
    """Yield the faults of a record, those of wrong types first."""
    yield from built(Run, document)[1]
    yield from built(_Record, document)[1]


def _check_utc(name: str, time: str) -> None:
    try:
        if _UTC.fullmatch(time) and datetime.fromisoformat(time):
            return
    except ValueError:
        pass
    raise ValueRuleError(name, "a time in UTC such as 2026-11-21T00:23:46.582660Z", time)


def _check_file(name: str, file: str) -> None:
    if file in (".", "..") or "/" in file or "\0" in file:
        raise ValueRuleError(name, "the name of a file in the run's folder", file)


_File = Annotated[str, Check(_check_file)]
_NotNegative = Annotated[float, Range(0)]


class _Open(Section):
    """A section that may have further keys."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore", strict=True)


@dataclass(frozen=True)
class _Command(_Open):
    role: Literal["server", "balancer", "collector", "warm_up", "generator", "functions"]
    stdout: _File
    stderr: _File
    unpacked: _File = ""
    stdin: _File = ""
    folders: tuple[_File, ...] = ()
    started_at: str = ""
    ended_at: str = ""
    exit_code: int | None = None

    @property
    def never_started(self) -> bool:
        return not self.started_at and not self.ended_at and self.exit_code is None

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        for name in () if self.never_started else ("started_at", "ended_at"):
            yield from broken_by(partial(_check_utc, name, getattr(self, name)))


@dataclass(frozen=True)
class _Recorded(Section):
    bytes: Annotated[int, Range(0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class _Event(Section):
    at: Annotated[str, Check(_check_utc)]
    host: str
    what: str


@dataclass(frozen=True)
class _Used(_Open):
    cpus: Annotated[tuple[int, ...], Field(min_length=1)]
    seconds: Annotated[float, Range(gt=0)]
    other_cpu_s: _NotNegative = 0.0
    steal_s: _NotNegative = 0.0


@dataclass(frozen=True)
class _Factors(_Open):
    variant: str = ""
    connections: Annotated[int, Range(1)] = 1
    repeat: Annotated[int, Range(1)] = 1
    order: int = 0
    threads: int = 0
    server_cpu: int | None = None
    generator_cpu: int | None = None
    seconds: float = 0.0
    url: str = ""
    recipe: str = ""
    expected_shares: dict[str, Annotated[float, Field(ge=0, le=1)]] = field(default_factory=dict)
    levels: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        for name in SECTIONS:
            if not isinstance(self.settings.get(name, {}), dict):
                yield ValueRuleError(f"settings.{name}", "a mapping", self.settings[name])


@dataclass(frozen=True)
class _Throttling:
    periods: float
    throttled: float
    throttled_s: float


@dataclass(frozen=True)
class _Card:
    kind: str = ""
    qdiscs: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Host:
    clock_offset_s: float = 0.0
    interfaces: dict[str, _Card] = field(default_factory=dict)
    routes: tuple[str, ...] = ()
    ssh: str = ""
    sysctls: dict[str, str] = field(default_factory=dict)
    throttling: _Throttling | dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class _Machine:
    hosts: dict[str, _Host] = field(default_factory=dict)


@dataclass(frozen=True)
class _Record(_Open):
    status: _Status
    factors: _Factors
    machine: _Machine
    commands: tuple[_Command, ...] = ()
    files: dict[str, _Recorded] = field(default_factory=dict)
    events: tuple[_Event, ...] = ()
    background: dict[str, _Used] = field(default_factory=dict)

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        for name in self.files:
            yield from broken_by(partial(_check_file, "files", name))
        if self.status == "finished":
            loads = [command for command in self.commands if command.role in ("generator", FUNCTIONS)]
            idle = [command for command in loads if command.role == "generator" and command.never_started]
            if not loads or idle:
                got = "one that never started" if idle else "none"
                yield ValueRuleError("commands", "complete: a run that finished had a generator", got)
