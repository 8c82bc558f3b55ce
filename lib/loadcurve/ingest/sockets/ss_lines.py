"""ss: the kind of each line (row, details, header, time), after joining rows and headers that mail has wrapped.

Details that mail wraps stay where they are: they are read from any line.
"""

import re
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from loadcurve.errors import ParseError
from loadcurve.ingest.noise import is_noise
from loadcurve.ingest.snapshots import instant
from loadcurve.ingest.sockets import ss_details, ss_rows
from loadcurve.ingest.sockets.ss_values import are_whole, matches

_STARTS = "|".join(map(re.escape, (*ss_rows.FAMILIES, *ss_rows.STATES)))
_ADDRESS = r"(?:\S{1,100}:(?:[\w*-]{1,30})|\*:\*)"
_QUEUES = rf"[ \t]*(?:(?:{_STARTS})[ \t]+){{0,2}}[0-9]{{1,12}}[ \t]+[0-9]{{1,12}}"
_HALF = re.compile(rf"{_QUEUES}(?:[ \t]+{_ADDRESS})?[ \t]*")  # no peer, perhaps no address at all
_REST = re.compile(rf"[ \t]*{_ADDRESS}(?:[ \t].*)?")
_HALF_HEADER = re.compile(r".*\bRecv-Q[ \t]+Send-Q(?:[ \t]+Local)?(?:[ \t]+Address:Port(?:[ \t]+Peer)?)?[ \t]*")
_REST_OF_HEADER = re.compile(r"[ \t]*(?:(?:Local[ \t]+)?Address:Port|Peer)\b.*")
NOTHING, ROW, DETAIL = 0, 1, 2
HEADER = (
    r"(?:Netid[ \t]*)?(?:State[ \t]*)?(?:Recv-Q[ \t]*Send-Q[ \t]*)?"
    r"Local Address[ \t]*:[ \t]*Port[ \t]*Peer Address[ \t]*:[ \t]*Port[ \t]*(?:Process)?"
)
_FIRST = pa.array([*ss_rows.FAMILIES, *ss_rows.STATES, "`-"])
_ADDRESSES = re.compile(r"(?:^|\s)\S{1,200}:(?:[0-9]{1,5}|\*)(?=\s).*\s\S{1,200}:(?:[0-9]{1,5}|\*)(?:\s|$)")
_LIKE_A_TIME = re.compile(r"(?:##\s+)?(?=(?:[^\s0-9]*[0-9]){8})\S+|[0-9]\S*")  # garbled, it would hide a snapshot
_NAMES = "|".join(
    [*ss_details.KEYS, "fwmark", "v6only", "bbr", "dctcp", "users", "inet-sockopt", "tos", "fackets", "opt"]
)
_FLAGS = "|".join([*ss_details.OPTIONS, *ss_details.CONTROLS, *ss_details.SEPARATE])
_DETAIL = rf"^(?:(?:{_NAMES}):|(?:{_FLAGS})$|dctcp\(|[0-9.]{{1,20}}[kKMGT]?bps)"
ERROR = (
    r"(?:[^\s:]+: ){0,3}(?:line )?(?:[0-9]+: ){0,2}(?:\S*/)?ss: .+|(?:\S+: )?command not found: ss|Usage: ss .*"
    r"|(?:Cannot (?:open|bind) netlink socket|Cannot send dump request|TCPDIAG answers|RTNETLINK answers).*"
    r"|(?:Cannot open network namespace|SOCK_DESTROY answers|Failed to find cgroup2 mount|Failed to open cgroup2).*"
    r"|Error: (?:an inet prefix is expected|ambiguous port|\S+ does not look like a port).*"
    r'|.*"ss": executable file not found.*'
)
"""Error message of ss, or of the shell that could not start it."""
_ERROR = re.compile(ERROR)
_COMMAND = re.compile(r"(?:\S[^#$%>]{0,100})?[#$%>]\s*(?:sudo\s+)?(?:\S{0,40}/)?ss(?:\s.*)?")
_DETAIL_WORD = re.compile(_DETAIL)
_MOST = 10_000  # lines that are not understood; more mean another program's output


def unwrapped(text: str) -> tuple[str, list[int]]:
    r"""Return a text whose wrapped rows are whole, as many lines as before, and the numbers of those lines, from 1.

    Examples
    --------
    >>> unwrapped("State Recv-Q Send-Q Local Address:Port Peer\nAddress:Port\nLISTEN 0 128 *:22\n*:* ino:5\n")
    ('State Recv-Q Send-Q Local Address:Port Peer Address:Port\n\nLISTEN 0 128 *:22 *:* ino:5\n\n', [1, 3])
    """
    lines = text.split("\n")
    changed: list[int] = []
    for at in range(len(lines) - 1):
        line = lines[at][:400]
        following, rest = at + 1, _REST if _HALF.fullmatch(line) else _REST_OF_HEADER
        if rest is _REST_OF_HEADER and not _HALF_HEADER.fullmatch(line):
            continue
        while following < len(lines) and following <= at + 2 and rest.match(lines[following]):
            lines[at], lines[following] = f"{lines[at].rstrip()} {lines[following].strip()}", ""
            changed += [at + 1] if at + 1 not in changed[-1:] else []
            following += 1
            if not (_HALF if rest is _REST else _HALF_HEADER).fullmatch(lines[at][:400]):
                break
    return "\n".join(lines), changed


