"""Files of /proc/net: softnet_stat, dev, snmp, netstat, snmp6, sockstat and sockstat6, and tcp, tcp6, udp, udp6.

Output of the kernel:

- ``net/core/net-procfs.c``: a row of softnet_stat for each online processor, 9 (2.6), 10 (2.6.35), 11 (3.11), 13 (5.10)
  or 15 (6.4) hexadecimal words of 32 bits, so they start again at 0.  The 13th is the processor; without it `item` is
  the position of the row, which differs from the processor number where processors are offline.
- The same file writes dev; its second line names the columns.
- ``net/ipv4/proc.c`` writes pairs of lines in snmp and netstat, names before values.  ``MaxConn`` -1 means no limit.
- ``net/ipv4/proc.c``, sockstat: ``orphan`` and ``tw`` of TCP; ``mem`` is in pages, ``FRAG memory`` in bytes.  ``mem``,
  ``alloc`` and, before 5.x, ``orphan`` are of the machine, the others of the network namespace.
- ``net/ipv4/tcp_ipv4.c``, `get_tcp4_sock`: a row of tcp for each socket, numbers hexadecimal.  An address is printed as
  the machine holds it in memory, so on x86 and ARM the bytes of each 32-bit word are reversed.  Of a listener the
  receive queue is the length of its accept queue.  ``tm->when`` is in ticks of USER_HZ, 100 a second.  The file is read
  in pieces, so the list of a busy machine can miss a socket or show it twice.
"""

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.snapshots import Lines, counter, counter_rows

_COLUMNS = ("time", "kind", "interrupt", "cpu", "interrupts", "description")
_SOFTNET = {
    0: "processed", 1: "dropped", 2: "time_squeeze", 8: "cpu_collision", 9: "received_rps", 10: "flow_limit_count",
    11: "backlog_len", 13: "input_qlen", 14: "process_qlen",
}  # fmt: skip
_SOFTNET_CPU = 12
_HEX = re.compile(r"[0-9a-f]{8}")
_PROTOCOL = re.compile(r"([A-Za-z0-9]{2,20}):[ \t]+(.*)")
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_DEVICE = re.compile(r"(\S{1,64}):[ \t]*(-?[0-9].*)")
_SOCKETS = {
    "sockets": {"used": "total"},
    "TCP": {
        "inuse": "tcp", "orphan": "orphaned", "tw": "time_wait", "alloc": "tcp_allocated", "mem": "tcp_memory_pages",
    },
    "UDP": {"inuse": "udp", "mem": "udp_memory_pages"},
    "RAW": {"inuse": "raw"}, "FRAG": {"inuse": "fragments"},
    "TCP6": {"inuse": "tcp_ipv6"}, "UDP6": {"inuse": "udp_ipv6"}, "RAW6": {"inuse": "raw_ipv6"},
    "FRAG6": {"inuse": "fragments_ipv6"},
}  # fmt: skip
_SOCKET_LINE = re.compile(r"([A-Za-z]{3,8}6?):[ \t]+(?:inuse|used)[ \t].*")
_UNREADABLE = re.compile(r"(\S+): No statistics available\.?")

_STATES = (  # include/net/tcp_states.h, from 1; in the words of ss
    "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT", "LAST-ACK",
    "LISTEN", "CLOSING", "NEW-SYN-RECV",
)  # fmt: skip
_TIMERS = ("", "on", "keepalive", "timewait", "persist")  # tcp_ipv4.c, timer_active
_USER_HZ = 100
_ADDRESS = r"([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})"
_SOCKET_ROW = re.compile(
    rf"[0-9]+: {_ADDRESS} {_ADDRESS} ([0-9A-F]{{2}}) ([0-9A-F]{{8}}):([0-9A-F]{{8}}) ([0-9A-F]{{2}}):([0-9A-F]{{8}})"
    r" ([0-9A-F]{8})\s+([0-9]{1,10})\s+[0-9]+ ([0-9]{1,18}) [0-9]+ [0-9a-f]+(?: .*)?"
)


