"""A study's run folders into tables: parsers know the text, `run.json` knows the rest."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from loadcurve import tables
from loadcurve.errors import ParseError, printable
from loadcurve.ingest.clean import clean
from loadcurve.ingest.files import content, files_of
from loadcurve.ingest.form import Form
from loadcurve.ingest.load.wrk_json import WRK_JSON
from loadcurve.ingest.load.wrk_reporter import join_reporter
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.point import check_factors, find_edits, tables_of, wrong
from loadcurve.ingest.registry import form_of
from loadcurve.ingest.streams import parse_each
from loadcurve.manifest import NAME as MANIFEST
from loadcurve.manifest import find_gaps
from loadcurve.paths import shown
from loadcurve.records import fingerprint, read_run, read_study, run_folders
from loadcurve.schemas import RAW, SCHEMAS
from loadcurve.study import Command, Run, Study, background_ratios

REPORTS = ("runs", "latency", "histogram", "balancer")
"""Tables that say what became of the load."""
_BALANCERS = ("nft", "ipvsadm", "haproxy")


@dataclass(frozen=True)
class Ingested:
    """Checked tables of a study, the raw files each comes from, and what weakens them.

    Attributes
    ----------
    tables : dict[str, pandas.DataFrame]
        Every table of `schemas.RAW`, some perhaps without rows.
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
    edits: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def read_runs(folder: Path) -> Ingested:
    """Read every run of a study's folder.

    A run that did not finish keeps its row in `runs`, with its status and without numbers.  A folder without `run.json`
    is a run made by hand: its files are told from their content, and what only a record knows is missing.  A run that
    a launch made and that is gone (`loadcurve.manifest`) has a row with the status ``missing``, and a warning.

    Raises
    ------
    ParseError
        For the first file that does not hold what its tool writes, that `run.json` names but is not there, that it
        does not name, or that was changed since it was recorded; and for a folder or `run.json` that is not of this
        study.
    """
    study = read_study(folder)
    parts = _Parts()
    for run_folder in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
        _read_one(run_folder, study, parts)
    _note_gaps(folder, study, parts)
    return _ingested(parts, folder)


def read_gaps(folder: Path) -> Ingested:
    """Read what a study's manifest misses, and nothing of its runs."""
    parts = _Parts()
    _note_gaps(folder, read_study(folder), parts)
    return _ingested(parts, folder, ["runs"])


def _note_gaps(folder: Path, study: Study, parts: _Parts) -> None:
    """Give each run that is missing its row and its warning, and warn of each that is not of the launch."""
    held = {path.name: read_run(path).seal for path in run_folders(folder)}
    for run_id, said in find_gaps(folder, held):
        parts.warnings.append(f"{shown(folder / run_id)}: {said}")
        if run_id not in held:
            row = {"study": study.study, "run_id": run_id, "status": "missing", "source": MANIFEST}
            parts.frames["runs"].append(pd.DataFrame([row]))
    if (folder / MANIFEST).exists():
        parts.sources["runs"].add(folder / MANIFEST)


def read_run_folder(folder: Path) -> Ingested:
    """Read one run of a study's folder, as `read_runs` reads each of them.

    Parameters
    ----------
    folder : pathlib.Path
        Of the run.

    Raises
    ------
    ParseError
        As `read_runs` does.
    """
    parts = _Parts()
    _read_one(folder, read_study(folder.parent), parts)
    return _ingested(parts, folder.parent)


def read_reports(folder: Path, run: Run | None = None) -> Ingested:
    """Read what generators and balancer of a finished run reported: the tables of `REPORTS`, and no other monitors.

    Parameters
    ----------
    folder : pathlib.Path
        Of the run.
    run : Run, optional
        Its record, where `run.json` does not yet say that it finished.

    Raises
    ------
    ParseError
        As `read_runs` does, for these files.
    """
    run, parts = read_run(folder) if run is None else run, _Parts()
    check_factors(run, folder)
    _read_finished(run, folder, parts, _is_report)
    return _ingested(parts, folder.parent, REPORTS)


