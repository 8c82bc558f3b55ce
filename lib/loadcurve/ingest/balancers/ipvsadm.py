"""ipvsadm, and /proc/net/ip_vs with /proc/net/ip_vs_conn, into the tables `balancer`, `flows` and `counters`.

Seen: ipvsadm 1.31 on Debian 12 (samples of the tests: ``ipvsadm -Ln`` alone and with ``--stats``, ``--rate``,
``--exact``, ``--thresholds``, ``--persistent-conn``; ``-Lcn``, ``-Sn``, ``-L --timeout``); undated lists of other
versions, and of DPVS that calls itself 0.0.0, 1.9.3 to 1.9.6 and 1.10.1, in public repositories.

One function reads them all, because one text often holds several: a service and its servers, by numbers or by names,
in decimal (ipvsadm) or hexadecimal (the kernel); the heading names the columns.  `ipvsadm_rows` describes how each row
is printed:

- Counters are since the service was added or zeroed (``-Z``); those of a server that was removed stay in the service's.
- Rates are the kernel's estimates over the last seconds (``net/netfilter/ipvs/ip_vs_est.c``), bytes, not bits.
- ``OutPkts`` and ``OutBytes`` are 0 under direct routing and tunnelling: the responses do not pass the balancer.
- ``ActiveConn`` counts ESTABLISHED, ``InActConn`` every other state; for UDP all are inactive.
- `persistent N` in /proc/net/ip_vs is in ticks of the kernel, in ipvsadm in seconds; both stay in `flags` as printed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.balancers.ipvsadm_rows import (
    KERNELS_HEADING,
    Flows,
    Listing,
    daemon_rows,
    is_kernels,
    is_kernels_list,
    local_address_rows,
    rule_row,
    timeout_rows,
)
from loadcurve.ingest.balancers.lists import ListCursor
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise

_KIND = re.compile(
    r"(?P<version>IP Virtual Server version\b)"
    r"|(?P<heading>Prot\s+LocalAddress:Port\b|-(?:>|&gt;)\s*RemoteAddress:Port(?:Forward)?\b)"
    r"|(?P<connections>IPVS connection entries\b|pro\s+(?:expire|state)\s)"
    r"|(?P<kernels>Pro\s+FromIP\s)"
    r"|(?P<service>(?:TCP|UDP|SCTP|ICMP|ICMPv6|AH|ESP|IP|FWM|MATCH)\s+\S)"
    r"|(?P<server>-(?:>|&gt;))"
    r"|(?P<dpvs>\[[0-9]+\](?:tcp|udp|icmp|--)\s)"
    r"|(?P<rule>-[Aa]\s+(?:-[tufq]|--(?:tcp|udp|sctp|fwmark)-service)\s)"
    r"|(?P<timeout>Timeout \(tcp)"
    r"|(?P<daemon>(?:master|backup) sync daemon\b)"
    r"|(?P<local>VIP:VPORT\s)"
    r"|(?P<error>\S*ipvsadm: |-?\w*sh: (?:line [0-9]+: )?ipvsadm|Can't initialize ipvs|cannot open file /proc/net/ip_vs"
    r"|Memory allocation problem|Invalid operation\.|No such service|Service not defined|Permission denied"
    r"|\[sockopt_msg_|ip_vs_get_\w+: |Try `ipvsadm|Illegal '|Usage:$|sudo: ipvsadm|cat: /proc/net/ip_vs)"
)
_VERSION = re.compile(r"IP Virtual Server version ([0-9]+\.[0-9]+\.[0-9]+)(?:\s+\(size=([0-9]+)\))?(?:\s.*)?")
# A row of /proc/net/ip_vs_conn, recognised without its heading.
_KERNELS_ROW = re.compile(
    r"(?:TCP|UDP|SCTP)(?:\s+(?:[0-9A-F]{8}|(?:[0-9a-f]{4}:){7}[0-9a-f]{4})\s+[0-9A-F]{4}){3}\s+[A-Z_]+\s+[0-9]{1,9}(?:\s.*)?"
)
# In this order a row of `ipvsadm -Lcn` is read; then `pe name` and `pe_data`.
_CONNECTION_HEADINGS = (
    ["pro", "expire", "state", "source", "virtual", "destination"],
    ["pro", "state", "expire", "source", "virtual", "destination"],
)
_ENTRY = re.compile(r"[A-Za-z]+\s+(?:[A-Z_]+\s+)?[0-9]+:[0-9]{2}\s")
_OPEN = ("", "...", "…", "```", "~~~")  # allowed inside a list
_ROWS = ("service", "server", "dpvs", "rule", "timeout")
_PROMPT = re.compile(r"[^\s@]{1,100}@[^#$>%]{1,200}[#$>%]")


def parse_ipvsadm(text: str, timezone: str = "UTC") -> Parsed:
    """Return tables of the virtual services, servers and connections that ipvsadm or the kernel lists.

    `balancer`: a row for each service and each server at each snapshot, or none where the list is empty. `flows`: a row
    for each connection.  `counters`: time limits, sync daemons, local addresses of DPVS.  `version` is that of IPVS in
    the kernel, or of DPVS.  The last word of a text without a newline at its end is left out.
    """
    text, cut = _without_cut_word(text)
    return _Reader(ListCursor(text, "ipvsadm", timezone), cut).parsed()


@dataclass(frozen=True)
class _Cut:
    """The line that the end of a text cuts (0 for none), and whether its last word was left out."""

    line: int
    left_out: bool = False


def _without_cut_word(text: str) -> tuple[str, _Cut]:
    """Return a text without its last word if no newline ends it, because the word may be cut."""
    number, raw = text.count("\n") + 1, text[text.rfind("\n") + 1 :]
    if not raw.strip():
        return text, _Cut(0)
    # Numbers that end where their heading ends are whole: `%9llu` five times after 33 characters.
    aligned = len(raw) == 78 and all(raw[i] == " " != raw[i - 1] for i in (42, 51, 60, 69))
    kind = _KIND.match(raw.strip())
    if aligned and kind and kind.lastgroup in ("service", "server"):
        return text, _Cut(0)
    if raw[-1] not in " \t" and (kind is None or kind.lastgroup in _ROWS):
        return text.removesuffix(raw.split()[-1]), _Cut(number, left_out=True)
    return text, _Cut(number)


class _Reader:
    """Reader of a text, with one method for each kind of line."""

    def __init__(self, cursor: ListCursor, cut: _Cut) -> None:
        self.cursor = cursor
        self.cut = cut
        self.listing = Listing(cursor, cut.line)
        self.flows = Flows(cursor)
        self.counters: list[dict[str, Any]] = []
        self.rules: dict[tuple[str, str], dict[str, Any]] = {}
        self.ipvs = ""
        self.mode = ""  # list, connections, kernels or local: what the lines are
        self.open = False  # whether a line that looks like a row must be one
        self.empty = 0  # line of a heading without a row so far
        self.headings: list[tuple[str, ...]] = []
        self.tables: set[str] = set()
        self.virtual = ""
        self.unknown = (0, "")

    def parsed(self) -> Parsed:
        cursor = self.cursor
        for line in cursor:
            kind = _KIND.match(line)
            getattr(self, f"_{kind.lastgroup}" if kind else "_other")(line)
        self._end_list()
        rows = self.listing.rows
        holds_some = bool(rows or self.flows.rows or self.counters)
        if not self.tables or (cursor.errors and not holds_some):
            cursor.refuse("a list of ipvsadm")
        cursor.warnings += [f"line {number}: an error: {line}" for number, line in cursor.errors]
        if self.cut.left_out and holds_some:
            left_out = "the text ends inside this line; the word that may be cut is left out"
            cursor.warnings.append(f"line {cursor.end}: {left_out}")
        timed = any("time" in row for row in (*rows, *self.counters)) or any(flow[0] for flow in self.flows.rows)
        again = len(self.headings) - len(set(self.headings))
        if again and not timed:
            cursor.warnings.append(f"{again + 1} lists of one kind follow each other without a time between them")
        kernels = rows[0]["tool"] == "proc" if rows else self.listing.hexadecimal or self.mode == "kernels"
        tables: dict[str, Any] = {"balancer": rows} if "balancer" in self.tables else {}
        tables |= {"flows": self.flows.table()} if "flows" in self.tables else {}
        tables |= {"counters": self.counters} if "counters" in self.tables else {}
        return Parsed("proc" if kernels else "ipvsadm", tables, tuple(cursor.warnings), self.ipvs)

    def _other(self, line: str) -> None:
        chatter = is_noise(line)
        if self.cursor.take_time():
            self._end_list()
        elif self.mode == "local" and self.open and not chatter and not _PROMPT.match(line):
            self._local_row()
        elif line not in _OPEN and not line.startswith("```"):
            self.unknown = (0, "") if chatter else (self.cursor.number, line)
            if self.open and not _PROMPT.match(line):
                self.cursor.warn_ignored()
            self._end_list()

    def _end_list(self) -> None:
        if self.empty:
            self.cursor.warnings.append(f"line {self.empty}: the list is empty")
        self.listing.close()
        self.listing.service = self.listing.service if self.open else None
        self.empty, self.open = 0, False

    def _begin(self, mode: str, table: str) -> None:
        self._end_list()
        number, unknown = self.unknown
        if number and self.cursor.number - number == 1 and not _PROMPT.match(unknown):  # where a time should be
            warning = f"line {number}: ignored: {unknown[:60]!r}"
            self.cursor.warnings += [] if warning in self.cursor.warnings else [warning]
        self.mode, self.open, self.empty = mode, True, self.cursor.number
        self.tables.add(table)

    def _row(self) -> None:
        self.open, self.empty = True, 0

    def _version(self, line: str) -> None:
        match = _VERSION.fullmatch(line)
        if self.listing.is_cut and (match is None or match[2] is None):
            return
        if match is None or "LocalAddress" in line:
            self.cursor.fail("IP Virtual Server version N.N.N (size=N), and a new line")
        self.ipvs = self.ipvs or match[1]
        self._begin("list", "balancer")

    def _heading(self, line: str) -> None:
        line = line.replace("RemoteAddress:PortForward", "RemoteAddress:Port Forward")  # blanks were lost
        words = [word for word in re.sub(r"(?<=\s)(?:#|←).*", "", line).split() if word not in ("->", "-&gt;")]
        names = [word for word in words[1:] if word != "LocalAddress:Port"]
        first = line.startswith("Prot")
        if (self.listing.is_cut or first or names) and (not self.empty or self.mode != "list"):
            self._begin("list", "balancer")
        if self.listing.is_cut or not (first or names):
            return
        scheduled = first and names[:1] == ["Scheduler"]
        self.listing.begin([] if scheduled else names)
        if not first:
            spaced = re.search(r"RemoteAddress:Port(?:  |\S)", self.cursor.raw) is not None
            self.listing.hexadecimal = is_kernels_list(self.cursor.ahead(), spaced)
        if not scheduled:
            self.headings.append(("proc" if not first and self.listing.hexadecimal else "ipvsadm", *names))

    def _connections(self, line: str) -> None:
        if line.startswith("pro") and not self.listing.is_cut:
            words = line.split()
            if words[:6] not in _CONNECTION_HEADINGS or not {"pe", "name", "pe_data"}.issuperset(words[6:]):
                self.cursor.fail(f"the columns {' '.join(_CONNECTION_HEADINGS[0])} of ipvsadm -Lcn")
        if not self.empty or self.mode != "connections":
            self._begin("connections", "flows")

    def _kernels(self, line: str) -> None:
        self._begin("kernels", "flows")
        if not self.listing.is_cut:
            self.flows.begin(line)

    def _service(self, line: str) -> None:
        if not (self.mode == "kernels" and self.open) and _KERNELS_ROW.fullmatch(line):
            self._begin("kernels", "flows")
            self.flows.begin(KERNELS_HEADING)
            self.cursor.warn("no heading before this row; read as a row of /proc/net/ip_vs_conn")
        if self.mode == "kernels" and self.open:
            if not self.listing.is_cut:
                self.flows.add_kernels()
                self._row()
        elif (self.mode == "connections" and self.open) or _ENTRY.match(line):
            self.tables.add("flows")
            if self.flows.add_entry(line, cut=self.listing.is_cut):
                self._row()
            elif self.open and not self.listing.is_cut:
                self.cursor.fail("a connection such as TCP 14:59 ESTABLISHED, with three addresses")
            self.mode = "connections"
        elif len(line.split()) > 1 and not line.startswith("IP "):
            self._list_row(self.listing.add_service, line, line.split()[1])

    def _server(self, line: str) -> None:
        words = re.sub(r"^-(?:>|&gt;)\s*", "", line).split()
        if words:
            self._list_row(self.listing.add_server, line, words[0])

    def _list_row(self, add: Callable[[str], None], line: str, name: str) -> None:
        if not self.open:  # without a heading only what is certainly a row
            self.listing.hexadecimal = is_kernels(name)
            if self.mode != "list":
                self.listing.begin(["Forward", "Weight", "ActiveConn", "InActConn"])
        before = len(self.listing.rows), self.listing.service
        try:
            add(line)
        except ParseError:
            if self.open:
                raise
            del self.listing.rows[before[0] :]
            self.listing.service = before[1]
            return
        self.mode = "list"
        self.tables.add("balancer")
        self._row()

    def _dpvs(self, _: str) -> None:
        if not self.listing.is_cut:
            self.tables.add("flows")
            self.flows.add_dpvs()
            self.mode = "connections"
            self._row()

    def _rule(self, line: str) -> None:
        if self.listing.is_cut:
            line = re.sub(r"\s+-\w$", "", line)  # the option whose value is cut
            if len(line.split()) < 5:
                return
        self.tables.add("balancer")
        self.listing.rows.append(rule_row(self.cursor, line, self.rules) | self.cursor.stamp)
        self._row()

    def _timeout(self, _: str) -> None:
        self._count(timeout_rows(self.cursor) if not self.listing.is_cut else [])

    def _daemon(self, line: str) -> None:
        is_whole = not self.listing.is_cut or line.endswith(")")
        self._count(daemon_rows(self.cursor) if is_whole else [])

    def _local(self, _: str) -> None:
        self._begin("local", "counters")

    def _local_row(self) -> None:
        if not self.listing.is_cut:
            rows, self.virtual = local_address_rows(self.cursor, self.virtual)
            self._count(rows)
            self._row()

    def _count(self, rows: list[dict[str, Any]]) -> None:
        self.tables.add("counters")
        self.counters += [row | self.cursor.stamp for row in rows]

    def _error(self, line: str) -> None:
        self.cursor.errors.append((self.cursor.number, line))
        self.empty, self.open = 0, False
