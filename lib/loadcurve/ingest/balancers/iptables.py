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
from typing import Any

from loadcurve.ingest.balancers.lists import ListCursor, packets_and_bytes, scaled
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import is_noise

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

    `counters`: packets and bytes of each rule and of each policy; `group` is the chain, after its table where that is
    printed, `item` the rule as printed.  `balancer`: a row for each rule that sends connections to one server.
    """
    cursor = ListCursor(text, "iptables", timezone)
    read = _Rules(cursor)
    for line in cursor:
        if read.take_truncated(line) or read.take(line) or cursor.take_time() or cursor.take_error(_ERROR):
            continue
        if read.chain and not line.startswith("#") and line != "COMMIT":
            cursor.warn_ignored()
    if not read.chains:
        cursor.refuse("chains of iptables")
    if read.rounded:
        cursor.warnings.append("numbers with K, M, G or T are rounded; iptables -x prints all digits")
    if not read.counters:
        cursor.warnings.append("there are no counters: iptables -L needs -v, iptables-save needs -c")
    tables = {"counters": read.counters} | ({"balancer": read.balancer} if read.balancer else {})
    return Parsed("iptables", tables, tuple(cursor.warnings))


class _Rules:
    """The rules read so far, and the chain that is being read."""

    def __init__(self, cursor: ListCursor) -> None:
        self.counters: list[dict[str, Any]] = []
        self.balancer: list[dict[str, Any]] = []
        self._cursor = cursor
        self.table = self.chain = ""
        self.chains = 0
        self.counted = self.numbered = self.rounded = False

    def take_truncated(self, line: str) -> bool:
        """Whether the end of the text may cut a number of this line; the rest of a rule is only its name."""
        if not self._cursor.at_end or line.endswith(")"):
            return False
        if not (line.startswith(("Chain ", ":", "[")) or self.counted or "-A " in line):
            return False
        if self.chains and line != "COMMIT" and not is_noise(line):
            self._cursor.warn("the text ends inside this line, which is left out")
        return bool(self.chains)

    def take(self, line: str) -> bool:
        """Read a line; False where it is not of iptables."""
        if line.startswith("Chain "):
            chain = self._cursor.expect(_CHAIN, "Chain NAME (policy NAME N packets, N bytes) or (N references)")
            self.chain, self.counted, self.chains = chain[1], False, self.chains + 1
            if chain[3]:
                self._count(f"policy {chain[2]}", chain[3], chain[4])
        elif _HEADING.fullmatch(line):
            self.counted = "pkts" in line
            self.numbered = line.startswith("num")
        elif match := _TABLE.fullmatch(line):
            self.table, self.chains = f"{match[1]} ", self.chains + 1
        elif self.table and (match := _SAVED_CHAIN.fullmatch(line)):
            self.chain = match[1]
            if match[3] and match[2] != "-":
                self._count(f"policy {match[2]}", match[3], match[4])
        elif (match := _SAVED_RULE.fullmatch(line)) and (self.table or match[1]):
            self.chain = match[3]
            if match[1]:
                self._count(match[4] or "", match[1], match[2])
        elif line.startswith(("[", ":")) and self.table:
            self._cursor.fail("[packets:bytes] -A CHAIN … or :CHAIN POLICY [packets:bytes]")
        elif self.counted and not is_noise(line):
            rule = re.sub(r"^[0-9]+\s+", "", line) if self.numbered else line
            match = _RULE.fullmatch(rule) or self._cursor.fail("packets, bytes and a rule")
            self._count(" ".join(match[3].split()), match[1], match[2])
        else:
            return False
        return True

    def _count(self, rule: str, packets: str, size: str) -> None:
        number, stamp = self._cursor.number, self._cursor.stamp
        shared = {"tool": "iptables", "group": f"{self.table}{self.chain}", "item": rule, **stamp}
        (count, rounded), (total, cut) = scaled(packets, number), scaled(size, number)
        self.rounded |= rounded or cut
        self.counters += packets_and_bytes(shared, count, total)
        if "DNAT" in rule.split() and (target := _TARGET.search(rule)):
            self.balancer.append(self._server(rule, target, count, rounded) | stamp)

    def _server(self, rule: str, target: re.Match[str], connections: int, rounded: bool) -> dict[str, Any]:
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
            "connections": connections, "rounded": rounded,
        }  # fmt: skip
