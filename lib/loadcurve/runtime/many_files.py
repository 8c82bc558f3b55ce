"""Work on many files: on all processors where that is faster, with a line of progress in a terminal or below a cell."""

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from loadcurve.errors import LoadcurveError
from loadcurve.runtime.cluster import in_order_on
from loadcurve.runtime.jupyter import progress_stream
from loadcurve.runtime.workers import in_order, is_worker, processors

if TYPE_CHECKING:
    from distributed import Client

DELAY_S = 2.0
"""Work that takes less time shows no progress."""
_EVERY_S = 0.2

_FORM = "{desc}: {percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"


class Progress:
    """Bytes and files done so far; shows nothing where nobody watches.

    A thread of its own draws: if Ctrl-C interrupted the caller while it draws, tqdm would keep its lock forever.
    """

    def __init__(self, total_bytes: int, total_files: int, delay_s: float) -> None:
        self._bytes, self._files = 0, 0
        self._total_bytes, self._total_files = total_bytes, total_files
        self._delay_s, self._start_s = delay_s, time.time()
        self._ended = threading.Event()
        stream = None if is_worker() else progress_stream()
        self._artist = threading.Thread(target=self._draw, args=(stream,), daemon=True) if stream else None
        if self._artist:
            self._artist.start()

    def advance(self, size_bytes: int, files: int = 1) -> None:
        """Count files that have been read."""
        self._bytes += size_bytes
        self._files += files

    def _draw(self, stream: IO[str]) -> None:
        """Draw the line until the end, also while one large file is read; then remove it."""
        if self._ended.wait(self._delay_s):
            return
        from tqdm import tqdm

        with tqdm(
            total=self._total_bytes, desc="reading", unit="B", unit_scale=True, bar_format=_FORM,
            file=stream, leave=False, dynamic_ncols=True,
        ) as bar:  # fmt: skip
            bar.start_t = self._start_s
            while True:
                bar.n = self._bytes
                rate = self._files / max(time.time() - self._start_s, 1e-9)
                bar.set_postfix_str(f"{self._files:,}/{self._total_files:,} files, {rate:,.1f} files/s")
                if self._ended.wait(_EVERY_S):
                    return

    def end(self) -> None:
        """Remove the line."""
        self._ended.set()
        if self._artist:
            self._artist.join()


Item = TypeVar("Item")
Result = TypeVar("Result")

# Speed of one process, in files and bytes per second, within a factor of three of each format in `make bench`.
_FILES_PER_S, _BYTES_PER_S = 3000, 30e6
# Starting workers takes about 1 s, most of it to import pandas; below this estimate, one process is as fast.
_WORTH_WORKERS_S = 4.0
# Small files go to a worker together, so that the pipe costs less than parsing.
_CHUNK_S = 0.05
# For each worker, or of the memory.  A large text and its tables need five to nine times the size of the text.
_MAX_BYTES_AT_ONCE, _MEMORY_SHARE = 60e6, 0.04
# Typical ratio of text to packed file, for logs of monitors.
_PACKED = {".gz": 10, ".xz": 20, ".bz2": 10, ".zst": 10}


class ManyFiles:
    """Files that are read one after the other: their sizes, and their progress."""

    def __init__(self, files: Iterable[Path], workers: int = 0, client: "Client | None" = None) -> None:
        self._workers, self._client = workers or processors(), client
        self._bytes: dict[Path, int] = {}
        for file in files:
            self._bytes[file] = 0
            with contextlib.suppress(OSError):  # whoever reads the file reports the error
                self._bytes[file] = file.stat().st_size

    @property
    def is_large(self) -> bool:
        """Whether the files take long enough that a second process is worth its start."""
        return self._client is not None or sum(map(self._seconds, self._bytes)) >= _WORTH_WORKERS_S

    def _text_bytes(self, file: Path) -> int:
        return self._bytes[file] * _PACKED.get(file.suffix, 1)

    def _seconds(self, file: Path) -> float:
        return 1 / _FILES_PER_S + self._text_bytes(file) / _BYTES_PER_S

    def spread(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield the result of each item, in order; the work on an item whose process was killed is repeated once."""

        def lost(item: Item, why: str) -> Result:
            raise LoadcurveError(f"a part of the tables was not written, because {why}")

        def repeated(item: Item, why: str) -> Result:
            return next(in_order(function, [item], 1, lost))

        if self._client is not None:
            yield from in_order_on(self._client, function, items, lost)
        elif self._workers < 2 or len(items) < 2 or not self.is_large:
            yield from map(function, items)
        else:
            yield from in_order(function, items, min(self._workers, len(items)), repeated, ahead=len(items))

    @contextlib.contextmanager
    def showing_progress(self) -> Iterator[None]:
        """Show progress within the context, counting the files of each item that `each` has a result of."""
        self._shown = Progress(sum(self._bytes.values()), len(self._bytes), DELAY_S)
        try:
            yield
        finally:
            self._shown.end()

    def each(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        files_of: Callable[[Item], Iterable[Path]],
        lost: Callable[[Item, str], Result],
        item_s: float = 0.0,
        largest_first: bool = False,
    ) -> Iterator[Result]:
        """Yield the result of each item, in order."""
        items = list(items)

        @functools.cache
        def text_bytes(item: Item) -> int:
            return sum(map(self._text_bytes, files_of(item)))

        def seconds(item: Item) -> float:
            return item_s + sum(map(self._seconds, files_of(item)))

        def counted(item: Item, result: Result) -> Result:
            sizes = [self._bytes[file] for file in files_of(item)]
            self._shown.advance(sum(sizes), len(sizes))
            return result

        few = self._workers < 2 or len(items) < 2 or sum(map(seconds, items)) < _WORTH_WORKERS_S
        if self._client is None and few:
            yield from (counted(item, function(item)) for item in items)
            return

        def lost_chunk(chunk: Sequence[Item], why: str) -> list[Result]:
            if len(chunk) == 1:
                return [lost(chunk[0], why)]
            # One by one, to find the file that ends the worker.
            alone = in_order_on(self._client, function, chunk, lost) if self._client else None
            return list(alone or in_order(function, chunk, 1, lost))

        chunks, workers = list(_chunks(items, seconds)), min(self._workers, len(items))

        def chunk_bytes(chunk: Sequence[Item]) -> int:
            return sum(map(text_bytes, chunk))

        if largest_first:
            chunks.sort(key=chunk_bytes, reverse=True)
        call, ahead = functools.partial(_call_each, function), len(chunks) if largest_first else 0
        results = (
            in_order_on(self._client, call, chunks, lost_chunk)
            if self._client
            else in_order(call, chunks, workers, lost_chunk, chunk_bytes, _max_bytes_at_once(workers), ahead)
        )
        each = (
            (item, counted(item, result))
            for chunk, found in zip(chunks, results, strict=True)
            for item, result in zip(chunk, found, strict=True)
        )
        if largest_first:
            found = dict(each)
            yield from (found.pop(item) for item in items)
        else:
            yield from (result for _, result in each)


def _max_bytes_at_once(workers: int) -> float:
    """Return how many bytes of text all workers together may read at the same time."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(_MAX_BYTES_AT_ONCE * workers, _MEMORY_SHARE * memory)


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
