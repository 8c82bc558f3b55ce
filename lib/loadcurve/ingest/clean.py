"""Bytes into plain lines: what terminals, mail, Markdown and other collectors put around a tool's output is taken off.

The number of lines never changes, so a parser's line number is that of the file.
"""

import re

from loadcurve.ingest.lazy_regex import lazy_regex

_ESCAPE = lazy_regex(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC: the title of a terminal
    r"|\x1b[\[(][0-?]*[ -/]*[@-~]"  # CSI: colours, cursor; charset
    r"|\x1b[@-Z\\-_=>]"  # two-byte sequences
)
_BACKSPACE = lazy_regex(r"[^\n]\x08")
_INVISIBLE = str.maketrans({"\u200b": "", "\ufeff": "", "\u00a0": " ", "\u202f": " ", "\u2007": " "})

PREFIXES = {
    "mail or comment": r"(?:[#>*%;-]|//|--)[ \t]",
    "docker compose": r"[\w.-]+[ \t]*\|[ \t]",
    "time in brackets": r"\[[^\]\n]{8,40}\][ \t]",
    "syslog": r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} \S+ \S+: ",
}
"""What a collector writes at the start of each line."""


def decode(raw: bytes) -> tuple[str, str]:
    """Return the text of a file and, unless it is UTF-8, the encoding it was read in.

    UTF-16 and UTF-32 need their byte order mark; anything else that is not UTF-8 is left to charset-normalizer, and
    to Latin-1 where that finds nothing.

    Examples
    --------
    >>> decode("Média:".encode()), decode("Média:".encode("utf-16"))
    (('Média:', ''), ('Média:', 'utf-16'))
    """
    marks = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    wide = next((name for mark, name in marks.items() if raw.startswith(mark)), "")
    try:
        return raw.decode(wide or "utf-8-sig"), wide
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes  # rarely needed, and 20 ms

        # A few kilobytes around the first byte that is not ASCII identify the encoding as well as a gigabyte.
        first = next((i for i in range(0, len(raw), 4096) if not raw[i : i + 4096].isascii()), 0)
        best = from_bytes(raw[max(0, first - 4096) : first + 16384]).best()
        encoding = best.encoding if best else "latin-1"
        try:
            return raw.decode(encoding), encoding
        except UnicodeDecodeError:
            return raw.decode("latin-1"), "latin-1"


def clean(text: str) -> str:
    r"""Take off the byte order mark, carriage returns, terminal sequences and invisible characters.

    Examples
    --------
    >>> clean("\ufeffTotal: 5\r\n\x1b[1mTCP:\x1b[0m 3\n")
    'Total: 5\nTCP: 3\n'
    """
    if "\r" in text:
        # A carriage return inside a line is a progress bar that overwrites itself: what remains is the last part.
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
        elif "\r" in text:
            text = re.sub(r"^[^\n]*\r(?=[^\n\r])|\r+$", "", text, flags=re.MULTILINE)
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\x08" in text:
        text = _BACKSPACE.sub("", text)
    return text if text.isascii() else text.translate(_INVISIBLE)


def strip_prefix(text: str, prefix: str) -> str:
    r"""Take a prefix of `PREFIXES` off every line that has it.

    Examples
    --------
    >>> strip_prefix("bench_1  | Total: 5\nbench_1  | TCP: 3", "docker compose")
    'Total: 5\nTCP: 3'
    """
    bare = PREFIXES[prefix].removesuffix(r"[ \t]")
    # A line with nothing after the prefix has often lost its blank.
    return re.sub(rf"^[ \t]*(?:{PREFIXES[prefix]}|{bare}$)", "", text, flags=re.MULTILINE)
