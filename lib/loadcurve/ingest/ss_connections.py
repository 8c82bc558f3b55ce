"""ss: socket lists (``ss -tan``) into the table `connections`.

Seen: iproute2 6.1 on Debian 12, alone and as a series with a time before each snapshot (`snapshots`); older forms in
public repositories.

What ss itself does (iproute2 6.1, ``misc/ss.c``, ``sock_state_print`` and the socket rows):

- The queues are bytes, but of a LISTEN socket connections: those that wait, and their limit.
- The port stands behind the last colon.
- The State column is left out where one state was asked for.
"""

import ipaddress
import re

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.snapshots import instant, utc, whole_lines

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
    lines, cut, warnings = whole_lines(text)
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
        elif (time := instant(line, number)) is not None:
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
            "time": utc(times).repeat(np.diff([*starts, len(numbers)])),
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
