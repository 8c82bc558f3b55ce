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

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.snapshots import utc
from loadcurve.ingest.sockets import ss_details, ss_rows
from loadcurve.ingest.sockets.ss_lines import DETAIL, HEADER, ROW, Journal, begins_details, kinds_of

_PART = 1 << 22  # characters read at once; more are no faster
_TOGETHER = 16  # parts whose columns are joined at once: thousands of small pieces would fragment the memory
_LONGEST = 1 << 20  # characters of a line; a socket of thousands of processes has fewer
_WORDS = "|".join(re.escape(word) for word in (*ss_rows.FAMILIES, *ss_rows.STATES))
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


def parse_ss_connections(text: str, timezone: str = "UTC") -> Parsed:
    """Table `connections` of one or several lists of ss, of any family, with any of -o -e -m -p -i.

    One row for each socket of each snapshot, in their order; a snapshot without sockets leaves no row.  `time` is
    missing where no time was given, `state` where ss left its column out, each other column where ss did not print it:
    for most numbers, where it is 0.  Raises ParseError where a line is not what ss prints, and where there is neither a
    header nor a row nor a time.

    Examples
    --------
    >>> text = '''## 2026-11-20T23:40:00.123456789Z
    ... State     Recv-Q Send-Q Local Address:Port Peer Address:Port Process
    ... LISTEN    7      4096              [::]:80            [::]:*
    ... TIME-WAIT 0      0         198.18.0.3:80     198.18.0.1:41156
    ... '''
    >>> columns = ["state", "receive_queue", "local_address", "peer_port"]
    >>> parse_ss_connections(text).tables["connections"][columns].values.tolist()
    [['LISTEN', 7, '::', '*'], ['TIME-WAIT', 0, '198.18.0.3', '41156']]
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
    """Take a column out of every part, null where a part lacks it; None where all parts lack it."""
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
