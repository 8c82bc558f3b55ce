"""Read files and folders into tables: output of any supported tool, compressed or not.

Ingestion starts no process and the laboratory parses no text.  This module uses both, because only the machine's own
sadf can convert a binary `sa` file to text.
"""

import functools
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError, printable
from loadcurve.ingest.files import content, files_of, is_folder, parse_bytes
from loadcurve.ingest.hints import Hints
from loadcurve.ingest.merge import join, label
from loadcurve.ingest.parsed import Parsed, Rows, Tables
from loadcurve.ingest.published import source_folder
from loadcurve.ingest.raw_file import FACTORS
from loadcurve.ingest.reads import record_reads, studies_read
from loadcurve.ingest.size import MAX_BYTES, read_stream
from loadcurve.ingest.streams import Command, Outcome, parse_each
from loadcurve.many_files import ManyFiles
from loadcurve.paths import data_name, is_plain
from loadcurve.study import manifest

if TYPE_CHECKING:
    import pandas as pd


NOT_READ = "not read: "
"""How the warning begins that names a path which was left out."""

# Files in a study's folder that belong to no run.
_OF_A_STUDY = ("study.yml", "answers.json", manifest.NAME)


@dataclass(frozen=True)
class Reading:
    """Tables of one raw file, or of one run that the laboratory recorded.

    Attributes
    ----------
    source : str
        Path of the file; ``-`` for standard input; the folder of a recorded run.  Characters that a table or a terminal
        cannot represent are escaped as in Python.
    run_id : str or None
        Folder of the file, relative to the folder that was read; None if a single file was read.
    parsed : Parsed
        Tables of the file; empty if the file was rejected.
    refused : str
        Reason for the rejection, in one line; empty if the file was read.
    recorded : bool
        Whether this is a run with a `run.json`; its rows then already name their run and file.
    file : pathlib.Path or None
        The file, if it is in a folder that was read and belongs to no recorded run.
    """

    source: str
    run_id: str | None
    parsed: Parsed
    refused: str = ""
    recorded: bool = False
    file: Path | None = None

    def rows(self, name: str) -> "pd.DataFrame | Rows":
        """Return the rows of a table, each with its run and its file."""
        rows = self.parsed.tables.rows(name)
        return rows if self.recorded else label(rows, run_id=self.run_id, source=self.source)

    def only(self, table: str) -> "Reading":
        """Return the same reading without its other tables."""
        kept = {name: self.parsed.tables.rows(name) for name in self.parsed.tables if name == table}
        return replace(self, parsed=replace(self.parsed, tables=Tables(kept)))


def read(
    path: str | Path,
    tool: str | None = None,
    timezone: str = "UTC",
    log_format: str = "",
    max_bytes: int = MAX_BYTES,
    factors: Mapping[str, str] | None = None,
) -> Parsed:
    r"""Read a file, or every file of a folder, into declared tables.

    A folder is a set of runs: each report of a load generator is one run, named by its file, or by its subfolder if it
    is alone there.  Files of monitors belong to the run of their folder, of their name (``c64.sar.txt`` and
    ``c64.wrk.txt``) or of their times.  Facts that only a `run.json` records are missing.  A study (a folder with
    `study.yml`) is read with all facts of its records.

    Parameters
    ----------
    path : str or pathlib.Path
        File (plain, gzip, xz, bzip2, Zstandard, or binary of sysstat) or folder.
    tool : str, optional
        ``TOOL`` or ``TOOL:VARIANT``; by default recognised from the text of each file.
    timezone : str
        IANA name of the time zone of local times in the files.
    log_format : str
        Format of access logs, as in nginx's `log_format` or Apache's `LogFormat`.
    max_bytes : int
        Size limit of a file in bytes, uncompressed; a larger file is rejected before it is loaded into memory.  Files
        of ``ab -g`` may be eight times as large, because their rows need less memory.
    factors : mapping of str to str, optional
        Of a folder: column of ``runs``, or another factor -> regular expression that is searched in the name of each
        report, such as ``{"connections": r"c(\d+)"}``.  What a report or ``factors.csv`` says counts more.

    Returns
    -------
    Parsed
        For a file, its tables and its tool.  For a folder, every table concatenated over the files, with an empty
        `tool`; the column `source` names the file of each row, the warnings list rejected files and rows without a run,
        and `origins` lists facts that no text states.

    Raises
    ------
    ParseError
        When a single file is not output of its tool.
    LoadcurveError
        When the file, folder, tool or format does not exist, or the folder is empty.

    Examples
    --------
    >>> from loadcurve import paths
    >>> parsed = read(paths.root() / "data/published/rt_qps_threads/raw/c8000.wrk.txt")
    >>> parsed.tool, parsed.tables["runs"][["connections", "throughput_rps"]].values.tolist()
    ('wrk', [[8000, 20260.6]])
    """
    from loadcurve import tables

    path, hints = Path(path), Hints(tool, timezone, log_format, max_bytes)
    recorded = (path / "study.yml").is_file()
    if is_folder(path):
        studies_read.add(data_name(path))
    if factors and (recorded or not is_folder(path)):
        raise ValueRuleError("factors", "given for a folder of raw files only", printable(str(path)))
    if recorded:
        from loadcurve.ingest.folder import read_runs

        found = read_runs(path)
        return Parsed("", Tables({name: t for name, t in found.tables.items() if len(t)}), found.warnings)
    if not is_folder(path):
        parsed = read_file(path, hints)
        known = {"source": printable(str(path))}
        checked = {name: tables.check(name, parsed.tables[name].assign(**known)) for name in parsed.tables}
        return Parsed(parsed.tool, Tables(checked), parsed.warnings, parsed.version)
    return _read_folder(path, hints, factors)


