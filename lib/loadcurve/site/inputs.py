"""What a page of the handbook is made from: the files and folders that were read meanwhile, with their digests."""

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loadcurve.files.atomic import temporary_folder
from loadcurve.files.reads import LEDGER

# Of these, every page is made: a change renders all pages.  Names count too, because pages look which files there are.
_CODE = ("lib/loadcurve/**/*.py", "mkdocs.yml", "lib/requirements.lock")
_NAMES = (
    "handbook/**/*", "notebooks/*", "data/*/*", "data/studies/*/study.yml", "build/studies/*",
    "lib/loadcurve/designs/*/study.yml", "lib/tests/data/folders/*",
)  # fmt: skip
# Nothing of a page: the interpreter and the theme are in the lock file, and the others are written by the build itself.
_LEFT_OUT = (".git", ".venv", "build/cache", "build/locks", "build/site")

_listening: "Reads | None" = None
_hooked = False


class Reads:
    """Files and folders below a root that were read, each with a digest of what was in it."""

    def __init__(self, root: Path) -> None:
        self._root = f"{root}{os.sep}"
        self._paths: set[str] = set()
        self._began_ns = time.time_ns() - 20_000_000  # clocks of file systems are coarse

    def note(self, path: object) -> None:
        """Record a path; what is no path, or is no input of a page, is left out."""
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str | os.PathLike):
            return
        place = os.path.normpath(Path.cwd() / path)
        if not place.startswith(self._root):
            return
        name = place.removeprefix(self._root)
        if not name.endswith((".py", ".pyc")) and not name.startswith(_LEFT_OUT):
            self._paths.add(name)

    def digests(self) -> dict[str, str]:
        """Return path → digest, in alphabetical order; none of what changed meanwhile, so that it is read again."""
        return {name: "changed" if self._is_new(name) else digest(self._root + name) for name in sorted(self._paths)}

    def _is_new(self, name: str) -> bool:
        try:
            return Path(self._root + name).stat().st_mtime_ns >= self._began_ns
        except OSError:
            return False


@contextmanager
def recorded(root: Path) -> Iterator[Reads]:
    """Record which files and folders this process opens, and which raw files its workers report as read."""
    global _listening, _hooked
    if not _hooked:
        sys.addaudithook(_listen)  # an audit hook cannot be removed again
        _hooked = True
    with temporary_folder() as folder:
        before, reads, ledger = os.environ.get(LEDGER), Reads(root), folder / "reads"
        ledger.touch()
        os.environ[LEDGER], _listening = str(ledger), reads
        try:
            yield reads
        finally:
            _listening = None
            if before is None:
                del os.environ[LEDGER]
            else:
                os.environ[LEDGER] = before
        for name in ledger.read_bytes().split(b"\0"):
            reads.note(root / os.fsdecode(name) if name else None)


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if _listening is not None and event in ("open", "os.listdir", "os.scandir"):
        _listening.note(arguments[0])


def digest(path: str) -> str:
    """Return the SHA-256 of a file, or of the names in a folder; empty if neither is there.

    Sizes count too where pages show them, which is everywhere but in `build`.
    """
    place = Path(path)
    try:
        if place.is_dir():
            sizes = "build" not in place.parts
            return digest_of(
                sorted((one.name, sizes and one.is_file() and one.stat().st_size) for one in place.iterdir())
            )
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def digest_of(value: object) -> str:
    """Return the SHA-256 of a value as JSON."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of_code(root: Path) -> str:
    """Return the digest of the code, settings and versions that every page is made of."""
    return digest_of([sys.version, {name: digest(str(root / name)) for name in _matches(root, _CODE)}])


def digest_of_all_pages(root: Path) -> str:
    """Return the digest of everything that every page is made of: the code, and which files there are."""
    return digest_of([digest_of_code(root), sorted(_matches(root, _NAMES))])


def _matches(root: Path, patterns: Iterable[str]) -> list[str]:
    return [str(path.relative_to(root)) for pattern in patterns for path in root.glob(pattern)]
