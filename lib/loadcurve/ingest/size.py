"""How large a text may be: a stated bound, so that a packed bomb or a broken logger cannot take all memory.

A text and the tables made of it need up to some twenty times its size in memory while it is parsed.
"""

from typing import BinaryIO

from loadcurve.errors import ParseError
from loadcurve.ingest.sniff import sniff

MAX_BYTES = 256_000_000
"""Largest text of a file by default, unpacked: a day of sar at one second has 100 MB, a report a few kilobytes."""
LARGE = 8
"""How many times as large a text may be whose rows become numbers by the column, in about twice its size (ab -g)."""
_HEAD = 1 << 16  # bytes in which a form is told by its heading
_STEP = 1 << 28  # bytes that are read at a time where nothing tells how many there are


def read_stream(stream: BinaryIO, max_bytes: int, size: int = 0) -> bytes:
    """Read a file to its end.

    Parameters
    ----------
    stream : binary file
        At its beginning.
    max_bytes : int
        Largest text, unpacked.
    size : int
        Size in bytes where it is known; else 0, as for standard input and for files of /proc.

    Raises
    ------
    ParseError
        Where it is larger, and its rows are not of a form that may be.
    """
    most = max_bytes
    if size > max_bytes:
        most = LARGE * max_bytes if is_large(stream.read(_HEAD)) else max_bytes
        stream.seek(0)
        if size > most:
            raise too_large(max_bytes, f"{size:,} bytes")
    raw, wanted = b"", (size or min(most, _STEP)) + 1
    while more := stream.read(wanted):
        raw = raw + more if raw else more
        if len(raw) > most == max_bytes and is_large(raw):
            most = LARGE * max_bytes
        if len(raw) > most:
            raise too_large(max_bytes, "more")
        wanted = min(most - len(raw) + 1, _STEP)  # it told no size, or grows while it is read
    return raw


def too_large(max_bytes: int, got: str) -> ParseError:
    """Error of a text that is larger than the bound."""
    return ParseError(0, f"at most {max_bytes:,} bytes of text (--max-bytes, or max_bytes=, raises the limit)", got)


def is_large(raw: bytes) -> bool:
    """Whether the first lines of a text are of a form that may be `LARGE` times as large as others."""
    form = sniff(raw[:_HEAD].decode("latin-1"))
    return form is not None and form.large
