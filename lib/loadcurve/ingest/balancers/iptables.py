"""iptables: counters of the rules (``iptables -L -v``, ``iptables-save -c``) into `counters` and `balancer`.

Seen: iptables of Debian 12, chains without rules (sample; ``iptables -t nat -L -v -n``); lists with rules, old and new,
in public repositories, most without their version.

Sources of the format (iptables 1.8, ``libxtables/xtables.c``, ``xtables_print_num``; ``iptables-save.c``):

- Over 99999 a number is *rounded* to thousands and written with ``K``, over 9999K to ``M``, then ``G``, ``T``: steps of
  1000, half up; ``-x`` prints all digits, ``iptables-save -c`` always does: ``[packets:bytes]`` before each rule.
- The table (filter, nat) is printed by ``iptables-save`` only.
- In the table nat a rule sees the first packet of each connection only, so its packets are connections: a rule with
  the target DNAT becomes a row of `balancer` with them as `connections`.
"""

import re

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.balancers.lists import is_chatter, packets_and_bytes, scaled, time_of
from loadcurve.ingest.form import Form
from loadcurve.ingest.parsed import Parsed

_NUMBER = r"([0-9]{1,18}[KMGT]?)"
_CHAIN = re.compile(
    rf"Chain (\S+) \((?:policy (\S+)(?: {_NUMBER} packets, {_NUMBER} bytes)?|(?:[0-9]+|-) references?(?:, .*)?)\)"
    r"(?: \(.*)?"
)
_HEADING = re.compile(r"(num\s+)?(pkts\s+bytes\s+)?target\s+prot\s+opt\s.*|(num\s+)?(pkts\s+bytes\s+)target\s.*")
_RULE = re.compile(rf"{_NUMBER}\s+{_NUMBER}\s+(\S.*)")
_TABLE = re.compile(r"\*(filter|nat|mangle|raw|security)")
_SAVED_CHAIN = re.compile(r":(\S+) (\S+)(?: \[([0-9]{1,18}):([0-9]{1,18})\])?")
_SAVED_RULE = re.compile(r"(?:\[([0-9]{1,18}):([0-9]{1,18})\] )?-A (\S+)(?: (.*))?")
_PLACE = r"(\[[0-9A-Fa-f:.]{2,45}\]|[0-9.]{7,15}):?([0-9]{1,5})?(?:\s|$)"
_TARGET = re.compile(rf"\bto:{_PLACE}|--to-destination {_PLACE}")
_PORT = re.compile(r"\bdpt:(\w+)|--dport (\w+)")
_SAVED_DESTINATION = re.compile(r"(?<!! )-d ([0-9A-Fa-f:.]+)(?:/[0-9]+)?")
_ERROR = re.compile(
    r"ip6?tables(?:-save|-legacy|-nft)? v[0-9.]{1,10}.*:.*|.*ip6?tables(?:-save)?: (?:command )?not found.*"
    r"|.*Permission denied.*"
)


def parse_iptables(text: str, timezone: str = "UTC") -> Parsed:
    """Tables `counters` and `balancer` of one or several ``iptables -L -v`` or ``iptables-save -c``.

    Parameters
    ----------
    text : str
        Output, each snapshot perhaps after a line with its time.
    timezone : str
        IANA name of the zone of times that name none.

    Returns
    -------
    Parsed
        `counters`: packets and bytes of each rule and of each policy; `group` is the chain, after its table where that
        is printed, `item` the rule as printed.  `balancer`: a row for each rule that sends connections to one server.

    Raises
    ------
    ParseError
        Where a rule has no numbers although its heading has, and where there is no chain.

    Examples
    --------
    >>> text = '''Chain INPUT (policy ACCEPT 704 packets, 65974 bytes)
    ...  pkts bytes target     prot opt in     out     source               destination
    ...  665K   48M ACCEPT     udp  --  virbr0 *       0.0.0.0/0            0.0.0.0/0            udp dpt:53
    ... '''
    >>> parse_iptables(text).tables["counters"][["counter", "value"]].values.tolist()
    [['packets', 704], ['bytes', 65974], ['packets', 665000], ['bytes', 48000000]]
    """
    lines = text.removeprefix("\ufeff").split("\n")
    read = _Rules()
    errors: list[tuple[int, str]] = []
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        cut = number == len(lines)
        if not line or (cut and read.take_cut(line, number)):
            continue
        if not read.take(line, number):
            if (instant := time_of(line, number, timezone, read.warnings)) is not None:
                read.time = {"time": pd.Timestamp(instant, tz="UTC")}
            elif _ERROR.fullmatch(line):
                errors.append((number, line))
            elif read.chain and not is_chatter(line) and not line.startswith("#") and line != "COMMIT":
                read.warnings.append(f"line {number}: ignored: {line[:60]!r}")
    if not read.chains:
        number, line = errors[0] if errors else (1, next((s.strip() for s in lines if s.strip()), ""))
        raise ParseError(number, "chains of iptables", line)
    if read.rounded:
        read.warnings.append("numbers with K, M, G or T are rounded; iptables -x prints all digits")
    if not read.counters:
        read.warnings.append("there are no counters: iptables -L needs -v, iptables-save needs -c")
    tables = {"counters": read.counters} | ({"balancer": read.balancer} if read.balancer else {})
    return Parsed("iptables", tables, tuple(read.warnings))


