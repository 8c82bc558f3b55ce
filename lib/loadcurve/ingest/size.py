"""The largest text that is read, so that a decompression bomb or a broken logger cannot exhaust the memory.

Parsing needs up to about twenty times the size of the text in memory.
"""

from typing import BinaryIO

from loadcurve.errors import ParseError
from loadcurve.ingest.sniff import sniff

MAX_BYTES = 256_000_000
"""Largest text of a file by default, unpacked: a day of sar at one second has 100 MB, a report a few kilobytes."""
LARGE = 8
"""Factor on the largest size for forms parsed by column, which need two (``ab -g``) to six times their size (JTL)."""
_HEAD = 1 << 16  # bytes that hold the heading by which a form is recognised
_STEP = 1 << 28  # bytes per read of a stream of unknown size


def read_stream(stream: BinaryIO, max_bytes: int, size: int = 0) -> bytes:
    """Read a file to its end."""
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
        wanted = min(most - len(raw) + 1, _STEP)  # its size is unknown, or it grows
    return raw


def too_large(max_bytes: int, got: str) -> ParseError:
    """Error of a text that is larger than the bound."""
    return ParseError(
        0,
        f"at most {max_bytes:,} bytes of text (loadcurve ingest --max-bytes, or max_bytes= of read, raises the limit)",
        got,
    )


def is_large(raw: bytes) -> bool:
    """Whether the first lines of a text are of a form that may be `LARGE` times as large as others."""
    form = sniff(raw[:_HEAD].decode("latin-1"))
    return form is not None and form.large