class Interrupts:
    """Rows of `interrupts`, gathered by column: a machine can have 300 interrupts on 288 processors."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}

    def __len__(self) -> int:
        return len(self._columns["cpu"])

    def add(self, row: dict[str, Any], cpus: list[str], counts: list[int]) -> None:
        """Add the counts of one interrupt on these processors."""
        for name in _COLUMNS:
            self._columns[name] += [row.get(name)] * len(cpus) if name not in ("cpu", "interrupts") else []
        self._columns["cpu"] += cpus
        self._columns["interrupts"] += counts

    def table(self) -> pd.DataFrame:
        """The table, without empty columns."""
        known = {name: values for name, values in self._columns.items() if any(v is not None for v in values)}
        return pd.DataFrame(known).assign(tool="proc")


@dataclass
class ProcRows:
    """Rows of every table of a text; each reader of a file adds its own."""

    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    interrupts: Interrupts = field(default_factory=Interrupts)

    def add(self, table: str, rows: list[dict[str, Any]]) -> None:
        """Add rows to a table; without rows the table exists, and is empty."""
        self.tables.setdefault(table, []).extend(rows)


def take_softnet(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read rows of softnet_stat from an index on; return the index after them."""
    seen: set[str] = set()
    width = 0
    row = 0
    while at < len(lines):
        words = lines.all[at].split()
        if len(words) < 9 or (width and len(words) != width and not lines.is_open(at)):
            break
        if invalid := [word for word in words if not _HEX.fullmatch(word)]:
            if lines.is_open(at):
                lines.warn(at + 1, "the text ends inside this row, which is left out")
                return at + 1
            if len(invalid) > 1:
                break
            raise ParseError(at + 1, "eight hexadecimal digits", invalid[0])
        if width and len(words) != width:
            lines.warn(at + 1, f"the text ends inside this row of {width} words, which is left out")
            return at + 1
        width = len(words)
        values = [int(word, 16) for word in words]
        cpu = str(values[_SOFTNET_CPU] if width > _SOFTNET_CPU else row)
        if cpu in seen:
            break  # the next snapshot of a series without times
        seen.add(cpu)
        if any(values[3:8]):
            lines.warn(at + 1, "words 4 to 8, which kernels since 2.6 leave 0, are not 0; they are left out")
        named = [(name, float(values[i])) for i, name in _SOFTNET.items() if i < width]
        rows.add("counters", counter_rows(lines, "proc", "softnet_stat", cpu, named))
        row += 1
        at += 1
    return at


