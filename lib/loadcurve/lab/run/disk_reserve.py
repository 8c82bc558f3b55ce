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
_NAME, _PROBE = "run.json.reserve", "run.json.probe"
_ERRORS = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Turn the system's error of a full disk into one of the laboratory."""
    try:
        yield
    except OSError as error:
        if error.errno not in _ERRORS:
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


def has_room(folder: Path) -> bool:
    """Whether a tool of this user could still write a few bytes; asked before anything is removed, which makes room.

    What the file system says of free blocks is no answer: root may use those that are reserved for it.
    """
    probe = folder / _PROBE
    try:
        with probe.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, 1)
    except OSError as error:
        if error.errno not in _ERRORS:
            raise
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True


def release(folder: Path) -> None:
    """Give the room back."""
    (folder / _NAME).unlink(missing_ok=True)
