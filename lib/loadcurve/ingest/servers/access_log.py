"""Access logs of nginx and Apache httpd into the table `requests`.

Seen: nginx 1.22 on Debian 12 with request and upstream times after the combined format, ``combined``, ``common`` and
``vhost_combined`` logs of both servers in public repositories.

What the servers themselves do:

- nginx writes a line when the request ends, Apache gives the time at which it began (``%t``); whole seconds in both,
  unless ``$msec`` is logged too.  Lines are in the order of their ends.
- A response time in a log is the server's: from the first byte of the request read to the last byte of the response
  handed to the kernel.  It does not hold the time in a queue of connections not yet accepted.
- `received_bytes` is the body alone, unless ``$bytes_sent`` or ``%O`` is logged.
- A request line can contain any text: handshakes of TLS on a port of HTTP, nothing at all (``"-" 400``, ``408``).

A layout is read as columns if its literals separate the values by blanks, as in the formats that nginx and Apache
define.  Lines that are not all alike are left to the pattern of the layout.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.servers.access_columns import Parts, Reader, UnreadLines, encoded
from loadcurve.ingest.servers.access_layout import Layout, layout_of_format, layout_of_line

_SMALLEST = 1 << 16  # characters; a pattern is as fast for less
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass
class _Word:
    """What is between two blanks of a layout: at most one field, and literals around it."""

    before: str = ""
    field: int = -1
    after: str = ""
    tokens: int = 1


def columns_of(part: str, layout: Layout) -> list[pa.DictionaryArray] | None:
    """Return the texts of each field of a layout in a part of a log; None unless all lines certainly fit."""
    if len(part) < _SMALLEST or not part.endswith("\n") or not (first := layout.pattern().match(part)):
        return None
    words = _words(layout, first.groups())
    rows, quoted = part.count("\n"), sum(word.before == word.after == '"' for word in words)
    if any('"' in word.before + word.after for word in words if not word.before == word.after == '"'):
        return None
    if part.count('"') != 2 * quoted * rows or any(word.field < 0 and word.after for word in words):
        return None
    names = [str(i) for i in range(sum(word.tokens for word in words))]
    raw = part.encode()
    try:
        table = csv.read_csv(
            pa.BufferReader(raw),
            csv.ReadOptions(column_names=names, block_size=len(raw) + 1, use_threads=False),
            csv.ParseOptions(delimiter=" ", double_quote=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names, _TEXT), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    if len(table) != rows:
        return None
    found: dict[int, pa.DictionaryArray] = {}
    at, bodies = 0, layout.bodies()
    for word in words:
        texts = _joined([table.column(i).combine_chunks() for i in range(at, at + word.tokens)])
        at += word.tokens
        values = _values(texts.dictionary, word, bodies[word.field] if word.field >= 0 else "")
        if values is None:
            return None
        found[word.field] = pa.DictionaryArray.from_arrays(texts.indices, values)
    return [found[i] for i in range(len(bodies))]


def _words(layout: Layout, values: tuple[str, ...]) -> list[_Word]:
    """Words of a layout; a value without quotes has as many tokens as in the line with these `values`."""
    words = [_Word()]
    for i, literal in enumerate(layout.literals):
        head, *others = literal.split(" ")
        words[-1].after += head
        words += [_Word(before=text) for text in others]
        if i < len(values):
            if words[-1].field >= 0:  # two fields without a blank in between
                return [_Word('"', 0)]
            words[-1].field, words[-1].before = i, words[-1].before + words[-1].after
            words[-1].after = ""
            words[-1].tokens += 0 if words[-1].before == '"' else values[i].count(" ")
    return words


def _joined(columns: list[pa.DictionaryArray]) -> pa.DictionaryArray:
    """Tokens of a value with the blanks between them."""
    if len(columns) == 1:
        return columns[0]
    return pc.binary_join_element_wise(*(c.cast(pa.string()) for c in columns), " ").dictionary_encode()


def _values(texts: pa.StringArray, word: _Word, body: str) -> pa.StringArray | None:
    """Values of words without the literals around them; None if one does not fit."""
    before, after = ("", "") if word.before == '"' else (word.before, word.after)
    found = texts.to_pylist()
    if not _whole(before, body, after).fullmatch("\n".join([*found, ""])):
        return None
    if not before and not after:
        return texts
    return pa.array([text[len(before) : len(text) - len(after)] for text in found], pa.string())


@cache
def _whole(before: str, body: str, after: str) -> re.Pattern[str]:
    """Lines with one value each."""
    return re.compile(rf"(?:{re.escape(before)}(?:{body}){re.escape(after)}\n)*+")


_PART = 1 << 22  # characters whose different texts are read once
_CHUNK = 1 << 16  # characters read at once: so few that their objects are freed before Python's garbage collector runs
_MAX_LAYOUTS = 8  # formats of one file; more mean that lines were misread
_LONGEST = 1 << 16  # characters; a longer line is left out


def parse_access_log(text: str, log_format: str = "") -> Parsed:
    """Table `requests` of an access log of nginx.

    A row for each line, in their order.  Lines in another form are left out, and a warning names the first of them.
    `log_format` is the format of the log as in nginx.conf, or as in Apache's `LogFormat`; ``combined``, ``common`` or
    ``vhost_combined``. Without it each line must begin as the common format does (the words between the client and the
    time may be missing); what follows is known by its name (``rt=0.010``) or goes to `other`.  Raises ParseError where
    no line is of the format.  Raises ValueRuleError where `log_format` is not one.
    """
    return _parse(text, log_format, "nginx")


def parse_apache_log(text: str, log_format: str = "") -> Parsed:
    r"""Table `requests` of an access log of Apache; as `parse_access_log`, with another name in `tool`.

    Examples
    --------
    >>> line = '198.18.0.1 - - [20/Nov/2026:22:34:32 +0000] "GET /a HTTP/1.1" 200 616 1500\n'
    >>> log = parse_apache_log(line, 'LogFormat "%h %l %u %t \\"%r\\" %>s %b %D" timed')
    >>> log.tables["requests"]["latency_s"].tolist()
    [0.0015]
    """
    return _parse(text, log_format, "apache")


def _parse(text: str, log_format: str, tool: str) -> Parsed:
    log = _Log(layout_of_format(log_format) if log_format else None)
    for before, part in _chunks(text, _PART):
        log.read(part, before + 1)
    if not log.parts.rows:
        raise nothing_in(text, "a line of an access log" + (" in this format" if log_format else ""))
    return Parsed(tool, {"requests": log.parts.table(tool)}, log.unread_lines.warnings())


def _chunks(text: str, size: int) -> Iterator[tuple[int, str]]:
    """Chunks of whole lines, each with the number of lines before it."""
    start = before = 0
    while start < len(text):
        end = text.find("\n", start + size) + 1 or len(text)
        chunk = text[start:end]
        yield before, chunk
        start = end
        before += chunk.count("\n")


class _Log:
    """The layouts of a log, and the columns read with them so far."""

    def __init__(self, layout: Layout | None) -> None:
        self._fixed = layout is not None
        self._readers: dict[Layout, Reader] = {layout: Reader(layout)} if layout else {}
        self.parts = Parts()
        self.unread_lines = UnreadLines()

    def read(self, part: str, number: int) -> None:
        """Read the lines of a part from line `number` on; the last line of the text may lack its newline."""
        first = next(iter(self._readers), None) or self._first(part)
        if first and (columns := columns_of(part, first)):
            rows = len(columns[0])
            self.parts.add(self._readers[first].read(columns), range(number, number + rows), self.unread_lines)
            return
        for at, chunk in _chunks(part, _CHUNK):
            self._read(chunk, number + at)

    def _read(self, chunk: str, number: int) -> None:
        count = chunk.count("\n")
        first = next(iter(self._readers), None) or self._first(chunk)
        if first and chunk.endswith("\n"):
            groups = first.pattern().findall(chunk)
            if len(groups) == count:  # all lines are alike: the usual case, and three times as fast
                self._add(first, groups, range(number, number + count))
                return
        by_layout: dict[Layout, tuple[list[Any], list[int]]] = {}
        for at, line in enumerate(chunk.removesuffix("\n").split("\n"), number):
            whole = at < number + count
            layout, values = self._line(line, whole)
            if layout is not None:
                of_layout = by_layout.setdefault(layout, ([], []))
                of_layout[0].append(values)
                of_layout[1].append(at)
            elif whole:
                self.unread_lines.note(line, at)
            elif line.strip():
                self.unread_lines.warn(f"line {at}: the text ends inside this line, which is left out: {line[-40:]!r}")
        for layout, (found, numbers) in by_layout.items():
            self._add(layout, found, numbers)

    def _first(self, chunk: str) -> Layout | None:
        for line in chunk[:_LONGEST].split("\n")[:-1][:100]:
            if layout := layout_of_line(line):
                self._readers[layout] = Reader(layout)
                return layout
        return None

    def _line(self, line: str, whole: bool) -> tuple[Layout | None, tuple[str, ...]]:
        if len(line) > _LONGEST:
            return None, ()
        for known in self._readers:
            if (match := known.pattern().fullmatch(line)) and (whole or known.ends_in_literal):
                return known, match.groups()
        layout = None if self._fixed or len(self._readers) >= _MAX_LAYOUTS else layout_of_line(line)
        if layout is None or layout in self._readers or not (whole or self._is_only_line(layout)):
            return None, ()
        match = layout.pattern().fullmatch(line)
        if match is None:
            return None, ()
        self._readers[layout] = Reader(layout)
        return layout, match.groups()

    def _is_only_line(self, layout: Layout) -> bool:
        """Whether a line without newline is the whole log and ends as the combined format does."""
        return not self._readers and layout.ends_in_literal and layout.fields[-1].name == "http_user_agent"

    def _add(self, layout: Layout, groups: Sequence[tuple[str, ...]], numbers: Sequence[int]) -> None:
        self.parts.add(self._readers[layout].read(encoded(groups)), numbers, self.unread_lines)
