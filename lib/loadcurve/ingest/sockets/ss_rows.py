"""ss: the first line of a socket, ``[Netid] [State] [Recv-Q Send-Q] Local:Port Peer:Port``, into columns.

Internet sockets are read a column at a time.  The others (unix, netlink, packet, vsock, tipc, xdp), whose addresses
have other shapes, are read one by one.

Output of ss (iproute2 6.1, ``misc/ss.c``, ``sock_state_print`` and the ``*_show_sock`` of each family): a unix
socket has a path, a blank and an inode on each side; a netlink socket ``protocol:program/pid`` and mostly ``*``; a
packet socket ``protocol:interface`` and ``*``; a vsock socket ``cid:port``.  ``inet_addr_print``: the port follows the
last colon, by number or, without -n, by its name in ``/etc/services``; IPv6 is in brackets since iproute2 4.15; an
interface follows a percent sign (``127.0.0.53%lo``); ``*`` is any; with -r names replace addresses.  People publish
lists with masked addresses (``192.168.x.x``).
"""

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from loadcurve.errors import ParseError
from loadcurve.ingest.sockets.ss_details import are_whole, matches

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"^(?:{_OCTET}(?:\.{_OCTET}){{3}}|\*)$"
_NUMBER = r"(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
# A number, * or a service's name; one letter among digits is a garbled number (no service is called so).
_NAME = (
    r"[A-Za-z][\w.+-]{0,30}[A-Za-z][\w.+/-]{0,30}|[0-9][\w-]{0,10}[A-Za-z][\w-]{0,10}[A-Za-z][\w.+-]{0,30}|[xX]{2,5}"
)
_PORT = rf"^(?:{_NUMBER}|\*|{_NAME})$"
_MASKED = re.compile(
    r"(?:[0-9]{1,3}|[xX*#a-dA-D]{1,3})(?:\.(?:[0-9]{1,3}|[xXyYzZ*#a-dA-D_]{1,3})){3}|<[\w .-]{1,40}>|[xX*]{1,15}"
)
_LABEL = r"[A-Za-z0-9_](?:[\w-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?=[^%]*[A-Za-z_][\w-]*\.?$)[A-Za-z_]?{_LABEL}(?:\.{_LABEL}){{0,20}}\.?", re.ASCII)
STATES = (
    "ESTAB", "SYN-SENT", "SYN-RECV", "NEW-SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN", "CLOSE-WAIT",
    "LAST-ACK", "LISTEN", "CLOSING", "BOUND-INACTIVE", "UNKNOWN", "UNDEF",  # sock_state_print
    "CLOSED", "COOKIE_WAIT", "COOKIE_ECHOED", "SHUTDOWN_PENDING", "SHUTDOWN_SENT", "SHUTDOWN_RECEIVED",
    "ACK_SENT",  # sctp_sstate_name
)  # fmt: skip
INTERNET = ("tcp", "udp", "raw", "mptcp", "sctp", "dccp", "icmp6", "???")
FAMILIES = (*INTERNET, "u_str", "u_dgr", "u_seq", "nl", "p_raw", "p_dgr", "v_str", "v_dgr", "ti_st", "ti_dg", "ti_rd",
            "ti_sq", "xdp", "unknown", "p_pac")  # fmt: skip
COLUMNS = (
    "family", "state", "receive_queue", "send_queue", "local_address", "local_port", "peer_address", "peer_port",
)  # fmt: skip
_STATES, _FAMILIES = pa.array(STATES), pa.array(FAMILIES)
_NETLINK = re.compile(
    r"(?:rtnl|usersock|fw|tcpdiag|sock_diag|nflog|xfrm|selinux|iscsi|audit|fiblookup|connector|nft|ip6fw|dec-rt|uevent"
    r"|genl|scsi-trans|ecryptfs|rdma|crypto|smc|unused|[0-9]{1,3}):\S.{0,80}"
)


@lru_cache(maxsize=1 << 16)
def is_address(text: str) -> bool:
    """Whether a text is an address of an internet socket as ss prints it, without brackets.

    Examples
    --------
    >>> [is_address(s) for s in ("127.0.0.53%lo", "::ffff:10.0.0.1", "192.168.x.x", "db1.example.org", "10.0.0.256")]
    [True, True, True, True, False]
    """
    address, percent, interface = text.partition("%")
    if percent and not interface:
        return False
    if re.match(_IPV4, address):
        return True
    if ":" in address:
        try:
            ipaddress.IPv6Address(address)
        except ValueError:
            return re.fullmatch(r"[0-9a-fA-F]{1,4}(?::[0-9a-fA-FxX*]{0,4}){2,7}", address) is not None and (
                "x" in address.lower() or "*" in address
            )
        return True
    if len(address) > 253:
        return False
    if _MASKED.fullmatch(address):
        return all(int(part) <= 255 for part in address.split(".") if part.isdecimal())
    # The last label of a name never begins with a digit; such a text is a garbled address.
    last = address.rstrip(".").rpartition(".")[2]
    return _HOST.fullmatch(address) is not None and not last[:1].isdigit() and len(address) > 1


