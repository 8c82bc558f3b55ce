"""A cursor over the lines of a report: the current line, its number, and what a parser may do with it.

Every parser of a report that is made of lines walks it with a `Cursor`, so that all of them count lines, refuse a
garbled line, leave out a line that was cut and pass over lines of other programs in the same way.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed, Rows
from loadcurve.ingest.report_text import Strays

_SHOWN = 60  # characters of a line that a warning quotes


class Cursor:
    r"""The lines of a report, one after the other, without the blanks around them; blank lines are skipped.

    Parameters
    ----------
    text : str
        What the tool printed.
    tool : str
        Name of the tool, for warnings and for the row of a run that failed.
    plain : callable
        Strips a raw line; by default `str.strip`.

    Attributes
    ----------
    line : str
        The current line; after the loop, the last line.
    raw : str
        The same with the blanks around it.
    number : int
        Its number, from 1.
    warnings : list of str
        Warnings so far, each with the number of its line.
    failure : str
        The first error message of the tool; empty if there was none.

    Examples
    --------
    >>> cursor = Cursor("Total: 5\nshell noise?\nRate: 2", "demo")
    >>> for line in cursor:
    ...     if not (cursor.take_if(r"Total: ([0-9]+)") or cursor.is_cut(line.endswith(" per second"))):
    ...         cursor.pass_over()
    >>> cursor.warnings  # doctest: +NORMALIZE_WHITESPACE
    ["line 2: passed over, because demo does not print it: 'shell noise?'",
     "line 3: the text ends inside this line, which is left out: 'Rate: 2'"]
    """

    def __init__(self, text: str, tool: str, plain: Callable[[str], str] = str.strip) -> None:
        self._lines = text.split("\n")
        self._tool = tool
        self._plain = plain
        self._skip_to = 0
        self._strays = Strays(tool)
        self.line = self.raw = ""
        self.number = 0
        self.warnings = self._strays.warnings
        self.failure = ""

    def __iter__(self) -> Iterator[str]:
        for number, raw in enumerate(self._lines, 1):
            if number > self._skip_to and (line := self._plain(raw)):
                self.number, self.line, self.raw = number, line, raw
                yield line

    @property
    def at_end(self) -> bool:
        """Whether no newline ends the current line, so that a part of it may be missing."""
        return self.number == len(self._lines)

    def take_if(self, pattern: re.Pattern[str] | str) -> re.Match[str] | None:
        """Return the match of the whole current line; None where it is another line."""
        return re.fullmatch(pattern, self.line)

    def expect(self, pattern: re.Pattern[str] | str, expected: str) -> re.Match[str]:
        """Return the match of the whole current line.

        Raises
        ------
        ParseError
            Where it is another line.
        """
        return self.take_if(pattern) or self.fail(expected)

    def fail(self, expected: str, got: str | None = None) -> NoReturn:
        """Refuse the current line, or a part of it."""
        raise ParseError(self.number, expected, self.line if got is None else got)

    def warn(self, sentence: str) -> None:
        """Add a warning about the current line."""
        self.warnings.append(f"line {self.number}: {sentence}")

    def is_cut(self, whole: object) -> bool:
        """Whether the text ends inside the current line, which is then warned of.

        Parameters
        ----------
        whole : object
            True where the line ends in a unit, a bracket or a word after which nothing of it can be missing.
        """
        if whole or not self.at_end:
            return False
        self.warn(f"the text ends inside this line, which is left out: {self.line[:_SHOWN]!r}")
        return True

    def rest(self) -> str:
        """Return the text from the current line on, for a document that begins here."""
        return "\n".join(self._lines[self.number - 1 :])

    def skip(self, lines: int) -> None:
        """Skip lines, the current line counted."""
        self._skip_to = self.number + lines - 1

    def pass_over(self) -> None:
        """Pass over a line that is not of the tool; the first of several in a row is warned of, unless it is noise."""
        self._strays.add(self.number, self.line)

    def take_failure(self, pattern: re.Pattern[str]) -> bool:
        """Whether the current line reports a failure; the first such line is kept as the `failure`."""
        failed = pattern.fullmatch(self.line) is not None
        if failed:
            self.failure = self.failure or self.line
        return failed

    def without_report(self, expected: str) -> Parsed:
        """Return the run that failed, where the text holds no report but says why.

        Raises
        ------
        ParseError
            Where it does not; the line is the first of the text.
        """
        if self.failure:
            row = {"generator": 0, "tool": self._tool, "status": "failed", "reason": self.failure}
            return Parsed(self._tool, {"runs": [row]})
        number, line = next(((i, line) for i, line in enumerate(self._lines, 1) if line.strip()), (1, ""))
        raise ParseError(number, expected, line.strip())


def number_generators(names: Iterable[str], runs: Sequence[Mapping[str, Rows]]) -> dict[str, Rows]:
    """Return the rows of several runs in one table each, with the `generator`, counted from 0, in front.

    Parameters
    ----------
    names : iterable of str
        Names of the tables, also of those without rows.
    runs : sequence of mapping
        Rows of each run by the name of their table; a name may be missing.

    Examples
    --------
    >>> number_generators(["runs", "latency"], [{"runs": [{"requests": 9}]}, {"runs": [{"requests": 7}]}])
    {'runs': [{'generator': 0, 'requests': 9}, {'generator': 1, 'requests': 7}], 'latency': []}
    """
    return {
        name: [{"generator": i, **row} for i, run in enumerate(runs) for row in run.get(name, ())] for name in names
    }
