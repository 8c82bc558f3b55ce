"""ab (ApacheBench): its report, as text or HTML (``-w``), into the tables `runs`, `phases` and `latency`.

Seen: Debian's ab 2.3 (httpd 2.4.71; most samples of the tests, ``ab -n 2000 -c 10 URL``); 1.3, 2.0 and other
revisions of 2.3 in public repositories and in the source of each.

Output of ab (``support/ab.c`` of httpd; ``src/support/ab.c`` of 1.3):

- A request is complete when its connection was closed or its response was read. If a server closes every connection
  at once, ab reports complete requests, no failures and 0 bytes.
- ``Failed requests`` are refused connections, failed reads, exceptions of the poll loop, and responses with another
  length than the first one (normal for dynamic pages).  Responses with a status other than 2xx are not failed.
- ``Requests per second`` and ``Transfer rate`` (kB of 1024 bytes; of 1000 in 1.3) are totals divided by the time taken.
  ``Time per request (mean)`` is connections × time / requests, not a mean of measured times.
- ``Connection Times`` are measured in microseconds and printed in whole milliseconds, except the deviation.  The
  median is an order statistic; a percentile has index n p / 100, counted from 0.  ab does not correct for coordinated
  omission.
- 2.0 prints the microseconds of the time taken without leading zeros: ``2.34689 seconds`` is 2.034689 s.
"""

import html
import re
from collections.abc import Iterator

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.load.ab_runs import LABELS, PHASES, REAL, TEXT, WHOLE, WORD, Report, Rows
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise, is_prose

_TAIL = ("Requests per second", "Time per request", "Transfer rate")  # absent when no request was completed
# Endings of a last line without newline that show its number to be complete.
_CLOSED = (" seconds", " bytes", "(mean)", "requests)", "request)", " received", "kb/s sent", "kb/s total")

_BANNER = re.compile(r"This is ApacheBench, Version (\S+)")
_PROGRESS = re.compile(r"(Completed|Finished) ([0-9]{1,18}) requests")
_TOTAL_OF = re.compile(r"Total of ([0-9]{1,18}) requests completed")
_BREAKDOWN = re.compile(r"\( ?((?:(?:Connect|Receive|Length|Exceptions): [0-9]{1,18}(?:, ?)?){3,4}) ?\)")
_RATES = re.compile(rf"{REAL} kb/s (sent|total)")
_SERVED = re.compile(r"Percentage of (?:the )?requests served[^%0-9]{0,80}(?=[0-9]|$)")
_PERCENTILE = re.compile(
    r"([0-9]{1,3})% +(?:(-?[0-9]{1,18}(?:\.[0-9]{1,6})?)(?: \((?:longest|last) request\))?|<0> \(never\))"
)
_PERCENTILES = re.compile(rf"{_PERCENTILE.pattern}(?: {_PERCENTILE.pattern})+")  # several in one line
_TIMES = re.compile(r"Conn+ection Times \(ms\):?")  # misspelled Connnection in 1.3 and in the HTML of 2.0
_COLUMNS = {"min mean[+/-sd] median max": 5, "min avg max": 3}
_DOUBT = re.compile(r"(?:WARN?ING|ERROR): The median and mean for .{1,40} are .{1,40}")
_DOUBT_GOES_ON = re.compile(r"These results are pro[bp]ably not that reliable\.|deviation apart\. These results are .*")
_WRAPPED = re.compile(r"\(mean(?:\)|, across all con\w{1,9} requests\))|requests\)|\.*(?:done)?")

# One line that ends ab (err, apr_err and usage in support/ab.c; a shell).
_FATAL = re.compile(
    r"(?:apr_\w{1,40}(?:\(\))?(?: (?:for|failed)[^:]{0,300})?|socket(?: nonblock| send buffer| receive buffer)?|bind"
    r"|Port): .{0,400}\(-?[0-9]{1,9}\)"
    r"|Test aborted after 10 failures|Response header too long|Request too long|Could not allocate memory"
    r"|error creating request buffer: .*|SSL not compiled in.*|SSL_new failed|BIO_new_socket failed"
    r"|Cannot open (?:CSV|gnuplot) output file.*|only simple translation is supported.*"
    r"|Killed(?: by signal.*)?|Segmentation fault.*|Aborted.*|Bus error.*"
)
_USAGE_ERROR = re.compile(
    r"\S{0,200}\babs?2?(?:\.exe)?: .{1,300}|.{0,200}command not found: abs?|(?:.{0,200}: )?abs?: (?:command )?not found"
    r"|'abs?' is not recognized .*|Usage: \S{0,200}abs?2?(?:\.exe)? \[options\].*"
)
_WHOLE_ERROR = re.compile(r".*(?:URL|number of requests|arguments|not found|found: abs?|/path|\))")
_REFUSALS = re.compile(r"SSL (?:handshake|read|write) failed.*|Send request (?:timed out|failed)!|\S{0,80}:error:.*")
_VERBOSE = re.compile(r"(?:LOG|INFO): .*|WARNING: Response code not 2xx.*|SSL/TLS (?:State|Alert|Handshake) .*")
_COMMENT = ("#", "//", "--", "<!--")
_CELL = re.compile(r"<t[hd][^<>]*>([^<]*)</t[hd]>")
_MARKUP = re.compile(r"(?:</?(?:p|table|html|body|pre|br)\b[^<>]*>|\s)*")
_COMMAND = re.compile(r".{0,80}\babs?(?:\.exe)? -\w.*")
_NUMBERS = re.compile(r"[-0-9.][-0-9. \t]*")


