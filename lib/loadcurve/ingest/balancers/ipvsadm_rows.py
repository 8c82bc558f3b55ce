"""Rows of what ipvsadm and the kernel list: services and their servers, connections, rules, settings.

Sources of the format (ipvsadm 1.31, ``ipvsadm.c``; Linux, ``net/netfilter/ipvs``; DPVS 1.9):

- ``print_service_entry``: a name is cut to 28 characters, port included; an IPv6 address is not.  As rules (FMT_RULE):
  ``-A -t 198.18.0.9:80 -s rr -p 60``, ``-a -t 198.18.0.9:80 -r 198.18.0.3:80 -m -w 1``.
- ``print_largenum``: from 100 million on a number is *cut* to ``K``, from 1 billion on to ``M``, from 100 billion on to
  ``G``, from 100 trillion on to ``T``: steps of 1000, never rounded up; ``--exact`` prints all digits.
- ``print_conn``: the time left as minutes and seconds, ``179:53``; it reads /proc/net/ip_vs_conn by position, so where
  that file has further columns (FullNat patches) the state it prints is an address.  State ``NONE`` with client port 0
  is a persistence template, not a connection.
- ``list_timeout``: ``Timeout (tcp tcpfin udp): 900 120 300``, in seconds; ``list_daemon``:
  ``master sync daemon (mcast=eth0, syncid=1, maxlen=1472, …)``.
- The kernel prints addresses and ports in hexadecimal: ``C6120009:0050``, ``[2001:0db8:…:0001]:0050``; in
  ``ip_vs_conn_seq_show`` the time left is in seconds.
- DPVS, ``print_conn_entry``: ``[lcore]tcp 7s TCP_EST client virtual local server``; no heading.
"""

import ipaddress
import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from loadcurve.ingest.balancers.lists import FLOW_COLUMNS, ListCursor, flow_table, scaled

_CUT_AT = 28
_PORT = re.compile(r"[0-9]{1,5}|[A-Za-z][\w.+-]*")
_HEX_PLACE = re.compile(r"([0-9A-F]{8}|\[(?:[0-9a-f]{4}:){7}[0-9a-f]{4}\]):([0-9A-F]{4})")
_LEADING_ZERO = re.compile(r"[\[:]0[0-9a-f]{3}[:\]]")

# Column of a list as its heading names it → column of `balancer`.
_COLUMNS = {
    "Forward": "forward", "TunnelInfo": "other", "Weight": "weight", "PersistConn": "persistent",
    "ActiveConn": "active", "InActConn": "inactive", "Uthreshold": "upper_threshold", "Lthreshold": "lower_threshold",
    "Conns": "connections", "InPkts": "received_packets", "OutPkts": "sent_packets",
    "InBytes": "received_bytes", "OutBytes": "sent_bytes",
    "CPS": "connections_per_s", "InPPS": "received_pps", "OutPPS": "sent_pps",
    "InBPS": "received_bytes_per_s", "OutBPS": "sent_bytes_per_s",
}  # fmt: skip
_COUNTED = {"Conns", "CPS"}  # the first word of a list in which services have numbers too
_FORWARD = {"Route", "Masq", "Tunnel", "Local", "FullNat", "SNAT", "NAT"}
_OF_SERVICE = ("protocol", "service", "virtual_address", "virtual_port", "scheduler")  # of its servers too
_WORDS = re.compile(r"[A-Za-z_]+(?:,[A-Za-z_]+)*")
_COMMENT = re.compile(r"(?<=\s)(?:#|//|←|<-).*")
_FLAG_WITHOUT_NUMBER = re.compile(r"\b(?:persistent|conn[-_]timeout)\s+(?![0-9]+(?:\s|$))")

