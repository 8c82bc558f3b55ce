"""Bytes into plain lines: what terminals, mail, Markdown and other collectors put around a tool's output is taken off.

The number of lines never changes, so a parser's line number is that of the file.
"""

import html
import re
from collections.abc import Iterator, Sequence

_ESCAPE = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC: the title of a terminal
    r"|\x1b[\[(][0-?]*[ -/]*[@-~]"  # CSI: colours, cursor; charset
    r"|\x1b[@-Z\\-_=>]"  # two-byte sequences
)
_BACKSPACE = re.compile(r"[^\n]\x08")
_INVISIBLE = str.maketrans({"\u200b": "", "\ufeff": "", "\u00a0": " ", "\u202f": " ", "\u2007": " "})

_TAG = r"</?(?:pre|code|samp|p|div|span|blockquote|body|html|br)\b[^<>\n]{0,200}>|<!--|-->"
_WIDEST_MARKUP = 2000  # characters of a line; in a longer one a search could take time in proportion to its square
_MARKUP = re.compile(rf"^[ \t]*(?:(?:{_TAG})[ \t]*)+|(?:[ \t]*(?:{_TAG}))+[ \t]*$", re.MULTILINE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|nbsp|#[0-9]{1,5}|#x[0-9A-Fa-f]{1,4});")
# Address, time or number, name, blanks.
_WORDS = re.compile(r"([0-9]+(?:\.[0-9]+){3})|([0-9]+(?:[T:.,+/-]+[0-9]+)*)|([A-Za-z_][\w.-]*)|([ \t]+)(?!$)")
_ENDS = re.compile(r"[ \t]*(?:\||\"|\\n?|\\)$", re.MULTILINE)
_NARROWEST, _WIDEST = 64, 250  # characters of a line at which terminals and mail programs wrap
_FULL = 3  # lines of the full width from which a terminal may have wrapped them
_MOST_ENDS = 0.8  # of the lines, from which their common end is not the tool's


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


def without_markup(text: str) -> str:
    r"""Return the lines of a report without the HTML around them, and with its characters for their entities.

    Examples
    --------
    >>> without_markup("<pre>50% &lt;= 3 ms<br>\n</pre>")
    '50% <= 3 ms\n'
    """
    if text.lstrip()[:5] == "<?xml" or text.lstrip()[:1] in ("{", "["):
        return text
    if ("<" in text or "-->" in text) and "<table" not in text:  # ab -w prints one
        text = "\n".join(_MARKUP.sub("", line) if len(line) <= _WIDEST_MARKUP else line for line in text.split("\n"))
    return _ENTITY.sub(lambda found: html.unescape(found[0]).replace("\xa0", " "), text) if "&" in text else text


def pattern_of(prefix: str) -> re.Pattern[str]:
    r"""Return a pattern of what a collector writes in front of every line, from what it wrote in front of one.

    Times and other numbers change, and names do not.  A line with nothing after the prefix may have lost its blank.

    Examples
    --------
    >>> pattern = pattern_of("bench-1  | 2026-11-24T14:28:44.12Z ")
    >>> [bool(pattern.match(f"{name} | 2026-11-24T15:00:01.1Z Total: 5")) for name in ("bench-1", "bench-2")]
    [True, False]
    """
    changing = {2: "[0-9T:.,+/-]+", 4: r"[ \t]+"}
    at, parts = 0, []
    for word in _WORDS.finditer(prefix):
        parts += [re.escape(prefix[at : word.start()]), changing.get(word.lastindex or 0) or re.escape(word[0])]
        at = word.end()
    blank = prefix[at:]
    return re.compile("".join([*parts, re.escape(blank.rstrip()), rf"(?:{blank[len(blank.rstrip()) :]}|$)"]))


def strip_prefix(text: str, own: re.Pattern[str], others: Sequence[re.Pattern[str]] = ()) -> str:
    r"""Return a text without a prefix of its lines and without an end that they share; lines of others become empty.

    Examples
    --------
    >>> own, other = pattern_of("bench_1 | "), pattern_of("lb_1 | ")
    >>> strip_prefix("bench_1 | Total: 5\nlb_1    | GET /\nbench_1 |\nTCP: 3", own, [other])
    'Total: 5\n\n\nTCP: 3'
    """
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if found := own.match(line):
            lines[at] = line[found.end() :]
        elif any(other.match(line) for other in others):
            lines[at] = ""
    filled = [line for line in lines if line.strip()]
    text = "\n".join(lines)
    return _ENDS.sub("", text) if sum(map(bool, map(_ENDS.search, filled))) > _MOST_ENDS * len(filled) else text


def rejoined(text: str) -> Iterator[tuple[str, list[int]]]:
    r"""Yield a text with its wrapped lines joined, as a terminal and as a mail program wraps, and their numbers.

    A terminal breaks a line inside words; a mail program where the next word would have been too long.  Joined lines
    leave empty ones, so that every line keeps its number.

    Examples
    --------
    >>> wrapped = f"{'status codes:':>70}\n 200\nTotal: 5\n"
    >>> [(text.split(), lines) for text, lines in rejoined(wrapped)]
    [(['status', 'codes:', '200', 'Total:', '5'], [1])]
    """
    lines = [line.rstrip() for line in text.split("\n")]
    width = max(map(len, lines))
    if not _NARROWEST <= width <= _WIDEST:
        return
    full = [at for at, line in enumerate(lines[:-1]) if len(line) == width and lines[at + 1].strip()]
    inside = [at for at in full if lines[at][-1].isalpha() and lines[at + 1][0].isalpha()]
    if inside or len(full) >= _FULL:  # otherwise two numbers might be glued
        yield _joined(lines, full, "")
    words = (line.split(None, 1)[0] if line.strip() else " " * width for line in lines[1:])
    yield _joined(lines, [at for at, word in enumerate(words) if lines[at] and len(f"{lines[at]} {word}") > width], " ")


def _joined(lines: Sequence[str], broken: Sequence[int], glue: str) -> tuple[str, list[int]]:
    """Return lines of which some are joined with the next one, and the numbers of those."""
    whole, first = list(lines), 0
    for at in range(1, len(lines)):
        if at - 1 in broken and lines[at].strip():
            whole[first], whole[at] = f"{whole[first]}{glue}{lines[at]}", ""
        else:
            first = at
    return "\n".join(whole), [at + 1 for at in broken if lines[at + 1].strip()]
