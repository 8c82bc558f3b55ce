"""Packed files: gzip, xz, bzip2 and Zstandard are unpacked, archives are refused; detected by their first bytes.

Parsing needs up to about twenty times the size of the text in memory.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

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


_MAGIC: dict[bytes, tuple[str, Callable[..., Any]]] = {
    b"\x1f\x8b": ("gzip", lambda: zlib.decompressobj(wbits=31)),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMADecompressor),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
}
_ZSTD = b"\x28\xb5\x2f\xfd"
_ARCHIVES = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PK\x07\x08": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"070701": "cpio",
    b"!<arch>\n": "ar",
}
_MIN_STEP, _MAX_STEP = 1 << 10, 1 << 20  # packed bytes that are unpacked at a time


def unpack(raw: bytes, max_bytes: int = MAX_BYTES) -> tuple[bytes, str]:
    r"""Return the content of a packed file, and a warning where the file ends too early; anything else as it is.

    Examples
    --------
    >>> unpack(bz2.compress(b"Total: 5\n")), unpack(b"Total: 5\n")
    ((b'Total: 5\n', ''), (b'Total: 5\n', ''))
    """
    if raw.startswith(_ZSTD):
        return _unpack_zstd(raw, max_bytes), ""
    for magic, (name, decompressor) in _MAGIC.items():
        if raw.startswith(magic):
            return _unpack(raw, magic, name, decompressor, max_bytes)
    return raw, ""


def _unpack(
    raw: bytes, magic: bytes, name: str, decompressor: Callable[..., Any], max_bytes: int, allowed: int = 0
) -> tuple[bytes, str]:
    parts: list[bytes] = []
    allowed = allowed or max_bytes
    left, at, warning = allowed, 0, ""
    while raw.startswith(magic, at):  # members follow each other
        member, step = decompressor(), _MIN_STEP
        while not member.eof and at < len(raw):
            try:
                parts.append(member.decompress(raw[at : at + step], left + 1))
            except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
                raise ParseError(0, f"a whole {name} file", str(error)) from None
            left -= len(parts[-1])
            if left < 0:
                if allowed == max_bytes and is_large(next(filter(None, parts))):
                    return _unpack(raw, magic, name, decompressor, max_bytes, LARGE * max_bytes)
                raise too_large(max_bytes, f"more, unpacked from {name}")
            # A file of empty members must not be copied once for each of them.
            at, step = min(at + step, len(raw)), min(2 * step, _MAX_STEP)
        at -= len(member.unused_data)
        if not member.eof:
            warning = f"the {name} file ends too early; its content up to there was read"
    if not warning and (rest := raw[at:].strip(b"\0")):  # tapes and downloads are padded with zeros
        warning = f"{len(rest):,} bytes after the {name} data are no {name} data and were left out"
    return b"".join(parts), warning


def _unpack_zstd(raw: bytes, max_bytes: int) -> bytes:
    import pyarrow as pa

    try:
        with pa.input_stream(pa.BufferReader(raw), compression="zstd") as stream:
            return read_stream(stream, max_bytes)
    except (OSError, pa.ArrowException) as error:
        raise ParseError(0, "a whole Zstandard file", str(error).split("\n")[0]) from None


def check_no_archive(raw: bytes) -> None:
    """See that unpacked bytes are one file, and no archive of several."""
    kind = next((name for magic, name in _ARCHIVES.items() if raw.startswith(magic)), "tar" if _is_tar(raw) else "")
    if kind:
        raise ParseError(0, "one file (unpack the archive, then name its folder)", f"an archive ({kind})")


def _is_tar(raw: bytes) -> bool:
    """Whether bytes begin with a tar header, of any age: POSIX.1-1988, 10.1.1, its sum with blanks for itself."""
    stated = raw[148:156].strip(b" \0")
    if len(raw) < 512 or not stated.isdigit() or stated.strip(b"01234567"):
        return False
    return int(stated, 8) == sum(raw[:148]) + 8 * ord(" ") + sum(raw[156:512])