_ENTRY = re.compile(
    r"(?P<protocol>[A-Za-z]+)\s+(?:(?P<state2>[A-Z_]+)\s+)?(?P<minutes>[0-9]{1,9}):(?P<seconds>[0-5][0-9])\s+"
    r"(?(state2)|(?P<state>\S+)\s+)(?P<client>\S+)\s+(?P<virtual>\S+)(?:\s+(?P<server>\S+)(?:\s+(?P<other>\S.*))?)?"
)
_DPVS = re.compile(
    r"\[(?P<core>[0-9]+)\](?P<protocol>tcp|udp|icmp|--)\s+(?P<seconds>[0-9]{1,9})s\s+(?P<state>\S+)\s+"
    r"(?P<client>\S+)\s+(?P<virtual>\S+)\s+(?P<reply>\S+)\s+(?P<server>\S+)"
)
_HEX = re.compile(r"[0-9A-F]{8}")
_KERNEL = {
    "Pro": "protocol", "FromIP": "client_address", "FPrt": "client_port", "ToIP": "virtual_address",
    "TPrt": "virtual_port", "LocalIP": "reply_address", "LPrt": "reply_port", "DestIP": "server_address",
    "DPrt": "server_port", "State": "state", "Origin": "other", "Expires": "expires_s", "PEName": "other",
    "PEData": "other",
}  # fmt: skip
KERNELS_HEADING = "Pro FromIP FPrt ToIP TPrt DestIP DPrt State Expires PEName PEData"

_TIMEOUT = re.compile(r"Timeout \(tcp tcpfin udp\): (?P<tcp>[0-9]{1,9}) (?P<tcpfin>[0-9]{1,9}) (?P<udp>[0-9]{1,9})")
_DAEMON = re.compile(
    r"((?:master|backup) sync daemon) \(mcast=([^\s,()]*), syncid=([0-9]{1,9})((?:, [^\s,=]+=[^\s,=()]+)*)\)"
)
_SNAT = re.compile(r"(\S++)\s++(?P<CONFLICTS>[0-9]{1,9})\s++(?P<CONNS>[0-9]{1,18})")
_VIRTUAL = re.compile(r"((?=\S+:\S)\S{1,255}+)\s++(?P<TOTAL>[0-9]{1,9})")
_PROTOCOL = {
    "-t": "TCP", "-u": "UDP", "-q": "ICMP", "-f": "FWM",
    "--tcp-service": "TCP", "--udp-service": "UDP", "--sctp-service": "SCTP", "--fwmark-service": "FWM",
}  # fmt: skip
_RULE_FORWARD = {"-g": "Route", "-i": "Tunnel", "-m": "Masq", "(null)": None}  # FullNat has no letter here
_NUMBER_OF_RULE = {"-w": "weight", "-x": "upper_threshold", "-y": "lower_threshold", "-p": "persistent"}
_FLAG_ALONE = {"-6": "IPv6", "-o": "ops", "ops": "ops"}
_FLAG = {"-M": "mask", "--pe": "pe", "pe": "pe", "-b": "sched-flags"}


def is_kernels(token: str) -> bool:
    """Whether only the kernel prints such an address: ipvsadm omits leading zeros of an IPv6 group.

    Examples
    --------
    >>> groups = "2001:1db8:1111:2222:3333:4444:5555"
    >>> is_kernels("C6120009:0050"), is_kernels(f"[{groups}:0001]:1000"), is_kernels(f"[{groups}:1001]:1000")
    (True, True, False)
    """
    return bool(_HEX_PLACE.fullmatch(token) and (not token.startswith("[") or _LEADING_ZERO.search(token)))


def is_kernels_list(lines: Iterable[str], spaced: bool) -> bool:
    """Whether a list is that of /proc/net/ip_vs: by its addresses or, where it has none, by its heading's blanks."""
    for line in lines:
        words = line.split(maxsplit=2)
        if words[:1] == ["Prot"]:
            break
        is_row = len(words) > 1 and words[0] in {"TCP", "UDP", "SCTP", "->"} and ":" in words[1]
        if is_row and (is_kernels(words[1]) or not _HEX_PLACE.fullmatch(words[1])):
            return is_kernels(words[1])
    return not spaced


