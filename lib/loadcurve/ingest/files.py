"""Bytes of a raw file into tables, and which files a folder holds."""

import functools
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from loadcurve.errors import LoadcurveError, ParseError, printable
from loadcurve.files.paths import ARCHIVE, below, is_packed, leads_out_of
from loadcurve.ingest.clean import decode
from loadcurve.ingest.packed import MAX_BYTES, check_no_archive, read_stream, unpack
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sniff import parse
from loadcurve.ingest.sysstat.sadf_header import is_sa
from loadcurve.study.archive import opened


@dataclass(frozen=True)
class Hints:
    """Options of `loadcurve ingest` about its files."""

    tool: str | None = None  # `TOOL` or `TOOL:VARIANT`; found from each text when it is None
    timezone: str = "UTC"  # IANA name of the zone of local times in the texts
    # Format of access logs, as the servers' configuration gives it; empty when they show it themselves.
    log_format: str = ""
    max_bytes: int = MAX_BYTES  # Largest text of a file, unpacked
    follow: bool = False  # Whether links are read that lead out of a folder

    def __post_init__(self) -> None:
        if self.timezone != "UTC":
            from loadcurve.ingest.sysstat.clock import zone_named

            zone_named(self.timezone)


_NAMED = 3  # links, and kinds of files, that a message names
_ASSETS = (
    ".js", ".mjs", ".css", ".less", ".scss", ".map", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".svg", ".png", ".jpg",
    ".jpeg", ".gif", ".ico", ".webp", ".pdf", ".class", ".jar", ".pyc", ".so", ".exe", ".mp4", ".jmx",
)  # fmt: skip
"""Suffixes of files that no load generator and no monitor writes its output to: parts of dashboards and programs."""
_COMPONENTS = ("bower_components", "node_modules", "__pycache__")
"""Folders of programs of others."""
_KINDS = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
    stat.S_ISDIR: "a folder",
}

TEXT_OF_RECORDING = (
    "a recording that the sadf of this machine reads, or its text: `sadf -j FILE -- -A > FILE.json` on the machine "
    "that recorded it"
)

text_of_recording: Callable[[bytes], str] | None = None
"""Converts binary recordings where no caller passes how; set by `loadcurve.reading`, as nothing here starts a tool."""


def parse_bytes(
    raw: bytes,
    source: str,
    hints: Hints | None = None,
    recording_text: Callable[[bytes], str] | None = None,
) -> Parsed:
    """Parse the bytes of one file, packed or not; an error names `source`.

    `recording_text` converts a binary recording of sysstat to the output of ``sadf -j``, with times in UTC.  It starts
    a tool, which nothing in this package may, so the caller passes it, or `loadcurve.reading` has set it for all.
    """
    hints = hints or Hints()
    timezone = hints.timezone
    try:
        raw, torn = unpack(raw, hints.max_bytes)
        check_no_archive(raw)
        if is_sa(raw):
            if (convert := recording_text or text_of_recording) is None:
                raise ParseError(0, TEXT_OF_RECORDING, "a binary recording of sysstat")
            text, encoding, timezone = convert(raw), "", "UTC"
        else:
            text, encoding = decode(raw)
        del raw  # a gigabyte of text need not be in memory twice
        parsed = parse(text, hints.tool, timezone, hints.log_format)
    except ParseError as error:
        raise error.at(source) from None
    notes = [torn] if torn else []
    notes += [f"not UTF-8: read as {encoding}"] if encoding else []
    return Parsed(parsed.tool, parsed.tables, (*notes, *parsed.warnings), parsed.version) if notes else parsed


