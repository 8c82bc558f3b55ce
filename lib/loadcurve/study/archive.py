"""The archive of a study: verbatim files of its runs in one ``runs.tar.xz`` beside `study.yml`, read in place.

A study with 60 runs has 400 files, which mostly repeat each other; its archive is 20 times smaller than they are.
`opened` gives every reader the plain folders, `pack` and `unpack` convert between the two forms.  An archive may come
from anywhere, so only what `pack` writes is read: one stream of xz with SHA-256, in it regular files ``RUN/FILE`` in
the order of names, in the plainest form of tar (POSIX.1-1988).  No run may have more bytes than its `run.json` lists.
"""

import atexit
import contextlib
import filecmp
import functools
import hashlib
import itertools
import json
import lzma
import os
import shutil
import stat
import tarfile
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from loadcurve.errors import OPENED, LoadcurveError, ParseError, named_as
from loadcurve.files.atomic import new_folder, temporary_folder, temporary_place
from loadcurve.files.paths import ARCHIVE, check_own_file, is_packed, shown

_MAX_BYTES, _MAX_FILES = 1 << 30, 100_000  # unpacked; all recorded studies together have 260 MB and 18,000 files
_MAX_RECORD = 1 << 24  # of a `run.json`
_UNLISTED = 1 << 20  # bytes of a run that its record may leave out: they are named when the run is read
_MAX_MEMORY = 1 << 26  # for a decoder of xz; what `pack` writes takes 9 MB
_BLOCK, _STEP = tarfile.BLOCKSIZE, 1 << 20
_DRAFT = ".packing-"  # hidden, so that no reader takes a copy that is not complete for a run

_copies: dict[str, tuple[object, Path]] = {}  # path of a study → its state, and its copy
_turn = threading.Lock()
_at_exit = contextlib.ExitStack()
atexit.register(_at_exit.close)


def opened(path: Path) -> Path:
    """Return where the files of a path can be read: in a temporary copy of its study if that is packed, else there.

    The path may name a packed study, its archive, or a run or file in it.  The copy has all files of the study, is made
    once for each state of the study, and is removed when the process ends; `loadcurve.errors.original` maps its paths
    back.

    Raises `ParseError` when the archive is not one that `pack` writes, or holds a run that is also a folder with other
    content.
    """
    absolute = path.absolute()
    for folder in (absolute, *absolute.parents):
        if is_packed(folder):
            inner = absolute.relative_to(folder)
            return _copy_of(folder) / ("" if str(inner) == ARCHIVE else inner)
    return path


def _copy_of(folder: Path) -> Path:
    """Return the temporary copy of a packed study, repeated where the study or the copy changed."""
    name, state = os.path.normpath(folder), _state(folder)
    with _turn:
        if name not in _copies or _copies[name][0] != state or not _copies[name][1].is_dir():
            copy = Path(f"{_temporary()}/{OPENED}{name}")
            shutil.rmtree(copy, ignore_errors=True)
            with named_as(temporary_place(), copy):
                copy_study(folder, copy)
            _copies[name] = state, copy
        return _copies[name][1]


@functools.cache
def _temporary() -> Path:
    """Return the folder of this process's copies."""
    return _at_exit.enter_context(temporary_folder())


def _state(folder: Path) -> object:
    """Return inodes, sizes and times of a study's files."""
    facts = [Path(top, name).lstat() for top, _, names in os.walk(folder) for name in sorted(names)]
    return [(one.st_ino, one.st_size, one.st_mtime_ns) for one in facts]


def copy_study(folder: Path, target: Path) -> None:
    """Copy a study, packed or not, to a new folder with plain runs, which appears when it is complete.

    A run that an interrupted `pack` left in both forms must be the same in both.
    """
    with new_folder(target) as draft:
        if is_packed(folder):
            _unpack(folder / ARCHIVE, draft)
        for entry in sorted(one for one in folder.iterdir() if not one.name.startswith(".") and one.name != ARCHIVE):
            if (draft / entry.name).exists():
                _check_same(entry, draft / entry.name)
            else:
                _copy(entry, draft / entry.name)


def _copy(entry: Path, target: Path) -> None:
    """Copy a file, a link or a folder, as it is; unlike that of `shutil.copytree`, the first error is the last."""
    left = [(entry, target)]
    while left:
        entry, target = left.pop()
        if entry.is_symlink() or entry.is_file():
            shutil.copy2(entry, target, follow_symlinks=False)
        elif entry.is_dir():
            target.mkdir()
            left += [(one, target / one.name) for one in entry.iterdir()]
        else:
            raise ParseError(0, "files that can be copied", "a pipe, a socket or a device", shown(entry))


