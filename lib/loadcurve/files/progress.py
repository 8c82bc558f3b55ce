"""Progress of reading files: a line on the terminal with bytes, files, their rates and the time left."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

DELAY_S = 2.0
"""Work that takes less time shows no progress."""

_FORM = "{desc}: {percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"


class Progress:
    """Bytes and files done so far; shows nothing where standard error is no terminal."""

    def __init__(self, total_bytes: int, total_files: int, delay_s: float) -> None:
        self._files, self._total_files = 0, total_files
        self._bar: Any = None
        if sys.stderr is not None and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=total_bytes, desc="reading", unit="B", unit_scale=True, bar_format=_FORM,
                file=sys.stderr, leave=False, delay=delay_s, dynamic_ncols=True,
            )  # fmt: skip
            self._delay_s = delay_s
            self._ended = threading.Event()
            self._clock = threading.Thread(target=self._tick, daemon=True)
            self._clock.start()

    def advance(self, size_bytes: int, files: int = 1) -> None:
        """Count files that have been read."""
        if self._bar is None:
            return
        self._files += files
        seconds = max(self._bar.format_dict["elapsed"], 1e-9)
        self._bar.set_postfix_str(
            f"{self._files:,}/{self._total_files:,} files, {self._files / seconds:,.1f} files/s", refresh=False
        )
        self._bar.update(size_bytes)

    def _tick(self) -> None:
        """Show the elapsed time while one large file is read."""
        wait_s = self._delay_s
        while not self._ended.wait(wait_s):
            self._bar.refresh()
            wait_s = 0.5

    def end(self) -> None:
        """Remove the line."""
        if self._bar is not None:
            self._ended.set()
            self._clock.join()
            self._bar.close()


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