def content(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Bytes of a regular file; a pipe, a device or a socket could block for ever, or never end."""
    try:
        place = path if path.exists() and path.name != ARCHIVE else opened(path)
        _check_regular(path, place.stat().st_mode)
        # It may have become a pipe, which O_NONBLOCK opens without waiting for its other end.
        with os.fdopen(os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            found = os.fstat(stream.fileno())
            _check_regular(path, found.st_mode)
            return read_stream(stream, max_bytes, found.st_size)
    except ParseError as error:
        raise error.at(path) from None
    except FileNotFoundError:
        name = printable(str(path))
        raise LoadcurveError(f"{name}: expected a file or a folder, got nothing of that name") from None
    except OSError as error:
        raise ParseError(0, "a file that can be read", str(error.strerror), str(path)) from None


def _check_regular(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):  # `files_of` could not open it: raise the system's reason
        os.scandir(path).close()
    if not stat.S_ISREG(mode):
        kind = next((kind for is_kind, kind in _KINDS.items() if is_kind(mode)), "something else")
        raise ParseError(0, "a file or a folder (read a pipe or a device as standard input, named -)", kind)


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; False where the path may not be examined."""
    try:
        return path.is_dir() or opened(path).is_dir()
    except OSError:
        return False


class Listed(NamedTuple):
    """Files in and below a folder, by name; links that lead out of it; and parts of pages and programs."""

    files: list[Path]
    links: list[Path]
    assets: list[Path]


def list_files(path: Path, follow: bool = False, *, packed: bool = False) -> Listed:
    """Return what is in and below a folder, or a file itself.

    Hidden files and folders are skipped.  The files of a packed study are those of its temporary copy
    (`loadcurve.study.archive.opened`), unless `packed` asks for the archive.  What may not be opened is listed like a
    file, so that reading it raises the reason.
    """
    path, named = path if packed else opened(path), path
    if not is_folder(path):
        return Listed([path], [], [])
    order: Callable[[Path], PurePosixPath] | None = None
    found, left, assets = list[Path](), list[Path](), list[Path]()
    root = os.path.realpath(path)
    folders, followed, seen = [path], list[Path](), set[tuple[int, int]]()
    while folders or followed:
        place = folders.pop() if folders else followed.pop()  # so that a file is found at its place, not by a link
        try:
            if not packed and is_packed(place):
                place, order = opened(place), functools.partial(below, folder=named)
            facts = place.stat()
            if (facts.st_dev, facts.st_ino) in seen:
                continue
            seen.add((facts.st_dev, facts.st_ino))
            entries = [entry for entry in os.scandir(place) if not entry.name.startswith(".")]
        except ParseError:
            found.append(place / ARCHIVE)
            continue
        except OSError:
            found.append(place)
            continue
        for entry in entries:
            one, is_link = Path(entry.path), entry.is_symlink()
            leads_out = is_link and leads_out_of(root, one)
            if leads_out and not follow:
                left.append(one)
            elif not (is_folder(one) if is_link else entry.is_dir()):
                (assets if one.suffix.lower() in _ASSETS else found).append(one)
            elif one.name in _COMPONENTS:
                assets.append(one)
            elif leads_out or not is_link:
                (followed if leads_out else folders).append(one)
    return Listed(sorted(found, key=order), sorted(left, key=order), sorted(assets, key=order))


def describe_links(folder: str, links: Sequence[Path]) -> str:
    """Return one line about links that lead out of a folder and are not read; empty if there are none."""
    names = ", ".join(link.name for link in links[:_NAMED]) + f" and {len(links) - _NAMED} more" * (len(links) > _NAMED)
    got = f"{len(links)} link{'s' * (len(links) > 1)} out of it ({names})"
    line = f"{folder}: expected files of this folder, got {got}: copy the files here, or add --follow to read them"
    return printable(line) if links else ""


def describe_assets(assets: Sequence[Path]) -> str:
    """Return one line about parts of pages and programs, which are not read; empty if there are none."""
    kinds = sorted({path.suffix.lower() or f"{path.name}/" for path in assets})
    more = f" and {len(kinds) - _NAMED} more kinds" * (len(kinds) > _NAMED)
    named = f"{', '.join(kinds[:_NAMED])}{more}"
    return f"{len(assets)} parts of pages and programs are no reports and not read ({named})" if assets else ""


def files_of(path: Path, follow: bool = False) -> list[Path]:
    """Return a file itself, or all files in and below a folder, as `list_files` does."""
    return list_files(path, follow).files
