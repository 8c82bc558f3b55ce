"""Room on the disk for the last word of a run, so that a run on a full disk can still say what happened to it."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from loadcurve.errors import LabError

FULL = os.strerror(errno.ENOSPC)
# A run.json is a few KiB; with long commands and many files it stays below this.
RESERVE_BYTES = 64 * 1024
_NAME = "run.json.reserve"


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Turn the system's error of a full disk into one of the laboratory."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise LabError(f"{os.strerror(error.errno)}: free some, and launch again") from None


def take(folder: Path) -> None:
    """Keep the room in a run's folder.

    Raises
    ------
    OSError
        When there is not even that much.
    """
    with (folder / _NAME).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)


def release(folder: Path) -> bool:
    """Give the room back; return whether all else was used, so that what the tools wrote may be cut."""
    full = os.statvfs(folder).f_bavail == 0
    (folder / _NAME).unlink(missing_ok=True)
    return full
