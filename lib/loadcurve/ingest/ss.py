"""ss: summaries (``ss -s``) into the table `sockets`, socket lists (``ss -tan``) into the table `connections`.

Seen: iproute2 6.1 on Debian 12, alone and as a series in which each snapshot follows a line with its time, either
``## 2026-11-20T23:40:00.123456789Z`` or an epoch such as ``1795214067.320213382``; older forms in public repositories.

What ss itself does (iproute2 6.1, ``misc/ss.c``):

- ``print_summary``: the first number after ``TCP:`` and ``closed`` include time-wait, ``orphaned`` is machine-wide, and
  ``closed`` is a difference of counts of different scope.  The transport table has IP + IPv6 = Total in each row, and
  RAW + UDP + TCP = INET in each column.  Older versions have also ``(kernel N)``, ``synrecv``, ``N/N``,
  ``ports`` and a row ``*``.
- ``sock_state_print``, and the socket rows: the queues are bytes, but of a LISTEN socket connections (waiting, and the
  limit); the port stands behind the last colon; the State column is left out where one state was asked for.
- Every line ends with a newline: a last line without one was cut and is left out, whatever is left of it.
"""

import ipaddress
import re
from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed

_ISO_TIME = re.compile(r"## ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?Z")
_EPOCH_TIME = re.compile(r"([0-9]{9,10})(?:\.([0-9]{1,9}))?")

_TRANSPORT = ("RAW", "UDP", "TCP", "INET", "FRAG")
# The lines of ss -s in their order: first word, shape, and whether every version prints it.
_N = r"\s+([0-9]+)"
_SUMMARY = (
    ("Total:", re.compile(rf"Total:{_N}(?:\s+\(kernel\s+[0-9]+\))?"), True),
    (
        "TCP:",
        re.compile(
            rf"TCP:{_N}\s+\(estab{_N}, closed\s+(-?[0-9]+), orphaned{_N}(?:, synrecv\s+[0-9]+)?"
            rf", timewait{_N}(?:/[0-9]+)?\)(?:, ports\s+[0-9]+)?"
        ),
        True,
    ),
    ("Transport", re.compile(r"Transport\s+Total\s+(?:IP|ip)\s+IPv6"), True),
    ("*", re.compile(r"\*\s+[0-9]+\s+-\s+-"), False),
    *((word, re.compile(rf"{word}{_N}{_N}{_N}"), word != "FRAG") for word in _TRANSPORT),
)

_STATES = (
    "ESTAB|SYN-SENT|SYN-RECV|NEW-SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|UNCONN|CLOSE-WAIT|LAST-ACK|LISTEN|CLOSING"
    "|BOUND-INACTIVE|UNKNOWN|UNDEF"  # sock_state_print
)
# A number, * or a service name; one letter among digits is a garbled number (no service is called so).
_PORT = r"([0-9]{1,5}|\*|[A-Za-z](?=[^\s:]*[A-Za-z])[\w.+/-]*)"
_ROW = re.compile(
    rf"(?:tcp\s+)?(?:({_STATES})\s+)?([0-9]{{1,18}})\s+([0-9]{{1,18}})\s+(\S+):{_PORT}\s+(\S+):{_PORT}(?:\s+(\S.*))?",
    re.ASCII,
)
_HEADER = re.compile(
    r"(?:Netid\s+)?(?P<state>State\s+)?Recv-Q\s+Send-Q\s+Local Address:Port\s+Peer Address:Port\s*(?:Process)?"
)
_USER = r'\("[^"]*",(?:pid=)?[0-9]+,(?:fd=)?[0-9]+\)'  # older versions without pid= and fd=
_USERS = re.compile(rf"users:\({_USER}(?:,{_USER})*\)")
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]|x{1,3})"
_IPV4 = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}|\*")  # also 192.168.x.x, as people publish it


