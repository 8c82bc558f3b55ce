"""The files of a folder: one after the other, and with the run of every row."""

import functools
import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from loadcurve.errors import LoadcurveError, ParseError, printable
from loadcurve.ingest.files import files_of, is_folder
from loadcurve.ingest.given_factors import Factors, GivenFactors
from loadcurve.ingest.hints import Hints
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.raw_file import FACTORS, Matched, RawFile
from loadcurve.ingest.streams import Command, Outcome, parse_each
from loadcurve.many_files import ManyFiles
from loadcurve.reading.reading import Reading, refused
from loadcurve.reading.recordings import recording_text
from loadcurve.reading.studies import RUN_S
from loadcurve.study import manifest

# Files in a study's folder that belong to no run; fault.yml describes a fault that was recorded on purpose.
_OF_A_STUDY = ("study.yml", "answers.json", "fault.yml", manifest.NAME)


def read_each(
    path: str | Path,
    hints: Hints,
    workers: int = 0,
    leave_out: Collection[Path] = (),
    store: Path | None = None,
) -> Iterator[Reading]:
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
    leave_out : collection of pathlib.Path
        Resolved paths of files of the folder that are no raw files.
    store : pathlib.Path, optional
        Folder to which the large tables of files go, checked and as Arrow (`loadcurve.ingest.on_disk`).  Files are then
        read in any order, the largest first.
    """
    path = Path(path)
    in_a_folder = is_folder(path)
    files = files_of(path)
    if in_a_folder and not files:
        yield refused(printable(str(path)), no_files(path))
    runs = _recorded_runs(files) if in_a_folder else ()
    known = {run.parent / name for run in runs for name in _OF_A_STUDY} | {path / FACTORS}
    raw = (file for file in files if file not in known and not (leave_out and file.resolve() in leave_out))
    files_of_run, loose = _by_run(raw, runs)
    many = ManyFiles(files, workers)
    with many.showing_progress():
        yield from many.each(_read_recorded, runs, files_of_run.__getitem__, _lost_run, RUN_S)
        yield from _gaps(runs)
        each = functools.partial(many.each, files_of=_files_of_command, lost=_lost_command, largest_first=bool(store))
        for file, parsed, why in parse_each(loose, hints, recording_text, each=each, store=store):
            yield Reading(printable(str(file)), parsed or Parsed(""), why, file=file if in_a_folder else None)


def read_matched(
    path: Path, hints: Hints, workers: int = 0, factors: Factors = None, *, store: bool = False
) -> Iterator[Reading]:
    """Yield the readings of a folder, with the run of every row.

    Each file gives a reading with its warnings or the reason why it was rejected.  The tables follow in parts, ``runs``
    last, because the run of a row may depend on every other file.  The last reading has warnings about contradictions,
    and the origin of each fact that no text states.

    Parameters
    ----------
    path : pathlib.Path
        A folder.
    hints, workers
        As in `read_each`.
    factors : mapping, path or GivenFactors, optional
        Facts about the runs, beside those of ``factors.csv`` in the folder.
    store : bool
        Whether large tables wait on disk until all files are read, so that they need not fit into memory together; they
        are then Arrow tables.
    """
    from loadcurve.ingest.raw_folder import raw_folder_parts  # with declarations that workers do not need

    given = GivenFactors.of(factors)
    files: list[RawFile] = []
    with tempfile.TemporaryDirectory(prefix="loadcurve-") as place:
        for reading in read_each(path, hints, workers, given.files, Path(place) if store else None):
            if reading.file is None or reading.refused:
                yield reading
                continue
            at = PurePosixPath(reading.file.relative_to(path))
            files.append(RawFile(at, reading.source, reading.parsed.tables, reading.file.stat().st_mtime))
            yield replace(reading, parsed=replace(reading.parsed, tables=Tables()))
        matched = Matched({}, {})
        for name, rows in raw_folder_parts(files, path, given, matched):
            yield Reading(str(path), Parsed("", Tables({name: rows})), labelled=True)
        if matched.warnings or matched.origins:
            notes = Parsed("", {}, tuple(matched.warnings), origins=tuple(matched.origins))
            yield Reading(str(path), notes, labelled=True)


def no_files(path: Path) -> LoadcurveError:
    """Return the error of a folder without files."""
    return LoadcurveError(
        f"{printable(str(path))}: expected reports of load generators (wrk, ab, k6 …) or files of monitors (sar, "
        "ss …), got an empty folder: name the folder that your tools wrote to (hidden files are skipped)"
    )


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
    return refused(str(folder), ParseError(0, "a run that can be read", why, str(folder)))


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
                yield Reading(str(file), Parsed("", Tables(filled), found.warnings), labelled=True)
            except LoadcurveError as error:
                yield refused(str(file), error)


def _read_recorded(folder: Path) -> Reading:
    from loadcurve.ingest.folder import read_run_folder

    try:
        found = read_run_folder(folder.resolve())
    except LoadcurveError as error:
        return refused(str(folder), error)
    filled = {name: rows for name, rows in found.tables.items() if len(rows)}
    named = {name: rows.assign(source=str(folder) + "/" + rows["source"]) for name, rows in filled.items()}
    return Reading(str(folder), Parsed("", Tables(named), found.warnings), labelled=True)
