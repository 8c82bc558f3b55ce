"""ss: the first line of a socket, ``[Netid] [State] [Recv-Q Send-Q] Local:Port Peer:Port``, into columns.

Internet sockets are read a column at a time.  The others (unix, netlink, packet, vsock, tipc, xdp), whose addresses
have other shapes, are read one by one.

What ss itself does (iproute2 6.1, ``misc/ss.c``, ``sock_state_print`` and the ``*_show_sock`` of each family): a unix
socket has a path, a blank and an inode on each side; a netlink socket ``protocol:program/pid`` and mostly ``*``; a
packet socket ``protocol:interface`` and ``*``; a vsock socket ``cid:port``.
"""

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from loadcurve.errors import ParseError
from loadcurve.ingest.sockets import ss_addresses
from loadcurve.ingest.sockets.ss_values import are_whole

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


@dataclass(frozen=True)
class Rows:
    """First lines of sockets.

    Attributes
    ----------
    columns : dict
        Text or whole number of each of `COLUMNS`, null where the row has no such column.
    first : numpy.ndarray
        Token, within its line, where the details of each begin.
    have : numpy.ndarray
        Which columns stand before the addresses: 1 Netid, 2 State, 4 queues; -1 for a SCTP association.
    """

    columns: dict[str, pa.Array]
    first: np.ndarray
    have: np.ndarray


def rows_of(tokens: pa.Array, starts: np.ndarray, sizes: np.ndarray, lines: np.ndarray) -> Rows:
    """Read the rows whose tokens begin at `starts`, `sizes` tokens long, in the `lines` of the file.

    Raises
    ------
    ParseError
        At the first line that is no row of ss.
    """
    count, last = len(starts), len(tokens) - 1

    def token(at: np.ndarray) -> pa.Array:
        return tokens.take(pa.array(np.minimum(starts + at, last)))

    def is_in(texts: pa.Array, words: pa.Array) -> np.ndarray:
        return pc.is_in(texts, words).to_numpy(zero_copy_only=False)

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
    local_address, local_port, local_right = ss_addresses.split(token(local))
    peer_address, peer_port, peer_right = ss_addresses.split(token(local + 1))
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


def _other(tokens: list[str], family: str, line: int) -> tuple:
    """Addresses and ports of a row that is no plain internet socket, and how many tokens they took."""
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