def parse_ss_summary(text: str) -> Parsed:
    """Table `sockets` of one or several ``ss -s``.

    Parameters
    ----------
    text : str
        Output of ``ss -s``, each snapshot perhaps after a line with its time.

    Returns
    -------
    Parsed
        One row for each whole snapshot; `time` is missing where no time was given, `fragments` where ss printed no
        ``FRAG`` row.  A snapshot that the end of the text cuts is left out, with a warning.

    Raises
    ------
    ParseError
        Where a line is not what ss prints, the counts do not add up, or there is no whole snapshot.

    Examples
    --------
    >>> text = '''1795214067.320213382
    ... Total: 32
    ... TCP:   11803 (estab 28, closed 11773, orphaned 0, timewait 11737)
    ...
    ... Transport Total     IP        IPv6
    ... RAW       0         0         0
    ... UDP       0         0         0
    ... TCP       30        30        0
    ... INET      30        30        0
    ... FRAG      0         0         0
    ... '''
    >>> parse_ss_summary(text).tables["sockets"][["established", "time_wait", "transport_tcp"]].values.tolist()
    [[28, 11737, 30]]
    """
    lines, cut, warnings = _whole_lines(text)
    blocks: list[list[tuple[int, str]]] = []  # a snapshot each, with the line of its time before it
    timed = False
    for number, line in enumerate(lines, 1):
        is_time = _instant(line, number) is not None
        if is_time or not blocks or (line.startswith("Total:") and not timed):
            blocks.append([])
        if line:
            blocks[-1].append((number, line))
            timed = is_time
    blocks = [block for block in blocks if block]
    rows: list[dict] = []
    for i, block in enumerate(blocks, 1):
        row = _summary_row(block, warnings)
        if row is None and i < len(blocks):
            raise ParseError(blocks[i][0][0], "the rest of the snapshot before", blocks[i][0][1])
        if row is None or ("fragments" not in row and i == len(blocks) and cut.startswith("F")):
            warnings.append(f"line {block[0][0]}: the snapshot from here on is cut by the end of the text, so left out")
        else:
            rows.append(row)
    if not rows:
        number, line = blocks[-1][-1] if blocks else (1, cut)
        raise ParseError(number, "a whole summary of ss -s", line)
    table = pd.DataFrame(rows)
    table["time"] = _utc(table["time"])
    return Parsed("ss", {"sockets": table}, tuple(warnings))


def _summary_row(block: list[tuple[int, str]], warnings: list[str]) -> dict | None:
    """One snapshot as a row of `sockets`; None where the block ends too early."""
    time = _instant(block[0][1], block[0][0])
    rest = block[time is not None :]
    counts: dict[str, list[int]] = {}
    for word, shape, always in _SUMMARY:
        if not rest:
            if always:
                return None
            continue
        number, line = rest[0]
        match = shape.fullmatch(line)
        if match is None:
            if always or line.startswith(word):
                raise ParseError(number, f"the line {word!r} of ss -s", line)
            continue
        counts[word] = [int(value) for value in match.groups()]
        if word in _TRANSPORT:
            _check_counts(counts, word, number, line)
        rest = rest[1:]
    if rest:
        raise ParseError(rest[0][0], "a time or the line 'Total:' of the next snapshot", rest[0][1])
    names = ("tcp", "established", "closed", "orphaned", "time_wait")
    row = {"time": time, "tool": "ss", "total": counts["Total:"][0], **dict(zip(names, counts["TCP:"], strict=True))}
    if row["closed"] < 0:
        warnings.append(
            f"line {block[0][0]}: 'closed {row['closed']}' is missing: ss subtracts counts that differ in scope"
        )
        row["closed"] = None
    row |= {"udp": counts["UDP"][0], "raw": counts["RAW"][0]}
    row |= {"fragments": counts["FRAG"][0]} if "FRAG" in counts else {}
    names = ("transport_tcp", "transport_tcp_ipv4", "transport_tcp_ipv6")
    return row | dict(zip(names, counts["TCP"], strict=True))


def _check_counts(counts: dict[str, list[int]], word: str, number: int, line: str) -> None:
    """Raise unless a row of the transport table adds up; INET also down its columns."""
    total, ipv4, ipv6 = counts[word]
    if total != ipv4 + ipv6:
        raise ParseError(number, f"a total of {ipv4} + {ipv6} = {ipv4 + ipv6}", line)
    if word == "INET":
        sums = [sum(column) for column in zip(counts["RAW"], counts["UDP"], counts["TCP"], strict=True)]
        if counts[word] != sums:
            raise ParseError(number, "RAW + UDP + TCP = {} {} {}".format(*sums), line)


