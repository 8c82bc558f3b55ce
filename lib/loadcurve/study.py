"""Study, Run and Command: what `study.yml` and `run.json` say, as frozen dataclasses.

A study is a question with the factor levels, repeats and topology that answer it.  A run is one point of it, once.
The laboratory writes run folders and ingestion reads them; the two meet only here, in the folder's two files::

    data/studies/<study>/study.yml
    data/studies/<study>/<run_id>/run.json
    data/studies/<study>/<run_id>/<host>.<tool>[.<variant>].<ext>      verbatim output
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import yaml

from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError

STATUSES = ("running", "finished", "failed", "interrupted")


@dataclass(frozen=True)
class Study:
    """A question and what answers it.

    Attributes
    ----------
    study : str
        Name; the same as the folder's.
    question : str
        What the study asks, in one sentence.
    variants : dict[str, str]
        Name of each variant of the system under test → its recipe: ``cpu`` or ``delay 10ms`` for a private nginx of
        the laboratory, or the ``http://`` URL of a server that runs already.
    connections : tuple of int
        Levels of the factor connections (N), each at least 1.
    repeats : int
        How often each point is run, at least 1.
    seconds : float
        How long the generator runs at each point, in s; at least 1, since the collectors sample once a second.
    seed : int
        Of the random order of the points within each block.
    threads : int
        Threads of the load generator.
    response_bytes : int
        Body of each response.
    allow_targets : tuple of str
        Hosts beyond loopback that this study may load; each one is a decision of its author.
    """

    study: str
    question: str
    variants: dict[str, str]
    connections: tuple[int, ...]
    repeats: int = 3
    seconds: float = 5.0
    seed: int = 0
    threads: int = 1
    response_bytes: int = 616
    allow_targets: tuple[str, ...] = ()

    def __post_init__(self):
        if not self.variants:
            raise ValueRuleError("variants", "at least one name with its recipe", self.variants)
        if not self.connections or min(self.connections) < 1:
            raise ValueRuleError("connections", "one or more levels of at least 1", list(self.connections))
        if self.repeats < 1:
            raise ValueRuleError("repeats", "at least 1", self.repeats)
        if self.seconds < 1:
            raise ValueRuleError("seconds", "at least 1", self.seconds)
        if self.threads < 1:
            raise ValueRuleError("threads", "at least 1", self.threads)


@dataclass(frozen=True)
class Command:
    """One tool as it ran: a reader can repeat it by hand.

    Attributes
    ----------
    role : str
        ``server``, ``collector`` or ``generator``.
    tool, variant, version : str
        Which parser reads its output (`variant` tells apart several outputs of one tool), and the tool's version.
    host : str
        ``local`` until there are others.
    argv : tuple of str
        The command, run in the run's folder.
    env : dict[str, str]
        What was set beyond the caller's environment.
    limit_s : float
        Outer time limit in s, enforced by ``timeout`` in `argv`.
    stdout, stderr : str
        Files of the run's folder with the two streams, verbatim.
    started_at, ended_at : str
        UTC, ISO 8601.
    exit_code : int or None
        None while running, or when it was ended by the laboratory.
    """

    role: str
    tool: str
    argv: tuple[str, ...]
    stdout: str
    stderr: str
    limit_s: float
    variant: str = ""
    version: str = ""
    host: str = "local"
    env: dict[str, str] = field(default_factory=dict)
    started_at: str = ""
    ended_at: str = ""
    exit_code: int | None = None


@dataclass(frozen=True)
class Run:
    """What `run.json` says of a run.

    Attributes
    ----------
    study, run_id, status : str
        `status` is one of ``running finished failed interrupted``; anything but finished is done again on resumption.
    factors : dict
        ``variant connections repeat order``, and ``threads seconds url``.
    machine : dict
        Facts of the machine that decide what the numbers mean.
    commands : tuple of Command
        What ran, in order of start.
    files : dict[str, dict]
        Size in bytes and SHA-256 of each raw file: recorded data are verbatim and never edited.
    warnings : tuple of str
        What weakens the run, such as processors that could not be kept apart.
    reason : str
        Why it did not finish.
    """

    study: str
    run_id: str
    status: str
    factors: dict[str, Any]
    machine: dict[str, Any]
    commands: tuple[Command, ...] = ()
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    reason: str = ""


def read_study(path: Path) -> Study:
    """Read a `study.yml`, or that of a study's folder.

    Raises
    ------
    ParseError
        When the file is not YAML, or a key is unknown, missing or of the wrong type.
    """
    path = path / "study.yml" if path.is_dir() else path
    try:
        document = yaml.compose(path.read_text("utf-8"))
        values = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise LoadcurveError(f"{path}:0: expected a study.yml, got no file") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise ParseError(mark.line + 1 if mark else 0, "YAML", str(error.problem), str(path)) from None
    lines = {key.value: key.start_mark.line + 1 for key, _ in document.value} if isinstance(values, dict) else {}
    study = _build(Study, values, lines, path)
    if study.study != path.parent.name:
        raise ParseError(lines["study"], f"the folder's name {path.parent.name}", study.study, str(path))
    return study


def write_study(study: Study, folder: Path) -> Path:
    """Write `study.yml` into `folder`, which must bear the study's name."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "study.yml"
    values = json.loads(json.dumps(asdict(study)))
    target.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), "utf-8")
    return target


