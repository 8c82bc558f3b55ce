"""Packed files: gzip, xz, bzip2 and Zstandard, told from their first bytes."""

import bz2
import lzma
import zlib
from collections.abc import Callable

from loadcurve.errors import ParseError

MOST_BYTES = 1 << 32
"""Largest content that is unpacked: a few kilobytes can hold a hundred gigabytes of nothing."""

_MAGIC: dict[bytes, tuple[str, Callable]] = {
    b"\x1f\x8b": ("gzip", lambda: zlib.decompressobj(wbits=31)),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMADecompressor),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
}
_ZSTD = b"\x28\xb5\x2f\xfd"


def unpack(raw: bytes) -> tuple[bytes, str]:
    r"""Return the content of a packed file, and a warning where the file ends too early; anything else as it is.

    Raises
    ------
    ParseError
        Where the packed bytes are damaged, or hold more than `MOST_BYTES`.

    Examples
    --------
    >>> unpack(bz2.compress(b"Total: 5\n")), unpack(b"Total: 5\n")
    ((b'Total: 5\n', ''), (b'Total: 5\n', ''))
    """
    if raw.startswith(_ZSTD):
        return _unpack_zstd(raw), ""
    for magic, (name, decompressor) in _MAGIC.items():
        if raw.startswith(magic):
            return _unpack(raw, magic, name, decompressor)
    return raw, ""


def _unpack(raw: bytes, magic: bytes, name: str, decompressor: Callable) -> tuple[bytes, str]:
    parts: list[bytes] = []
    left = MOST_BYTES
    while raw.startswith(magic):  # members follow each other; what else follows is padding
        member = decompressor()
        try:
            parts.append(member.decompress(raw, left))
        except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
            raise ParseError(0, f"a whole {name} file", str(error)) from None
        left -= len(parts[-1])
        if left <= 0:
            raise ParseError(0, f"at most {MOST_BYTES} bytes in a {name} file", "more")
        if not member.eof:
            return b"".join(parts), f"the {name} file ends too early; what it holds up to there was read"
        raw = member.unused_data
    return b"".join(parts), ""


def _unpack_zstd(raw: bytes) -> bytes:
    import pyarrow as pa

    try:
        with pa.input_stream(pa.BufferReader(raw), compression="zstd") as stream:
            content = stream.read(MOST_BYTES)
    except (OSError, pa.ArrowException) as error:
        raise ParseError(0, "a whole Zstandard file", str(error).split("\n")[0]) from None
    if len(content) == MOST_BYTES:
        raise ParseError(0, f"at most {MOST_BYTES} bytes in a Zstandard file", "more")
    return content
