"""Bytes of a raw file into tables, and which files a folder holds."""

from collections.abc import Callable
from pathlib import Path

from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest.clean import decode
from loadcurve.ingest.hints import Hints
from loadcurve.ingest.packed import unpack
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.sniff import parse
from loadcurve.ingest.sysstat.sadf_binary import is_sa


def parse_bytes(
    raw: bytes,
    source: str,
    hints: Hints | None = None,
    recording_text: Callable[[bytes], str] | None = None,
) -> Parsed:
    """Parse the bytes of one file, packed or not; an error names `source`.

    `recording_text` puts a binary recording of sysstat into the words of ``sadf -j``, times in UTC: that takes a tool,
    which nothing here may start, so a caller that may hands the function over.

    Raises
    ------
    ParseError
        Where the bytes are damaged, or their text is not what the tool prints.
    """
    hints = hints or Hints()
    timezone = hints.timezone
    try:
        raw, torn = unpack(raw)
        if is_sa(raw):
            if recording_text is None:
                raise ParseError(0, "text (loadcurve ingest reads binary recordings too, by sadf)", "a recording")
            text, encoding, timezone = recording_text(raw), "", "UTC"
        else:
            text, encoding = decode(raw)
        del raw  # a gigabyte of text need not be in memory twice
        parsed = parse(text, hints.tool, timezone, hints.log_format)
    except ParseError as error:
        raise error.at(source) from None
    notes = [torn] if torn else []
    notes += [f"not UTF-8: read as {encoding}"] if encoding else []
    return Parsed(parsed.tool, parsed.tables, (*notes, *parsed.warnings), parsed.version) if notes else parsed


def content(path: Path) -> bytes:
    """Bytes of a file.

    Raises
    ------
    LoadcurveError
        When there is none of that name, or it may not be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise LoadcurveError(f"{path}:0: expected a file or a folder, got nothing of that name") from None
    except OSError as error:
        raise LoadcurveError(f"{path}:0: expected a file that can be read, got {error.strerror!r}") from None


def files_of(path: Path) -> list[Path]:
    """Return a file itself, or the files below a folder in the order of their names; hidden ones are not looked at."""
    if not path.is_dir():
        return [path]
    found = (p for p in path.rglob("*") if p.is_file())
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(path).parts))