@dataclass
class Journal:
    """Lines between the sockets of a text, and how far it was read."""

    timezone: str
    warnings: list[str]
    # Number of sockets before each time, and the time.
    times: list[tuple[int, np.datetime64]] = field(default_factory=list)
    # Number of sockets before each header, and its columns: 1 Netid, 2 State, 4 queues.
    headers: list[tuple[int, int]] = field(default_factory=list)
    # `unknown` and `errors`: lines that are not understood, and those in which ss complains, by number.
    unknown: list[tuple[int, str]] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)
    sockets: int = 0  # How many were read
    last: str = ""  # What was read last: `row`, `header`, `time`; empty before all of them
    time_line: int = 0  # Line of the last time
    # Whether details begin in column 1, as mail wraps them: then the end of a text may lack a line of them.
    wrapped: bool = False
    columns: int = -1  # Which columns the first row of all has, as for a header; -1 before it

    def note(self, line: str, number: int, sockets: int) -> str:
        """Note a line that is not part of a socket, after `sockets` sockets; return its kind, empty if not known."""
        if "Local Address" in line and re.fullmatch(HEADER, line):
            self.headers.append((sockets, ("Netid" in line) + 2 * ("State" in line) + 4 * ("Recv-Q" in line)))
            return "header"
        time = instant(line, number, self.timezone, self.warnings)
        if time is not None:
            self.times.append((sockets, time))
            self.time_line = number
            return "time"
        if is_around(line):
            return "noise"
        if _ERROR.fullmatch(line):
            self.errors.append((number, line))
            return "error"
        return ""

    def refuse(self, line: str, number: int, begun: bool) -> None:
        """Keep a line that is not understood for a warning; raise where it may be a socket or a time."""
        self.unknown.append((number, line))
        suspect = _ADDRESSES.search(line[:2000]) or _LIKE_A_TIME.fullmatch(line[:2000])
        if (begun and suspect) or len(self.unknown) > _MOST:
            raise ParseError(number, "a time, a header or a row of ss", line)


def is_around(line: str) -> bool:
    """Whether a line is not part of ss's output: a prompt with ss, or any noise.

    Examples
    --------
    >>> is_around("[root@lb1:~/cmake] #ss -s"), is_around("Total: 5")
    (True, False)
    """
    return is_noise(line) or _COMMAND.fullmatch(line) is not None


def begins_details(line: str) -> bool:
    """Whether a line after a socket holds its details: indented, or with a word that occurs nowhere else."""
    return line[:1] in (" ", "\t") or any(map(_DETAIL_WORD.match, line.split(None, 50)[:50]))


def kinds_of(
    lines: pa.Array, first: pa.Array, sizes: np.ndarray, users: np.ndarray, raw: pa.Array, number: int, journal: Journal
) -> np.ndarray:
    """Return `NOTHING`, `ROW` or `DETAIL` for each line of a part, and note the rest in the journal."""
    row = pc.is_in(first, _FIRST).to_numpy(zero_copy_only=False) & (sizes > 2)
    blank = pc.equal(first, "").to_numpy(zero_copy_only=False)
    detail = users & blank
    others = np.flatnonzero(~row & ~blank)
    if len(others):
        words = first.take(pa.array(others))
        row[others] |= are_whole(words) & (sizes[others] > 3)
        detail[others] = matches(words, _DETAIL) & ~row[others]
    kinds = np.where(row, ROW, np.where(detail, DETAIL, NOTHING))
    before = np.cumsum(row)
    breaks: list[int] = []  # lines after which details have no socket
    seen = 0
    for at in np.flatnonzero(~(row | detail | blank)):
        if before[at] > seen:
            seen, journal.last = before[at], "row"
        line = lines[int(at)].as_py()
        noted = journal.note(line, number + int(at), journal.sockets + int(before[at]))
        if noted in ("header", "time"):
            journal.last = noted
            breaks.append(int(at))
        elif not noted and journal.last == "row" and begins_details(raw[int(at)].as_py()):
            kinds[at] = DETAIL
        elif not noted:
            journal.refuse(line, number + int(at), bool(journal.last))
    if before[-1] > seen:
        journal.last = "row"
    journal.sockets += int(before[-1])
    _check_details(kinds, breaks, number, lines)
    return kinds


def _check_details(kinds: np.ndarray, breaks: list[int], number: int, lines: pa.Array) -> None:
    """Raise where details have no socket: before the first, after a header, after a time."""
    details = np.flatnonzero(kinds == DETAIL)
    place = np.arange(len(kinds))
    last_row = np.maximum.accumulate(np.where(kinds == ROW, place, -1))
    last_break = np.full(len(kinds), -1)
    last_break[breaks] = breaks
    last_break = np.maximum.accumulate(last_break)
    lost = details[last_row[details] <= last_break[details]]
    if len(lost):
        raise ParseError(number + int(lost[0]), "a socket before its details", lines[int(lost[0])].as_py())
