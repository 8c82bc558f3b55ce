"""ipvsadm, and /proc/net/ip_vs with /proc/net/ip_vs_conn, into the tables `balancer`, `flows` and `counters`.

Seen: ipvsadm 1.31 on Debian 12 (samples of the tests: ``ipvsadm -Ln`` alone and with ``--stats``, ``--rate``,
``--exact``, ``--thresholds``, ``--persistent-conn``; ``-Lcn``, ``-Sn``, ``-L --timeout``); undated lists of other
versions, and of DPVS that calls itself 0.0.0, 1.9.3 to 1.9.6 and 1.10.1, in public repositories.

One function reads them all, because one text often holds several: a service and its servers, by numbers or by names,
in decimal (ipvsadm) or hexadecimal (the kernel); the heading names the columns.  How ipvsadm prints them is described
in `ipvsadm_fields` (cut names), `lists` (cut numbers), `ipvsadm_connections` and `ipvsadm_rules`:

- Counters are since the service was added or zeroed (``-Z``); those of a server that was removed stay in the service's.
- Rates are the kernel's estimates over the last seconds (``net/netfilter/ipvs/ip_vs_est.c``), bytes, not bits.
- ``OutPkts`` and ``OutBytes`` are 0 under direct routing and tunnelling: the responses do not pass the balancer.
- ``ActiveConn`` counts ESTABLISHED, ``InActConn`` every other state; for UDP all are inactive.
- `persistent N` in /proc/net/ip_vs is in ticks of the kernel, in ipvsadm in seconds; both stay in `flags` as printed.
"""

import re
from collections.abc import Callable

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.balancers.ipvsadm_connections import KERNELS_HEADING, KERNELS_ROW, Flows, check_heading
from loadcurve.ingest.balancers.ipvsadm_fields import is_kernels
from loadcurve.ingest.balancers.ipvsadm_rules import daemon_rows, local_address_rows, rule_row, timeout_rows
from loadcurve.ingest.balancers.ipvsadm_table import Listing, is_kernels_list
from loadcurve.ingest.balancers.lists import is_chatter, time_of
from loadcurve.ingest.form import Form
from loadcurve.ingest.parsed import Parsed

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
_ENTRY = re.compile(r"[A-Za-z]+\s+(?:[A-Z_]+\s+)?[0-9]+:[0-9]{2}\s")
_OPEN = ("", "...", "…", "```", "~~~")  # allowed inside a list
_ROWS = ("service", "server", "dpvs", "rule", "timeout")
_PROMPT = re.compile(r"[^\s@]{1,100}@[^#$>%]{1,200}[#$>%]")


def parse_ipvsadm(text: str, timezone: str = "UTC") -> Parsed:
    """Return tables of the virtual services, servers and connections that ipvsadm or the kernel lists.

    Parameters
    ----------
    text : str
        Output of one or several calls, each perhaps after a line with its time.
    timezone : str
        IANA name of the zone of times that name none.

    Returns
    -------
    Parsed
        `balancer`: a row for each service and each server at each snapshot, or none where the list is empty.
        `flows`: a row for each connection.  `counters`: time limits, sync daemons, local addresses of DPVS.  `version`
        is that of IPVS in the kernel, or of DPVS.  The last word of a text without a newline at its end is left out.

    Raises
    ------
    ParseError
        Where a line of a list is not what ipvsadm prints, and where ipvsadm prints only an error.

    Examples
    --------
    >>> text = '''IP Virtual Server version 1.2.1 (size=4096)
    ... Prot LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes
    ...   -> RemoteAddress:Port
    ... TCP  20.20.20.1:2020                   401  8939187  8953980  830843K    1135M
    ...   -> 17.17.17.1:5001                   134  3026088  3031335  281255K  384268K
    ... '''
    >>> parse_ipvsadm(text).tables["balancer"][["kind", "connections", "sent_bytes", "rounded"]].values.tolist()
    [['service', 401, 1135000000, True], ['server', 134, 384268000, True]]
    """
    return _Reader(text.removeprefix("\ufeff"), timezone).parsed()


