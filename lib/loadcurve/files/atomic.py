"""Write files atomically, and let one process at a time do a piece of work.

A reader sees the old file or the complete new one, even if the writer is killed.  A lock is a file in the folder
`loadcurve.paths.locks`, which the operating system releases when the process that holds it ends, so a killed process
leaves nothing to remove.
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from loadcurve import paths
from loadcurve.errors import LoadcurveError, printable
from loadcurve.files.remote import check_local


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield the path of a draft next to `target`; the draft replaces the target when the block ends without an error.

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
    draft = target.with_name(f".{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield draft
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def check_target(target: Path) -> Path:
    """Return the path of a file to write, in a folder that must exist; commands check it before minutes of reading.

    Raises
    ------
    LoadcurveError
        When there is no such folder, or the path is a URL.
    """
    check_local(target)
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
    """Hold the lock of a piece of work; wait while another process of this checkout holds it.

    Parameters
    ----------
    work : str
        Name of the work, such as ``notebook 40_usl_fit``.
    report : callable
        Called with one line that names the work if the lock is held by another process.
    """
    folder = paths.locks()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / hashlib.sha256(os.fsencode(work)).hexdigest()[:16]).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"{work}: another process is at work on it; waiting until it ends")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits.

    Raises
    ------
    FileNotFoundError
        When the file does not exist.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sums(target: Path, files: Iterable[Path], note: str = "") -> None:
    """Write the SHA-256 of files in the format of ``sha256sum --check``, with paths relative to the checkout.

    Parameters
    ----------
    target : pathlib.Path
        File to write.
    files : iterable of pathlib.Path
        Files to list; their names must be plain (`loadcurve.paths.is_plain`).
    note : str
        Comment in the first line.
    """
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
