"""Progress of reading files: a line with bytes, files, their rates and the time left, in a terminal or below a cell."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from loadcurve.runtime.jupyter import progress_stream
from loadcurve.runtime.workers import is_worker

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


@contextmanager
def progress(total_bytes: int, total_files: int) -> Iterator[Progress]:
    """Show progress within the context."""
    shown = Progress(total_bytes, total_files, DELAY_S)
    try:
        yield shown
    finally:
        shown.end()


@contextmanager
def hidden() -> Iterator[None]:
    """Hide the line within the context, in which the caller writes to the terminal."""
    if "tqdm" not in sys.modules:
        yield
        return
    from tqdm import tqdm

    with tqdm.external_write_mode(file=sys.stdout):
        yield
