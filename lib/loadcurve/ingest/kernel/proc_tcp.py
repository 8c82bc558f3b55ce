"""/proc/net/tcp, tcp6, udp and udp6 into the table `connections`.

Output of the kernel (``net/ipv4/tcp_ipv4.c``, `get_tcp4_sock`): a row for each socket, numbers hexadecimal.  An
address is printed as the machine holds it in memory, so on x86 and ARM the bytes of each 32-bit word are reversed.  Of
a listener the receive queue is the length of its accept queue.  ``tm->when`` is in ticks of USER_HZ, 100 a second.  The
file is read in pieces, so the list of a busy machine can miss a socket or show it twice.
"""

import ipaddress
import re

from loadcurve.errors import ParseError
from loadcurve.ingest.kernel.proc_rows import ProcRows
from loadcurve.ingest.plain_lines import Lines

_STATES = (  # include/net/tcp_states.h, from 1; in the words of ss
    "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT", "LAST-ACK",
    "LISTEN", "CLOSING", "NEW-SYN-RECV",
)  # fmt: skip
_TIMERS = ("", "on", "keepalive", "timewait", "persist")  # tcp_ipv4.c, timer_active
_USER_HZ = 100
_ADDRESS = r"([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})"
_ROW = re.compile(
    rf"[0-9]+: {_ADDRESS} {_ADDRESS} ([0-9A-F]{{2}}) ([0-9A-F]{{8}}):([0-9A-F]{{8}}) ([0-9A-F]{{2}}):([0-9A-F]{{8}})"
    r" ([0-9A-F]{8})\s+([0-9]{1,10})\s+[0-9]+ ([0-9]{1,18}) [0-9]+ [0-9a-f]+(?: .*)?"
)


def take_sockets_in_hexadecimal(lines: Lines, at: int, rows: ProcRows) -> int:
    """Read one file from its heading at an index on; return the index after it."""
    at += 1
    rows.add("connections", [])
    while at < len(lines) and (line := lines.all[at]):
        match = _ROW.fullmatch(line)
        if match is None:
            if not re.match(r"[0-9]+: ", line):
                break
            if lines.is_open(at):
                lines.warn(at + 1, "the text ends inside this row, which is left out")
                return at + 1
            raise ParseError(at + 1, "a row such as '0: 0100007F:0050 00000000:0000 0A …'", line)
        if lines.is_open(at) and match.end(12) == len(line):
            lines.warn(at + 1, "the text ends inside this row, which is left out")
            return at + 1
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
