"""The archive of a study: verbatim files of its runs in one ``runs.tar.xz`` beside `study.yml`, read in place.

A study with 60 runs has 400 files, which mostly repeat each other; its archive is 20 times smaller than they are.
`opened` gives every reader the plain folders, `pack` and `unpack` convert between the two forms.  An archive may come
from anywhere, so it may hold nothing but regular files ``RUN/FILE``, in the plainest form of tar (POSIX.1-1988).
"""

import atexit
import contextlib
import filecmp
import functools
import hashlib
import lzma
import os
import shutil
import stat
import tarfile
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from loadcurve.errors import OPENED, LoadcurveError, ParseError
from loadcurve.files.atomic import temporary_folder
from loadcurve.files.paths import ARCHIVE, check_own_file, is_packed, shown

_MAX_BYTES, _MAX_FILES = 1 << 30, 100_000  # unpacked; all recorded studies together have 60 MB and 12,000 files
_BLOCK = tarfile.BLOCKSIZE
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
            check_own_file(folder / ARCHIVE)
            copy = Path(f"{_temporary()}/{OPENED}{name}")
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir(parents=True)
            for member, mode, content in _members(folder / ARCHIVE):
                (copy / member).parent.mkdir(exist_ok=True)
                with (copy / member).open("xb") as file:
                    file.write(content)
                (copy / member).chmod(mode)
            _copy_plain(folder, copy)
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


def _copy_plain(folder: Path, copy: Path) -> None:
    """Add what is plain in a packed study; a run that an interrupted `pack` left in both forms must be the same."""
    for entry in sorted(one for one in folder.iterdir() if not one.name.startswith(".")):
        target, is_run = copy / entry.name, entry.is_dir() and not entry.is_symlink()
        if target.exists():
            if not is_run or not _is_same(entry, target):
                rule = f"each run once, in {ARCHIVE} or as a folder (remove one of them)"
                raise ParseError(0, rule, f"{entry.name} in both, with other content", shown(folder / ARCHIVE))
        elif is_run:
            try:
                shutil.copytree(entry, target, symlinks=True)
            except shutil.Error as error:  # one reason for each file
                reason = error.args[0][0][2] if error.args and error.args[0] else "an error"
                raise ParseError(0, "files that can be copied", str(reason), shown(entry)) from None
        elif entry.name != ARCHIVE and (entry.is_symlink() or entry.is_file()):
            shutil.copy2(entry, target, follow_symlinks=False)


def _is_same(run: Path, other: Path) -> bool:
    names = sorted(path.name for path in run.iterdir())
    _, differing, unreadable = filecmp.cmpfiles(run, other, names, shallow=False)
    return names == sorted(path.name for path in other.iterdir()) and not differing and not unreadable


def _members(archive: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield name, mode and content of each file in an archive; refuse everything that `pack` does not write."""
    left, names, folded = _MAX_BYTES, set[str](), dict[str, str]()
    try:
        with lzma.open(archive) as tar:
            while any(header := _read(tar, _BLOCK)):
                info = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
                run, _, file = info.name.partition("/")
                if info.type != tarfile.REGTYPE or info.mode & ~0o777:
                    raise _refused(archive, "regular files only", info.name)
                if not all(map(_is_name, (run, file))):
                    raise _refused(archive, "names such as RUN/FILE", info.name)
                for part in (run, info.name):
                    if folded.setdefault(unicodedata.normalize("NFC", part).casefold(), part) != part:
                        raise _refused(archive, "names that differ in more than case", part)
                if info.name in names:
                    raise _refused(archive, "each file once", info.name)
                names.add(info.name)
                left -= info.size
                if left < 0 or info.size < 0 or len(names) > _MAX_FILES:
                    raise _refused(archive, f"at most {_MAX_FILES:,} files and {_MAX_BYTES:,} bytes", "more")
                content = _read(tar, info.size)
                _read(tar, -info.size % _BLOCK)
                yield info.name, info.mode, content
            if tar.read(_BLOCK) not in (b"", bytes(_BLOCK)) or tar.read(1):
                raise _refused(archive, "nothing after the last file", "more bytes")
    except (lzma.LZMAError, EOFError, tarfile.TarError) as error:
        raise _refused(archive, "a whole archive (git restores it, or loadcurve pack)", str(error)) from None
    except UnicodeDecodeError as error:
        raise _refused(archive, "names in UTF-8", ascii(error.object)) from None


def _read(tar: IO[bytes], size: int) -> bytes:
    if len(content := tar.read(size)) < size:
        raise EOFError("an archive that ends too early")
    return content


def _is_name(part: str) -> bool:
    return bool(part) and part.isprintable() and part[0] != "." and not set(part) & {"/", "\\"}


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
        with lzma.open(draft, "wb", check=lzma.CHECK_SHA256) as tar:
            for path in (path for name in names for path in sorted((folder / name).iterdir())):
                header, content = _header(path), path.read_bytes()
                tar.write(header.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict"))
                tar.write(content + bytes(-len(content) % _BLOCK))
                expected[header.name] = header.mode, hashlib.sha256(content).digest()
            tar.write(bytes(2 * _BLOCK))
        os.sync()
        if expected != {name: (mode, hashlib.sha256(content).digest()) for name, mode, content in _members(draft)}:
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


def _header(path: Path) -> tarfile.TarInfo:
    """Return the header of a run's file, without time and owner, so that one content gives one archive."""
    facts, header = path.lstat(), tarfile.TarInfo(f"{path.parent.name}/{path.name}")
    header.size, header.mode = facts.st_size, facts.st_mode & 0o777
    try:
        if stat.S_ISREG(facts.st_mode) and all(map(_is_name, header.name.split("/"))):
            header.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
            return header
    except ValueError:  # of a name that is too long, or not UTF-8
        pass
    raise LoadcurveError(f"{shown(path)}: expected a regular file with a name of at most 100 bytes: move it elsewhere")


def unpack(folder: Path) -> list[str]:
    """Make plain folders of the packed runs of a study, byte for byte, and remove the archive; return their names."""
    for left in folder.glob(f"{_DRAFT}*"):  # of an interrupted `pack` or `unpack`
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    if not is_packed(folder):
        return []
    packed = sorted({name.partition("/")[0] for name, _, _ in _members(folder / ARCHIVE)})
    copy = opened(folder)
    for name in packed:
        if not (folder / name).exists():
            shutil.copytree(copy / name, folder / f"{_DRAFT}{name}")
            (folder / f"{_DRAFT}{name}").rename(folder / name)
    os.sync()
    (folder / ARCHIVE).unlink()
    return packed
