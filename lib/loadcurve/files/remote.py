"""Folders at a URL, such as ``s3://bucket/folder``: list, fetch, send and remove their files by fsspec.

Everything that loadcurve reads or writes is a local file; files are copied from a remote folder before, and to it
after.  An object store replaces each file as a whole, so readers see the old file or the complete new one.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from loadcurve.errors import LoadcurveError, missing_extra, printable
from loadcurve.files.atomic import temporary_folder
from loadcurve.files.paths import local_path

_PROBE = ".loadcurve-probe"
_CREDENTIALS = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, and for gs:// see gcsfs"
_NEXT = (
    ("credential|token|auth|AccessKey|Signature", _CREDENTIALS),
    (
        "connect|timeout|time out|timed out|endpoint|network",
        "check the network, and for another server AWS_ENDPOINT_URL",
    ),
    ("denied|forbidden|permission", "give these credentials the rights to list, read, write and delete objects"),
    ("not exist|NotFound|NoSuch|not valid", "create the bucket, or check the URL"),
)
"""What an error of a file system is about → what to do next; the first that is found."""


class RemoteFolder:
    """A folder at a URL."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            import fsspec
        except ModuleNotFoundError as error:
            raise missing_extra(url, error) from None
        with self._in_one_line():
            self._files, self._root = fsspec.core.url_to_fs(self.url)

    @property
    def name(self) -> str:
        """Last part of the URL."""
        return self.url.rpartition("/")[2] or "folder"

    def is_file(self) -> bool:
        """Return whether there is a file at the URL itself."""
        with self._in_one_line():
            return bool(self._files.isfile(self._root))

    def check_reachable(self) -> None:
        """Raise unless the file system answers: fsspec reports a refused connection as a file that is not there."""
        with self._in_one_line():
            try:
                self._files.info(self._root)
            except FileNotFoundError as error:
                if isinstance(cause := error.__cause__, OSError) and cause.errno:
                    reason = os.strerror(cause.errno) if cause.errno > 0 else str(cause)
                    raise OSError(f"connection failed: {reason}") from None

    def names(self, below: str = "") -> dict[str, dict[str, Any]]:
        """Return all files, by their names below the folder, with what the file system knows about each."""
        with self._in_one_line():
            self._files.invalidate_cache()
            found = self._files.find(self._path(below) if below else self._root, detail=True)
        start = f"{self._root}/"
        return {path.removeprefix(start): facts for path, facts in found.items() if path.startswith(start)}

    def fetch(self, names: Iterable[str], folder: Path) -> None:
        """Copy files to a local folder."""
        wanted = list(names)
        for name in wanted:
            parts = PurePosixPath(name).parts
            if ".." in parts or "/".join(parts) != name:
                raise LoadcurveError(f"{self.url}: expected names without '..' and empty parts, got {name!r}")
        with self._in_one_line():
            self._files.get([self._path(name) for name in wanted], [str(folder / name) for name in wanted])

    def send(self, folder: Path, names: Iterable[str]) -> None:
        """Copy files of a local folder to this one."""
        wanted = list(names)
        with self._in_one_line():
            self._files.put([str(folder / name) for name in wanted], [self._path(name) for name in wanted])

    def remove(self, names: Iterable[str]) -> None:
        """Remove files."""
        with self._in_one_line():
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    self._files.rm_file(self._path(name))

    def check_writable(self) -> None:
        """Write an empty file and remove it, before hours of work; a bucket that does not exist is not created."""
        with self._in_one_line():
            self._files.pipe_file(self._path(_PROBE), b"")
            self._files.rm_file(self._path(_PROBE))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextlib.contextmanager
    def _in_one_line(self) -> Iterator[None]:
        """Raise any error of a file system as one line: each library has errors of its own."""
        try:
            yield
        except ImportError as error:
            package = {"s3": "loadcurve[s3]", "s3a": "loadcurve[s3]", "gs": "gcsfs", "gcs": "gcsfs"}.get(
                self.url.partition(":")[0], ""
            )
            todo = f"pip install '{package}'" if package else f"install the package that fsspec names ({error})"
            raise LoadcurveError(f"{printable(self.url)}: its file system is not installed: {todo}") from None
        except LoadcurveError:
            raise
        except Exception as error:
            reason = " ".join(f"{error}".split()) or type(error).__name__
            about = f"{type(error).__name__} {reason}"
            todo = next((next_ for words, next_ in _NEXT if re.search(words, about, re.IGNORECASE)), "")
            line = f"{self.url}: {reason}" + f"; {todo}" * bool(todo)
            raise LoadcurveError(printable(line)) from None


@contextlib.contextmanager
def local_copy(url: str) -> Iterator[Path]:
    """Yield a temporary copy of a remote folder, or of one remote file; a local path as it is."""
    if (path := local_path(url)) is not None:
        yield path
        return
    remote, single = RemoteFolder(url), ""
    if remote.is_file():
        remote, single = RemoteFolder(remote.url.rpartition("/")[0]), remote.name
    found = {name: facts for name, facts in remote.names(single).items() if single in ("", name)}
    if not found:
        remote.check_reachable()
        raise LoadcurveError(f"{printable(url)}: expected a file or a folder, got nothing of that name")
    with temporary_folder() as place:
        need, free = sum(facts.get("size") or 0 for facts in found.values()), shutil.disk_usage(place).free
        if need > free:
            got = f"got {free:,} free in {place}: name a folder on a larger disk with TMPDIR"
            raise LoadcurveError(f"{printable(url)}: its copy needs {need:,} bytes, {got}")
        folder = place / remote.name
        remote.fetch(found, folder)
        for name, facts in found.items():
            if isinstance(when := facts.get("LastModified") or facts.get("mtime"), datetime):
                os.utime(folder / name, (when.timestamp(), when.timestamp()))
        yield folder / single if single else folder


@contextlib.contextmanager
def local_target(url: str | Path) -> Iterator[Path]:
    """Yield a local folder for files, which are sent to a remote one at the end of the block if there is no error."""
    if (path := local_path(url)) is not None:
        yield path
        return
    remote = RemoteFolder(str(url))
    remote.check_writable()
    with temporary_folder() as place:
        yield place
        sent = [file.relative_to(place).as_posix() for file in files_below(place)]
        remote.send(place, sent)
        # A table of several parts is a folder, which may replace a file of this name, or one of more parts.
        tables = {name.partition("/")[0] for name in sent}
        remote.remove(name for name in remote.names() if name.partition("/")[0] in tables and name not in sent)


def files_below(folder: Path) -> list[Path]:
    """Return all files below a folder, in the order of names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