def _read_one(folder: Path, study: Study, parts: _Parts) -> None:
    if not (folder / "run.json").exists():
        _read_loose(folder, study, parts)
        return
    run = _read_run(folder, study)
    parts.sources["runs"].add(folder / "run.json")
    if run.status == "finished":
        check_factors(run, folder)
        for edit in find_edits(run, study):
            parts.edits[edit].append(run.run_id)
        _read_finished(run, folder, parts)
        _check_files(run, folder)
        return
    for name in sorted(run.files):
        _check_fingerprint(run, folder / name)
    row = {"status": run.status, **_factors(run), "connections": run.factors.get("connections")}
    parts.frames["runs"].append(_of_run(pd.DataFrame([row]), run))
    parts.warnings.append(f"{shown(folder)}: {run.status}: {run.reason or 'the launcher ended'}")


def _ingested(parts: _Parts, folder: Path, names: Iterable[str] = RAW) -> Ingested:
    checked = {
        name: tables.check(
            name, pd.concat(frames, ignore_index=True) if (frames := parts.frames[name]) else pd.DataFrame()
        )
        for name in names
    }
    everywhere = {folder / "study.yml"}
    sources = {name: tuple(sorted(parts.sources[name] | everywhere)) for name in checked}
    edited = [
        f"{shown(folder / 'study.yml')}: edited after {_named(runs)}: {edit}; these runs keep what they were launched "
        "with: undo the edit, or give the edited study another name"
        for edit, runs in parts.edits.items()
    ]
    return Ingested(checked, sources, tuple(map(printable, (*edited, *parts.warnings))))


def _named(runs: list[str]) -> str:
    return runs[0] if len(runs) == 1 else f"{len(runs)} runs from {runs[0]} on"


def _read_loose(folder: Path, study: Study, parts: _Parts) -> None:
    """Read the files of a run without a record; one that cannot be read is named in a warning, and the rest is kept."""
    for path, parsed, refused in parse_each(files_of(folder), name=shown):
        if parsed is None:
            parts.warnings.append(f"not read: {refused}")
            continue
        parts.warnings += [f"{shown(path)}: {warning}" for warning in parsed.warnings]
        for name, frame in parsed.tables.items():
            source = printable(path.relative_to(folder).as_posix())
            known = {"study": study.study, "run_id": printable(folder.name), "source": source}
            parts.frames[name].append(frame.assign(**known))
            parts.sources[name].add(path)


def _read_run(folder: Path, study: Study) -> Run:
    """Read the `run.json` of a folder, which must be of this folder and this study."""
    try:
        run = read_run(folder / "run.json")
    except ParseError as error:
        raise error.at(shown(folder / "run.json")) from None
    for key, named, expected in (("run_id", run.run_id, folder.name), ("study", run.study, study.study)):
        if named != expected:
            raise wrong(folder, key, f"the {key} {expected!r} of this folder", named)
    return run


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_files(run: Run, folder: Path) -> None:
    """See that a finished run's folder holds what its `run.json` lists, unchanged, and nothing else."""
    streams = {name for command in run.commands for name in (command.stdout, command.stderr) if name}
    for name in sorted(streams | set(run.files)):
        _check_fingerprint(run, folder / name)
    for name in sorted({p.name for p in folder.iterdir()} - set(run.files) - {"run.json"}):
        raise _unlisted(folder / name)


def _check_fingerprint(run: Run, path: Path) -> None:
    if not path.is_file():
        raise ParseError(0, "the file that run.json names", "no file", shown(path))
    if path.name not in run.files:
        raise _unlisted(path)
    recorded, found = run.files[path.name], fingerprint(path)
    if recorded["sha256"] != found["sha256"]:
        same = recorded["sha256"][:12] == found["sha256"][:12]
        old, new = (sha if same else f"{sha[:12]}…" for sha in (recorded["sha256"], found["sha256"]))
        raise ParseError(1, f"the bytes that run.json recorded (sha256 {old})", f"sha256 {new}", shown(path))
    if recorded["bytes"] != found["bytes"]:
        raise ParseError(1, f"{recorded['bytes']} bytes as run.json recorded", f"{found['bytes']} bytes", shown(path))