def _check_same(run: Path, unpacked: Path) -> None:
    names = [sorted(path.name for path in one.iterdir()) if one.is_dir() else [] for one in (run, unpacked)]
    if run.is_symlink() or names[0] != names[1] or any(filecmp.cmpfiles(run, unpacked, names[0], shallow=False)[1:]):
        rule = f"each run once, in {ARCHIVE} or as a folder (remove one of them)"
        raise ParseError(0, rule, f"{run.name} in both, with other content", shown(run.parent / ARCHIVE))


def _unpack(archive: Path, target: Path) -> None:
    """Write the runs of an archive to a folder, if none has more bytes than its record lists."""
    _check_sizes(check_own_file(archive))
    for header, pieces in _members(archive):
        file = target / header.name
        file.parent.mkdir(exist_ok=True)
        with file.open("xb") as out:
            out.writelines(pieces)
        file.chmod(header.mode)


def _check_sizes(archive: Path) -> None:
    for run, members in itertools.groupby(_members(archive), lambda member: member[0].name.partition("/")[0]):
        held, most = 0, _UNLISTED
        for header, pieces in members:
            held += header.size
            if header.name == f"{run}/run.json" and header.size <= _MAX_RECORD:
                most += header.size + _listed_bytes(b"".join(pieces))
        if held > most:
            rule = f"at most {most:,} bytes in {run}, as its run.json lists (remove the archive, and get it again)"
            raise _refused(archive, rule, f"{held:,} bytes")


def _listed_bytes(record: bytes) -> int:
    """Return the size of the files that a record lists; a record that is no such is refused when the run is read."""
    try:
        return sum(min(max(int(file["bytes"]), 0), _MAX_BYTES) for file in json.loads(record)["files"].values())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return 0


def _members(archive: Path) -> Iterator[tuple[tarfile.TarInfo, Iterator[bytes]]]:
    """Yield the header of each file in an archive, and its content in pieces; refuse what `pack` does not write."""
    left, names, folded = _MAX_BYTES, [("", "")], dict[str, str]()
    try:
        with archive.open("rb") as packed:
            tar = _Tar(archive, packed)
            while any(block := tar.read(_BLOCK)):
                info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
                run, _, file = info.name.partition("/")
                if info.type != tarfile.REGTYPE or info.mode & ~0o777:
                    raise _refused(archive, "regular files only", info.name)
                if not all(map(_is_name, (run, file))):
                    raise _refused(archive, "names such as RUN/FILE", info.name)
                for part in (run, info.name):
                    if folded.setdefault(unicodedata.normalize("NFC", part).casefold(), part) != part:
                        raise _refused(archive, "names that differ in more than case", part)
                if (run, file) <= names[-1]:
                    raise _refused(archive, "each file once, in the order of names", info.name)
                names.append((run, file))
                left -= info.size
                if left < 0 or info.size < 0 or len(names) > _MAX_FILES + 1:
                    raise _refused(archive, f"at most {_MAX_FILES:,} files and {_MAX_BYTES:,} bytes", "more")
                if block != _block(info.name, info.mode, info.size):
                    raise _refused(archive, "headers as loadcurve pack writes them", info.name)
                pieces = tar.pieces(info.size)
                yield info, pieces
                for _ in pieces:  # that the caller did not need
                    pass
                if any(tar.read(-info.size % _BLOCK)):
                    raise _damaged(archive, f"more bytes after {info.name}")
            if any(tar.read(_BLOCK)) or not tar.is_at_end():
                raise _refused(archive, "nothing after the last file", "more bytes")
    except tarfile.TarError as error:
        raise _damaged(archive, str(error)) from None
    except UnicodeDecodeError as error:
        raise _refused(archive, "names in UTF-8", ascii(error.object)) from None


