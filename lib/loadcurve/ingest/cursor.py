"""A cursor over the lines of a report: the current line, its number, and what a parser may do with it.

Every parser of a report that is made of lines walks it with a `Cursor`, so that all of them count lines, refuse a
garbled line, leave out a line that was cut and ignore lines of other programs in the same way.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed, Rows
from loadcurve.ingest.report_text import UnknownLines, is_noise, is_prose, nothing_in

_SHOWN = 60  # characters of a line that a warning quotes


class Cursor:
    r"""The lines of a report, one after the other, without the blanks around them; blank lines are skipped.

    Examples
    --------
    >>> cursor = Cursor("Total: 5\nshell noise?\nRate: 2", "demo")
    >>> for line in cursor:
    ...     if not (cursor.match(r"Total: ([0-9]+)") or cursor.warn_if_cut(line.endswith(" per second"))):
    ...         cursor.skip_unknown()
    >>> cursor.warnings  # doctest: +NORMALIZE_WHITESPACE
    ["line 2: ignored, because demo does not print it: 'shell noise?'",
     "line 3: the text ends inside this line, which is left out: 'Rate: 2'"]
    """

    def __init__(self, text: str, tool: str, plain: Callable[[str], str] = str.strip) -> None:
        self._lines = text.split("\n")
        self._tool = tool
        self._plain = plain
        self._skip_to = 0
        self._strays = UnknownLines(tool)
        self.line = ""  # The current line; after the loop, the last line
        self.raw = ""  # The same with the blanks around it
        self.number = 0  # Number of the current line, from 1
        self.warnings = self._strays.warnings  # Warnings so far, each with the number of its line
        self.failure = ""  # The first error message of the tool; empty if there was none

    def __iter__(self) -> Iterator[str]:
        for number, raw in enumerate(self._lines, 1):
            if number > self._skip_to and (line := self._plain(raw)):
                self.number, self.line, self.raw = number, line, raw
                yield line

    @property
    def end(self) -> int:
        """Number of the last line, which is empty if a newline ends the text."""
        return len(self._lines)

    @property
    def at_end(self) -> bool:
        """Whether no newline ends the current line, so that a part of it may be missing."""
        return self.number == len(self._lines)

    def match(self, pattern: re.Pattern[str] | str) -> re.Match[str] | None:
        """Return the match of the whole current line, or None."""
        # re.fullmatch looks a pattern up on every call, also a compiled one.
        return re.fullmatch(pattern, self.line) if isinstance(pattern, str) else pattern.fullmatch(self.line)

    def expect(self, pattern: re.Pattern[str] | str, expected: str) -> re.Match[str]:
        """Return the match of the whole current line."""
        return self.match(pattern) or self.fail(expected)

    def row(self, pattern: re.Pattern[str], expected: str) -> re.Match[str] | None:
        """Return the match of the whole current line; None where a person, a shell or a log wrote the line."""
        if found := pattern.fullmatch(self.line):
            return found
        return None if is_noise(self.line) or is_prose(self.line) else self.fail(expected)

    def fail(self, expected: str, got: str | None = None) -> NoReturn:
        """Raise a `ParseError` about the current line, or a part of it."""
        raise ParseError(self.number, expected, self.line if got is None else got)

    def warn(self, sentence: str) -> None:
        """Add a warning about the current line."""
        self.warnings.append(f"line {self.number}: {sentence}")

    def warn_if_cut(self, whole: object) -> bool:
        """Return whether the text ends inside the current line, and add a warning if it does."""
        if whole or not self.at_end:
            return False
        self.warn(f"the text ends inside this line, which is left out: {self.line[:_SHOWN]!r}")
        return True

    def rest(self) -> str:
        """Return the text from the current line on, for a document that begins here."""
        return "\n".join(self._lines[self.number - 1 :])

    def ahead(self) -> Iterator[str]:
        """Return the lines after the current line, one after the other, with the blanks around them."""
        return (self._lines[at] for at in range(self.number, len(self._lines)))

    def skip(self, lines: int) -> None:
        """Skip a number of lines, including the current one."""
        self._skip_to = self.number + lines - 1

    def skip_unknown(self) -> None:
        """Skip a line that the tool did not print; the first of several in a row gets a warning, unless it is noise."""
        self._strays.add(self.number, self.line)

    def take_failure(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the current line is an error message; `failure` keeps the first one."""
        failed = pattern.fullmatch(self.line) is not None
        if failed:
            self.failure = self.failure or self.line
        return failed

    def failed_run(self, expected: str) -> Parsed:
        """Return the failed run of a text that holds an error message instead of a report."""
        if not self.failure:
            self.refuse(expected)
        row = {"generator": 0, "tool": self._tool, "status": "failed", "reason": self.failure}
        return Parsed(self._tool, {"runs": [row]})

    def refuse(self, expected: str) -> NoReturn:
        """Raise a `ParseError` about the first line with text, for a text that holds nothing of the tool."""
        raise nothing_in("\n".join(self._lines), expected)


def with_generator_numbers(names: Iterable[str], runs: Sequence[Mapping[str, Rows]]) -> dict[str, Rows]:
    """Return the rows of several runs in one table each, with the `generator`, counted from 0, in front.

    Examples
    --------
    >>> with_generator_numbers(["runs", "latency"], [{"runs": [{"requests": 9}]}, {"runs": [{"requests": 7}]}])
    {'runs': [{'generator': 0, 'requests': 9}, {'generator': 1, 'requests': 7}], 'latency': []}
    """
    return {
        name: [{"generator": i, **row} for i, run in enumerate(runs) for row in run.get(name, ())] for name in names
    }
