"""Folders that only one user may enter: sockets and ledgers of launches, locks, and temporary files.

A temporary folder lies in ``$TMPDIR/loadcurve-UID``, beside a lock that its process holds until it ends::

    a71c04-5f0e93b2       a71c04-5f0e93b2.lock
    machine random

A process that is killed leaves both, with a free lock, and the next one removes them.  The machine is in the name
because several machines may share a folder, and not every file system shares locks between them.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import secrets
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from loadcurve.errors import LoadcurveError, named_as, printable


def runtime_folder(folder: Path | None = None) -> Path:
    """Return a folder that belongs to this user and that no other user may enter, created if needed."""
    if folder is None and os.geteuid() == 0:
        folder = Path("/run/loadcurve")
    elif folder is None:
        own = os.environ.get("XDG_RUNTIME_DIR")
        folder = Path(own) / "loadcurve" if own else temporary_root()
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not _is_own(folder):
        raise LoadcurveError(f"{printable(str(folder))} must be a folder that belongs to this user; remove it")
    folder.chmod(0o700)
    return folder


def temporary_root() -> Path:
    """Return the folder of this user's temporary folders and locks: it is below TMPDIR."""
    named, rule = os.environ.get("TMPDIR"), "must be a folder in which files can be created"
    if named and not (Path(named).is_dir() and os.access(named, os.W_OK | os.X_OK)):
        todo = f"create it with `mkdir -p {printable(shlex.quote(named))}`, or name another"
        raise LoadcurveError(f"TMPDIR {rule}, got {named!r}: {todo}")
    try:
        return runtime_folder(_place())
    except FileNotFoundError as error:  # `gettempdir` tried several
        raise LoadcurveError(f"TMPDIR {rule}, got {error}") from None


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder for temporary files, which is removed at the end, or after a kill by the next process.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     list(folder.iterdir())
    []
    >>> folder.exists()
    False
    """
    root = temporary_root()
    remove_left()
    folder = root / f"{_machine()}-{secrets.token_hex(4)}"
    file = folder.with_suffix(".lock")
    while True:
        lock = open_lock(file)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            break
        os.close(lock)  # another process removed it before it was locked
    try:
        folder.mkdir(mode=0o700)
        with named_as(folder):
            yield folder
    finally:
        _remove(folder, file)
        os.close(lock)


def remove_left() -> None:
    """Remove the temporary folders of this user on this machine whose processes were killed."""
    with contextlib.suppress(OSError):
        root = _place()
        for file in root.glob(f"{_machine()}-*.lock") if _is_own(root) else ():
            with contextlib.suppress(OSError):
                lock = open_lock(file)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(file.with_suffix(""), file)
                finally:
                    os.close(lock)


def open_lock(file: Path) -> int:
    """Open a lock, created if needed, without following a link and without changing its content."""
    # NFS grants exclusive locks of files that are open for writing only.
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def _remove(folder: Path, lock: Path) -> None:
    """Remove a temporary folder, then its lock; the next process tries again if a tool still writes to the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        lock.unlink(missing_ok=True)


def _place() -> Path:
    # Unlike `gettempdir`, never another folder than TMPDIR, such as one on a smaller disk.
    place = os.environ.get("TMPDIR") or tempfile.gettempdir()
    return Path(place).absolute() / f"loadcurve-{os.geteuid()}"


def _is_own(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


@functools.cache
def _machine() -> str:
    identity = b""
    with contextlib.suppress(OSError):
        identity = Path("/etc/machine-id").read_bytes()
    return hashlib.sha256(identity + os.fsencode(os.uname().nodename)).hexdigest()[:6]