class _Rules:
    """The rules read so far, and the chain that is being read."""

    def __init__(self) -> None:
        self.counters: list[dict] = []
        self.balancer: list[dict] = []
        self.warnings: list[str] = []
        self.time: dict = {}
        self.table = self.chain = ""
        self.chains = 0
        self.counted = self.numbered = self.rounded = False

    def take_cut(self, line: str, number: int) -> bool:
        """Whether the end of the text may cut a number of this line; the rest of a rule is only its name."""
        if not line.endswith(")") and (line.startswith(("Chain ", ":", "[")) or self.counted or "-A " in line):
            if self.chains and line != "COMMIT" and not is_chatter(line):
                self.warnings.append(f"line {number}: the text ends inside this line, which is left out")
            return bool(self.chains)
        return False

    def take(self, line: str, number: int) -> bool:
        """Read a line; False where it is not of iptables."""
        if line.startswith("Chain "):
            match = _CHAIN.fullmatch(line)
            if match is None:
                raise ParseError(number, "Chain NAME (policy NAME N packets, N bytes) or (N references)", line)
            self.chain, self.counted, self.chains = match[1], False, self.chains + 1
            if match[3]:
                self._count(f"policy {match[2]}", match[3], match[4], number)
        elif _HEADING.fullmatch(line):
            self.counted = "pkts" in line
            self.numbered = line.startswith("num")
        elif match := _TABLE.fullmatch(line):
            self.table, self.chains = f"{match[1]} ", self.chains + 1
        elif self.table and (match := _SAVED_CHAIN.fullmatch(line)):
            self.chain = match[1]
            if match[3] and match[2] != "-":
                self._count(f"policy {match[2]}", match[3], match[4], number)
        elif (match := _SAVED_RULE.fullmatch(line)) and (self.table or match[1]):
            self.chain = match[3]
            if match[1]:
                self._count(match[4] or "", match[1], match[2], number)
        elif line.startswith(("[", ":")) and self.table:
            raise ParseError(number, "[packets:bytes] -A CHAIN … or :CHAIN POLICY [packets:bytes]", line)
        elif self.counted and not is_chatter(line):
            rule = re.sub(r"^[0-9]+\s+", "", line) if self.numbered else line
            match = _RULE.fullmatch(rule)
            if match is None:
                raise ParseError(number, "packets, bytes and a rule", line)
            self._count(" ".join(match[3].split()), match[1], match[2], number)
        else:
            return False
        return True

    def _count(self, rule: str, packets: str, size: str, number: int) -> None:
        shared = {"tool": "iptables", "group": f"{self.table}{self.chain}", "item": rule, **self.time}
        (count, rounded), (total, cut) = scaled(packets, number), scaled(size, number)
        self.rounded |= rounded or cut
        self.counters += packets_and_bytes(shared, count, total)
        if "DNAT" in rule.split() and (target := _TARGET.search(rule)):
            self.balancer.append(self._server(rule, target, count, rounded))

    def _server(self, rule: str, target: re.Match, connections: int, rounded: bool) -> dict:
        words = rule.split()
        saved = _SAVED_DESTINATION.search(rule)
        if target[3]:
            protocol = next((words[i + 1] for i, word in enumerate(words[:-1]) if word == "-p"), "all")
            destination = saved[1] if saved else None
        else:
            protocol, destination = words[1], words[6] if len(words) > 6 else None
        place = {"6": "TCP", "17": "UDP", "132": "SCTP"}.get(protocol, protocol.upper())
        port = _PORT.search(rule)
        if destination is not None and destination.startswith(("0.0.0.0/", "::/", "!", "anywhere")):
            destination = None
        return {
            "tool": "iptables", "kind": "server", "protocol": None if place in ("ALL", "0") else place,
            "service": f"{self.table}{self.chain}",
            "virtual_address": destination and destination.split("/")[0],
            "virtual_port": port and (port[1] or port[2]),
            "server_address": (target[1] or target[3]).strip("[]"), "server_port": target[2] or target[4],
            "connections": connections, "rounded": rounded, **self.time,
        }  # fmt: skip


IPTABLES = Form(
    "iptables",
    "",
    parse_iptables,
    (
        r"Chain \S+ \((?:policy [A-Z]|[0-9]+ references?)",
        r"\*(?:filter|nat|mangle|raw|security)\s*$",
        r"ip6?tables(?:-save)? v[0-9.]{1,9} ",
        r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )ip6?tables(?:-save)?: ",
    ),
    commas=True,
)
