"""Write files atomically, let one process at a time do a piece of work, and keep temporary files for one user.

A reader sees the old file or the complete new one, even if the writer is killed.  A lock is a file in the folder
`loadcurve.files.paths.locks`, or outside a checkout in a folder of temporary files, which the operating system releases
when the process that holds it ends, so a killed process leaves nothing to remove.

Sockets and ledgers of launches, locks and temporary files lie in folders that only one user may enter.  A temporary
folder lies in ``$TMPDIR/loadcurve-UID``, beside a lock that its process holds until it ends::

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
import re
import secrets
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from loadcurve.errors import LoadcurveError, named_as, printable
from loadcurve.files import paths
from loadcurve.files.paths import check_local


def runtime_folder(folder: Path | None = None) -> Path:
    """Return a folder that belongs to this user and that no other user may enter, created if needed."""
    if folder is None and os.geteuid() == 0:
        folder = Path("/run/loadcurve")
    elif folder is None:
        own = os.environ.get("XDG_RUNTIME_DIR")
        folder = Path(own) / "loadcurve" if own else temporary_root()
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not paths.is_own_folder(folder):
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
        with named_as(temporary_place()):
            yield folder
    finally:
        _remove(folder, file)
        os.close(lock)


def temporary_place() -> str:
    """Return the name of the folder of temporary files for messages about its file system, which may be full."""
    return f"{_place().parent} (TMPDIR may name another folder)"


def remove_left() -> None:
    """Remove the temporary folders of this user on this machine whose processes were killed."""
    with contextlib.suppress(OSError):
        root = _place()
        for file in root.glob(f"{_machine()}-*.lock") if paths.is_own_folder(root) else ():
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


@functools.cache
def _machine() -> str:
    identity = b""
    with contextlib.suppress(OSError):
        identity = Path("/etc/machine-id").read_bytes()
    return hashlib.sha256(identity + os.fsencode(os.uname().nodename)).hexdigest()[:6]


_STREAM = re.compile("/dev/std(out|err)|/(?:dev|proc/self)/fd/([0-9]+)")


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield the path of a draft next to `target`; the draft replaces the target when the block ends without an error.

    The target may also be a pipe or a device, such as ``/dev/stdout``, to which the draft is then written.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(target) as draft:
    ...     _ = draft.write_text("new")
    ...     target.exists()
    False
    >>> target.read_text()
    'new'
    """
    if is_stream(target):
        with temporary_folder() as folder:
            yield folder / "draft"
            with named_as(target), _opened(target) as out, (folder / "draft").open("rb") as made:
                shutil.copyfileobj(made, out)
        return
    draft = real_path(target).with_name(f".{os.getpid()}-{secrets.token_hex(4)}.tmp")
    with named_as(target, draft):
        try:
            if target.exists():  # perhaps a private file, whose new content nobody else may read meanwhile
                os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            yield draft
            replace(draft, target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder next to `target`, which becomes the target at the end, or is removed after an error."""
    draft = target.with_name(f".{os.getpid()}-{secrets.token_hex(4)}.tmp")
    with named_as(target, draft):
        try:
            draft.mkdir(parents=True)
            yield draft
            draft.rename(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def replace(draft: Path, target: Path) -> None:
    """Rename a draft to `target`; an existing file keeps its mode and owner, and a link still leads to the file."""
    with contextlib.suppress(FileNotFoundError):
        found = target.stat()
        with contextlib.suppress(PermissionError):  # of a group that this user is not in
            os.chown(draft, found.st_uid, found.st_gid)
        draft.chmod(stat.S_IMODE(found.st_mode))
    draft.replace(real_path(target))


def real_path(target: Path) -> Path:
    """Return the path of a file that a path leads to."""
    if target.is_symlink():
        folder = target.parent.stat()
        is_shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if is_shared and target.lstat().st_uid not in (os.geteuid(), folder.st_uid):
            raise LoadcurveError(f"{printable(str(target))}: expected no link of another user, got one: name another")
    return Path(os.path.realpath(target))


def is_stream(target: Path) -> bool:
    """Return whether a path is a pipe, a device or a standard stream, which is written and never replaced."""
    if _STREAM.fullmatch(str(target)):
        return True
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _opened(target: Path) -> IO[bytes]:
    if found := _STREAM.fullmatch(str(target)):
        # The same open file, because opening it again by its name would overwrite what it holds.
        sys.stdout.flush()
        return os.fdopen(os.dup({"out": 1, "err": 2}.get(found[1]) or int(found[2])), "wb")
    return target.open("wb")


def check_target(target: Path) -> Path:
    """Return the path of a file to write, in a folder that must exist; commands check it before minutes of reading."""
    check_local(target)
    if target.is_dir():
        raise LoadcurveError(f"{printable(str(target))}: expected the name of a file, got a folder: name a file in it")
    if not target.parent.is_dir():
        folder = str(target.parent)
        raise LoadcurveError(
            f"{printable(str(target))}: expected an existing folder, got {printable(repr(folder))}: create it with "
            f"`mkdir -p {printable(shlex.quote(folder))}`, or name another"
        )
    return target


def write_text(target: Path, text: str) -> None:
    """Write a text file in UTF-8 atomically."""
    with replacing(target) as draft:
        draft.write_text(text, "utf-8")


@contextlib.contextmanager
def alone(work: str, report: Callable[[str], object] = lambda line: None) -> Iterator[None]:
    """Hold the lock of a piece of work; wait while another process of this checkout holds it."""
    if (folder := paths.locks()) is None:
        folder = runtime_folder(temporary_root() / "locks")
    folder.mkdir(parents=True, exist_ok=True)
    with os.fdopen(open_lock(folder / hashlib.sha256(os.fsencode(work)).hexdigest()[:16])) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"{work}: another process is at work on it; waiting until it ends")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sums(target: Path, files: Iterable[Path], note: str = "") -> None:
    """Write the SHA-256 of files in the format of ``sha256sum --check``, with paths relative to the checkout."""
    lines = [f"# {note}\n"] if note else []
    write_text(target, "".join((*lines, *(f"{sha256_of(path)}  {paths.shown(path)}\n" for path in files))))


def read_sums(path: Path) -> tuple[str, dict[str, str]]:
    """Return the note and the sums (path → SHA-256) in a file from `write_sums`; both empty without such a file."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return "", {}
    note = next((line[2:] for line in lines[:1] if line.startswith("# ")), "")
    pairs = (line.split("  ", 1) for line in lines if not line.startswith("#"))
    return note, {pair[1]: pair[0] for pair in pairs if len(pair) == 2}