def _hex_address(cursor: ListCursor, token: str) -> str:
    """Return the usual form of an address that the kernel printed."""
    bare = token.strip("[]")
    try:
        if re.fullmatch(r"[0-9A-Fa-f]{8}", bare):
            return str(ipaddress.IPv4Address(int(bare, 16)))
        return str(ipaddress.IPv6Address(bare))
    except ValueError:
        return cursor.fail("an address such as C6120009", token)


def _hex_port(cursor: ListCursor, token: str) -> str:
    """Return the decimal form of a port that the kernel printed."""
    if not re.fullmatch(r"[0-9A-Fa-f]{4}", token):
        cursor.fail("a port such as 1F90", token)
    return str(int(token, 16))


def _endpoint(cursor: ListCursor, token: str, cut: bool = False) -> tuple[str | None, str | None]:
    """Return address and port of ``address:port``, None for a missing part; with `cut` a long name has no port."""
    address, colon, port = token.rpartition(":")
    if not colon or token.endswith("]"):
        if len(token) < _CUT_AT or not cut:
            cursor.fail("an address with its port, such as 198.18.0.9:80", token)
        address, port = token, ""
    if cut and len(token) >= _CUT_AT and not token.startswith("["):
        cursor.warn(f"{token!r} is cut: its port is missing")
        return address, None
    if not address or not _PORT.fullmatch(port) or (port.isdigit() and int(port) > 65535):
        cursor.fail("an address with its port, such as 198.18.0.9:80", token)
    address = address.removeprefix("[").removesuffix("]")
    return (None if address == "(null)" else address), port