def as_parsed(data: "str | Path | Parsed | Mapping[str, pd.DataFrame]") -> Parsed:
    """Return data as `read` returns them: read a path, and take tables by name as they are.

    Examples
    --------
    >>> as_parsed({}).warnings
    ()
    """
    if isinstance(data, str | Path):
        return read(data)
    return data if isinstance(data, Parsed) else Parsed("", data)


def _read_folder(path: Path, hints: Hints, factors: Mapping[str, str] | None) -> Parsed:
    from loadcurve import tables
    from loadcurve.ingest.raw_file import RawFile
    from loadcurve.ingest.raw_folder import read_raw_folder

    if not files_of(path):
        raise _empty(path)
    record_reads([file for file in files_of(path) if is_plain(file)])
    collected: dict[str, list] = {}
    warnings: list[str] = []
    files: list[RawFile] = []
    for reading in read_each(path, hints):
        if reading.refused:
            warnings.append(NOT_READ + reading.refused)
            continue
        warnings += [f"{reading.source}: {warning}" for warning in reading.parsed.warnings]
        if reading.file is None:
            for name in reading.parsed.tables:
                collected.setdefault(name, []).append(reading.rows(name))
        else:
            place = PurePosixPath(reading.file.relative_to(path))
            files.append(RawFile(place, reading.source, reading.parsed.tables, reading.file.stat().st_mtime))
    matched = read_raw_folder(files, path, factors)
    for name, rows in matched.tables.items():
        collected.setdefault(name, []).append(rows)
    joined = Tables({name: join(parts) for name, parts in collected.items()})
    checked = Tables({name: tables.check(name, joined[name], extra=name == "runs") for name in joined})
    return Parsed("", checked, (*warnings, *matched.warnings), origins=tuple(matched.origins))


def _empty(path: Path) -> LoadcurveError:
    return LoadcurveError(
        f"{printable(str(path))}:0: expected reports of load generators (wrk, ab, k6 …) or files of monitors (sar, "
        "ss …), got an empty folder: name the folder that your tools wrote to (hidden files are skipped)"
    )


def require_report(parsed: Parsed, source: str) -> None:
    """Raise unless there is the report of a load generator.

    Parameters
    ----------
    parsed : Parsed
        As `read` returns it.
    source : str
        Name of the data.

    Raises
    ------
    LoadcurveError
        In one line: what was found instead, and what to do.
    """
    if "runs" in parsed.tables and len(parsed.tables["runs"]):
        return
    refused = [warning.removeprefix(NOT_READ) for warning in parsed.warnings if warning.startswith(NOT_READ)]
    if known := ", ".join(name for name in parsed.tables if len(parsed.tables[name])):
        got = f"only {known}: add the output of the load generator, or write these tables with loadcurve ingest"
    elif refused:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        got = f"none; {refused[0]}{more}"
    else:
        got = "none"
    raise LoadcurveError(f"{source or 'runs'}: expected the report of a load generator (wrk, ab, k6 …), got {got}")


def _own_name(path: Path) -> str:
    return Path(os.path.realpath(path)).name


def _refused(source: str, why: object) -> Reading:
    return Reading(source, None, Parsed(""), str(why))


def read_published_raw(source: str, name: str) -> Parsed:
    """Read tool output quoted in a published report, as `read` does.

    Parameters
    ----------
    source : str
        Folder under `data/published`.
    name : str
        Name of a file in the folder `raw` of the source.

    Returns
    -------
    Parsed
        Declared tables of the file.

    Raises
    ------
    LoadcurveError
        When the source or the file does not exist.
    ParseError
        When the file is not output of a tool; `source.yml` lists these files, with reasons.

    Examples
    --------
    >>> runs = read_published_raw("rt_qps_threads", "c8000.wrk.txt").tables["runs"]
    >>> runs[["errors_connect", "throughput_rps"]].to_numpy().tolist()
    [[6980, 20260.6]]
    """
    path = source_folder(source) / "raw" / name
    if not path.is_file():
        known = sorted(p.name for p in path.parent.glob("*"))
        raise LoadcurveError(f"name must be one of {', '.join(known)}, got {name!r}")
    record_reads([path])
    studies_read.add(f"published/{source}")
    return read(path)


