"""Read and write study.yml and run.json: strict reads, atomic writes, and a seal on each record.

An error names the file and the line; a changed record is detected by its seal.
"""

import hashlib
import json
import os
from dataclasses import asdict, fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import yaml

from loadcurve.errors import ParseError, ValueRuleError, refuse
from loadcurve.files.atomic import sha256_of, write_text
from loadcurve.files.checked import built
from loadcurve.files.yaml_document import read_yaml
from loadcurve.paths import check_own_file, leads_out_of
from loadcurve.study import Command, Run, Study
from loadcurve.study.record_rules import broken_rules


def read_study(path: Path) -> Study:
    """Read a `study.yml`, given its path or its folder."""
    document = read_yaml(check_own_file(path / "study.yml" if path.is_dir() else path))
    study, faults = built(Study, document)
    refuse(faults, document.path)
    if study.study != document.path.parent.name:
        expected = f"the folder's name {document.path.parent.name}"
        raise ParseError(document.line(("study",)), expected, study.study, str(document.path))
    return study


def write_study(study: Study, folder: Path) -> Path:
    """Write `study.yml` without default values to `folder`, which must have the study's name."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "study.yml"
    usual = asdict(Study(study.study, study.question))
    values = {k: v for k, v in asdict(study).items() if k in ("study", "question") or v != usual[k]}
    write_text(target, yaml.safe_dump(json.loads(json.dumps(values)), sort_keys=False, allow_unicode=True))
    return target


def read_run(path: Path) -> Run:
    """Read the `run.json` of a run's folder."""
    path = path / "run.json" if path.is_dir() else path
    text, values = read_json(path)
    where = _key_lines(text)
    built = values
    if isinstance(values, dict) and "commands" in values:
        if not isinstance(values["commands"], list):
            raise ParseError(where.get("commands", 0), "commands to be a list", repr(values["commands"]), str(path))
        at = dict.fromkeys((f.name for f in fields(Command)), where.get("commands", 0))
        built = values | {"commands": tuple(_build(Command, c, at, path) for c in values["commands"])}
    run = _build(Run, built, where, path)
    for key, expected, got in broken_rules(run):
        raise ParseError(where.get(key, 0), expected, got, str(path))
    expected = _seal(values)
    if run.seal != expected:
        # `run.seal` was recorded in the file; the other seal is computed from the values found there.
        digits = 12 if run.seal[:12] != expected[:12] else None
        recorded = f"sha256 {run.seal[:digits]}{'…' if digits else ''}" if run.seal else "none here"
        found = f"sha256 {expected[:digits]}{'…' if digits else ''}"
        raise ParseError(where.get("seal", 0), f"the seal of what was recorded ({recorded})", found, str(path))
    return run


def read_json(path: Path) -> tuple[str, Any]:
    """Read a JSON file strictly; return its text and its values.

    Raises ParseError when the file does not exist, is not JSON, or has a duplicate key in a mapping.
    """
    try:
        text = _text(path)
    except FileNotFoundError:
        raise ParseError(0, f"a {path.name}", "no file", str(path)) from None
    try:
        return text, json.loads(text, object_pairs_hook=_each_key_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        line = text.split("\n")[error.lineno - 1].strip()
        raise ParseError(error.lineno, f"JSON ({error.msg})", line, str(path)) from None
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
    """Return the folders of a study's runs, those with a `run.json`, sorted by name; none outside of the study."""
    root = os.path.realpath(study_folder)
    return sorted(p.parent for p in study_folder.glob("*/run.json") if not leads_out_of(root, p))


def _text(path: Path) -> str:
    """Return the text of a file that must be UTF-8."""
    content = check_own_file(path).read_bytes()
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParseError(line, "UTF-8", str(content[error.start : error.end]), str(path)) from None


def _key_lines(text: str) -> dict[str, int]:
    """Return the line of each top-level key, identified by the indentation that `write_run` uses."""
    return {line.split('"')[1]: n for n, line in enumerate(text.split("\n"), 1) if line.startswith('  "')}


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError(f"a key twice in {[key for key, _ in pairs]}")
    return values


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _seal(values: dict[str, Any]) -> str:
    """Return the SHA-256 over all values of the file except the seal."""
    others = json.loads(json.dumps({key: value for key, value in values.items() if key != "seal"}))
    return hashlib.sha256(
        json.dumps(others, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    ).hexdigest()


def _build(kind: type, values: Any, lines: dict[str, int], path: Path) -> Any:
    """Return a dataclass built from a parsed mapping; raise an error that names key and line."""
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


def _is_of(value: Any, expected: Any) -> bool:
    """Return whether a YAML or JSON value fits a field of this type: a list fits a tuple, an int fits a float."""
    origin, inner = get_origin(expected) or expected, get_args(expected)
    if origin is tuple:
        return isinstance(value, list | tuple) and all(_is_of(v, inner[0]) for v in value)
    if origin is dict:
        return isinstance(value, dict) and all(_is_of(k, inner[0]) and _is_of(v, inner[1]) for k, v in value.items())
    if expected is Any:
        return True
    if origin is UnionType:
        return any(_is_of(value, one) for one in inner)
    if isinstance(value, bool):
        return origin is bool
    return isinstance(value, (int, float) if origin is float else origin)
