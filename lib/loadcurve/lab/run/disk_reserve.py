"""Disk space reserved for `run.json`, so that a run on a full disk can still record why it failed."""

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
def translate_disk_full() -> Iterator[None]:
    """Raise `LabError` where the system reports a full disk or an exhausted quota."""
    try:
        yield
    except OSError as error:
        if error.errno not in _ERRORS:
            raise
        raise LabError(f"{os.strerror(error.errno)}: free some, and launch again") from None


def reserve(folder: Path) -> None:
    """Reserve `RESERVE_BYTES` in a run's folder; raise OSError when the disk has less free space than that."""
    with (folder / _NAME).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)


def has_room(folder: Path) -> bool:
    """Whether a tool of this user could still write; called before files are removed, because that frees space.

    The number of free blocks is not enough to decide this, because some blocks are reserved for root.
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
    """Release the reserved space."""
    (folder / _NAME).unlink(missing_ok=True)