def read_each(path: str | Path, hints: Hints, workers: int = 0) -> Iterator[Reading]:
    """Yield the reading of a file, or of each file of a folder in turn, so that only a few are in memory at a time.

    All files of a recorded run give one reading, with the factors of its `run.json`.  A large folder is read by several
    processes, in the same order; after two seconds, a terminal shows the progress on standard error.

    Parameters
    ----------
    path : str or pathlib.Path
        File or folder.
    hints : Hints
        What the caller knows about the texts.
    workers : int
        Largest number of processes; 0 for one per processor.
    """
    path = Path(path)
    in_a_folder = is_folder(path)
    files = files_of(path)
    if in_a_folder and not files:
        yield _refused(printable(str(path)), _empty(path))
    runs = _recorded_runs(files) if in_a_folder else ()
    known = {run.parent / name for run in runs for name in _OF_A_STUDY} | {path / FACTORS}
    files_of_run, loose = _by_run((file for file in files if file not in known), runs)
    many = ManyFiles(files, workers)
    with many.showing_progress() as count:
        for run, reading in zip(
            runs, many.each(_read_recorded, runs, files_of_run.__getitem__, _lost_run), strict=True
        ):
            count(files_of_run[run])
            yield reading
        yield from _gaps(runs)
        each = functools.partial(many.each, files_of=_files_of_command, lost=_lost_command)
        for file, parsed, refused in parse_each(loose, hints, _recording_text, each=each):
            count([file])
            run_id = None
            if in_a_folder:
                place = file.parent.relative_to(path).as_posix()
                run_id = printable(_own_name(path) if place == "." else place)
            own = file if in_a_folder else None
            yield Reading(printable(str(file)), run_id, parsed or Parsed(""), refused, file=own)


def _by_run(files: Iterable[Path], runs: Iterable[Path]) -> tuple[dict[Path, list[Path]], list[Path]]:
    """Return the files of each recorded run, and the files that belong to none."""
    of_run: dict[Path, list[Path]] = {run: [] for run in runs}
    loose: list[Path] = []
    for file in files:
        run = next((folder for folder in file.parents if folder in of_run), None)
        (loose if run is None else of_run[run]).append(file)
    return of_run, loose


def _files_of_command(command: Command) -> tuple[Path, ...]:
    return tuple(file for file in command if file)


def _lost_run(folder: Path, why: str) -> Reading:
    return _refused(str(folder), ParseError(0, "a run that can be read", why, str(folder)))


def _lost_command(command: Command, why: str) -> list[Outcome]:
    return [(command[0], None, str(ParseError(0, "a file that can be read", why, str(command[0]))))]


def _recorded_runs(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders in studies that contain a `run.json`."""
    folders = (file.parent for file in files if file.name == "run.json")
    return tuple(folder for folder in folders if (folder.absolute().parent / "study.yml").is_file())


def _gaps(runs: Iterable[Path]) -> Iterator[Reading]:
    """Yield a reading for each missing run of a study, if the whole study was read."""
    from loadcurve.ingest.folder import read_gaps

    for folder in dict.fromkeys(run.parent for run in runs):
        file = folder / manifest.NAME
        if file.is_file():
            try:
                found = read_gaps(folder.resolve())
                filled = {name: rows.assign(source=str(file)) for name, rows in found.tables.items() if len(rows)}
                yield Reading(str(file), None, Parsed("", Tables(filled), found.warnings), recorded=True)
            except LoadcurveError as error:
                yield _refused(str(file), error)


def _read_recorded(folder: Path) -> Reading:
    from loadcurve.ingest.folder import read_run_folder

    try:
        found = read_run_folder(folder.resolve())
    except LoadcurveError as error:
        return _refused(str(folder), error)
    filled = {name: rows for name, rows in found.tables.items() if len(rows)}
    named = {name: rows.assign(source=str(folder) + "/" + rows["source"]) for name, rows in filled.items()}
    return Reading(str(folder), None, Parsed("", Tables(named), found.warnings), recorded=True)


def read_named(name: str, hints: Hints, workers: int = 0) -> Iterator[Reading]:
    """Yield the readings of a file, a folder, or ``-`` for standard input, as named on the command line."""
    if not name:  # an unset shell variable, which must not mean the current folder
        yield _refused("", "the name of a file or folder must not be empty")
        return
    if name != "-":
        yield from read_each(name, hints, workers)
        return
    try:
        yield Reading("-", None, parse_bytes(_standard_input(hints), "-", hints, _recording_text))
    except LoadcurveError as error:
        yield _refused("-", error)


def _standard_input(hints: Hints) -> bytes:
    try:
        return read_stream(sys.stdin.buffer, hints.max_bytes)
    except ParseError as error:
        raise error.at("-") from None


def read_file(path: Path, hints: Hints) -> Parsed:
    """Return the tables of one file, as its parser returned them."""
    return parse_bytes(content(path, hints.max_bytes), str(path), hints, _recording_text)


def _recording_text(raw: bytes) -> str:
    from loadcurve.lab.monitors.sadf import text_of

    with tempfile.TemporaryDirectory(prefix="loadcurve-") as folder:
        recording = Path(folder) / "recording"  # sadf requires a file, and the original may be compressed
        recording.write_bytes(raw)
        return text_of(recording)
