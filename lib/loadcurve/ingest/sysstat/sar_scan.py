"""Split sar's text into headings, header rows and the rows below each, averages, restarts and comments.

Output of sysstat (12.6, ``pr_stats.c``, ``sar.c``): ``print_hdr_line`` prints an empty line, then a header row
whose time is the start of the first interval.  Header rows repeat with the height of the terminal, and with every
interval when several sections are printed.  ``Average:`` and ``Summary:`` are translated, ``LINUX RESTART`` and
``COM`` never.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loadcurve.errors import ParseError
from loadcurve.ingest.report_text import is_noise
from loadcurve.ingest.sysstat.columns import Section
from loadcurve.ingest.sysstat.heading import Heading, read_heading
from loadcurve.ingest.sysstat.labels import word_of
from loadcurve.ingest.sysstat.sar_lines import Lines
from loadcurve.ingest.sysstat.sections import ITEMS, SECTIONS, section_of

_HEADING = re.compile(r"Linux +\S+ +\(")
_LABEL = re.compile(r"([^\d:：]{1,30}?) ?[:：](?: +(.*))?")
_SUMMARY = re.compile(r"(Summary|Laburpena|Resumo|Kopsavilkums) +(.*)")  # version 10 has no colon there
_RESTART = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?: [AP]M)?(?: \S{2,5})? +LINUX RESTART(?: +\(([0-9]{1,7}) CPU\))?")
_COMMENT = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?: [AP]M)?(?: \S{2,5})? +COM (.*)")
_SPECIAL = re.compile(r".{8}(?: [AP]M)?(?: \S{2,5})? +(?:LINUX RESTART|COM |up .*load average:)")
_ZONE = re.compile(r"[A-Z]{2,5}|[+-][0-9]{2}(?:[0-9]{2})?")
_NUMBER = re.compile(r"[+-]?[0-9.,]+")
_ELSEWHERE = re.compile(r"(SunOS|AIX|HP-UX|Darwin) .* [0-9]{2}/[0-9]{2}/[0-9]{2,4}")
_ERRORS = re.compile(
    r"(?:\S+: )?(?:Cannot (?:open|find) .*|Requested activities not available.*|Invalid system activity file.*"
    r"|Please check if data collecting is enabled.*|End of (?:system activity file|data collecting) unexpected.*"
    r"|Usage: sar\b.*|Inconsistent input data.*|Current sysstat version can.*not read .*|Not reading from a system .*"
    r"|sar: .*not found.*|(?:-?\w+: )?(?:line [0-9]+: )?sar: command not found.*|.*bad magic number.*)"
)
LONGEST = 100_000  # bytes of a line; a row of 8,192 processors has 82 kB
KNOWN = ITEMS | {name for section in SECTIONS for name in (*section.columns, *section.texts)} | {"all"}


class WarningCollector:
    """Warnings, of which many lines can share one.

    Examples
    --------
    >>> warnings = WarningCollector()
    >>> warnings.add("sum", 4, "wrong")
    >>> warnings.add("sum", 9, "wrong")
    >>> warnings.sentences()
    ['line 4: wrong (and 1 line more)']
    """

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, str]] = {}
        self._count: dict[str, int] = {}

    def add(self, kind: str, line: int, sentence: str, count: int = 1) -> None:
        """Add a warning about `count` lines from `line` on; only the first sentence of a kind is kept."""
        self._first.setdefault(kind, (line, sentence))
        self._count[kind] = self._count.get(kind, 0) + count

    def sentences(self) -> list[str]:
        """One sentence for each kind, in the order of the lines."""
        shown = []
        for kind, (line, sentence) in sorted(self._first.items(), key=lambda entry: entry[1][0]):
            more = self._count[kind] - 1
            shown.append(f"line {line}: {sentence}" + (f" (and {more} line{'s' * (more > 1)} more)" if more else ""))
        return shown


@dataclass(eq=False)
class Header:
    """One set of columns: every header row that has it, and every row below one."""

    columns: tuple[str, ...]  # As printed, without the time
    section: Section  # Meaning of the columns
    half: bool  # Whether the time has AM or PM after it
    zone: str  # Abbreviation of a zone after the time; empty without
    line: int  # Line of the first such header row, from 1
    item: int  # Index of the column with the item of a row; -1 if there is none
    at: list[int] = field(default_factory=list)  # Lines of the header rows, from 0
    # `starts` and `ends`: first line of the rows below each, and the line after the last, from 0.
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @property
    def blocks(self) -> np.ndarray:
        """First line of each block of rows and the line after its last; no empty blocks."""
        blocks = np.column_stack([np.array(self.starts, np.int64), np.array(self.ends, np.int64)])
        return blocks[blocks[:, 1] > blocks[:, 0]]

    @property
    def places(self) -> list[int]:
        """Places of the columns that hold numbers."""
        return [i for i, c in enumerate(self.columns) if i != self.item and c not in self.section.texts]


def looks_like_header(words: Sequence[str]) -> bool:
    """Whether words after a time name columns that are known.

    Examples
    --------
    >>> looks_like_header(["PM", "proc/s", "cswch/s"]), looks_like_header(["all", "0.10"])
    (True, False)
    """
    words = words[1:] if words[:1] in (["AM"], ["PM"]) else words
    return bool(words) and not any(_NUMBER.match(word) for word in words) and bool(section_of(words).option)


@dataclass(frozen=True)
class Average:
    """A row that is not a sample: its header, its statistic, and its cells as printed."""

    line: int
    header: Header
    statistic: str
    text: str


@dataclass(frozen=True)
class Event:
    """A restart or a comment."""

    line: int
    event: str
    cpus: int | None
    text: str


class Scan:
    """Classify the lines of a text."""

    def __init__(self, lines: Lines, warnings: "WarningCollector", more: Sequence[int] = ()) -> None:
        self.lines, self.warnings = lines, warnings
        self.headings: list[Heading] = []
        self.headers: dict[tuple[Any, ...], Header] = {}
        self.averages: list[Average] = []
        self.events: list[Event] = []
        self.error: tuple[int, str] | None = None
        self.american = False
        self._languages: set[bool | None] = set()
        self._current: Header | None = None
        self._read: dict[bytes, Header] = {}
        special = sorted({*lines.find(b"LINUX RESTART"), *lines.find(b"COM "), *lines.find(b"load average:")})
        rows = lines.timed.copy()
        rows[[i for i in special if _SPECIAL.match(lines.text(i))]] = False
        first = rows & ~np.concatenate([[False], rows[:-1]])
        first[list(more)] = True
        self._scan(rows, first)

    def _scan(self, rows: np.ndarray, first: np.ndarray) -> None:
        breaks = np.append(np.flatnonzero(~rows | first), len(rows))
        filled = self.lines.ends > self.lines.starts
        marks = np.flatnonzero(filled & (first | ~rows))
        after = breaks[np.searchsorted(breaks, marks, "right")]
        starts, ends, data, read = self.lines.starts, self.lines.ends, self.lines.data, self._read
        for number, end, is_row, a, b in zip(
            marks.tolist(), after.tolist(), rows[marks].tolist(), starts[marks].tolist(), ends[marks].tolist(),
            strict=True,
        ):  # fmt: skip
            if not is_row:
                self._other(number)
                continue
            words = data[a + 8 : b]
            header = read.get(words) or self._header(words, number)
            if header is None:
                self._rows(number, end)
                continue
            self._current = header
            header.at.append(number)
            header.starts.append(number + 1)
            header.ends.append(end)

    def _header(self, raw: bytes, number: int) -> Header | None:
        """Return the header from a line's words after the time; None if they are a row."""
        words = raw[:LONGEST].decode("utf-8", "replace").replace("\t", " ").split()
        half = bool(words) and words[0] in ("AM", "PM")
        del words[: int(half)]
        zoned = len(words) > 1 and _ZONE.fullmatch(words[0]) and words[0] not in KNOWN and words[1] in KNOWN
        zone = words.pop(0) if zoned else ""
        if not words or any(_NUMBER.fullmatch(word) or word[0].isdigit() for word in words):
            return None
        section = section_of(words)
        if not section.option and not any("/" in w or "%" in w or "-" in w or w in ITEMS for w in words):
            return None
        if self.lines.seconds[number] < 0:
            raise ParseError(number + 1, "a time such as 22:33:25 or 10:33:25 PM", self.lines.text(number)[:11])
        key = (tuple(words), half, zone)
        if key not in self.headers:
            self.headers[key] = self._new(key, section, number + 1)
        self._read[raw] = self.headers[key]
        return self.headers[key]

    def _new(self, key: tuple[Any, ...], section: Section, line: int) -> Header:
        columns, half, zone = key
        items = [i for i, name in enumerate(columns) if name in section.items]
        if section.table == "interrupts" and not items:
            items = [i for i, name in enumerate(columns) if name == "CPU"]
        targets = [section.column(name) for name in columns if section.table not in ("counters", "interrupts")]
        ours = [(c.table, c.name) for c in targets if c.table != "counters"]
        if len(set(columns)) < len(columns) or len(set(ours)) < len(ours) or (section.items and len(items) != 1):
            raise ParseError(line, f"each column of sar {section.option} once", " ".join(columns))
        unknown = [
            name
            for i, name in enumerate(columns)
            if i not in items and name not in section.texts and section.column(name) not in section.columns.values()
        ]
        if unknown:
            what = f"columns of sar {section.option}" if section.option else "a section"
            warning = f"{what} not known, its numbers in no known unit: {' '.join(unknown)}"
            self.warnings.add(warning, line, warning)
        self.american |= half
        return Header(columns, section, half, zone, line, items[0] if items else -1)

    def _rows(self, number: int, end: int) -> None:
        """Rows after an empty line, without a header row."""
        text = self.lines.text(number)
        if self._current is None:
            if self.headings:
                raise ParseError(number + 1, "a header row before this row", text)
            self.warnings.add("headless", number + 1, f"no header row above, so it is left out: {text[:80]!r}")
            return
        empty = number and self.lines.ends[number - 1] == self.lines.starts[number - 1]
        if empty and number - 1 not in self.lines.emptied:
            self.warnings.add("lost", number + 1, "no header row after the empty line; read under the one before")
        self._current.starts.append(number)
        self._current.ends.append(end)

    def _other(self, number: int) -> None:
        text = self.lines.text(number)
        if _HEADING.match(text):
            self.headings.append(read_heading(text, number + 1))
            self._current = None
        elif self.lines.timed[number]:
            self._event(text, number)
        elif not self._average(text, number) and not is_noise(text[:2000]):
            self._strange(text, number)

    def _event(self, text: str, number: int) -> None:
        if found := _RESTART.fullmatch(text):
            self.events.append(Event(number, "restart", int(found[1]) if found[1] else None, ""))
        elif "LINUX RESTART" in text:
            raise ParseError(number + 1, "a line such as '13:37:29     LINUX RESTART\\t(9 CPU)'", text)
        elif found := _COMMENT.fullmatch(text):
            self.events.append(Event(number, "comment", None, found[1].strip()))
        elif "load average:" not in text:
            self._strange(text, number)

    def _average(self, text: str, number: int) -> bool:
        found = _LABEL.fullmatch(text[:200]) or _SUMMARY.fullmatch(text[:200])
        if not found or len(text) > LONGEST:
            return False
        word, rest = word_of(found[1]), text[found.start(2) :].strip() if found[2] else ""
        known = bool(word.statistic)
        words = rest.split()
        if words and looks_like_header(words):
            section = section_of(words)
            half = self._current.half if self._current else False
            key = (tuple(words), half, "")
            if key not in self.headers:
                self.headers[key] = self._new(key, section, number + 1)
            self._current = self.headers[key]
        elif self._current is None or not any(_NUMBER.match(word) for word in words):
            if known:
                self.warnings.add("empty average", number + 1, f"{found[1]} without values")
            return known
        elif known or len(words) == len(self._current.columns):
            if not known:
                self.warnings.add(f"word {found[1]}", number + 1, f"{found[1]!r} is not a known word for an average, "
                                "so its rows are read as averages: check that they are")  # fmt: skip
            self.averages.append(Average(number, self._current, word.statistic or "average", rest))
        else:
            return False
        self._languages.add(True if not known else word.foreign)
        return True

    @property
    def foreign(self) -> bool:
        """Whether the words are of another language than English; an unknown word beside an English one is not."""
        return True in self._languages and False not in self._languages

    def _strange(self, text: str, number: int) -> None:
        if found := _ELSEWHERE.fullmatch(text[:500]):
            raise ParseError(number + 1, "output of sysstat's sar, on Linux", f"that of {found[1]}: {text}")
        if _ERRORS.fullmatch(text[:500]):
            self.error = self.error or (number + 1, text)
        if not self.headings and not self.headers:
            return  # a prompt or a banner
        words = text[:LONGEST].split()[1:]
        columns = len(self._current.columns) if self._current else 0
        if looks_like_header(words) or (columns and len(words) in (columns, columns + 1) and _NUMBER.match(words[-1])):
            raise ParseError(number + 1, "a row that begins with a time such as 22:33:25", text)
        self.warnings.add("strange", number + 1, f"not understood: {text[:80]!r}")
