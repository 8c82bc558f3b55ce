"""A study's run folders into tables: parsers know the text, `run.json` knows the rest."""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from loadcurve import tables
from loadcurve.errors import ParseError
from loadcurve.ingest.registry import PARSERS
from loadcurve.paths import shown
from loadcurve.study import Command, Run, fingerprint, read_run, read_study, run_folders

TABLES = ("runs", "latency", "cpu", "network", "tcp", "sockets", "connections")


@dataclass(frozen=True)
class Ingested:
    """Checked tables of a study, the raw files each comes from, and what weakens them.

    Attributes
    ----------
    tables : dict[str, pandas.DataFrame]
        Every table of `TABLES`, some perhaps without rows.
    sources : dict[str, tuple of pathlib.Path]
        Files each table was made from.
    warnings : tuple of str
        ``PATH: sentence``, as the parsers and `run.json` gave them.
    """

    tables: dict[str, pd.DataFrame]
    sources: dict[str, tuple[Path, ...]]
    warnings: tuple[str, ...]


@dataclass
class _Parts:
    frames: dict[str, list[pd.DataFrame]] = field(default_factory=lambda: defaultdict(list))
    sources: dict[str, set[Path]] = field(default_factory=lambda: defaultdict(set))
    warnings: list[str] = field(default_factory=list)


def read_runs(folder: Path) -> Ingested:
    """Read every run of a study's folder.

    A run that did not finish keeps its row in `runs`, with its status and without numbers.

    Raises
    ------
    ParseError
        For the first file that does not hold what its tool writes, that `run.json` names but is not there, or that
        was changed since it was recorded.
    """
    read_study(folder)
    parts = _Parts()
    for run_folder in run_folders(folder):
        run = read_run(run_folder)
        parts.sources["runs"].add(run_folder / "run.json")
        if run.status == "finished":
            _read_finished(run, run_folder, parts)
        else:
            row = {"status": run.status, **_factors(run), "connections": run.factors.get("connections")}
            parts.frames["runs"].append(_of_run(pd.DataFrame([row]), run))
            parts.warnings.append(f"{shown(run_folder)}: {run.status}: {run.reason or 'the launcher ended'}")
    checked = {
        name: tables.check(
            name, pd.concat(frames, ignore_index=True) if (frames := parts.frames[name]) else pd.DataFrame()
        )
        for name in TABLES
    }
    everywhere = {folder / "study.yml"}
    sources = {name: tuple(sorted(parts.sources[name] | everywhere)) for name in TABLES}
    return Ingested(checked, sources, tuple(parts.warnings))


def _read_finished(run: Run, folder: Path, parts: _Parts) -> None:
    parts.warnings += [f"{shown(folder)}: {warning}" for warning in run.warnings]
    load_started = pd.Timestamp(min(c.started_at for c in run.commands if c.role == "generator"))
    generators = [c for c in run.commands if c.role == "generator"]
    for command in run.commands:
        parser = PARSERS.get((command.tool, command.variant))
        if parser is None or not command.stdout:
            continue
        path = folder / command.stdout
        parsed = _parse(parser, path, run)
        parts.warnings += [f"{shown(path)}: {warning}" for warning in parsed.warnings]
        for name, frame in parsed.tables.items():
            generator = generators.index(command) if command in generators else None
            parts.frames[name].append(_complete(frame, run, command, load_started, generator))
            parts.sources[name] |= {path, folder / "run.json"}


def _parse(parser, path: Path, run: Run):
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise ParseError(0, "the file that run.json names", "no file", shown(path)) from None
    except UnicodeDecodeError as error:
        raise ParseError(
            path.read_bytes()[: error.start].count(b"\n") + 1,
            "UTF-8",
            str(error.object[error.start : error.end]),
            shown(path),
        ) from None
    try:
        parsed = parser(text)
    except ParseError as error:
        raise error.at(shown(path)) from None
    recorded, found = run.files.get(path.name), fingerprint(path)
    if recorded != found:
        expected = recorded["sha256"][:12] if recorded else "no such file"
        raise ParseError(
            1, f"the bytes that run.json recorded (sha256 {expected}…)", f"sha256 {found['sha256'][:12]}…", shown(path)
        )
    return parsed


def _complete(
    frame: pd.DataFrame, run: Run, command: Command, load_started: pd.Timestamp, generator: int | None
) -> pd.DataFrame:
    """Add what the run folder knows to what the text knew."""
    known = {}
    if generator is not None:
        known["generator"] = generator
    if "time" in frame:
        known["elapsed_s"] = (frame["time"] - load_started).dt.total_seconds()
    if "threads" in frame:
        known |= {
            "status": run.status,
            "tool_version": command.version,
            "started_at": pd.Timestamp(command.started_at),
            **_factors(run),
        }
    if "quantile" not in frame:
        known["host"] = command.host
    return _of_run(frame.assign(**known), run)


def _factors(run: Run) -> dict:
    return {name: run.factors.get(name) for name in ("variant", "repeat", "server_cpu", "generator_cpu")}


def _of_run(frame: pd.DataFrame, run: Run) -> pd.DataFrame:
    return frame.assign(study=run.study, run_id=run.run_id)
