"""Recorded studies, and the runs of one, on all processors, with progress."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.files import paths
from loadcurve.ingest.files import files_of
from loadcurve.runtime.many_files import ManyFiles

if TYPE_CHECKING:
    from loadcurve.ingest.run_files import Parts

Study = TypeVar("Study", bound=str | Path)
Result = TypeVar("Result")

STUDY_S = 0.7
"""Time to audit the tables of a study: 0.5 to 3 s."""
RUN_S = 0.03
"""Time to check the record and the fingerprints of a run and to make its DataFrames: 1.7 s for 60 runs."""


def each_run(read: Callable[[Path], "Parts"], folders: Sequence[Path]) -> "Iterator[Parts]":
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


def _lost(folder: Path, why: str) -> "Parts":
    raise ParseError(0, "a run that can be read", why, str(folder))