def parse_ab(text: str) -> Parsed:
    """Tables `runs`, `phases` and `latency` of every run of ab in a text."""
    warnings: list[str] = []
    try:
        reader = Reader(text)
    except ParseError as error:
        whole, changed = rejoin_lines(text)
        if not changed:
            raise
        try:
            reader = Reader(whole)
        except ParseError:
            raise error from None
        warnings += [f"line {at}: broken in parts, which were joined" for at in changed]
    if not reader.found:
        at, line = reader.unread[0] if reader.unread else (1, "")
        raise ParseError(at, "a report of ab", line)
    runs = [Rows(report) for report in reader.found]
    warnings += [warning for rows in runs for warning in rows.warnings]
    tables = [{"runs": [rows.run], "phases": rows.phases, "latency": rows.latency} for rows in runs]
    numbered = with_generator_numbers(("runs", "phases", "latency"), tables)
    return Parsed("ab", numbered, (*warnings, *_ignored_lines(reader.unread)), reader.found[0].version)


def _ignored_lines(unread: list[tuple[int, str]]) -> list[str]:
    """Return one warning for each group of consecutive lines."""
    found: list[str] = []
    first = 0
    for i, (at, line) in enumerate(unread):
        if i + 1 < len(unread) and unread[i + 1][0] == at + 1:
            continue
        where = f"line {at}: {line[:60]!r}" if first == i else f"lines {unread[first][0]} to {at}"
        found.append(f"{where} not understood, ignored")
        first = i + 1
    return found


def _split(line: str) -> Iterator[str]:
    """Yield the statements of a line: an error may follow the dots after ``(be patient)``."""
    if line.startswith("Benchmarking ") and (end := line.find("(be patient)")) > 0:
        end += len("(be patient)")
        yield line[:end]
        line = line[end:].lstrip(".").strip()
    if line:
        yield line