class _Reader:
    """Reader of a text, with one method for each kind of line."""

    def __init__(self, text: str, timezone: str) -> None:
        self.lines = text.split("\n")
        self.timezone = timezone
        self.warnings: list[str] = []
        self.listing = Listing(warnings=self.warnings)
        self.flows = Flows(self.warnings)
        self.counters: list[dict] = []
        self.rules: dict[tuple[str, str], dict] = {}
        self.ipvs = ""
        self.mode = ""  # list, connections, kernels or local: what the lines are
        self.open = False  # whether a line that looks like a row must be one
        self.empty = 0  # line of a heading without a row so far
        self.headings: list[tuple[str, ...]] = []
        self.errors: list[tuple[int, str]] = []
        self.tables: set[str] = set()
        self.virtual = ""
        self.unknown = (0, "")
        self.cut = ""
        self._leave_out_the_cut_word()

    def _leave_out_the_cut_word(self) -> None:
        """Drop the last word of a text without a newline at its end, because the word may be cut."""
        raw = self.lines[-1]
        if not raw.strip():
            return
        self.listing.last = len(self.lines)
        # Numbers that end where their heading ends are whole: `%9llu` five times after 33 characters.
        aligned = len(raw) == 78 and all(raw[i] == " " != raw[i - 1] for i in (42, 51, 60, 69))
        kind = _KIND.match(raw.strip())
        if aligned and kind and kind.lastgroup in ("service", "server"):
            self.listing.last = 0
        elif raw[-1] not in " \t" and (kind is None or kind.lastgroup in _ROWS):
            self.lines[-1] = raw[: -len(raw.split()[-1])]
            self.cut = f"line {len(self.lines)}: the text ends inside this line; the word that may be cut is left out"

    def parsed(self) -> Parsed:
        readers = {
            "version": self._version, "connections": self._connections, "kernels": self._kernels,
            "service": self._service, "server": self._server, "dpvs": self._dpvs, "rule": self._rule,
            "timeout": self._timeout, "daemon": self._daemon, "local": self._local, "error": self._error,
        }  # fmt: skip
        for number, raw in enumerate(self.lines, 1):
            line = raw.strip()
            kind = _KIND.match(line)
            if kind is None:
                self._other(line, number)
            elif kind["heading"]:
                self._heading(line, number, raw)
            else:
                readers[str(kind.lastgroup)](line, number)
        self._end_list()
        found = {
            "balancer": self.listing.rows,
            "flows": self.flows.table() if "flows" in self.tables else [],
            "counters": self.counters,
        }
        if self.errors and not any(map(len, found.values())):
            raise ParseError(self.errors[0][0], "a list of ipvsadm", self.errors[0][1])
        self.warnings += [f"line {number}: an error: {line}" for number, line in self.errors]
        self.warnings += [self.cut] if self.cut and any(map(len, found.values())) else []
        if not self.tables:
            first = next((i for i, line in enumerate(self.lines, 1) if line.strip()), 1)
            raise ParseError(first, "a list of ipvsadm", self.lines[first - 1].strip())
        timed = False
        for row in (*self.listing.rows, *self.counters):
            if "time" in row:
                row["time"], timed = pd.Timestamp(row["time"], tz="UTC"), True
        again = len(self.headings) - len(set(self.headings))
        if again and not timed and "time" not in getattr(found["flows"], "columns", ()):
            self.warnings.append(f"{again + 1} lists of one kind follow each other without a time between them")
        rows = self.listing.rows
        kernels = rows[0]["tool"] == "proc" if rows else self.listing.hexadecimal or self.mode == "kernels"
        tables = {name: table for name, table in found.items() if name in self.tables}
        return Parsed("proc" if kernels else "ipvsadm", tables, tuple(self.warnings), self.ipvs)

    def _other(self, line: str, number: int) -> None:
        if (time := time_of(line, number, self.timezone, self.warnings)) is not None:
            self._end_list()
            self.listing.time = self.flows.time = time
        elif self.mode == "local" and self.open and line and not is_chatter(line) and not _PROMPT.match(line):
            self._local_row(line, number)
        elif line not in _OPEN and not line.startswith("```"):
            self.unknown = (0, "") if is_chatter(line) else (number, line)
            if self.open and not is_chatter(line) and not _PROMPT.match(line):
                self.warnings.append(f"line {number}: ignored: {line[:60]!r}")
            self._end_list()

    def _end_list(self) -> None:
        if self.empty:
            self.warnings.append(f"line {self.empty}: the list is empty")
        self.listing.close()
        self.listing.service = self.listing.service if self.open else None
        self.empty, self.open = 0, False

    def _begin(self, mode: str, table: str, number: int) -> None:
        self._end_list()
        if self.unknown[0] and number - self.unknown[0] == 1:  # where a time should be
            warning = f"line {self.unknown[0]}: ignored: {self.unknown[1][:60]!r}"
            self.warnings += [] if _PROMPT.match(self.unknown[1]) or warning in self.warnings else [warning]
        self.mode, self.open, self.empty = mode, True, number
        self.tables.add(table)

    def _row(self) -> None:
        self.open, self.empty = True, 0

    def _version(self, line: str, number: int) -> None:
        match = _VERSION.fullmatch(line)
        if number == self.listing.last and (match is None or match[2] is None):
            return
        if match is None or "LocalAddress" in line:
            raise ParseError(number, "IP Virtual Server version N.N.N (size=N), and a new line", line)
        self.ipvs = self.ipvs or match[1]
        self._begin("list", "balancer", number)

    def _heading(self, line: str, number: int, raw: str) -> None:
        if number == self.listing.last:
            if not self.empty or self.mode != "list":
                self._begin("list", "balancer", number)
            return
        line = line.replace("RemoteAddress:PortForward", "RemoteAddress:Port Forward")  # blanks were lost
        words = [word for word in re.sub(r"(?<=\s)(?:#|←).*", "", line).split() if word not in ("->", "-&gt;")]
        names = [word for word in words[1:] if word != "LocalAddress:Port"]
        if line.startswith("Prot"):
            if not self.empty or self.mode != "list":
                self._begin("list", "balancer", number)
            self.listing.begin([] if names[:1] == ["Scheduler"] else names, number)
            if names[:1] != ["Scheduler"]:
                self.headings.append(("ipvsadm", *names))
        elif names:
            if not self.empty or self.mode != "list":
                self._begin("list", "balancer", number)
            self.listing.begin(names, number)
            self.listing.hexadecimal = is_kernels_list(
                self.lines[number:], re.search(r"RemoteAddress:Port(?:  |\S)", raw) is not None
            )
            self.headings.append(("proc" if self.listing.hexadecimal else "ipvsadm", *names))

    def _connections(self, line: str, number: int) -> None:
        if line.startswith("pro") and number != self.listing.last:
            check_heading(line, number)
        if not self.empty or self.mode != "connections":
            self._begin("connections", "flows", number)

    def _kernels(self, line: str, number: int) -> None:
        self._begin("kernels", "flows", number)
        if number == self.listing.last:
            return
        self.flows.begin(line, number)

    def _service(self, line: str, number: int) -> None:
        if not (self.mode == "kernels" and self.open) and KERNELS_ROW.fullmatch(line):
            self._begin("kernels", "flows", number)
            self.flows.begin(KERNELS_HEADING, number)
            self.warnings.append(f"line {number}: no heading before this row; read as a row of /proc/net/ip_vs_conn")
        if self.mode == "kernels" and self.open:
            if number != self.listing.last:
                self.flows.add_kernels(line, number)
                self._row()
        elif (self.mode == "connections" and self.open) or _ENTRY.match(line):
            self.tables.add("flows")
            if self.flows.add_entry(line, number, cut=number == self.listing.last):
                self._row()
            elif self.open and number != self.listing.last:
                raise ParseError(number, "a connection such as TCP 14:59 ESTABLISHED, with three addresses", line)
            self.mode = "connections"
        elif len(line.split()) > 1 and not line.startswith("IP "):
            self._list_row(self.listing.add_service, line, number, line.split()[1])

    def _server(self, line: str, number: int) -> None:
        words = re.sub(r"^-(?:>|&gt;)\s*", "", line).split()
        if words:
            self._list_row(self.listing.add_server, line, number, words[0])

    def _list_row(self, add: Callable[[str, int], None], line: str, number: int, name: str) -> None:
        if not self.open:  # without a heading only what is certainly a row
            self.listing.hexadecimal = is_kernels(name)
            if self.mode != "list":
                self.listing.begin(["Forward", "Weight", "ActiveConn", "InActConn"], number)
        before = len(self.listing.rows), self.listing.service
        try:
            add(line, number)
        except ParseError:
            if self.open:
                raise
            del self.listing.rows[before[0] :]
            self.listing.service = before[1]
            return
        self.mode = "list"
        self.tables.add("balancer")
        self._row()

    def _dpvs(self, line: str, number: int) -> None:
        if number != self.listing.last:
            self.tables.add("flows")
            self.flows.add_dpvs(line, number)
            self.mode = "connections"
            self._row()

    def _rule(self, line: str, number: int) -> None:
        if number == self.listing.last:
            line = re.sub(r"\s+-\w$", "", line)  # the option whose value is cut
            if len(line.split()) < 5:
                return
        self.tables.add("balancer")
        row = rule_row(line, number, self.rules)
        self.listing.rows.append(row if self.listing.time is None else row | {"time": self.listing.time})
        self._row()

    def _timeout(self, line: str, number: int) -> None:
        self._count(timeout_rows(line, number) if number != self.listing.last else [])

    def _daemon(self, line: str, number: int) -> None:
        self._count(daemon_rows(line, number) if number != self.listing.last or line.endswith(")") else [])

    def _local(self, line: str, number: int) -> None:
        self._begin("local", "counters", number)

    def _local_row(self, line: str, number: int) -> None:
        if number != self.listing.last:
            rows, self.virtual = local_address_rows(line, number, self.virtual)
            self._count(rows)
            self._row()

    def _count(self, rows: list[dict]) -> None:
        self.tables.add("counters")
        time = {} if self.listing.time is None else {"time": self.listing.time}
        self.counters += [row | time for row in rows]

    def _error(self, line: str, number: int) -> None:
        self.errors.append((number, line))
        self.empty, self.open = 0, False