def take_devices(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read /proc/net/dev from its heading at an index on; return the index after it."""
    if at + 1 >= len(lines) or lines.all[at + 1].count("|") != 2:
        raise ParseError(at + 1, "the second line of the heading after this one", lines.all[at])
    _, received, sent = lines.all[at + 1].split("|")
    names = [f"Receive {name}" for name in received.split()] + [f"Transmit {name}" for name in sent.split()]
    at += 2
    while at < len(lines) and (device := _DEVICE.fullmatch(lines.all[at])):
        tokens = lines.without_cut_token(at, device[2].split())
        if len(tokens) != len(names) and not lines.is_open(at):
            raise ParseError(at + 1, f"{len(names)} counters", device[2])
        named = [(name, counter(token, at + 1)) for name, token in zip(names, tokens, strict=False)]
        rows.add("counters", counter_rows(lines, "proc", "net/dev", device[1], named))
        at += 1
    if at < len(lines):
        if _UNREADABLE.fullmatch(lines.all[at]):
            return at + 1
        if re.match(r"\S{1,64}:[ \t]*+\S{1,64}(?:[ \t]++[0-9]{1,20}){6}", lines.all[at]):
            raise ParseError(at + 1, "a row of an interface", lines.all[at])
    return at


def take_pairs(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read one pair of lines of snmp or netstat: names, then values; return the index after it."""
    head = _PROTOCOL.fullmatch(lines.all[at])
    names = head[2].split() if head else []
    if invalid := next((name for name in names if not _NAME.fullmatch(name)), ""):
        raise ParseError(at + 1, "names of counters", invalid)
    values = _PROTOCOL.fullmatch(lines.all[at + 1]) if at + 1 < len(lines) else None
    if values is None and not any(lines.all[at + 1 :]):
        lines.warn(at + 1, "the text ends before the values of these counters")
        return at + 1
    if head is None or values is None or values[1] != head[1]:
        raise ParseError(at + 2, f"the values of {lines.all[at].split(':')[0]!r}", lines.all[at + 1])
    tokens = values[2].split()
    if len(tokens) != len(names) and not lines.is_open(at + 1):
        raise ParseError(at + 2, f"{len(names)} values, as many as names", values[2])
    tokens = lines.without_cut_token(at + 1, tokens)
    named = [(name, counter(token, at + 2)) for name, token in zip(names, tokens, strict=False)]
    rows.add("counters", counter_rows(lines, "proc", head[1], "", named))
    return at + 2


def take_named(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read snmp6, or a file of dev_snmp6, from an index on; return the index after it."""
    first = lines.all[at].split()[0]
    start = at
    while at < len(lines) and (pair := re.fullmatch(r"([A-Za-z][A-Za-z0-9]*6\w*|ifIndex)[ \t]+(\S+)", lines.all[at])):
        if at > start and pair[1] == first:
            break
        if tokens := lines.without_cut_token(at, [pair[2]]):
            named = [(pair[1], counter(tokens[0], at + 1))]
            rows.add("counters", counter_rows(lines, "proc", "snmp6", "", named))
        at += 1
    return at


def take_sockets(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read sockstat and the sockstat6 that may follow it, into one row of `sockets`; return the index after them."""
    row: dict[str, Any] = {"tool": "proc", **lines.stamp}
    seen: set[str] = set()
    while at < len(lines) and (line := _SOCKET_LINE.fullmatch(lines.all[at])):
        if line[1] in seen:
            break  # the next snapshot of a series without times
        seen.add(line[1])
        tokens = lines.without_cut_token(at, lines.all[at].split()[1:])
        for name, token in zip(tokens[::2], tokens[1::2], strict=False):
            value = counter(token, at + 1)
            if column := _SOCKETS.get(line[1], {}).get(name):
                if not 0 <= value < 1e18:
                    raise ParseError(at + 1, "a count of sockets", token)
                row[column] = int(value)
            else:
                unit = "bytes" if name == "memory" else ""
                rows.add("counters", counter_rows(lines, "proc", "sockstat", line[1], [(name, value)], unit))
        at += 1
    rows.add("sockets", [row])
    return at


def take_sockets_in_hexadecimal(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read one file from its heading at an index on; return the index after it."""
    at += 1
    rows.add("connections", [])
    while at < len(lines) and (line := lines.all[at]):
        match = _SOCKET_ROW.fullmatch(line)
        if match is None and not re.match(r"[0-9]+: ", line):
            break
        if lines.is_open(at) and (match is None or match.end(12) == len(line)):
            lines.warn(at + 1, "the text ends inside this row, which is left out")
            return at + 1
        if match is None:
            raise ParseError(at + 1, "a row such as '0: 0100007F:0050 00000000:0000 0A …'", line)
        rows.add("connections", [{**_socket(match, at + 1), **lines.stamp}])
        at += 1
    return at


def _socket(match: re.Match[str], line: int) -> dict[str, object]:
    local, local_port, peer, peer_port, state, send, receive, timer, when, retries, uid, inode = match.groups()
    if not 1 <= int(state, 16) <= len(_STATES) or int(timer, 16) >= len(_TIMERS):
        raise ParseError(line, f"a state of 01 to {len(_STATES):02X} and a timer of 00 to 04", match[0])
    running = _TIMERS[int(timer, 16)]
    return {
        "state": _STATES[int(state, 16) - 1],
        "receive_queue": int(receive, 16),
        "send_queue": int(send, 16),
        "local_address": _address(local),
        "local_port": str(int(local_port, 16)),
        "peer_address": _address(peer),
        "peer_port": str(int(peer_port, 16)) if int(peer_port, 16) else "*",
        "timer": running or None,
        "timer_s": int(when, 16) / _USER_HZ if running else None,
        "timer_retries": int(retries, 16),
        "uid": int(uid),
        "inode": int(inode),
    }


def _address(printed: str) -> str:
    """Address from words of 32 bits in the order of a little-endian machine."""
    raw = b"".join(bytes.fromhex(printed[i : i + 8])[::-1] for i in range(0, len(printed), 8))
    return str(ipaddress.ip_address(raw))
