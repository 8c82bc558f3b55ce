"""The files of a folder: one after the other, and with the run of every row.

Recorded studies, and the runs of one, are read on all processors, with progress.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from loadcurve.errors import LoadcurveError, ParseError, original, printable
from loadcurve.files import paths
from loadcurve.files.atomic import temporary_folder
from loadcurve.files.paths import below, is_own_file
from loadcurve.ingest.fact_columns import Factors, GivenFactors
from loadcurve.ingest.files import Hints, describe_assets, describe_links, files_of, is_folder, list_files
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.raw_file import FACTORS, Matched, Note, Placement, RawFile
from loadcurve.ingest.streams import Command, Outcome, parse_each
from loadcurve.ingest.table_parts import Parts
from loadcurve.reading.reading import Reading, recording_text, refused
from loadcurve.runtime.many_files import ManyFiles
from loadcurve.study import manifest
from loadcurve.study.archive import opened

if TYPE_CHECKING:
    from distributed import Client

    from loadcurve.ingest.run_files import Parts as RunParts

Study = TypeVar("Study", bound=str | Path)
Result = TypeVar("Result")

STUDY_S = 0.7
"""Time to audit the tables of a study: 0.5 to 3 s."""
RUN_S = 0.03
"""Time to check the record and the fingerprints of a run and to make its DataFrames: 1.7 s for 60 runs."""


def each_run(read: Callable[[Path], "RunParts"], folders: Sequence[Path]) -> "Iterator[RunParts]":
    """Yield what `read` returns for the folder of each run, in order."""
    files = {folder: files_of(folder) for folder in folders}
    many = ManyFiles(file for of in files.values() for file in of)
    with many.showing_progress():
        yield from many.each(read, folders, files.__getitem__, _lost, RUN_S)


def each_study(
    work: Callable[[Study], Result], studies: Sequence[Study], lost: Callable[[Study, str], Result]
) -> Iterator[Result]:
    """Yield what `work` returns for each study: several studies at the same time, the largest first.

    A study that is larger than all others together is read on all processors instead, as are the others then.
    """
    files = {study: _files_of_study(study) for study in studies}
    many = ManyFiles(file for of in files.values() for file in of)
    sizes = {study: sum(file.stat().st_size for file in of) for study, of in files.items()}
    if 2 * max(sizes.values(), default=0) > sum(sizes.values()):
        yield from map(work, studies)
        return
    largest_first = sorted(studies, key=lambda study: -sizes[study])
    with many.showing_progress():
        yield from many.each(work, largest_first, files.__getitem__, lost, STUDY_S)


def _files_of_study(study: str | Path) -> list[Path]:
    try:
        return [file for file in files_of(paths.study_folder(study)) if file.is_file()]
    except LoadcurveError:  # which `work` reports
        return []


def _lost(folder: Path, why: str) -> "RunParts":
    raise ParseError(0, "a run that can be read", why, str(folder))


def read_each(
    path: str | Path,
    hints: Hints,
    workers: int = 0,
    leave_out: Collection[Path] = (),
    store: Path | None = None,
    client: "Client | None" = None,
    called: str = "",
) -> Iterator[Reading]:
    """Yield the reading of a file, or of each file of a folder in turn, so that only a few are in memory at a time.

    All files of a recorded run give one reading, with the factors of its `run.json`.  A large folder is read by several
    processes, in the same order; after two seconds, a terminal shows the progress on standard error.

    Parameters
    ----------
    workers : int
        Largest number of processes; 0 for one per processor.
    leave_out : collection of pathlib.Path
        Resolved paths of files of the folder that are no raw files.
    store : pathlib.Path, optional
        Folder to which the large tables of files go, and of a large folder all tables but reports and hosts
        (`loadcurve.ingest.on_disk`).  Files are then read in any order, the largest first.
    client : distributed.Client, optional
        Of a Dask cluster, whose workers read the files, under the same absolute paths.
    called : str
        Name of the path in the column `source` and in messages; by default the path.
    """
    path = Path(path)
    shown = functools.partial(_called, Path(os.path.abspath(path)), called or str(path))  # noqa: PTH100
    if client is not None or called not in ("", str(path)):
        path = path.absolute()
    path = opened(path)
    in_a_folder = is_folder(path)
    files, links, assets = list_files(path, hints.follow)
    if assets:
        yield Reading(printable(shown(path)), Parsed("", {}, (describe_assets(assets),)))
    if links:
        yield refused(printable(shown(path)), describe_links(shown(path), links))
    elif in_a_folder and not files:
        yield refused(printable(shown(path)), no_files(path))
    runs, studies = _recorded(files, hints.follow) if in_a_folder else ([], [])
    known = {study / name for study in studies for name in manifest.OF_A_STUDY} | {path / FACTORS}
    raw = (file for file in files if file not in known and not (leave_out and file.resolve() in leave_out))
    files_of_run, loose = _by_run(raw, runs)
    many = ManyFiles(files, workers, client)
    with many.showing_progress():
        read_recorded = functools.partial(_read_recorded, shown)
        yield from many.each(read_recorded, runs, files_of_run.__getitem__, functools.partial(_lost_run, shown), RUN_S)
        yield from _gaps(studies, shown)
        lost = functools.partial(_lost_command, shown)
        each = functools.partial(
            many.each, files_of=lambda command: tuple(filter(None, command)), lost=lost, largest_first=bool(store)
        )
        all_tables = store is not None and many.is_large
        for file, parsed, why in parse_each(loose, hints, recording_text, shown, each, store, store_all=all_tables):
            yield Reading(printable(shown(file)), parsed or Parsed(""), why, file=file if in_a_folder else None)


def _called(folder: Path, name: str, file: Path) -> str:
    """Return the path of a file below a folder that the caller named so."""
    file = Path(original(str(file)))
    below = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file)
    return name if below == "." else below if name == "." or below == str(file) else f"{name}/{below}"


def read_matched(
    path: Path,
    hints: Hints,
    workers: int = 0,
    factors: Factors = None,
    *,
    store: bool = False,
    parts: Parts | None = None,
    client: "Client | None" = None,
    called: str = "",
) -> Iterator[Reading]:
    """Yield the readings of a folder, with the run of every row.

    Each file gives a reading with its warnings or the reason why it was rejected.  The tables follow in parts, ``runs``
    last, because the run of a row may depend on every other file.  The last reading has warnings about contradictions,
    and the origin of each fact that no text states.

    Parameters
    ----------
    factors : mapping, path or GivenFactors, optional
        Facts about the runs, beside those of ``factors.csv`` in the folder.
    store : bool
        Whether large tables wait on disk until all files are read, so that they need not fit into memory together; they
        are then Arrow tables.
    parts : Parts, optional
        Where the processes that label the rows of files write their tables.  They are then not yielded, except for
        ``runs``, ``factors`` and the tables of recorded runs.
    hints, workers, client, called
        As in `read_each`.
    """
    from loadcurve.ingest.raw_folder import raw_folder_parts  # with declarations that workers do not need

    given = GivenFactors.of(factors)
    files: list[RawFile] = []
    with contextlib.ExitStack() as stack:
        place = parts.store if parts else None
        if store and parts is None:
            place = stack.enter_context(temporary_folder())
        for reading in read_each(path, hints, workers, given.files, place and place.absolute(), client, called):
            if reading.file is None or reading.refused:
                yield reading
                continue
            at = below(reading.file, path)
            files.append(RawFile(at, reading.source, reading.parsed.tables, reading.file.stat().st_mtime))
            yield replace(reading, parsed=replace(reading.parsed, tables=Tables()))
        matched = Matched({}, {})

        def write(groups: Sequence[Sequence[Placement]]) -> Iterator[Sequence[Note]]:
            assert parts is not None
            many = ManyFiles((path / file.path for file in files), workers, client)
            for rows, notes in many.spread(parts.function(), parts.numbered(groups)):
                parts.rows.update(rows)
                yield notes

        for name, rows in raw_folder_parts(files, path, given, matched, write if parts else None, follow=hints.follow):
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


def _lost_run(shown: Callable[[Path], str], folder: Path, why: str) -> Reading:
    return refused(shown(folder), ParseError(0, "a run that can be read", why, shown(folder)))


def _lost_command(shown: Callable[[Path], str], command: Command, why: str) -> list[Outcome]:
    return [(command[0], None, str(ParseError(0, "a file that can be read", why, shown(command[0]))))]


def _recorded(files: Collection[Path], follow: bool) -> tuple[list[Path], list[Path]]:
    """Return folders in studies with a `run.json`, and those of whole studies with a run or a manifest."""
    folders = (file.parent for file in files if file.name == "run.json")
    runs = [folder for folder in folders if is_own_file(folder.absolute().parent / "study.yml", follow=follow)]
    held = {run.parent for run in runs} | {file.parent for file in files if file.name == manifest.NAME}
    return runs, [file.parent for file in files if file.name == "study.yml" and file.parent in held]


def _gaps(studies: Iterable[Path], shown: Callable[[Path], str]) -> Iterator[Reading]:
    """Yield a reading for each study that differs from its manifest."""
    from loadcurve.ingest.folder import read_gaps

    for folder in studies:
        file = folder / manifest.NAME
        try:
            found = read_gaps(folder.resolve())
            filled = {name: rows.assign(source=shown(file)) for name, rows in found.tables.items() if len(rows)}
            if found.warnings:
                yield Reading(shown(file), Parsed("", Tables(filled), found.warnings), labelled=True)
        except LoadcurveError as error:
            yield refused(shown(file), error)


def _read_recorded(shown: Callable[[Path], str], folder: Path) -> Reading:
    from loadcurve.ingest.folder import read_run_folder

    try:
        found = read_run_folder(folder.resolve())
    except LoadcurveError as error:
        return refused(shown(folder), error)
    filled = {name: rows for name, rows in found.tables.items() if len(rows)}
    named = {name: rows.assign(source=shown(folder) + "/" + rows["source"]) for name, rows in filled.items()}
    return Reading(shown(folder), Parsed("", Tables(named), found.warnings), labelled=True)