class Listing:
    """Rows of `balancer` read so far, and the state of the list that is being read."""

    def __init__(self, cursor: ListCursor, last: int) -> None:
        self.rows: list[dict[str, Any]] = []
        self.hexadecimal = False
        self.service: dict[str, Any] | None = None
        self._cursor, self._last = cursor, last
        self._columns: tuple[str, ...] = ("forward", "weight", "active", "inactive")
        self._counted = False  # services have numbers, not a scheduler
        self._servers: list[dict[str, Any]] = []

    @property
    def is_cut(self) -> bool:
        """Whether the end of the text cuts the current line."""
        return self._cursor.number == self._last

    def begin(self, words: list[str]) -> None:
        """Begin a list whose heading names these columns."""
        unknown = [word for word in words if word not in _COLUMNS]
        if unknown:
            self._cursor.fail(f"columns of ipvsadm ({', '.join(_COLUMNS)})", unknown[0])
        self.close()
        self._columns = tuple(_COLUMNS[word] for word in words)
        self._counted = bool(words) and words[0] in _COUNTED
        self.service = None

    def close(self) -> None:
        """End a service, and warn where its servers together have more connections than the service."""
        if self.service is not None and (total := self.service.get("connections")) is not None:
            behind = sum(server.get("connections") or 0 for server in self._servers)
            if behind > total * 1.01 + 10 and not self.service.get("rounded"):
                where = f"{self.service.get('virtual_address') or self.service.get('service')}"
                self._cursor.warnings.append(
                    f"the servers of {where} have {behind} connections, the service has {total}"
                )
        self._servers = []

    def add_service(self, line: str) -> None:
        """Read a line such as ``TCP  198.18.0.9:80 rr persistent 60``."""
        self.close()
        words = _COMMENT.sub("", line).split()
        if len(words) < 2:
            self._cursor.fail("a service such as TCP 198.18.0.9:80 rr")
        protocol, name, *rest = words
        tool = "proc" if self.hexadecimal else "ipvsadm"
        row: dict[str, Any] = {"tool": tool, "kind": "service", "protocol": protocol}
        if protocol == "FWM":
            if not re.fullmatch(r"[0-9A-F]{8}" if self.hexadecimal else r"[0-9]{1,10}", name):
                self._cursor.fail("a firewall mark", name)
            row["service"] = str(int(name, 16)) if self.hexadecimal else name
        elif protocol == "MATCH":  # of DPVS: whatever fits protocol, ranges and interfaces
            row["protocol"], row["service"] = name.split(",")[0].upper(), name
        else:
            row["virtual_address"], row["virtual_port"] = self._place(name)
        flags = []
        if protocol == "FWM" and rest[:1] == ["IPv6"]:
            flags.append(rest.pop(0))
        if self._counted:
            if rest[:1] == ["bps"]:  # DPVS: a limit of the service
                flags, rest = [*flags, *rest[:2]], rest[2:]
            if len(rest) > len(self._columns):
                self._cursor.fail(f"a service with {len(self._columns)} columns")
            row |= self._numbers(rest)
        elif rest:
            row["scheduler"] = rest.pop(0)
            if not re.fullmatch(r"[a-z][a-z0-9_+-]*", row["scheduler"]):
                self._cursor.fail("a scheduler such as wrr", row["scheduler"])
            flags += rest if not self.is_cut else []
        elif not self.is_cut:
            self._cursor.fail("a service with its scheduler")
        row["flags"] = " ".join(flags) or None
        if row["flags"] and ("->" in flags or _FLAG_WITHOUT_NUMBER.search(row["flags"])):
            self._cursor.fail("flags of a service, such as persistent 60", row["flags"])
        self.service = row
        self.rows.append(row | self._cursor.stamp)

    def add_server(self, line: str) -> None:
        """Read a line such as ``-> 198.18.0.3:80   Masq    1      0          2293``."""
        name, *rest = _COMMENT.sub("", re.sub(r"^-(?:>|&gt;)\s*", "", line)).split() or [""]
        row: dict[str, Any] = {"tool": "proc" if self.hexadecimal else "ipvsadm", "kind": "server"}
        if self.service is not None:
            row |= {column: self.service[column] for column in _OF_SERVICE if column in self.service}
        row["server_address"], row["server_port"] = self._place(name)
        row |= self._numbers(rest[: len(self._columns)])
        flags = rest[len(self._columns) :] if not self.is_cut else []
        if len(flags) > 3 or not all(map(_WORDS.fullmatch, flags)) or (flags and self._counted):
            self._cursor.fail(f"a server with {len(self._columns)} columns")
        row["flags"] = " ".join(flags) or None
        self._servers.append(row)
        self.rows.append(row | self._cursor.stamp)

    def _place(self, name: str) -> tuple[str | None, str | None]:
        if is_kernels(name) if not self.hexadecimal else not _HEX_PLACE.fullmatch(name):
            expected = "C6120009:0050" if self.hexadecimal else "198.18.0.9:80"
            self._cursor.fail(f"an address such as {expected}, as in the rest of this list", name)
        if not self.hexadecimal:
            return _endpoint(self._cursor, name, cut=True)
        address, _, port = name.rpartition(":")
        return _hex_address(self._cursor, address), _hex_port(self._cursor, port)

    def _numbers(self, tokens: list[str]) -> dict[str, Any]:
        """Columns of a row; where the text ends in it, those that are left."""
        if len(tokens) < len(self._columns) and not self.is_cut:
            self._cursor.fail(f"{len(self._columns)} columns: {', '.join(self._columns)}", " ".join(tokens))
        row: dict[str, Any] = {}
        for column, token in zip(self._columns, tokens, strict=False):
            if column == "forward":
                if token not in _FORWARD:
                    self._cursor.fail(f"one of {', '.join(sorted(_FORWARD))}", token)
                row[column] = token
            elif column == "other":
                row[column] = None if token == "n/a" else token
            else:
                row[column], cut = scaled(token, self._cursor.number)
                if cut and not self._counted:
                    self._cursor.fail("a whole number", token)
                row["rounded"] = row.get("rounded", False) or cut
        if not self._counted or (self.is_cut and not row.get("rounded")):  # what was cut off may have been rounded
            row.pop("rounded", None)
        return row