def _unlisted(path: Path) -> ParseError:
    return ParseError(0, "only the files that run.json lists", path.name, shown(path))


def _is_output(command: Command) -> bool:
    """Whether a command's output is data: servers and balancers print their log, a warm-up is no part of the run."""
    return command.role in ("collector", "generator")


def _is_report(command: Command) -> bool:
    return _is_output(command) and (command.role == "generator" or command.tool in _BALANCERS)


def _read_finished(run: Run, folder: Path, parts: _Parts, is_read: Callable[[Command], bool] = _is_output) -> None:
    parts.warnings += [f"{shown(folder)}: {warning}" for warning in run.warnings]
    generators = [c for c in run.commands if c.role == "generator"]
    load_started, stated = min(pd.Timestamp(c.started_at) for c in generators), []
    reported: set[int | None] = set()
    for name, frame in tables_of(run, load_started).items():
        parts.frames[name].append(_of_run(frame.assign(source="run.json"), run))
        parts.sources[name].add(folder / "run.json")
    for command in run.commands:
        if not is_read(command):
            continue
        form = form_of(command.tool, command.variant)
        called = f"{command.tool} {command.variant}".strip()
        if form is None or not command.stdout:
            why = "printed nothing" if form else f"is no {command.role} whose output loadcurve reads: left out"
            parts.warnings.append(f"{shown(folder)}: {called} {why}")
            continue
        path = folder / command.stdout
        parsed = _parse(form, path)
        if command in generators and "runs" in parsed.tables:
            if len(generators) == 1:
                _check_generator(parsed.tables["runs"], run, path)
            stated.append(_connections(parsed.tables["runs"]))
        _check_fingerprint(run, path)
        read = {path: parsed}
        report = path.with_suffix(".json")
        if command.tool == "wrk" and report.name in run.files:
            counted = _parse(WRK_JSON, report)
            _check_fingerprint(run, report)
            read = dict(zip((path, report), join_reporter(parsed, counted), strict=True))
        generator = generators.index(command) if command in generators else None
        further = _further(run, command, folder) if command in generators else {}
        read |= further
        # ab's report has whole milliseconds, its file of percentiles has decimals.
        finer = any("latency" in part.tables for part in further.values())
        for source, part in read.items():
            parts.warnings += [f"{shown(source)}: {warning}" for warning in part.warnings]
            for name, frame in part.tables.items():
                if name == "latency" and finer and source == path:
                    continue
                parts.frames[name].append(_complete(name, frame, run, command, source.name, load_started, generator))
                parts.sources[name] |= {*read, folder / "run.json"}
                reported |= {generator} if name == "runs" else set()
    for generator, command in enumerate(generators):
        if generator not in reported:  # a run without numbers is a run all the same
            row: dict[str, object] = {"tool": command.tool}
            if len(generators) == 1:
                row["connections"] = run.factors.get("connections")
            frame = _complete("runs", pd.DataFrame([row]), run, command, "run.json", load_started, generator)
            parts.frames["runs"].append(frame)
    total = sum(stated) if len(stated) == len(generators) > 1 else float("nan")
    if total != run.factors.get("connections") and total == total:
        wanted = f"{run.factors.get('connections')} connections of all generators together"
        raise wrong(folder, "factors", wanted, f"{total:g}")


def _further(run: Run, command: Command, folder: Path) -> dict[Path, Parsed]:
    """What a generator wrote beside its report: percentiles of its own, a line for each request."""
    stem, found = command.stdout.removesuffix(".txt"), {}
    for name in sorted(run.files):
        variant = name.removeprefix(f"{stem}.").partition(".")[0]
        form = form_of(command.tool, variant) if variant in ("percentiles", "requests") else None
        if name.startswith(f"{stem}.") and form is not None:
            found[folder / name] = _parse(form, folder / name)
            _check_fingerprint(run, folder / name)
    return found


