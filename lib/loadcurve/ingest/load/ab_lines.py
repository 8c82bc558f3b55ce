"""ab: the lines of its output sorted by run; `ab_report` makes numbers of them.

Every line of the text and of the HTML table (``-w``) that ab's C code can print is known here; so are the messages of
its standard error, of the shell and of OpenSSL that stand between them.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from loadcurve.errors import ParseError
from loadcurve.ingest.load import ab_words as words
from loadcurve.ingest.noise import is_noise


@dataclass
class Report:
    """What ab said of one run: texts and the line of each."""

    line: int
    version: str = ""
    is_html: bool = False
    labels: dict[str, tuple[re.Match[str], int]] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    sent_rate: str = ""
    phases: dict[str, tuple[list[str], int]] = field(default_factory=dict)
    percentiles: list[tuple[int, str, int]] = field(default_factory=list)
    fatal: list[tuple[str, int]] = field(default_factory=list)
    reason_cut: bool = False
    refusals: list[tuple[str, int]] = field(default_factory=list)
    progress: tuple[int, int] = (0, 0)
    finished: bool = False
    total_of: int | None = None
    interrupted: bool = False
    notes: list[tuple[int, str]] = field(default_factory=list)
    # Where the reading stands.
    stage: int = 0  # 0 before the banner, 1 after it, 2 after "Benchmarking", 3 in the report, 4 after a refused start
    region: str = ""  # head, tail, times, percentages: what the next line must be
    columns: int = 0
    pending: str = ""
    verbose: bool = False
    usage: bool = False


def reports(text: str) -> tuple[list[Report], list[tuple[int, str]]]:
    """Sort the lines of a text by run of ab; also return the lines, by number, that belong to none.

    Raises
    ------
    ParseError
        Where a line inside a report is not one that ab prints and holds a number.
    """
    lines = text.split("\n")
    last = len(lines) if lines[-1].strip() else 0
    found: list[Report] = []
    strangers: list[tuple[int, str]] = []
    for at, raw in enumerate(lines, 1):
        for line in _split(raw.strip()):
            reader = _Reader(found, at, cut=at == last and not line.endswith(words.CLOSED))
            if line and not reader.take(line, raw):
                strangers.append((at, line))
    return found, strangers


def _split(line: str) -> Iterator[str]:
    """The statements of a line: an error may stand on the line of the dots, after ``(be patient)``."""
    if line.startswith("Benchmarking ") and (end := line.find("(be patient)")) > 0:
        end += len("(be patient)")
        yield line[:end]
        line = line[end:].lstrip(".").strip()
    yield line


class _Reader:
    """Takes one line into the last of the reports found so far, or begins a new one."""

    def __init__(self, found: list[Report], at: int, cut: bool) -> None:
        self.found, self.at, self.cut = found, at, cut

    def take(self, line: str, raw: str) -> bool:
        """Whether the line is ab's, or known to stand beside it."""
        report = self.found[-1] if self.found else None
        if line.startswith("^C") or line.endswith("^C"):
            line = line.removeprefix("^C").removesuffix("^C").strip()
            if report and report.stage in (1, 2):
                report.interrupted = True
        if len(line) > 20000 and ":" not in line[:40]:
            return self._unknown(line, report)
        if report and report.usage:
            if raw[:1] in (" ", "\t") or line == "Options are:":
                return True
            report.usage = False
        if line.startswith("<"):
            if words.MARKUP.fullmatch(line):
                return True
            if cells := [html.unescape(cell).strip() for cell in words.CELL.findall(line)]:
                return self._take_cells(cells, line)
        label, colon, value = line.partition(":")
        if colon and (known := label.strip()) in words.LABELS:
            return self._take_label(known, value)
        line = " ".join(line.split())
        return self._take_start(line) or self._take_report(line, report, raw) or self._take_error(line, report) or (
            self._unknown(line, report)
        )  # fmt: skip

    def _current(self, stage: int = 0) -> Report:
        """The report that a line of this stage belongs to: a line of an earlier stage begins the next one."""
        if not self.found or self.found[-1].stage == 4 or (stage and self.found[-1].stage >= stage):
            self.found.append(Report(self.at))
        if stage:
            self.found[-1].stage = stage
        return self.found[-1]

    def _take_start(self, line: str) -> bool:
        if match := words.BANNER.match(line):
            if len(line) > 500:
                raise ParseError(self.at, "the banner of ab alone in its line; the line ends are lost", line)
            report = self._current(stage=1)
            report.version = "" if self.cut else match[1]
            if self.cut:
                report.notes.append((self.at, "the text ends here; this line is left out"))
            report.is_html = line.endswith("<br>")
        elif line.startswith("Benchmarking ") and line.endswith("(be patient)"):
            self._current(stage=2)
        else:
            return line.startswith(("Copyright ", "Licensed to The Apache", "http://www.zeustech.net/"))
        return True

    def _take_label(self, label: str, value: str) -> bool:
        report = self.found[-1] if self.found else None
        again = report is not None and label in report.labels and label != "Time per request"
        if report is None or report.stage == 4 or (report.stage == 3 and (label == "Server Software" or again)):
            report = self._current(stage=3)
        report.stage = 3
        report.pending = ""
        if report.region in ("", "head", "tail"):
            report.region = "tail" if label == "HTML transferred" or label in words.TAIL else "head"
        if not value.strip():
            report.pending = label
        else:
            self._set(report, label, value)
        return True

    def _set(self, report: Report, label: str, value: str) -> None:
        pattern = words.LABELS[label]
        words_only = pattern in (words.TEXT, words.WORD)
        value = value.strip() if words_only else " ".join(value.split())
        match = pattern.match(value)
        rest = value[match.end() :] if match else ""
        if words_only and any(f"{other}:" in value for other in words.LABELS):
            raise ParseError(self.at, f"the value of {label!r} alone; line ends are lost", value)
        if match is None or (
            not words_only and rest and ((rest[0].isascii() and rest[0] != " ") or rest.strip()[0] in "0123456789.-+")
        ):
            raise ParseError(self.at, f"the value of {label!r}", value)
        if rest:
            report.notes.append((self.at, f"{rest.strip()[:60]!r} after the value is passed over"))
        if self.cut:
            report.notes.append((self.at, "the text ends here; this line is left out"))
            return
        if label == "Time per request" and (label in report.labels or match[2]):
            return  # the second one is 1 / Requests per second
        report.labels[label] = (match, self.at)

    def _take_cells(self, cells: list[str], line: str) -> bool:
        """A row of the HTML table, which says the same in other words."""
        label = cells[0].removesuffix(":")
        report = self._current()
        report.is_html = True
        if label in words.LABELS and len(cells) == 2:
            return self._take_label(label, cells[1])
        if label in words.PHASES and len(cells) == 4:
            report.columns = 3
            return self._take_row(report, label, cells[1:])
        joined = " ".join(" ".join(cells).split())
        if words.TIMES.fullmatch(joined) or joined in words.COLUMNS or not joined:
            report.region = "tail"
            return True
        return self._take_report(joined, report) or self._unknown(line, report)

    def _take_row(self, report: Report, label: str, numbers: list[str]) -> bool:
        if label in report.phases or any(not re.fullmatch(words.REAL, token) for token in numbers):
            raise ParseError(self.at, f"{report.columns} numbers in ms in the one line of {label!r}", " ".join(numbers))
        if self.cut:
            report.notes.append((self.at, "the text ends here; this line is left out"))
        else:
            report.phases[label] = (numbers, self.at)
        if label == "Total":
            report.region = "tail"
        return True

    def _take_report(self, line: str, report: Report | None, raw: str = "") -> bool:
        """A line of the report that has no label; blanks are collapsed."""
        if words.TIMES.fullmatch(line) or (served := words.SERVED.match(line)):
            again = report and (report.phases if line[0] == "C" else report.percentiles)
            report = self._current(stage=3) if again else self._current()
            report.stage, report.region = 3, "times" if line[0] == "C" else "percentages"
            rest = "" if line[0] == "C" else line[served.end() :]
            return not rest or self._take_report(rest, report) or self._unknown(rest, report)
        if report is None:
            return False
        if report.region == "times" and line in words.COLUMNS:
            report.columns = words.COLUMNS[line]
        elif report.region == "times" and (parts := line.partition(":"))[0] in words.PHASES:
            self._take_row(report, parts[0], self._numbers(report, parts[2], raw))
        elif report.region == "percentages" and (match := words.PERCENTILE.fullmatch(line)):
            self._take_percentile(report, match)
        elif report.region == "percentages" and words.PERCENTILES.fullmatch(line):
            for match in words.PERCENTILE.finditer(line):
                self._take_percentile(report, match)
        elif match := words.BREAKDOWN.fullmatch(line):
            for part in re.findall(r"(\w+): ([0-9]+)", match[1]) if not report.failures else ():
                report.failures[part[0]] = int(part[1])
        elif (match := words.RATES.fullmatch(line)) and "Transfer rate" in report.labels:
            report.sent_rate = match[1] if match[2] == "sent" else report.sent_rate
        elif words.DOUBT.match(line):
            if not self.cut:
                report.notes.append((self.at, f"ab warns: {line}"))
        elif report.pending and words.LABELS[report.pending].fullmatch(line) and report.region in ("head", "tail"):
            label, report.pending = report.pending, ""
            self._set(report, label, line)
        else:
            return bool(words.DOUBT_GOES_ON.match(line) or words.WRAPPED.fullmatch(line) or line.startswith("<br>"))
        return True

    def _numbers(self, report: Report, values: str, raw: str) -> list[str]:
        """The numbers of a row; ``-S`` prints ``%5d %5d%5d``, so that a maximum of 5 digits touches the mean."""
        numbers = values.split()
        if len(numbers) == report.columns or (not report.columns and len(numbers) in (3, 5)):
            return numbers
        row = raw.strip()
        columns = [row[12:17].strip(), row[18:23].strip(), row[23:].strip()]
        if report.columns == 3 and row[17:18] == " " and all(re.fullmatch(words.WHOLE, column) for column in columns):
            return columns
        raise ParseError(
            self.at, f"{report.columns or '3 or 5'} numbers in ms, with blanks between them", values.strip()
        )

    def _take_percentile(self, report: Report, match: re.Match[str]) -> None:
        rank = int(match[1])
        before = report.percentiles[-1][0] if report.percentiles else -1
        if not before < rank <= 100:
            raise ParseError(self.at, f"a percentage over {max(before, 0)}, up to 100", match[0])
        if self.cut:
            report.notes.append((self.at, "the text ends here; this line is left out"))
        elif match[2]:
            report.percentiles.append((rank, match[2], self.at))
        if rank == 100:
            report.region = "end"

    def _take_error(self, line: str, report: Report | None) -> bool:
        if words.USAGE_ERROR.fullmatch(line):
            if not (line.startswith("Usage:") and report and report.stage == 4):
                self.found.append(Report(self.at, stage=4, fatal=[(line, self.at)]))
                self.found[-1].reason_cut = self.cut and not words.WHOLE_ERROR.fullmatch(line)
            self.found[-1].usage = line.startswith("Usage:")
        elif words.FATAL.fullmatch(line):
            self._current().fatal.append((line, self.at))
        elif words.REFUSALS.fullmatch(line):
            self._current().refusals.append((line, self.at))
        elif match := words.TOTAL_OF.fullmatch(line):
            self._current().total_of = int(match[1])
        elif match := words.PROGRESS.fullmatch(line):
            if report and report.stage == 0 and report.finished:
                self.found.append(Report(self.at))  # the standard error of several runs
            self._current().progress = (int(match[2]), self.at)
            self.found[-1].finished = match[1] == "Finished"
        elif words.VERBOSE.fullmatch(line):
            self._current().verbose = True
        else:
            return False
        return True

    def _unknown(self, line: str, report: Report | None) -> bool:
        """Whether a line that ab does not print may be passed over without a word; a number never is."""
        known = is_noise(line[:2000]) or line.startswith(words.COMMENT) or words.COMMAND.fullmatch(line)
        if report and report.region in ("head", "times", "percentages"):
            # A garbled percentage looks like the prompt of csh.
            if re.search(r"[0-9]", line) and (not known or re.match(r"\w{1,3}%", line)):
                raise ParseError(self.at, f"a line of ab's report ({report.region})", line)
            return bool(known)
        if known:
            return True
        return bool(report and report.verbose and report.stage < 3)
