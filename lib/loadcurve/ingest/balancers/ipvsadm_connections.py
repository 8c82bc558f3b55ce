"""Rows of the table `flows` from the connections of ipvsadm, of DPVS and of /proc/net/ip_vs_conn.

Sources of the format:

- ipvsadm 1.31, ``print_conn``: the time left as minutes and seconds, ``179:53``; it reads /proc/net/ip_vs_conn by
  position, so where that file has further columns (FullNat patches) the state it prints is an address.
- DPVS 1.9, ``print_conn_entry``: ``[lcore]tcp 7s TCP_EST client virtual local server``; no heading.
- Linux, ``ip_vs_conn_seq_show``: addresses and ports in hexadecimal, the time left in seconds.

State ``NONE`` with client port 0 is a persistence template, not a connection.
"""

import re

import pandas as pd

from loadcurve.ingest.balancers.ipvsadm_fields import hex_address, hex_port, split_endpoint
from loadcurve.ingest.balancers.lists import FLOW_COLUMNS, ListCursor, flow_table

_ENTRY = re.compile(
    r"(?P<protocol>[A-Za-z]+)\s+(?:(?P<state2>[A-Z_]+)\s+)?(?P<minutes>[0-9]{1,9}):(?P<seconds>[0-5][0-9])\s+"
    r"(?(state2)|(?P<state>\S+)\s+)(?P<client>\S+)\s+(?P<virtual>\S+)(?:\s+(?P<server>\S+)(?:\s+(?P<other>\S.*))?)?"
)
_DPVS = re.compile(
    r"\[(?P<core>[0-9]+)\](?P<protocol>tcp|udp|icmp|--)\s+(?P<seconds>[0-9]{1,9})s\s+(?P<state>\S+)\s+"
    r"(?P<client>\S+)\s+(?P<virtual>\S+)\s+(?P<local>\S+)\s+(?P<server>\S+)"
)
_HEX = re.compile(r"[0-9A-F]{8}")
_KERNEL = {
    "Pro": "protocol", "FromIP": "client_address", "FPrt": "client_port", "ToIP": "virtual_address",
    "TPrt": "virtual_port", "LocalIP": "reply_address", "LPrt": "reply_port", "DestIP": "server_address",
    "DPrt": "server_port", "State": "state", "Origin": "other", "Expires": "expires_s", "PEName": "other",
    "PEData": "other",
}  # fmt: skip


KERNELS_ROW = re.compile(
    r"(?:TCP|UDP|SCTP)(?:\s+(?:[0-9A-F]{8}|(?:[0-9a-f]{4}:){7}[0-9a-f]{4})\s+[0-9A-F]{4}){3}\s+[A-Z_]+\s+[0-9]{1,9}(?:\s.*)?"
)
"""A row of /proc/net/ip_vs_conn, recognised without its heading."""
KERNELS_HEADING = "Pro FromIP FPrt ToIP TPrt DestIP DPrt State Expires PEName PEData"
_HEADINGS = (
    ("pro", "expire", "state", "source", "virtual", "destination"),
    ("pro", "state", "expire", "source", "virtual", "destination"),
)  # in this order a row is read; then `pe name` and `pe_data`


def check_heading(cursor: ListCursor) -> None:
    """Raise where a heading of ``ipvsadm -Lcn`` names other columns than the rows have.

    Raises ParseError where its columns are not those that ipvsadm prints, in their order.
    """
    words = tuple(cursor.line.split())
    if words[:6] not in _HEADINGS or not set(words[6:]) <= {"pe", "name", "pe_data"}:
        cursor.fail(f"the columns {' '.join(_HEADINGS[0])} of ipvsadm -Lcn")


class Flows:
    """Connections read so far: one tuple each, in the order of `FLOW_COLUMNS`."""

    def __init__(self, cursor: ListCursor) -> None:
        self.rows: list[tuple] = []
        self.heading: tuple[str, ...] = ()  # columns of /proc/net/ip_vs_conn; empty for a list of ipvsadm
        self._cursor = cursor

    def begin(self, heading: str) -> None:
        """Begin /proc/net/ip_vs_conn with this heading."""
        words = heading.split()
        if unknown := [word for word in words if word not in _KERNEL]:
            self._cursor.fail(f"columns of ip_vs_conn ({', '.join(_KERNEL)})", unknown[0])
        self.heading = tuple(_KERNEL[word] for word in words)

    def add_entry(self, line: str, cut: bool) -> bool:
        """Read a line of ``ipvsadm -lnc``, without its server where the text's end cuts it; False for another line."""
        match = _ENTRY.fullmatch(line)
        if match is None or (match["server"] is None and not cut):
            return False
        state = match["state"] or match["state2"]
        expires: int | None = int(match["minutes"]) * 60 + int(match["seconds"])
        ends = [part for name in ("client", "virtual") for part in self._endpoint(match[name])]
        server = (None, None) if match["server"] is None else self._endpoint(match["server"])
        reply: tuple = (None, None)
        if _HEX.fullmatch(state):
            self._cursor.warn(f"ipvsadm printed a port as the time and an address as the state {state}")
            state, expires, server, reply = None, None, (None, None), server
        self.rows.append(
            (
                self._cursor.time,
                "ipvsadm",
                match["protocol"].upper(),
                state,
                expires,
                *ends,
                *server,
                *reply,
                match["other"],
            )
        )
        return True

    def add_dpvs(self) -> None:
        """Read a line of the connections of DPVS."""
        match = self._cursor.expect(_DPVS, "a connection of DPVS")
        names = ("client", "virtual", "server", "local")
        ends = [part for name in names for part in self._endpoint(match[name])]
        protocol = None if match["protocol"] == "--" else match["protocol"].upper()
        other = f"lcore {match['core']}"
        row = (self._cursor.time, "ipvsadm", protocol, match["state"], int(match["seconds"]), *ends, other)
        self.rows.append(row)

    def _endpoint(self, token: str) -> tuple[str | None, str | None]:
        return split_endpoint(token, self._cursor.number, [], cut=False)

    def add_kernels(self) -> None:
        """Read a line of /proc/net/ip_vs_conn."""
        words, number = self._cursor.line.split(), self._cursor.number
        needed = len(self.heading) - 2 * (self.heading[-1] == "other")
        if len(words) < needed or len(words) > len(self.heading):
            self._cursor.fail(f"{needed} to {len(self.heading)} columns of ip_vs_conn")
        row: dict = {}
        for column, word in zip(self.heading, words, strict=False):
            if column == "other":
                row[column] = f"{row[column]} {word}" if column in row else word
            elif column.endswith("_address"):
                row[column] = hex_address(word, number)
            elif column.endswith("_port"):
                row[column] = hex_port(word, number)
            elif column == "expires_s":
                if not re.fullmatch(r"[0-9]{1,9}", word):
                    self._cursor.fail("seconds", word)
                row[column] = int(word)
            else:
                row[column] = word
        row |= {"time": self._cursor.time, "tool": "proc"}
        self.rows.append(tuple(row.get(column) for column in FLOW_COLUMNS))

    def table(self) -> pd.DataFrame:
        """Return the table `flows`."""
        return flow_table(self.rows).astype({"expires_s": float})