def split_addresses(tokens: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Address without brackets, port, and whether both are those of an internet socket, for each token."""
    parts = pc.split_pattern(tokens, ":", max_splits=1, reverse=True)
    begins = parts.offsets.to_numpy()
    two = np.diff(begins) == 2
    address = parts.values.take(pa.array(begins[:-1]))
    port = parts.values.take(pa.array(begins[:-1] + two))
    if not two.all():
        address = pc.if_else(pa.array(two), address, "")
    bracketed = pc.match_substring(address, "[")
    if bracketed.true_count:
        closed = pc.match_substring_regex(address, r"^\[[^\[\]]*\](?:%[^\[\]]*)?$")
        bare = pc.replace_substring(pc.replace_substring(address, "[", ""), "]", "")
        address = pc.if_else(closed, bare, address)
    encoded = address.dictionary_encode()
    known = matches(encoded.dictionary, _IPV4)
    for at in np.flatnonzero(~known):
        text = encoded.dictionary[int(at)].as_py()
        known[at] = bool(text) and is_address(text)
    ports = port.dictionary_encode()
    are_ports = pa.array(matches(ports.dictionary, _PORT)).take(ports.indices)
    return address, port, pc.and_(pa.array(known).take(encoded.indices), are_ports)


@dataclass(frozen=True)
class Rows:
    """First lines of sockets."""

    columns: dict[str, pa.Array]  # Text or whole number of each of `COLUMNS`, null where the row has no such column
    first: np.ndarray  # Token, within its line, where the details of each begin
    have: np.ndarray  # Columns before the addresses: 1 Netid, 2 State, 4 queues; -1 for a SCTP association


def rows_of(tokens: pa.Array, starts: np.ndarray, sizes: np.ndarray, lines: np.ndarray) -> Rows:
    """Read the rows whose tokens begin at `starts`, `sizes` tokens long, in the `lines` of the file."""
    count, last = len(starts), len(tokens) - 1

    def token(at: np.ndarray) -> pa.Array:
        return tokens.take(pa.array(np.minimum(starts + at, last)))

    def is_in(texts: pa.Array, words: pa.Array) -> np.ndarray:
        return np.asarray(pc.is_in(texts, words).to_numpy(zero_copy_only=False))

    zero = np.zeros(count, np.int64)
    association = pc.equal(token(zero), "`-").to_numpy(zero_copy_only=False)
    family = is_in(token(zero), _FAMILIES) & ~association
    at = zero + (family | association)
    state = is_in(token(at), _STATES)
    queues = at + state
    receive, send = token(queues), token(queues + 1)
    queued = are_whole(receive) & are_whole(send) & (queues + 2 <= sizes)
    local = queues + 2 * queued
    names = token(zero)
    local_address, local_port, local_right = split_addresses(token(local))
    peer_address, peer_port, peer_right = split_addresses(token(local + 1))
    right = pc.and_(local_right, peer_right).to_numpy(zero_copy_only=False) & (local + 2 <= sizes)
    right &= ~family | is_in(names, pa.array(INTERNET))
    columns = {
        "family": _where(family, names),
        "state": _where(state, token(at)),
        "receive_queue": _where(queued, receive).cast(pa.int64()),
        "send_queue": _where(queued, send).cast(pa.int64()),
        "local_address": local_address,
        "local_port": local_port,
        "peer_address": peer_address,
        "peer_port": peer_port,
    }
    if association.any():
        columns["family"] = pc.if_else(pa.array(association), "sctp", columns["family"])
    first = local + 2
    if not right.all():
        others = np.flatnonzero(~right)
        read = [
            _other(
                tokens.slice(int(starts[i] + local[i]), max(int(sizes[i] - local[i]), 0)).to_pylist(),
                names[int(i)].as_py() if family[i] else "",
                int(lines[i]),
            )
            for i in others
        ]
        mask = pa.array(~right)
        for k, name in enumerate(COLUMNS[4:]):
            values = pa.array([cells[k] for cells in read], pa.string())
            columns[name] = pc.replace_with_mask(columns[name], mask, values)
        first[others] = local[others] + [cells[4] for cells in read]
    return Rows(columns, first, np.where(association, -1, family + 2 * state + 4 * queued))


def _where(have: np.ndarray, texts: pa.Array) -> pa.Array:
    if have.all():
        return texts
    return pc.if_else(pa.array(have), texts, None) if have.any() else pa.nulls(len(texts), pa.string())


def _other(tokens: list[str], family: str, line: int) -> tuple[Any, ...]:
    """Addresses and ports of a row that is not a plain internet socket, and the number of their tokens."""
    shown = " ".join(tokens[:8])
    if family.startswith("u_"):
        # path inode path inode; a path may have blanks
        for k in range(1, min(len(tokens) - 2, 40)):
            if _is_number(tokens[k]):
                for j in range(k + 2, min(len(tokens), k + 40)):
                    if _is_number(tokens[j]):
                        return (" ".join(tokens[:k]), tokens[k], " ".join(tokens[k + 1 : j]), tokens[j], j + 1)
        raise ParseError(line, "a path and an inode on each side of a unix socket", shown)
    if family in INTERNET[:-1]:
        raise ParseError(line, "ADDRESS:PORT on each side", shown)
    if family or (tokens and _NETLINK.fullmatch(tokens[0])):
        for k in range(1, min(len(tokens), 20)):
            peer = tokens[k]
            if peer in ("*", "-") or re.fullmatch(r"(?:[0-9]{1,10}|\*):(?:-?[0-9]{1,10}|\*)", peer):
                return (*_split_last(" ".join(tokens[:k])), *_split_last(peer), k + 1)
    raise ParseError(line, "ADDRESS:PORT on each side", shown)


def _split_last(text: str) -> tuple[str, str | None]:
    """Address and port around the last colon; no port without a colon."""
    address, colon, port = text.rpartition(":")
    return (address, port) if colon else (text, None)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