def parse_ss_connections(text: str) -> Parsed:
    """Table `connections` of one or several ``ss -tan``, with or without ``-H``, ``-p`` or a filter by state.

    Parameters
    ----------
    text : str
        Output of ``ss -tan``, each snapshot perhaps after a line with its time.

    Returns
    -------
    Parsed
        One row for each socket of each snapshot, in their order; a snapshot without sockets leaves no row.  `time` is
        missing where no time was given, `state` where ss left its column out, `process` where there is none.  What
        ``-o -e -m -i`` add on the same line is passed over with a warning.

    Raises
    ------
    ParseError
        Where a line is not what ss prints, and where there is neither a header nor a row nor a time.

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
    lines, cut, warnings = _whole_lines(text)
    cells: list[str | None] = []  # of all rows in one list: a hundred thousand tuples would keep the collector busy
    numbers: list[int] = []
    times, starts = [None], [0]  # instant and first row of each snapshot; the first may have no time
    with_state: bool | None = None
    last = ""
    for number, line in enumerate(lines, 1):
        if match := _ROW.fullmatch(line):
            cells.extend(match.groups())
            numbers.append(number)
            last = "row"
        elif not line:
            continue
        elif header := _HEADER.fullmatch(line):
            if with_state not in (None, bool(header["state"])):
                raise ParseError(number, "the same columns as in the header before", line)
            with_state, last = bool(header["state"]), "header"
        elif (time := _instant(line, number)) is not None:
            times.append(time)
            starts.append(len(numbers))
            last = "time"
        else:
            raise ParseError(number, "a time, a header or a row of ss -tan", line)
    if not last:
        raise ParseError(1, "a snapshot of ss -tan", cut)
    if last == "time":
        warnings.append(f"line {len(lines)}: the text ends with a time and no snapshot")
    states, receive, send, local, local_port, peer, peer_port, rest = (cells[i::8] for i in range(8))
    if with_state is None:
        with_state = bool(states) and states[0] is not None
    if states and not with_state:
        warnings.append("ss left out the State column: one state was asked for")
    for i in (i for i, state in enumerate(states) if (state is None) == with_state):
        raise ParseError(
            numbers[i], "a row with a state" if with_state else "a row without a state", lines[numbers[i] - 1]
        )
    addresses = _addresses({*local, *peer}, local, peer, numbers)
    table = pd.DataFrame(
        {
            "time": _utc(times).repeat(np.diff([*starts, len(numbers)])),
            "state": states,
            "receive_queue": np.array(receive, dtype=np.int64),
            "send_queue": np.array(send, dtype=np.int64),
            "local_address": [addresses[address] for address in local],
            "local_port": local_port,
            "peer_address": [addresses[address] for address in peer],
            "peer_port": peer_port,
            "process": _processes(rest, numbers, warnings),
        }
    )
    return Parsed("ss", {"connections": table}, tuple(warnings))


def _addresses(found: set[str], local: list[str], peer: list[str], numbers: list[int]) -> dict[str, str]:
    """Each address as ss wrote it → without brackets; raises at the first row with something else."""
    plain = {address: address.replace("[", "").replace("]", "") for address in found}
    wrong = {address for address in found if not _is_address(plain[address])}
    for i in (i for i, pair in enumerate(zip(local, peer, strict=True)) if wrong and wrong.intersection(pair)):
        raise ParseError(numbers[i], "an address", next(a for a in (local[i], peer[i]) if a in wrong))
    return plain


def _is_address(text: str) -> bool:
    address = text.split("%", 1)[0]  # 127.0.0.53%lo
    if _IPV4.fullmatch(address):
        return True
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return False
    return True


def _processes(rest: list[str | None], numbers: list[int], warnings: list[str]) -> list[str | None]:
    """What -p adds to each row; the rest of what follows the addresses is named in a warning."""
    processes: list[str | None] = [None] * len(rest)
    passed_over = ""
    for i in (i for i, text in enumerate(rest) if text):
        users = _USERS.match(rest[i])
        if users is None and rest[i].startswith("users:"):
            raise ParseError(numbers[i], 'a process such as users:(("nginx",pid=1,fd=6))', rest[i])
        processes[i] = users[0] if users else None
        details = rest[i][users.end() if users else 0 :].strip()
        passed_over = passed_over or (details and f"line {numbers[i]}: not read, here and below: {details[:60]}")
    if passed_over:
        warnings.append(passed_over)
    return processes


def _whole_lines(text: str) -> tuple[list[str], str, list[str]]:
    """Return the lines that have their newline, what follows the last of them, and a warning if that is not blank."""
    *lines, cut = [line.strip() for line in text.removeprefix("\ufeff").split("\n")]
    warning = f"line {len(lines) + 1}: the text ends inside a line, which is left out: {cut!r}"
    return lines, cut, [warning] if cut else []


def _instant(line: str, number: int) -> np.datetime64 | None:
    """Instant of a line with a time, cut to whole microseconds; None for any other line."""
    if iso := _ISO_TIME.fullmatch(line):
        try:
            seconds = int(datetime.fromisoformat(iso[1]).replace(tzinfo=UTC).timestamp())
        except ValueError:
            raise ParseError(number, "a time such as ## 2026-11-20T23:40:00.123456789Z", line) from None
        fraction = iso[2]
    elif epoch := _EPOCH_TIME.fullmatch(line):
        seconds, fraction = int(epoch[1]), epoch[2]
    elif line.startswith("##"):
        raise ParseError(number, "a time such as ## 2026-11-20T23:40:00.123456789Z", line)
    else:
        return None
    return np.datetime64(seconds * 1_000_000 + int((fraction or "").ljust(6, "0")[:6]), "us")


def _utc(times: Iterable[np.datetime64 | None]) -> pd.DatetimeIndex:
    missing = np.datetime64("NaT", "us")
    return pd.DatetimeIndex(np.array([missing if time is None else time for time in times]), tz="UTC")