class Flows:
    """Connections read so far: one tuple each, in the order of `FLOW_COLUMNS`."""

    def __init__(self, cursor: ListCursor) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self._heading: tuple[str, ...] = ()  # columns of /proc/net/ip_vs_conn
        self._cursor = cursor

    def begin(self, heading: str) -> None:
        """Begin /proc/net/ip_vs_conn with this heading."""
        words = heading.split()
        if unknown := [word for word in words if word not in _KERNEL]:
            self._cursor.fail(f"columns of ip_vs_conn ({', '.join(_KERNEL)})", unknown[0])
        self._heading = tuple(_KERNEL[word] for word in words)

    def _ends(self, match: re.Match[str], *names: str) -> list[str | None]:
        """Return addresses and ports of the named ends of a connection; None where the line has no such end."""
        missing = (None, None)
        return [x for name in names for x in (_endpoint(self._cursor, match[name]) if match[name] else missing)]

    def add_entry(self, line: str, cut: bool) -> bool:
        """Read a line of ``ipvsadm -lnc``, without its server where the text's end cuts it; False for another line."""
        match = _ENTRY.fullmatch(line)
        if match is None or (match["server"] is None and not cut):
            return False
        state = match["state"] or match["state2"]
        expires: int | None = int(match["minutes"]) * 60 + int(match["seconds"])
        ends, server = self._ends(match, "client", "virtual"), self._ends(match, "server")
        reply: list[str | None] = [None, None]
        if _HEX.fullmatch(state):
            self._cursor.warn(f"ipvsadm printed a port as the time and an address as the state {state}")
            state, expires, server, reply = None, None, reply, server
        known = (self._cursor.time, "ipvsadm", match["protocol"].upper(), state, expires)
        self.rows.append((*known, *ends, *server, *reply, match["other"]))
        return True

    def add_dpvs(self) -> None:
        """Read a line of the connections of DPVS."""
        match = self._cursor.expect(_DPVS, "a connection of DPVS")
        protocol = None if match["protocol"] == "--" else match["protocol"].upper()
        ends, other = self._ends(match, "client", "virtual", "server", "reply"), f"lcore {match['core']}"
        known = (self._cursor.time, "ipvsadm", protocol, match["state"], int(match["seconds"]))
        self.rows.append((*known, *ends, other))

    def add_kernels(self) -> None:
        """Read a line of /proc/net/ip_vs_conn."""
        words, cursor = self._cursor.line.split(), self._cursor
        needed = len(self._heading) - 2 * (self._heading[-1] == "other")
        if len(words) < needed or len(words) > len(self._heading):
            cursor.fail(f"{needed} to {len(self._heading)} columns of ip_vs_conn")
        row: dict[str, Any] = {}
        for column, word in zip(self._heading, words, strict=False):
            if column == "other":
                row[column] = f"{row[column]} {word}" if column in row else word
            elif column.endswith("_address"):
                row[column] = _hex_address(cursor, word)
            elif column.endswith("_port"):
                row[column] = _hex_port(cursor, word)
            elif column == "expires_s":
                if not re.fullmatch(r"[0-9]{1,9}", word):
                    cursor.fail("seconds", word)
                row[column] = int(word)
            else:
                row[column] = word
        row |= {"time": cursor.time, "tool": "proc"}
        self.rows.append(tuple(row.get(column) for column in FLOW_COLUMNS))

    def table(self) -> pd.DataFrame:
        """Return the table `flows`."""
        return flow_table(self.rows).astype({"expires_s": float})