def _connections(reports: pd.DataFrame) -> float:
    """Connections that a generator says it had; NaN where it does not say."""
    return float(reports["connections"].sum(min_count=1)) if "connections" in reports else float("nan")


def _parse(form: Form, path: Path) -> Parsed:
    if not path.is_file():
        raise ParseError(0, "the file that run.json names", "no file", shown(path))
    raw = content(path)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ParseError(
            raw[: error.start].count(b"\n") + 1,
            "UTF-8",
            str(error.object[error.start : error.end]),
            shown(path),
        ) from None
    try:
        return form.parse(clean(text))
    except ParseError as error:
        raise error.at(shown(path)) from None


def _check_generator(reports: pd.DataFrame, run: Run, path: Path) -> None:
    """See that the generator's own text tells of the load that `run.json` names."""
    named = {name: run.factors[name] for name in ("connections", "threads") if name in run.factors}
    for name, wanted in named.items():
        # wrk needs a connection for each thread, so the laboratory never starts more threads than connections.
        least = min(named.values()) if name == "threads" and all(map(_is_number, named.values())) else wanted
        for stated in reports.get(name, ()):
            if stated != least:
                raise ParseError(2, f"{least} {name} as run.json says", str(stated), shown(path))


def _complete(
    name: str,
    frame: pd.DataFrame,
    run: Run,
    command: Command,
    source: str,
    load_started: pd.Timestamp,
    generator: int | None,
) -> pd.DataFrame:
    """Add what the run folder knows to what the text knew."""
    columns = SCHEMAS[name].columns
    known: dict = {"source": source}
    if generator is not None and "generator" in columns:
        known["generator"] = generator
    if "elapsed_s" in columns and "time" in frame:
        known["elapsed_s"] = (frame["time"] - load_started).dt.total_seconds() - _clock_offset_s(run, command.host)
    if "host" in columns and (name != "hosts" or "host" not in frame):
        # The study's name for it; a heading, such as mpstat's, has the machine's, which namespaces share.
        known["host"] = command.host
    if name == "balancer" and (shares := run.factors.get("expected_shares")):
        known["expected_share_ratio"] = _expected_shares(frame, shares)
    if name == "runs":
        failed = frame["status"].eq("failed") if "status" in frame else pd.Series(False, frame.index)
        known |= {
            "status": failed.map({True: "failed", False: run.status}),
            "tool_version": command.version,
            "started_at": pd.Timestamp(command.started_at),
            **_factors(run),
            **_background(run),
        }
    return _of_run(frame.assign(**known), run)


def _expected_shares(balancer: pd.DataFrame, shares: dict[str, float]) -> pd.Series:
    """What each server is to get, by its endpoint; haproxy calls the servers s1, s2 and so on, in their order."""
    known = balancer.reindex(columns=["server", "server_address", "server_port"]).astype("str")
    names = {f"s{number}": share for number, share in enumerate(shares.values(), 1)}
    return (known["server_address"] + ":" + known["server_port"]).map(shares).fillna(known["server"].map(names))


def _clock_offset_s(run: Run, host: str) -> float:
    """By how much a host's clock is ahead of that of the launcher, which wrote down when commands were started."""
    facts = run.machine.get("hosts", {}).get(host, {})
    return facts.get("clock_offset_s", 0.0)


def _factors(run: Run) -> dict:
    return {name: run.factors.get(name) for name in ("variant", "repeat", "server_cpu", "generator_cpu")}


def _background(run: Run) -> dict:
    """What others took of the processors, on the machine where that was most."""
    ratios = [*background_ratios(run.background).values()] or [(np.nan, np.nan)]
    return dict(zip(("cpu_other_ratio", "cpu_steal_ratio"), np.fmax.reduce(ratios), strict=True))


def _of_run(frame: pd.DataFrame, run: Run) -> pd.DataFrame:
    return frame.assign(study=run.study, run_id=run.run_id)