def read_run(path: Path) -> Run:
    """Read the `run.json` of a run's folder.

    Raises
    ------
    ParseError
        When the file is not JSON, or a key is unknown, missing or of the wrong type.
    """
    path = path / "run.json" if path.is_dir() else path
    text = path.read_text("utf-8")
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        lines = text.split("\n")
        raise ParseError(error.lineno, f"JSON ({error.msg})", lines[error.lineno - 1].strip(), str(path)) from None
    where = {
        key: n for n, line in enumerate(text.split("\n"), 1) if line.startswith('  "') for key in [line.split('"')[1]]
    }
    if isinstance(values, dict):
        values["commands"] = tuple(_build(Command, c, {}, path) for c in values.get("commands", ()))
    run = _build(Run, values, where, path)
    if run.status not in STATUSES:
        raise ParseError(where.get("status", 0), f"one of {', '.join(STATUSES)}", run.status, str(path))
    return run


def write_run(run: Run, folder: Path) -> Path:
    """Write `run.json` so that a reader sees the old file or the new one, never half of either."""
    target, draft = folder / "run.json", folder / "run.json.tmp"
    draft.write_text(json.dumps(asdict(run), indent=2, ensure_ascii=False) + "\n", "utf-8")
    draft.replace(target)
    return target


def fingerprint(path: Path) -> dict[str, Any]:
    """Size in bytes and SHA-256 of a file, as `Run.files` keeps them."""
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def run_folders(study_folder: Path) -> list[Path]:
    """Folders of a study's runs, by name: those with a `run.json`."""
    return sorted(p.parent for p in study_folder.glob("*/run.json"))


def _build(kind: type, values: Any, lines: dict[str, int], path: Path) -> Any:
    """Make a dataclass from a parsed mapping, with an error that names key and line."""
    if not isinstance(values, dict):
        raise ParseError(1, f"a mapping with the keys of a {kind.__name__.lower()}", str(values), str(path))
    known = {f.name: f for f in fields(kind)}
    for key, value in values.items():
        if key not in known:
            raise ParseError(lines.get(key, 0), f"one of the keys {', '.join(known)}", str(key), str(path))
        if not _is_of(value, known[key].type):
            name = getattr(known[key].type, "__name__", known[key].type)
            raise ParseError(lines.get(key, 0), f"{key} to be {name}", repr(value), str(path))
    try:
        return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
    except TypeError as error:
        raise ParseError(0, f"every key of a {kind.__name__.lower()}", str(error).split(") ")[-1], str(path)) from None
    except ValueRuleError as error:
        name = str(error).split(" ")[0]
        raise ParseError(lines.get(name, 0), str(error).split(", got")[0], str(values[name]), str(path)) from None


def _is_of(value: Any, wanted: Any) -> bool:
    """Whether a value from YAML or JSON may stand for a field of this type: a list for a tuple, an int for a float."""
    origin, inner = get_origin(wanted) or wanted, get_args(wanted)
    if origin is tuple:
        return isinstance(value, list | tuple) and all(_is_of(v, inner[0]) for v in value)
    if origin is dict:
        return isinstance(value, dict) and all(_is_of(k, inner[0]) and _is_of(v, inner[1]) for k, v in value.items())
    if wanted is Any:
        return True
    if origin is UnionType:
        return any(_is_of(value, one) for one in inner)
    if isinstance(value, bool):
        return origin is bool
    return isinstance(value, (int, float) if origin is float else origin)
