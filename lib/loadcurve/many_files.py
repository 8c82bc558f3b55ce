"""Work on many files: on all processors where that is faster, and with progress on a terminal."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from loadcurve.files.progress import progress
from loadcurve.workers import in_order, processors

Item = TypeVar("Item")
Result = TypeVar("Result")

# Speed of one process, in files and bytes per second, within a factor of three of each format in `make bench`.
_FILES_PER_S, _BYTES_PER_S = 3000, 30e6
# Starting workers takes about 1 s, most of it to import pandas; below this estimate, one process is as fast.
_WORTH_WORKERS_S = 4.0
# Small files go to a worker together, so that the pipe costs less than parsing.
_CHUNK_S = 0.05
# For each worker.  A large text and its tables need five to nine times the size of the text.
_MAX_BYTES_AT_ONCE = 60e6
# Typical ratio of text to packed file, for logs of monitors.
_PACKED = {".gz": 10, ".xz": 20, ".bz2": 10, ".zst": 10}


class ManyFiles:
    """Files that are read one after the other: their sizes, and their progress.

    Parameters
    ----------
    files : iterable of pathlib.Path
        Files of one folder.
    workers : int
        Largest number of processes; 0 for one per processor.
    """

    def __init__(self, files: Iterable[Path], workers: int = 0) -> None:
        self._workers = workers or processors()
        self._bytes: dict[Path, int] = {}
        for file in files:
            self._bytes[file] = 0
            with contextlib.suppress(OSError):  # whoever reads the file reports the error
                self._bytes[file] = file.stat().st_size

    @contextlib.contextmanager
    def showing_progress(self) -> "Iterator[Callable[[Iterable[Path]], None]]":
        """Show progress; yield a function that counts files as read."""
        with progress(sum(self._bytes.values()), len(self._bytes)) as shown:

            def count(files: Iterable[Path]) -> None:
                sizes = [self._bytes[file] for file in files]
                shown.advance(sum(sizes), len(sizes))

            yield count

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        files_of: Callable[[Item], Iterable[Path]],
        lost: Callable[[Item, str], Result],
        item_s: float = 0.0,
    ) -> Iterator[Result]:
        """Yield the result of each item, in order.

        Parameters
        ----------
        function : callable
            Can be pickled, as are its items and results.
        items : iterable
            Items that are hashable; each is about one or several files.
        files_of : callable
            Returns the files of an item.
        lost : callable
            Returns the result of an item, given the reason why its worker ended.
        item_s : float
            Time that an item needs besides parsing its files, in s.
        """
        items = list(items)

        @functools.cache
        def text_bytes(item: Item) -> int:
            return sum(self._bytes[file] * _PACKED.get(file.suffix, 1) for file in files_of(item))

        def seconds(item: Item) -> float:
            return item_s + sum(1 for _ in files_of(item)) / _FILES_PER_S + text_bytes(item) / _BYTES_PER_S

        if self._workers < 2 or len(items) < 2 or sum(map(seconds, items)) < _WORTH_WORKERS_S:
            yield from map(function, items)
            return

        def lost_chunk(chunk: Sequence[Item], why: str) -> list[Result]:
            if len(chunk) == 1:
                return [lost(chunk[0], why)]
            return list(in_order(function, chunk, 1, lost))  # one by one, to find the file that ends the worker

        chunks, workers = _chunks(items, seconds), min(self._workers, len(items))
        work = functools.partial(_call_each, function)
        for results in in_order(
            work, chunks, workers, lost_chunk, lambda chunk: sum(map(text_bytes, chunk)), _MAX_BYTES_AT_ONCE * workers
        ):
            yield from results


def _chunks(items: Iterable[Item], seconds: Callable[[Item], float]) -> Iterator[tuple[Item, ...]]:
    chunk: list[Item] = []
    held = 0.0
    for item in items:
        chunk.append(item)
        held += seconds(item)
        if held >= _CHUNK_S:
            yield tuple(chunk)
            chunk, held = [], 0.0
    if chunk:
        yield tuple(chunk)


def _call_each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    return [function(item) for item in items]
