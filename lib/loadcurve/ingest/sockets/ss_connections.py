"""ss: socket lists (``ss -tan``, ``-ltn``, ``-uan``, ``-x``, ``-tinmpeo``) into the table `connections`.

Seen: iproute2 6.1 on Debian 12 (every sample of the tests), alone and as a series with a time before each snapshot
(`snapshots`); forms of iproute2 2.6 to 6.x in public repositories.

Output of ss (iproute2 6.1, ``misc/ss.c``):

- The queues are bytes, but of a LISTEN socket connections: those that wait, and their limit.
- The State column is left out where one state was asked for, the Netid column where one family was, the queues by -Q.
- ``users:((…))`` of -p follow the addresses; -o and -e follow on the same line, -m and -i on the next, which
  begins with a tab, unless -O joins them (`ss_details`).

A list is read in parts of some megabytes, each a column at a time, so that a million sockets take seconds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise
from loadcurve.ingest.snapshots import instant, utc
from loadcurve.ingest.sockets import ss_details, ss_rows
from loadcurve.ingest.sockets.ss_details import are_whole, matches

_WORDS = "|".join(map(re.escape, (*ss_rows.FAMILIES, *ss_rows.STATES)))
_ADDRESS = r"(?:\S{1,100}:(?:[\w*-]{1,30})|\*:\*)"
_QUEUES = rf"[ \t]*(?:(?:{_WORDS})[ \t]+){{0,2}}[0-9]{{1,12}}[ \t]+[0-9]{{1,12}}"
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
_PART = 1 << 22  # characters read at once; more are no faster
_TOGETHER = 16  # parts whose columns are joined at once: thousands of small pieces would fragment the memory
_LONGEST = 1 << 20  # characters of a line; a socket of thousands of processes has fewer
ROW_LIKE = rf"(?:(?:{_WORDS})[ \t]+\S+[ \t]+\S|`- |-?[0-9]{{1,18}}[ \t]+-?[0-9]{{1,18}}[ \t]+\S+[ \t]+\S)"
"""Beginning of the first line of a socket."""
_ROW_START = re.compile(rf"\n(?=[ \t]*{ROW_LIKE})")
_FIRST_WORD = re.compile(rf"[ \t]*(?:(?:{_WORDS})(?=[ \t]|\Z)|[0-9])")
# Certainly whole at the end of a text without newline: no port has more than five digits.
_WHOLE_ROW = re.compile(r"\s*(?:\S+\s+){0,2}[0-9]+\s+[0-9]+\s+(?:\S+:\S+|\S+\s+[0-9]+)\s+(?:\S+:\S+|\*|\S+\s+[0-9]+)\s")
_WHOLE_PORT = re.compile(r"\s*(?:\S+\s+){0,2}[0-9]+\s+[0-9]+\s+\S+:\S+\s+\S+:(?:\*|[1-9][0-9]{4})")
_WHOLE_TOKEN = re.compile(r"\)$|bps$")
_USER = r"\(\"(?:[^\"]|\"[^,])*\",(?:pid=)?[0-9]+,(?:[^()]*,)?(?:fd=)?[0-9]+(?:,[a-z_]+=[^()]*)?\)"
_USERS = rf"(?P<users>users:\({_USER}(?:,{_USER})*\))(?:\s|$)"
_FEW = 10_000  # sockets
_NAMED = 5  # lines that a warning names one by one


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


def parse_ss_connections(text: str, timezone: str = "UTC") -> Parsed:
    """Table `connections` of one or several lists of ss, of any family, with any of -o -e -m -p -i.

    One row for each socket of each snapshot, in their order; a snapshot without sockets leaves no row.  `time` is
    missing where no time was given, `state` where ss left its column out, each other column where ss did not print it:
    for most numbers, where it is 0.  Raises ParseError where a line is not what ss prints, and where there is neither a
    header nor a row nor a time.
    """
    warnings: list[str] = []
    journal = Journal(timezone, warnings)
    end, kept, cut = _end(text, warnings)
    parts: list[dict[str, pa.Array]] = []
    fresh: list[dict[str, pa.Array]] = []
    number = 1
    for part in _parts(text, end, kept):
        number += _read(part, number, journal, fresh)
        if len(fresh) == _TOGETHER:
            parts.append(_together(fresh))
            fresh = []
    parts += fresh
    if not journal.sockets and (journal.errors or not journal.last):
        number, line = (journal.errors or journal.unknown or [(1, cut)])[0]
        raise ParseError(number, "a list of sockets as ss prints it", line)
    if parts and (cut or (journal.wrapped and not ss_details.has_last_tokens(parts[-1]))):
        ss_details.cut_texts(parts[-1])
    table = _table(parts, journal)
    _warn(journal, table)
    return Parsed("ss", {"connections": table}, tuple(warnings))


def _end(text: str, warnings: list[str]) -> tuple[int, str, str]:
    """Return the end of the last complete line, the complete part of the next one, and the text that is left out."""
    end = text.rfind("\n") + 1
    tail = text[end:]
    if not tail.strip() or len(tail) > _LONGEST:
        return len(text), "", ""
    row = _FIRST_WORD.match(tail)
    if "users:((" in tail and not re.search(_USERS, tail):
        kept = tail[: tail.index("users:((")]
    elif tail[-1] in " \t" or _WHOLE_TOKEN.search(tail) or (row and _WHOLE_PORT.fullmatch(tail)):
        kept = tail
    else:
        kept = tail.removesuffix(tail.split()[-1]) if not tail[-1].isspace() else tail
        kept = re.sub(rf"\b(?:{'|'.join(ss_details.SEPARATE)})\s++\Z", "", kept)
    addresses = _WHOLE_ROW.match(f"{kept} ") if row else None
    if re.fullmatch(HEADER, tail.strip()) or (kept == tail and addresses and addresses.end() >= len(tail.rstrip())):
        return end, tail, ""
    if not (addresses if row else begins_details(kept)):
        kept = ""
    cut = tail[len(kept) :].strip()
    ending = (
        f"inside a line; left out of it: {cut[-80:]!r}"
        if cut
        else "without a newline; words of its last line, which may be cut, are left out"
    )
    warnings.append(f"line {text.count(chr(10)) + 1}: the text ends {ending}")
    return end, kept, cut or tail


def _parts(text: str, end: int, kept: str) -> Iterator[str]:
    """Parts of the text up to `end`; each but the first begins with the first line of a socket."""
    at = 0
    while at < end:
        found = _ROW_START.search(text, at + _PART, end) if end - at > _PART else None
        stop = found.end() if found else end
        yield text[at : stop - (text[stop - 1] == "\n" and (stop < end or not kept))] + ("" if stop < end else kept)
        at = stop
    if not end and kept:
        yield kept


def _read(part: str, number: int, journal: Journal, parts: list[dict[str, pa.Array]]) -> int:
    """Read a part of the text from line `number` on into columns; return its number of lines."""
    raw = pc.list_flatten(pc.split_pattern(pa.array([part]), "\n"))
    longest = pc.max(pc.binary_length(raw)).as_py()
    if longest > _LONGEST:
        raise ParseError(number, f"lines of at most {_LONGEST} characters", part[:80])
    lines = pc.ascii_trim_whitespace(raw)
    users = _users(lines, number) if "users:((" in part else pa.nulls(len(lines), pa.string())
    if users.null_count < len(users):
        lines = pc.ascii_trim_whitespace(pc.replace_substring_regex(lines, _USERS, " "))
    tokens = pc.ascii_split_whitespace(lines)
    starts, texts = tokens.offsets.to_numpy(), pc.list_flatten(tokens)
    sizes = np.diff(starts)
    has_users = users.is_valid().to_numpy(zero_copy_only=False)
    first = texts.take(pa.array(starts[:-1]))
    before = journal.sockets
    kinds = kinds_of(lines, first, sizes, has_users, raw, number, journal)
    at = np.flatnonzero(kinds == ROW)
    detail = np.flatnonzero(kinds == DETAIL)
    flush = pc.match_substring_regex(raw.take(pa.array(detail)), r"^[^ \t]")
    journal.wrapped = bool(flush.true_count)
    if not len(at):
        return len(raw)
    rows = ss_rows.rows_of(texts, starts[at], sizes[at], number + at)
    _check_columns(rows, before, number + at, journal)
    columns = dict(rows.columns)
    for name in ("receive_queue", "send_queue"):
        negative = pc.fill_null(pc.less(columns[name], 0), False)
        if negative.true_count:
            line = number + int(at[pc.index(negative, True).as_py()])
            journal.warnings.append(f"line {line}: a queue below 0 is missing, here and below")
            columns[name] = pc.if_else(negative, pa.scalar(None, pa.int64()), columns[name])
    socket = np.cumsum(kinds == ROW) - 1
    skipped = np.where(kinds == DETAIL, 0, sizes)
    skipped[at] = rows.first
    if (skipped < sizes).any():
        where = np.flatnonzero(np.arange(starts[-1]) >= np.repeat(starts[:-1] + skipped, sizes))
        of_line = np.repeat(np.arange(len(sizes)), sizes)[where]
        if (sizes[of_line] == 1).any():  # an empty line has one token, which is empty
            full = pc.not_equal(texts.take(pa.array(where)), "").to_numpy(zero_copy_only=False)
            where, of_line = where[full], of_line[full]
        details = ss_details.Tokens(texts.take(pa.array(where)), socket[of_line], number + of_line)
        columns |= ss_details.columns_of(details, len(at), journal.warnings)
    columns["process"] = _of_sockets(users, has_users, kinds, socket, len(at))
    parts.append(columns)
    return len(raw)


def _users(lines: pa.Array, number: int) -> pa.Array:
    """Processes that -p adds to each line; raises where they do not begin as ss prints them."""
    users = pc.extract_regex(lines, _USERS).flatten()[0]
    wrong = pc.and_(pc.match_substring(lines, "users:("), pc.is_null(users))
    if wrong.true_count:
        at = pc.index(wrong, True).as_py()
        raise ParseError(number + at, 'processes such as users:(("nginx",pid=1,fd=6))', lines[at].as_py())
    return users


def _of_sockets(users: pa.Array, has: np.ndarray, kinds: np.ndarray, socket: np.ndarray, count: int) -> pa.Array:
    """The first ``users:((…))`` of each socket, on its first line or on one of its details."""
    at = np.flatnonzero(has & (kinds != 0))
    rows, first = np.unique(socket[at], return_index=True)
    return ss_details.placed(users.take(pa.array(at[first])), rows, count)


def _check_columns(rows: ss_rows.Rows, before: int, lines: np.ndarray, journal: Journal) -> None:
    """Raise at the first row whose columns differ from its header's or, without a header, from the first row's."""
    if journal.columns < 0:
        journal.columns = int(rows.have[0])
    counts = np.array([count for count, _ in journal.headers], dtype=int)
    expected = np.array([journal.columns, *(columns for _, columns in journal.headers)])
    expected = expected[np.searchsorted(counts, before + np.arange(len(rows.have)), side="right")]
    wrong = np.flatnonzero((rows.have != expected) & (rows.have >= 0))
    if len(wrong):
        names = " ".join(
            name for i, name in enumerate(("Netid", "State", "Recv-Q Send-Q")) if expected[wrong[0]] & 1 << i
        )
        row = {name: rows.columns[name][int(wrong[0])].as_py() for name in ss_rows.COLUMNS}
        got = " ".join(str(value) for value in row.values() if value is not None)
        raise ParseError(int(lines[wrong[0]]), f"a row with the columns {names or 'Local Peer'}", got)


def _together(parts: list[dict[str, pa.Array]]) -> dict[str, pa.Array]:
    """One part of several."""
    counts = _counts(parts)
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: pa.concat_arrays(_pieces(parts, name, counts)) for name in names}


def _counts(parts: list[dict[str, pa.Array]]) -> list[int]:
    return [len(part["state"]) for part in parts]


def _pieces(parts: list[dict[str, pa.Array]], name: str, counts: list[int]) -> list[pa.Array]:
    """Take a column out of every part, null where a part lacks it; nothing where all parts lack it."""
    pieces = [part.pop(name, None) for part in parts]
    kind = next((piece.type for piece in pieces if piece is not None), None)
    if kind is None:
        return []
    return [pa.nulls(count, kind) if piece is None else piece for piece, count in zip(pieces, counts, strict=True)]


def _table(parts: list[dict[str, pa.Array]], journal: Journal) -> pd.DataFrame:
    """Join the parts, column by column, so that not all of them are in memory twice."""
    rows = np.diff([0, *(count for count, _ in journal.times), journal.sockets])
    counts = _counts(parts)
    columns: dict[str, object] = {"time": utc([None, *(time for _, time in journal.times)]).repeat(rows)}
    detailed = [name for targets, _ in ss_details.KEYS.values() for name in targets]
    last = ("app_limited", "options", "congestion_control", "other")
    for name in dict.fromkeys([*ss_rows.COLUMNS, "process", *detailed, *last]):
        if journal.sockets > _FEW:
            pa.default_memory_pool().release_unused()  # else the allocator keeps the pieces of each column
        pieces = _pieces(parts, name, counts)
        if pieces:
            columns[name] = _pandas(pa.chunked_array(pieces))
        elif name in (*ss_rows.COLUMNS, "process"):
            columns[name] = pd.array([], dtype="string[pyarrow]")
        del pieces
    return pd.DataFrame(columns, copy=False)


def _pandas(column: pa.ChunkedArray) -> object:
    """Convert a column for pandas, missing as NA or NaN."""
    if pa.types.is_floating(column.type):
        return column.to_numpy()
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        missing = column.is_null().to_numpy()
        filled = pc.fill_null(column, pa.scalar(0, pa.int64()).cast(column.type)) if column.null_count else column
        make = pd.arrays.IntegerArray if pa.types.is_integer(column.type) else pd.arrays.BooleanArray
        return make(filled.to_numpy(), missing)
    return pd.array(column, dtype="string[pyarrow]")


def _warn(journal: Journal, table: pd.DataFrame) -> None:
    """Warn of missing parts and of lines that were not read."""
    reports = dict.fromkeys(text for _, text in journal.errors)
    for text in list(reports)[:_NAMED]:
        number = next(number for number, line in journal.errors if line == text)
        journal.warnings.append(f"line {number}: ss reports: {text[:200]}")
    for number, line in journal.unknown[:_NAMED]:
        journal.warnings.append(f"line {number}: not read: {line[:80]!r}")
    if len(journal.unknown) > _NAMED:
        more = len(journal.unknown) - _NAMED
        journal.warnings.append(f"line {journal.unknown[_NAMED][0]}: not read, with {more - 1} more lines below")
    if len(table) and table["state"].isna().all():
        journal.warnings.append(
            "ss printed no State column, because it was run with one state; the column state is empty"
        )
    if journal.last == "time":
        journal.warnings.append(f"line {journal.time_line}: the text ends with a time and no snapshot")


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