class Reader:
    """Sorts the lines of a text by run of ab."""

    def __init__(self, text: str) -> None:
        self.found: list[Report] = []  # one for each run
        self.unread: list[tuple[int, str]] = []  # lines, with their numbers, that belong to no run
        self._cursor = Cursor(text, "ab")
        for line in self._cursor:
            for part in _split(line):
                self._cut = self._cursor.at_end and not part.endswith(_CLOSED)
                if not self._take(part):
                    self.unread.append((self._cursor.number, part))

    def _take(self, line: str) -> bool:
        """Whether a line is printed by ab, or is known to occur next to ab's lines."""
        report = self.found[-1] if self.found else None
        if line.startswith("^C") or line.endswith("^C"):
            line = line.removeprefix("^C").removesuffix("^C").strip()
            if report and report.stage in (1, 2):
                report.interrupted = True
        if len(line) > 20000 and ":" not in line[:40]:
            return self._unknown(line, report)
        if report and report.usage:
            if self._cursor.raw[:1] in (" ", "\t") or line == "Options are:":
                return True
            report.usage = False
        if line.startswith("<"):
            if _MARKUP.fullmatch(line):
                return True
            if cells := [html.unescape(cell).strip() for cell in _CELL.findall(line)]:
                return self._take_cells(cells, line)
        label, colon, value = line.partition(":")
        if colon and (known := label.strip()) in LABELS:
            return self._take_label(known, value)
        line = " ".join(line.split())
        taken = self._take_start(line) or self._take_report(line, report) or self._take_error(line, report)
        return taken or self._unknown(line, report)

    def _current(self, stage: int = 0) -> Report:
        """Return the report that a line of this stage belongs to; a line of an earlier stage begins a new report."""
        if not self.found or self.found[-1].stage == 4 or (stage and self.found[-1].stage >= stage):
            self.found.append(Report(self._cursor.number))
        if stage:
            self.found[-1].stage = stage
        return self.found[-1]

    def _leave_out(self, report: Report) -> bool:
        """Whether the text ends inside the current line; notes that the line is left out."""
        if self._cut:
            report.notes.append((self._cursor.number, "the text ends here; this line is left out"))
        return self._cut

    def _take_start(self, line: str) -> bool:
        if match := _BANNER.match(line):
            if len(line) > 500:
                self._cursor.fail("the banner of ab alone in its line; the line ends are lost", line)
            report = self._current(stage=1)
            report.version = "" if self._leave_out(report) else match[1]
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
            report.region = "tail" if label == "HTML transferred" or label in _TAIL else "head"
        if not value.strip():
            report.pending = label
        else:
            self._set(report, label, value)
        return True

    def _set(self, report: Report, label: str, value: str) -> None:
        pattern, _ = LABELS[label]
        words_only = pattern in (TEXT, WORD)
        value = value.strip() if words_only else " ".join(value.split())
        match = pattern.match(value)
        rest = value[match.end() :] if match else ""
        if words_only and any(f"{other}:" in value for other in LABELS):
            self._cursor.fail(f"the value of {label!r} alone; line ends are lost", value)
        if match is None or (
            not words_only and rest and ((rest[0].isascii() and rest[0] != " ") or rest.strip()[0] in "0123456789.-+")
        ):
            self._cursor.fail(f"the value of {label!r}", value)
        if rest:
            report.notes.append((self._cursor.number, f"{rest.strip()[:60]!r} after the value is ignored"))
        if self._leave_out(report):
            return
        if label == "Time per request" and (label in report.labels or match[2]):
            return  # the second one is 1 / Requests per second
        report.labels[label] = (match, self._cursor.number)

    def _take_cells(self, cells: list[str], line: str) -> bool:
        """Take a row of the HTML table, which has other labels for the same values."""
        label = cells[0].removesuffix(":")
        report = self._current()
        report.is_html = True
        if label in LABELS and len(cells) == 2:
            return self._take_label(label, cells[1])
        if label in PHASES and len(cells) == 4:
            report.columns = 3
            return self._take_row(report, label, cells[1:])
        joined = " ".join(" ".join(cells).split())
        if _TIMES.fullmatch(joined) or joined in _COLUMNS or not joined:
            report.region = "tail"
            return True
        return self._take_report(joined, report) or self._unknown(line, report)

    def _take_row(self, report: Report, label: str, numbers: list[str]) -> bool:
        if label in report.phases or len(numbers) not in (3, 5) or not all(re.fullmatch(REAL, t) for t in numbers):
            expected = f"{report.columns or '3 or 5'} numbers in ms in the one line of {label!r}"
            self._cursor.fail(expected, " ".join(numbers))
        if not self._leave_out(report):
            report.phases[label] = (numbers, self._cursor.number)
        if label == "Total":
            report.region = "tail"
        return True

    def _take_report(self, line: str, report: Report | None) -> bool:
        """Take a line of the report that has no label; runs of spaces are collapsed."""
        times, served = _TIMES.fullmatch(line), _SERVED.match(line)
        if times or served:
            again = report and (report.phases if times else report.percentiles)
            report = self._current(stage=3) if again else self._current()
            report.stage, report.region = 3, "times" if times else "percentages"
            rest = line[served.end() :] if served else ""
            return not rest or self._take_report(rest, report) or self._unknown(rest, report)
        if report is None:
            return False
        if report.region == "times" and line in _COLUMNS:
            report.columns = _COLUMNS[line]
        elif report.region == "times" and (parts := line.partition(":"))[0] in PHASES:
            self._take_row(report, parts[0], self._numbers(report, parts[2]))
        elif report.region == "percentages" and (match := _PERCENTILE.fullmatch(line)):
            self._take_percentile(report, match)
        elif report.region == "percentages" and _PERCENTILES.fullmatch(line):
            for match in _PERCENTILE.finditer(line):
                self._take_percentile(report, match)
        elif match := _BREAKDOWN.fullmatch(line):
            for part in re.findall(r"(\w+): ([0-9]+)", match[1]) if not report.failures else ():
                report.failures[part[0]] = int(part[1])
        elif (match := _RATES.fullmatch(line)) and "Transfer rate" in report.labels:
            report.sent_rate = match[1] if match[2] == "sent" else report.sent_rate
        elif _DOUBT.match(line):
            if not self._cut:
                report.notes.append((self._cursor.number, f"ab warns: {line}"))
        elif report.pending and LABELS[report.pending][0].fullmatch(line) and report.region in ("head", "tail"):
            label, report.pending = report.pending, ""
            self._set(report, label, line)
        else:
            return bool(_DOUBT_GOES_ON.match(line) or _WRAPPED.fullmatch(line) or line.startswith("<br>"))
        return True

    def _numbers(self, report: Report, values: str) -> list[str]:
        """Return the numbers of a row; ``-S`` prints ``%5d %5d%5d``, so a maximum of 5 digits adjoins the mean."""
        numbers = values.split()
        if len(numbers) == report.columns or (not report.columns and len(numbers) in (3, 5)):
            return numbers
        row = self._cursor.raw.strip()
        columns = [row[12:17].strip(), row[18:23].strip(), row[23:].strip()]
        if report.columns != 3 or row[17:18] != " " or not all(re.fullmatch(WHOLE, column) for column in columns):
            self._cursor.fail(f"{report.columns or '3 or 5'} numbers in ms, with blanks between them", values.strip())
        return columns

    def _take_percentile(self, report: Report, match: re.Match[str]) -> None:
        rank = int(match[1])
        before = report.percentiles[-1][0] if report.percentiles else -1
        if not before < rank <= 100:
            self._cursor.fail(f"a percentage over {max(before, 0)}, up to 100", match[0])
        if not self._leave_out(report) and match[2]:
            report.percentiles.append((rank, match[2], self._cursor.number))
        if rank == 100:
            report.region = "end"

    def _take_error(self, line: str, report: Report | None) -> bool:
        if _USAGE_ERROR.fullmatch(line):
            if not (line.startswith("Usage:") and report and report.stage == 4):
                self.found.append(Report(self._cursor.number, stage=4, fatal=[(line, self._cursor.number)]))
                self.found[-1].reason_cut = self._cut and not _WHOLE_ERROR.fullmatch(line)
            self.found[-1].usage = line.startswith("Usage:")
        elif _FATAL.fullmatch(line):
            self._current().fatal.append((line, self._cursor.number))
        elif _REFUSALS.fullmatch(line):
            self._current().refusals.append((line, self._cursor.number))
        elif match := _TOTAL_OF.fullmatch(line):
            self._current().total_of = int(match[1])
        elif match := _PROGRESS.fullmatch(line):
            if report and report.stage == 0 and report.finished:
                self.found.append(Report(self._cursor.number))  # the standard error of several runs
            self._current().progress = (int(match[2]), self._cursor.number)
            self.found[-1].finished = match[1] == "Finished"
        elif _VERBOSE.fullmatch(line):
            self._current().verbose = True
        else:
            return False
        return True

    def _unknown(self, line: str, report: Report | None) -> bool:
        """Whether a line that ab does not print may be skipped without a warning; a line with a number never is."""
        known = is_noise(line[:2000]) or line.startswith(_COMMENT) or _COMMAND.fullmatch(line)
        if report and report.region in ("head", "times", "percentages"):
            # A garbled percentage looks like the prompt of csh; nothing else belongs to the percentages.
            only = known or report.region == "percentages"
            own = re.match(r"\S{1,4} ?%", line) if only else re.search(r"[0-9]", line)
            if own and not is_prose(line):
                self._cursor.fail(f"a line of ab's report ({report.region})", line)
            return bool(known)
        return bool(known or (report and report.verbose and report.stage < 3))


