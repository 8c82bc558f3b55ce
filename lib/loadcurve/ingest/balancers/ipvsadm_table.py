"""Rows of the table `balancer` from what ipvsadm and /proc/net/ip_vs list: services and their servers."""

import re
from collections.abc import Iterable

from loadcurve.ingest.balancers.ipvsadm_fields import is_hexadecimal, is_kernels, split_endpoint
from loadcurve.ingest.balancers.lists import ListCursor, scaled

_COLUMNS = {
    "Forward": "forward", "TunnelInfo": "other", "Weight": "weight", "PersistConn": "persistent",
    "ActiveConn": "active", "InActConn": "inactive", "Uthreshold": "upper_threshold", "Lthreshold": "lower_threshold",
    "Conns": "connections", "InPkts": "received_packets", "OutPkts": "sent_packets",
    "InBytes": "received_bytes", "OutBytes": "sent_bytes",
    "CPS": "connections_per_s", "InPPS": "received_pps", "OutPPS": "sent_pps",
    "InBPS": "received_bytes_per_s", "OutBPS": "sent_bytes_per_s",
}  # fmt: skip
LISTED = ("forward", "weight", "active", "inactive")
_COUNTED = {"Conns", "CPS"}  # the first word of a list in which services have numbers too
_FORWARD = {"Route", "Masq", "Tunnel", "Local", "FullNat", "SNAT", "NAT"}
_WORDS = re.compile(r"[A-Za-z_]+(?:,[A-Za-z_]+)*")
_COMMENT = re.compile(r"(?<=\s)(?:#|//|←|<-).*")
_FLAG_WITHOUT_NUMBER = re.compile(r"\b(?:persistent|conn[-_]timeout)\s+(?![0-9]+(?:\s|$))")


class Listing:
    """Rows read so far, and the state of the list that is being read."""

    def __init__(self, cursor: ListCursor, last: int) -> None:
        self.rows: list[dict] = []
        self.hexadecimal = False
        self.service: dict | None = None
        self._cursor, self._last = cursor, last
        self._columns: tuple[str, ...] = LISTED
        self._counted = False  # services have numbers, not a scheduler
        self._servers: list[dict] = []

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
        self._counted = words[:1] != [] and words[0] in _COUNTED
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
        row: dict = {"tool": "proc" if self.hexadecimal else "ipvsadm", "kind": "service", "protocol": protocol}
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
        tool = "proc" if self.hexadecimal else "ipvsadm"
        row: dict = {"tool": tool, "kind": "server"}
        if self.service is not None:
            shared = ("protocol", "service", "virtual_address", "virtual_port", "scheduler")
            row |= {column: self.service[column] for column in shared if column in self.service}
        row["server_address"], row["server_port"] = self._place(name)
        row |= self._numbers(rest[: len(self._columns)])
        flags = rest[len(self._columns) :] if not self.is_cut else []
        if len(flags) > 3 or not all(map(_WORDS.fullmatch, flags)) or (flags and self._counted):
            self._cursor.fail(f"a server with {len(self._columns)} columns")
        row["flags"] = " ".join(flags) or None
        self._servers.append(row)
        self.rows.append(row | self._cursor.stamp)

    def _place(self, name: str) -> tuple[str | None, str | None]:
        if is_kernels(name) if not self.hexadecimal else not is_hexadecimal(name):
            expected = "C6120009:0050" if self.hexadecimal else "198.18.0.9:80"
            self._cursor.fail(f"an address such as {expected}, as in the rest of this list", name)
        return split_endpoint(name, self._cursor.number, self._cursor.warnings, hexadecimal=self.hexadecimal)

    def _numbers(self, tokens: list[str]) -> dict:
        """Columns of a row; where the text ends in it, those that are left."""
        if len(tokens) < len(self._columns) and not self.is_cut:
            self._cursor.fail(f"{len(self._columns)} columns: {', '.join(self._columns)}", " ".join(tokens))
        row: dict = {}
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
        if not self._counted:
            row.pop("rounded", None)
        elif self.is_cut and not row.get("rounded"):
            row.pop("rounded", None)  # what was cut off may have been
        return row


def is_kernels_list(lines: Iterable[str], spaced: bool) -> bool:
    """Whether a list is that of /proc/net/ip_vs: by its addresses or, where it has none, by its heading's blanks."""
    for line in lines:
        words = line.split(maxsplit=2)
        if words[:1] == ["Prot"]:
            break
        is_row = len(words) > 1 and words[0] in {"TCP", "UDP", "SCTP", "->"} and ":" in words[1]
        if is_row and (is_kernels(words[1]) or not is_hexadecimal(words[1])):
            return is_kernels(words[1])
    return not spaced
