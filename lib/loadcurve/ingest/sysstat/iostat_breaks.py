"""iostat's header rows and rows of disks that mail has wrapped, put together again."""

import re

from loadcurve.ingest.sysstat.iostat_columns import is_known

_HEADER = re.compile(r"\s*(?:Device|Filesystem):?\s+\S")
_CELL = re.compile(r"-?[0-9][0-9.,]*[%kMGTP]?|-?nan")


def unwrapped(text: str) -> tuple[str, int]:
    r"""Put together what stands in several lines, in the last of them; the others become empty.

    A rest of a header row holds names of columns only, and that of a row numbers only, until its header is full.
    Rows below a header that is whole are left alone: ``-h`` of old versions prints each in two lines.

    Returns
    -------
    text : str
        The lines, put together; as many as before.
    number : int
        Number of the first line that was put together; 0 for none.

    Examples
    --------
    >>> unwrapped("Device: r/s w/s\n%util\nsda 1.00 2.00\n3.00\n")
    ('\nDevice: r/s w/s %util\n\nsda 1.00 2.00 3.00\n', 1)
    """
    lines = text.split("\n")
    found, width, begun = 0, 0, ""  # `width` is that of a header that was put together
    for at, line in enumerate(lines):
        words = line.split()
        if _HEADER.match(line) and all(map(is_known, words[1:])):
            begun, width = "header", 0
        elif words and begun == "header" and all(map(is_known, words)):
            _join(lines, at)
            found = found or at
            width = len(lines[at].split())
        elif not words or not width:
            begun = ""
        elif begun == "row" and all(map(_CELL.fullmatch, words)) and len(lines[at - 1].split()) + len(words) <= width:
            _join(lines, at)
        else:
            begun = "row" if len(words) < width else ""
    return "\n".join(lines), found


def _join(lines: list[str], at: int) -> None:
    lines[at - 1], lines[at] = "", f"{lines[at - 1].rstrip()} {lines[at].strip()}"
