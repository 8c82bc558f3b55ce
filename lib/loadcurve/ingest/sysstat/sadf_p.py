r"""sadf -p: read lines of one value (host, interval, time, item, column, value) into the same tables as sar's text.

Seen: sysstat 12.6.1 on Debian 12 (``sadf -p FILE -- -A``, ``-T``, ``-U``) in the tests' samples; 9 to 12.7 in public
repositories.

Output of sysstat (12.6, ``rndr_stats.c``): no line names its section.  Consecutive lines of one instant and
one item form a section as long as one section of sar has all their columns.  Items: ``-`` for none,
``all``, ``cpu0``, ``sum``, ``i019`` (old) or ``19`` for an interrupt, ``ttyS0``.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in
from loadcurve.ingest.sysstat.clock import Instants, zone_named
from loadcurve.ingest.sysstat.columns import Section
from loadcurve.ingest.sysstat.sadf import add_event
from loadcurve.ingest.sysstat.sadf_rows import Rows, number_of
from loadcurve.ingest.sysstat.sections import INTERRUPTS, SECTIONS, section_of
from loadcurve.ingest.sysstat.text_report import is_shell_noise

_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]+[0-9]{2}:[0-9]{2}:[0-9]{2}(?: (?:[A-Z]{2,5}|[+-][0-9]{2,4}))?|[0-9]{9,11}"
# Endings of a value that is complete, also without a newline after it.
_TWO_DECIMALS = re.compile(r"\s-?[0-9]+[.,][0-9]{2}$")
_ROW = re.compile(rf"(\S+)[ \t]+(-?[0-9]{{1,10}})[ \t]+({_TIME})[ \t]+(\S.*)")
_PROCESSOR = re.compile(r"all|cpu[0-9]+")
_TEXTS = frozenset(name for section in SECTIONS for name in section.texts)
_NEVER = (INTERRUPTS.option, "-x", "-X", "-x SUM")  # interrupts have their own lines; sadf prints no processes
_OLD_INTERRUPT = re.compile(r"i([0-9]{3,})")


@dataclass
class _Run:
    """Lines that follow each other and belong to one section."""

    key: tuple[str, datetime, str] | None = None
    fitting: tuple[Section, ...] = ()
    values: dict[str, float] = field(default_factory=dict)
    number: int = 0


def parse_sadf_p(text: str, timezone: str = "UTC") -> Parsed:
    r"""Tables of what ``sadf -p`` (or sadf without an option) printed.

    The tables that sar's text of the same recording gives; restarts and comments in `events`.  `text` is output of one
    or several runs; spaces may replace tabs if no item contains spaces.  `timezone` is the IANA name of the zone of
    times without ``UTC`` (``-T``, ``-t``).  Raises ParseError if a line is not what sadf prints, or if there is none.

    Examples
    --------
    >>> text = "vm\t1\t2026-11-20 22:33:26 UTC\tcpu0\t%user\t20.25\nvm\t1\t2026-11-20 22:33:26 UTC\tcpu0\t%idle\t7.29\n"
    >>> parse_sadf_p(text).tables["cpu"][["cpu", "cpu_user_ratio", "cpu_idle_ratio"]].values.tolist()
    [['0', 0.2025, 0.0729]]
    """
    lines = text.split("\n")
    warnings: list[str] = []
    rows, instants = Rows(warnings), Instants(zone_named(timezone), warnings)
    run = _Run()
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        match, last = _ROW.fullmatch(line), number == len(lines)
        if match is None and not last and not is_shell_noise(line):
            raise ParseError(number, "a line such as 'host\\t1\\t2026-11-20 22:33:26 UTC\\tall\\t%user\\t20.83'", line)
        if line and last and not (match and _TWO_DECIMALS.search(line)):
            warnings.append(f"line {number}: the text ends inside a line, which is left out")
        elif match:
            host, _, stamp, rest = match.groups()
            _add(rows, run, host, instants.read(stamp.replace("\t", " "), number), rest, number)
    _end(rows, run)
    if not rows:
        raise nothing_in(text, "lines of sadf -p")
    return Parsed("sadf", rows.tables(), tuple(warnings))


def _add(rows: Rows, run: _Run, host: str, time: datetime, rest: str, number: int) -> None:
    """Add what a line says after its time: an event, or an item, a column of sar and its value."""
    if add_event(rows, host, time, rest):
        return
    cells = [cell.strip() for cell in rest.split("\t")] if "\t" in rest else rest.split(None, 2)
    if len(cells) > 1 and cells[1] in _TEXTS:
        return  # words, perhaps none
    value = number_of(cells[-1]) if len(cells) == 3 else None
    if value is None:
        raise ParseError(number, "an item, a column of sar and a number", rest)
    item, column = cells[0], cells[1]
    if _PROCESSOR.fullmatch(column) or column == "intr/s":
        _end(rows, run)
        cpu = "all" if column == "intr/s" else column.removeprefix("cpu")
        old = _OLD_INTERRUPT.fullmatch(item)
        rows.interrupt(host, time, str(int(old[1])) if old else item, cpu, value)
        return
    key = (host, time, "" if item == "-" else item)
    fitting = _fitting(run.fitting if run.key == key else SECTIONS, column, key[2])
    if run.key != key or not fitting or column in run.values:
        _end(rows, run)
        run.key, run.values, run.number = key, {}, number
        fitting = _fitting(SECTIONS, column, key[2])
    run.fitting = fitting
    run.values[column] = value


def _fitting(sections: tuple[Section, ...], column: str, item: str) -> tuple[Section, ...]:
    return tuple(s for s in sections if s.option not in _NEVER and column in s.columns and bool(s.items) == bool(item))


def _end(rows: Rows, run: _Run) -> None:
    """Pass a finished section on."""
    if run.key is None or not run.values:
        return
    host, time, item = run.key
    section = run.fitting[0] if run.fitting else section_of([*run.values])
    if "CPU" in section.items:
        item = item.removeprefix("cpu")
    elif "TTY" in section.items:
        item = item.removeprefix("ttyS")
    rows.put(section, host, time, item, run.values, run.number)
    run.key, run.values = None, {}