PROC_IP_VS = Form(
    "proc",
    "ip_vs",
    parse_ipvsadm,
    (
        r"IP Virtual Server version [^\n]*\n\s*Prot LocalAddress:Port Scheduler Flags\s*\n\s*-> RemoteAddr"
        r"ess:Port Forward Weight ActiveConn InActConn[ \t]*\n\s*(?:(?:TCP|UDP|SCTP)\s+(?:[0-9A-F]{8}"
        r"|\[(?:[0-9a-f]{4}:){7}[0-9a-f]{4}\]):[0-9A-F]{4}\s|FWM\s+[0-9A-F]{8}\s)",
    ),
    # ipvsadm begins with the same line.
    before=("ipvsadm",),
)

PROC_IP_VS_CONN = Form(
    "proc",
    "ip_vs_conn",
    parse_ipvsadm,
    (
        r"Pro\s+FromIP\s+FPrt\s+ToIP\s",
        r"(?:TCP|UDP|SCTP)[ \t]+(?:[0-9A-F]{8}|(?:[0-9a-f]{4}:){7}[0-9a-f]{4})[ \t]+[0-9A-F]{4}[ \t]+[0-9A-Fa-f]",
    ),
)

IPVSADM = Form(
    "ipvsadm",
    "",
    parse_ipvsadm,
    (
        r"IP Virtual Server version ",
        r"Prot\s+LocalAddress:Port\s",
        r"-(?:>|&gt;)\s*RemoteAddress:Port\s",
        r"IPVS connection entries",
        r"pro\s+expire\s+state\s+source\s",
        r"VIP:VPORT\s+TOTAL\s",
        r"(?:TCP|UDP|SCTP|IP)[ \t]+[0-9]{2,9}:[0-9]{2}[ \t]+[A-Z_]{3,12}[ \t]+\S{1,99}:\w{1,40}[ \t]",
        r"\[[0-9]{1,3}\](?:tcp|udp|icmp|--)[ \t]+[0-9]{1,9}s[ \t]",
        (
            r"(?:TCP|UDP|SCTP)[ \t]+\S{1,99}:\w{1,40}[ \t]+(?:w?rr|w?lc|lblcr?|[dsm]h|sed|nq|fo|ovf|twos"
            r"|conhash)\s"
        ),
        r"-(?:>|&gt;)[ \t]*\S{1,99}[ \t]+(?:Route|Masq|Tunnel|Local|FullNat|SNAT)[ \t]+[0-9]",
        r"-[Aa] (?:-[tufq]|--(?:tcp|udp|sctp|fwmark)-service) \S{1,99} (?:-6 )?-[sr] ",
        r"Timeout \(tcp tcpfin udp\)",
        r"(?:master|backup) sync daemon \(mcast=",
        r"Can't initialize ipvs",
        r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )?ipvsadm: ",
        r"Illegal '[\w-]+' option with the '",
        r"cannot open file /proc/net/ip_vs",
        r"cat: /proc/net/ip_vs",
    ),
)
