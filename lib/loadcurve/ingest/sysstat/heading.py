r"""sar's heading: ``Linux <kernel> (<host>) \t<date> \t_<architecture>_\t(<n> CPU)``, in any language.

Output of sysstat (12.6, ``common.c``): the date is ``strftime("%x")``, so its order of day, month and year is
that of LC_TIME; with S_TIME_FORMAT=ISO it is yyyy-mm-dd.  Versions before 7 print nothing after it.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from loadcurve.errors import ParseError

_HEADING = re.compile(r"Linux +(\S+) +\(([^)]*)\) +(.+)")
_CPUS = re.compile(r"([0-9]{1,7}) CPU\)")
_LONGEST = 1000  # characters
_NUMERIC = re.compile(r"([0-9]{1,4})([/.-]) ?([0-9]{1,2})\2 ?([0-9]{4}|[0-9]{2})\.?(?: .*)?")
_EAST_ASIAN = re.compile(r"\D{0,4}([0-9]{4}) ?[年년] ?([0-9]{1,2}) ?[月월] ?([0-9]{1,2}) ?[日일].*")
_NAMED = re.compile(r"(?:[A-Za-z]+,? )?([0-9]{1,2}) ([A-Z][a-z]{2,8}),? ([0-9]{4})")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Heading:
    """One heading: the columns of `hosts`, its line (from 1), and the date as printed."""

    line: int
    kernel: str
    host: str
    date: str
    architecture: str
    cpus: int | None

    def row(self, tool: str, day: datetime | None) -> dict[str, Any]:
        """Return the row of `hosts` from a tool's heading; `day` is the start of its day in UTC, None if not known."""
        known = {"date": day, "architecture": self.architecture or None, "cpus": self.cpus}
        row = {"host": self.host, "tool": tool, "kernel": self.kernel, "system": "Linux"}
        return {**row, **{name: value for name, value in known.items() if value is not None}}


def read_heading(text: str, line: int) -> Heading:
    r"""Parse a heading.

    Examples
    --------
    >>> heading = read_heading("Linux 6.1.0 (srv1)  11/20/26  _x86_64_ (2 CPU)", 1)
    >>> heading.host, heading.date, heading.architecture, heading.cpus
    ('srv1', '11/20/26', 'x86_64', 2)
    """
    found = _HEADING.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise ParseError(line, "a heading such as 'Linux 6.1.0 (srv1) 11/20/26 _x86_64_ (2 CPU)'", text)
    before, bracket, inside = found[3].rpartition("(")
    cpus = _CPUS.fullmatch(inside.strip())
    if cpus is None and ("CPU" in inside or re.fullmatch(r"[0-9]{1,7} \S{1,10}\)", inside.strip())):
        raise ParseError(line, "a number of processors such as (2 CPU)", bracket + inside)
    words = (before if cpus else found[3]).split()
    architecture = words.pop().strip("_") if len(words) > 1 and (cpus or words[-1].startswith("_")) else ""
    return Heading(line, found[1], found[2], " ".join(words), architecture, int(cpus[1]) if cpus else None)


def read_date(heading: Heading, american: bool, foreign: bool) -> tuple[float, str]:
    """Return the start of a heading's day in seconds since 1970, and a warning; NaN if the date is not understood.

    Examples
    --------
    >>> heading = read_heading("Linux 6.1.0 (srv1) 01/12/2022", 1)
    >>> [datetime.fromtimestamp(read_date(heading, *s)[0], UTC).day for s in ((True, False), (False, True))]
    [12, 1]
    """
    date, doubt = heading.date, ""
    if found := _EAST_ASIAN.fullmatch(date):
        year, month, day = (int(found[i]) for i in (1, 2, 3))
    elif (found := _NAMED.fullmatch(date)) and found[2][:3] in _MONTHS:
        year, month, day = int(found[3]), _MONTHS.index(found[2][:3]) + 1, int(found[1])
    elif found := _NUMERIC.fullmatch(date):
        first, second, third = (int(found[i]) for i in (1, 3, 4))
        if len(found[1]) > 2:
            year, month, day = first, second, third
        elif found[2] != "/" or first > 12 or (foreign and second <= 12):
            year, month, day = third, second, first
        else:
            year, month, day = third, first, second
            if not american and year >= 1000 and day <= 12 and day != month:
                # LC_ALL=C prints two digits of the year; four without AM and PM can be a language with dd/mm/yyyy.
                doubt = f"line {heading.line}: {date} is read as month/day/year; nothing in the text proves it"
        year += 2000 * (year < 100)
    else:
        if re.match(r"[0-9]+[/.-]", date):
            raise ParseError(heading.line, "a date such as 11/20/26, 20.11.2026 or 2026-11-20", date)
        return float("nan"), f"line {heading.line}: the date {date!r} is not understood, so the times have no day"
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp(), doubt
    except ValueError:
        raise ParseError(heading.line, "a date that exists", date) from None