class _Tar:
    """The content of an archive a piece at a time, with bounded memory also for the dictionary of xz."""

    def __init__(self, archive: Path, file: BinaryIO):
        self._archive, self._file = archive, file
        self._xz = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_MEMORY)

    def read(self, size: int) -> bytes:
        if len(content := self._at_most(size)) < size:
            raise _damaged(self._archive, "an archive that ends too early")
        return content

    def pieces(self, size: int) -> Iterator[bytes]:
        for start in range(0, size, _STEP):
            yield self.read(min(_STEP, size - start))

    def is_at_end(self) -> bool:
        return not self._at_most(1) and not self._xz.unused_data and not self._file.read(1)

    def _at_most(self, size: int) -> bytes:
        content, packed = b"", b""
        try:
            while len(content) < size and not self._xz.eof:
                if self._xz.needs_input and not (packed := self._file.read(_STEP)):
                    raise _damaged(self._archive, "an archive that ends too early")
                content += self._xz.decompress(packed if self._xz.needs_input else b"", size - len(content))
        except lzma.LZMAError as error:
            raise _damaged(self._archive, str(error)) from None
        if self._xz.check not in (lzma.CHECK_SHA256, lzma.CHECK_UNKNOWN):  # not known before the header was read
            raise _damaged(self._archive, "a stream without SHA-256")
        return content


def _damaged(archive: Path, why: str) -> ParseError:
    return _refused(archive, "a whole archive (git restores it, or loadcurve pack)", why)


def _is_name(part: str) -> bool:
    """Return whether a part of a path is a name on every system: no folder, no hidden file, no drive such as ``C:``."""
    return part.isprintable() and part[:1] not in ("", ".") and not set(part) & {"/", "\\"} and part[1:2] != ":"


def _refused(archive: Path, expected: str, got: str) -> ParseError:
    return ParseError(0, expected, got, shown(archive))


def pack(folder: Path, runs: Iterable[str]) -> list[str]:
    """Move runs of a study into its archive; return the names of the runs that are packed then.

    A folder is removed only after the archive was written to disk and read back with the same content, so every run can
    be read whenever this is interrupted.  No launch may write to the study meanwhile, and its run folders must hold
    regular files only.
    """
    unpack(folder)
    names = sorted(runs)
    if not names:
        return []
    draft, expected = folder / f"{_DRAFT}{ARCHIVE}", {}
    try:
        with named_as(shown(folder / ARCHIVE), draft), lzma.open(draft, "wb", check=lzma.CHECK_SHA256) as tar:
            for path in (path for name in names for path in sorted((folder / name).iterdir())):
                (name, mode, block), content = _header(path), path.read_bytes()
                tar.write(block + content + bytes(-len(content) % _BLOCK))
                expected[name] = mode, hashlib.sha256(content).digest()
            tar.write(bytes(2 * _BLOCK))
        os.sync()
        _check_sizes(draft)
        if expected != {header.name: (header.mode, _sha256(pieces)) for header, pieces in _members(draft)}:
            raise LoadcurveError(f"{shown(draft)}: expected the files that were packed, got others: check the disk")
        draft.replace(folder / ARCHIVE)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    os.sync()
    for name in names:
        (folder / name).rename(folder / f"{_DRAFT}{name}")  # removed at once for readers, however long it takes
        shutil.rmtree(folder / f"{_DRAFT}{name}")
    return names


def _sha256(pieces: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.digest()


def _header(path: Path) -> tuple[str, int, bytes]:
    """Return the name, mode and header of a run's file."""
    facts, name = path.lstat(), f"{path.parent.name}/{path.name}"
    try:
        if stat.S_ISREG(facts.st_mode) and all(map(_is_name, name.split("/"))):
            return name, facts.st_mode & 0o777, _block(name, facts.st_mode & 0o777, facts.st_size)
    except ValueError:  # of a name that is too long, or not UTF-8
        pass
    raise LoadcurveError(f"{shown(path)}: expected a regular file with a name of at most 100 bytes: move it elsewhere")


def _block(name: str, mode: int, size: int) -> bytes:
    """Return the only header of a file, without time and owner, so that one content gives one archive."""
    info = tarfile.TarInfo(name)
    info.mode, info.size = mode, size
    return info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")


def unpack(folder: Path) -> list[str]:
    """Make plain folders of the packed runs of a study, byte for byte, and remove the archive; return their names."""
    for left in folder.glob(f"{_DRAFT}*"):  # of an interrupted `pack` or `unpack`
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    if not is_packed(folder):
        return []
    draft = folder / f"{_DRAFT}runs"
    try:
        with named_as(shown(folder), draft):
            draft.mkdir()
            _unpack(folder / ARCHIVE, draft)
        runs = sorted(draft.iterdir())
        plain = [run for run in runs if (folder / run.name).exists()]
        for run in plain:
            _check_same(folder / run.name, run)
        for run in runs:
            if run not in plain:
                run.rename(folder / run.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    os.sync()
    (folder / ARCHIVE).unlink()
    return [run.name for run in runs]