def rule_row(cursor: ListCursor, line: str, services: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """Return a row of `balancer` from a line of ``ipvsadm -S``, such as ``-a -f 3 -r 198.18.0.3:80 -m -w 5``."""
    kind, option, name, *words = line.split()
    if option not in _PROTOCOL:
        cursor.fail("a service after -A or -a, such as -t 198.18.0.9:80", line)
    protocol = _PROTOCOL[option]
    row: dict[str, Any] = {"tool": "ipvsadm", "kind": "service" if kind == "-A" else "server", "protocol": protocol}
    if protocol == "FWM":
        row["service"] = name
    else:
        row["virtual_address"], row["virtual_port"] = _endpoint(cursor, name)
    flags: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _FLAG_ALONE:
            flags.append(_FLAG_ALONE[word])
        elif word in _RULE_FORWARD and kind == "-a":
            row["forward"] = _RULE_FORWARD[word]
        elif word.startswith("--tun-") and word not in ("--tun-type", "--tun-port"):
            flags.append(word.removeprefix("--"))
        elif (value := next(rest, "")) == "":
            cursor.fail(f"a value after {word}", line)
        elif word == "-s":
            row["scheduler"] = value
        elif word == "-r":
            row["server_address"], row["server_port"] = _endpoint(cursor, value)
        elif word in _NUMBER_OF_RULE:
            if not re.fullmatch(r"[0-9]{1,10}", value):
                cursor.fail(f"a whole number after {word}", value)
            if word == "-p":
                flags.append(f"persistent {value}")
            else:
                row[_NUMBER_OF_RULE[word]] = int(value)
        elif word in _FLAG or word.startswith("--tun-"):
            flags.append(f"{_FLAG.get(word, word.removeprefix('--'))} {value}")
        else:
            cursor.fail("an option of ipvsadm -S", word)
    if ("scheduler" if kind == "-A" else "server_address") not in row:
        cursor.fail("-s and a scheduler" if kind == "-A" else "-r and a server", line)
    row["flags"] = " ".join(flags) or None
    if kind == "-A":
        services[protocol, name] = row
    elif "scheduler" in (service := services.get((protocol, name), {})):
        row["scheduler"] = service["scheduler"]
    return row


def _counters(
    group: str, values: dict[str, Any], units: dict[str, Any] | None = None, **item: str
) -> list[dict[str, Any]]:
    shared = {"tool": "ipvsadm", "group": group, **item}
    return [
        {**shared, "counter": name, "value": int(value), "unit": (units or {}).get(name, "")}
        for name, value in values.items()
    ]


def timeout_rows(cursor: ListCursor) -> list[dict[str, Any]]:
    """Return rows of `counters` from the line of ``ipvsadm -l --timeout``."""
    limits = cursor.expect(_TIMEOUT, "three time limits in seconds").groupdict()
    return _counters("Timeout", limits, dict.fromkeys(limits, "s"))


def daemon_rows(cursor: ListCursor) -> list[dict[str, Any]]:
    """Return rows of `counters` from a line of ``ipvsadm -l --daemon``; the item is the interface and the group."""
    match = cursor.expect(_DAEMON, "a sync daemon with mcast and syncid")
    values = {"syncid": match[3]} | dict(pair.split("=") for pair in match[4].split(", ")[1:])
    item = match[2] + (f" {values.pop('group')}" if "group" in values else "")
    for name, value in values.items():
        if not re.fullmatch(r"[0-9]{1,9}", value):
            cursor.fail(f"a number for {name}", value)
    return _counters(match[1], values, {"maxlen": "bytes"}, item=item)


def local_address_rows(cursor: ListCursor, virtual: str) -> tuple[list[dict[str, Any]], str]:
    """Return rows of `counters` from a line of DPVS's ``ipvsadm -G``, and the service it belongs to."""
    if match := cursor.match(_VIRTUAL):
        item = virtual = match[1]
    elif match := cursor.match(_SNAT):
        item = f"{virtual} {match[1]}"
    else:
        cursor.fail("a service or a local address of DPVS")
    return _counters("SNAT_IP", match.groupdict(), item=item), virtual
