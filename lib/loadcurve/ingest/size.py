"""How large a text may be: a stated bound, so that a packed bomb or a broken logger cannot take all memory.

A text and the tables made of it need up to some twenty times its size in memory while it is parsed.
"""

from io import BufferedReader

from loadcurve.errors import ParseError

MAX_BYTES = 256_000_000
"""Largest text of a file by default, unpacked: a day of sar at one second has 100 MB, a report a few kilobytes."""
LARGE = 8
"""How many times as large a text may be whose rows become numbers by the column, in about twice its size (ab -g)."""
_HEAD = 1 << 16  # bytes in which a form is told by its heading
_STEP = 1 << 28  # bytes that are read at a time where nothing tells how many there are
_MANY_LINES = 1_000_000
_SHORTEST_MEAN = 8  # characters of a line on average, newline included; whole files of every tool have 20 and more


def read_stream(stream: BufferedReader, max_bytes: int, size: int = 0) -> bytes:
    """Read a file to its end.

    Parameters
    ----------
    stream : io.BufferedReader
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
        most = LARGE * max_bytes if is_large(stream.peek(_HEAD)) else max_bytes
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
    from loadcurve.ingest.sniff import sniff

    form = sniff(raw[:_HEAD].decode("latin-1"))
    return form is not None and form.large


def check_lines(text: str) -> None:
    """See that a text is not made of empty lines, of which a parser could only say millions of times that they are.

    Raises
    ------
    ParseError
        Where more than a million lines have fewer than eight characters on average.
    """
    lines = text.count("\n")
    if lines > _MANY_LINES and len(text) < _SHORTEST_MEAN * lines:
        expected = f"lines of at least {_SHORTEST_MEAN} characters on average"
        raise ParseError(0, expected, f"{lines:,} lines in {len(text):,} characters")
