"""Write files whole, and let one process at a time do a piece of work.

A reader sees the old file or the whole new one, also when the writer is killed.  A lock is a file of `build/locks` that
the system releases with the process that holds it, so a killed process leaves nothing to remove.
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from loadcurve import paths


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give the path of a draft beside `target`; the draft takes the target's place when the block has ended well.

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


def write_text(target: Path, text: str) -> None:
    """Write a text file in UTF-8, whole."""
    with replacing(target) as draft:
        draft.write_text(text, "utf-8")


@contextlib.contextmanager
def alone(work: str, report: Callable[[str], object] = lambda line: None) -> Iterator[None]:
    """Hold the lock of a piece of work; wait while another process of this checkout holds it.

    Parameters
    ----------
    work : str
        What is done, such as ``notebook 40_usl_fit``.
    report : callable
        Gets the one line that says what is waited for.
    """
    folder = paths.build() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / hashlib.sha256(os.fsencode(work)).hexdigest()[:16]).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"{work}: another process is at work on it; waiting until it ends")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal digits.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sums(target: Path, files: Iterable[Path], note: str = "") -> None:
    """Write the SHA-256 of files as ``sha256sum --check`` reads them, paths as from the top of the checkout.

    Parameters
    ----------
    target : pathlib.Path
        The list to write.
    files : iterable of pathlib.Path
        Products, whose names are plain (`loadcurve.paths.is_plain`).
    note : str
        Goes to the first line, as a comment.
    """
    lines = [f"# {note}\n"] if note else []
    write_text(target, "".join((*lines, *(f"{sha256_of(path)}  {paths.shown(path)}\n" for path in files))))


def read_sums(path: Path) -> tuple[str, dict[str, str]]:
    """Read what `write_sums` wrote: the note, and path → SHA-256; both empty where there is no such list."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return "", {}
    note = next((line[2:] for line in lines[:1] if line.startswith("# ")), "")
    pairs = (line.split("  ", 1) for line in lines if not line.startswith("#"))
    return note, {pair[1]: pair[0] for pair in pairs if len(pair) == 2}