def rejoin_lines(text: str) -> tuple[str, list[int]]:
    r"""Return the text with its wrapped lines joined, keeping the number of lines, and the numbers of the joined lines.

    A line is wrapped if it ends inside a label, after a label, inside a row of five times, or before ``(mean)``.

    Examples
    --------
    >>> rejoin_lines("Server  \nPort:\n80\nConnect:   0\n29 106.1 0 553\n")
    ('Server Port: 80\n\n\nConnect: 0 29 106.1 0 553\n\n', [1, 4])
    """
    lines = [" ".join(line[:4000].split()) for line in text.split("\n")]
    changed: list[int] = []
    first = 0
    for at in range(1, len(lines)):
        line = lines[at]
        if not line:
            continue
        if _continues(lines[first], line):
            lines[first], lines[at] = f"{lines[first]} {line}", ""
            if first + 1 not in changed[-1:]:
                changed.append(first + 1)
        else:
            first = at
    return "\n".join(lines), changed


def _continues(line: str, following: str) -> bool:
    label, colon, value = line.partition(":")
    if following.partition(":")[0] in LABELS or (following.partition(":")[0] in PHASES):
        return False
    if not colon:
        return any(name.startswith(f"{line} ") for name in LABELS) and following.endswith(":")
    if label in PHASES:
        return len(value.split()) < 5 and _NUMBERS.fullmatch(following) is not None
    if label in LABELS:
        return not value or (label == "Time per request" and following.startswith("(mean"))
    return False
