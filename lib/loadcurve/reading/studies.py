"""The runs of a recorded study on all processors, with progress."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loadcurve.errors import ParseError
from loadcurve.ingest.files import files_of
from loadcurve.many_files import ManyFiles

if TYPE_CHECKING:
    from loadcurve.ingest.run_files import Parts

RUN_S = 0.03
"""Time to check the record and the fingerprints of a run and to make its DataFrames: 1.7 s for 60 runs."""


def each_run(read: Callable[[Path], "Parts"], folders: Sequence[Path]) -> "Iterator[Parts]":
    """Yield what `read` returns for the folder of each run, in order.

    Raises
    ------
    ParseError
        When `read` raises it, or a process that reads a run ends.
    """
    files = {folder: files_of(folder) for folder in folders}
    many = ManyFiles(file for of in files.values() for file in of)
    with many.showing_progress():
        yield from many.each(read, folders, files.__getitem__, _lost, RUN_S)


def _lost(folder: Path, why: str) -> "Parts":
    raise ParseError(0, "a run that can be read", why, str(folder))
