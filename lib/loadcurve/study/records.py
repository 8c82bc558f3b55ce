"""Read and write study.yml and run.json: strict reads, atomic writes, and a seal on each record.

An error names the file and the line; a changed record is detected by its seal.  Another program or version may have
written invalid values, so what each value of a record that is read later may be is declared here, beyond the types of
`Run` and `Command`.  Values that pass need no further checks; other keys are kept, and printed at most.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NoReturn, TypeVar, get_args

from pydantic import ConfigDict, Field

from loadcurve.errors import ParseError, ValueRuleError, refuse
from loadcurve.files.atomic import sha256_of, write_text
from loadcurve.files.document import Document, built, read_text
from loadcurve.files.paths import check_own_file, leads_out_of
from loadcurve.files.yaml_document import read_yaml, yaml_text
from loadcurve.study import SECTIONS, Command, Run, Study
from loadcurve.study.archive import opened
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


Kind = TypeVar("Kind")

_MAX_BYTES = 16 << 20  # of a record or a manifest; those of 10,000 runs have 1 MB


def read_study(path: Path) -> Study:
    """Read a `study.yml`, given its path or its folder."""
    document = read_yaml(check_own_file(path / "study.yml" if path.is_dir() else path))
    study: Study
    study, faults = built(Study, document)
    refuse(faults, document.path)
    if study.study != (folder := document.path.absolute().parent.name):
        expected = f"the folder's name {folder}"
        raise ParseError(document.line(("study",)), expected, study.study, str(document.path))
    return study


def write_study(study: Study, folder: Path) -> Path:
    """Write `study.yml` without default values to `folder`, which must have the study's name."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "study.yml"
    usual = asdict(Study(study.study, study.question))
    values = {k: v for k, v in asdict(study).items() if k in ("study", "question") or v != usual[k]}
    write_text(target, yaml_text(json.loads(json.dumps(values))))
    return target


def read_run(path: Path) -> Run:
    """Read the `run.json` of a run's folder."""
    path = path / "run.json" if path.is_dir() else path
    text, values = read_json(path)
    document = Document(values, {(key,): line for key, line in _key_lines(text).items()}, path)
    for fault in faults_of(document):
        raise fault.at(path)
    commands = [_of_tuples(Command, command) for command in values.get("commands", ())]
    run = _of_tuples(Run, values | {"commands": commands})
    expected = _seal(values)
    if run.seal != expected:
        # `run.seal` was recorded in the file; the other seal is computed from the values found there.
        digits = 12 if run.seal[:12] != expected[:12] else None
        recorded = f"sha256 {run.seal[:digits]}{'…' if digits else ''}" if run.seal else "none here"
        found = f"sha256 {expected[:digits]}{'…' if digits else ''}"
        raise ParseError(document.line(("seal",)), f"the seal of what was recorded ({recorded})", found, str(path))
    return run


def read_json(path: Path) -> tuple[str, Any]:
    """Read a JSON file strictly; return its text and its values.

    Raises ParseError when the file does not exist, is not JSON, or has a duplicate key, a number that no table
    can hold, or text that is not Unicode.
    """
    text = _text(path)
    try:
        numbers: Any = {"parse_constant": _wrong, "parse_int": _integer, "parse_float": _finite}
        values = json.loads(text, object_pairs_hook=_each_key_once, **numbers)
        json.dumps(values, ensure_ascii=False).encode("utf-8")  # fails for half of a character, such as \ud800
        return text, values
    except json.JSONDecodeError as error:
        line = text.split("\n")[error.lineno - 1].strip()
        raise ParseError(error.lineno, f"JSON ({error.msg})", line, str(path)) from None
    except UnicodeEncodeError as error:
        raise ParseError(0, "text of whole characters", ascii(error.object[error.start]), str(path)) from None
    except (ValueError, RecursionError) as error:
        raise ParseError(0, "JSON", str(error), str(path)) from None


def write_run(run: Run, folder: Path) -> Path:
    """Write `run.json` with its seal, atomically: a reader sees the old file or the complete new one."""
    target = folder / "run.json"
    values = asdict(replace(run, seal=_seal(asdict(run))))
    write_text(target, json.dumps(values, indent=2, ensure_ascii=False) + "\n")
    return target


def line_of(key: str, run_json: Path) -> int:
    """Return the line of a top-level key in a `run.json`, for messages about its value; 0 if the key is missing."""
    return _key_lines(_text(run_json)).get(key, 0)


def fingerprint(path: Path) -> dict[str, Any]:
    """Return the size in bytes and the SHA-256 of a file, as stored in `Run.files`."""
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


def run_folders(study_folder: Path) -> list[Path]:
    """Return the folders of a study's runs, those with a `run.json`, sorted by name; none outside of the study.

    Those of a packed study are in its temporary copy (`loadcurve.study.archive.opened`).
    """
    study_folder = opened(study_folder)
    root = os.path.realpath(study_folder)
    return sorted(p.parent for p in study_folder.glob("*/run.json") if not leads_out_of(root, p))


def _text(path: Path) -> str:
    return read_text(check_own_file(path), _MAX_BYTES)


def _key_lines(text: str) -> dict[str, int]:
    """Return the line of each top-level key, identified by the indentation that `write_run` uses."""
    return {line.split('"')[1]: n for n, line in enumerate(text.split("\n"), 1) if line.startswith('  "')}


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError(f"a key twice in {[key for key, _ in pairs]}")
    return values


def _wrong(number: str) -> NoReturn:
    raise ValueError(number)


def _integer(digits: str) -> int:
    """Return an integer that a table can hold."""
    return int(digits) if len(digits) <= 20 and abs(int(digits)) < 2**63 else _wrong(digits)


def _finite(digits: str) -> float:
    return number if math.isfinite(number := float(digits)) else _wrong(digits)


def _seal(values: dict[str, Any]) -> str:
    """Return the SHA-256 over all values of the file except the seal."""
    others = json.loads(json.dumps({key: value for key, value in values.items() if key != "seal"}))
    return hashlib.sha256(
        json.dumps(others, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    ).hexdigest()


def _of_tuples(kind: type[Kind], values: dict[str, Any]) -> Kind:
    """Return a dataclass of the values of a JSON file, in which a tuple is a list."""
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})
