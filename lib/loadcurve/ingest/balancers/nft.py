"""nft: counters of rules, sets and objects (``nft list ruleset``, ``nft -j list ruleset``) into `counters`, `balancer`.

Seen: nftables 1.0.6 on Debian 12 (samples of the tests); rulesets without a version in public repositories.

Output of nft (nftables, ``src/statement.c``, ``src/rule.c``, ``src/json.c``): exact numbers.  Only rules with
``counter`` are counted.  In a chain of type nat a rule sees the first packet of each connection only, so its packets
are connections: a rule with ``dnat to`` becomes a row of `balancer` with them as `connections`, a ``server`` where it
names one, a ``service`` where a map chooses among several.
"""

import json
import re
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.ingest.balancers.lists import ListCursor, packets_and_bytes
from loadcurve.ingest.json_text import load_json
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in

_TABLE = re.compile(r"table (?:(ip6?|inet|arp|bridge|netdev) )?(\S+) \{.*")
_BLOCK = re.compile(
    r"(chain|set|map|counter|quota|limit|meter|flowtable|ct helper|ct timeout|secmark|synproxy) (\S+) \{.*"
)
_COUNTER = re.compile(r"\bcounter packets ([0-9]{1,18}) bytes ([0-9]{1,18})(?![\w.])")
_OBJECT = re.compile(r"packets ([0-9]{1,18}) bytes ([0-9]{1,18})(?![\w.])")
_COUNTED = re.compile(r"counter packets\b")
_QUOTED = re.compile(r'"[^"]*"')
_TO = re.compile(
    r"\bdnat (?:ip6? )?to (?:(\[[0-9A-Fa-f:.]{2,45}\]|[0-9.]{7,15}|[0-9A-Fa-f:]{2,45}(?=\s|$))"
    r"(?::([0-9]{1,5}))?(?=\s|$)|(\S))"
)
_ADDRESS = re.compile(r"\bip6? daddr ([0-9A-Fa-f:.]{2,45})(?=\s)")
_PORT = re.compile(r"\b(tcp|udp|sctp) dport (\w+)(?=\s)")


def parse_nft(text: str, timezone: str = "UTC") -> Parsed:
    """Tables `counters` and `balancer` of one or several ``nft list ruleset``.

    `counters`: packets and bytes of each counted rule, element and object; `group` is family, table and chain, `item`
    the rule without its counter.  `balancer`: a row for each counted rule with ``dnat to``.
    """
    cursor = ListCursor(text, "nft", timezone)
    counters: list[dict[str, Any]] = []
    balancer: list[dict[str, Any]] = []
    table, block, name, tables = "", "", "", 0
    for line in cursor:
        if match := cursor.match(_TABLE):
            table, block, name, tables = f"{match[1] or 'ip'} {match[2]}", "", "", tables + 1
            continue
        if not table:
            cursor.take_time()
            continue
        if match := cursor.match(_BLOCK):
            block, name = match[1], match[2]
        elif line.startswith("}"):
            table, block, name = (table, "", "") if block else ("", "", "")
            continue
        if cursor.at_end:
            cursor.warn("the text ends inside this line, which is left out")
            break
        bare = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)  # a comment may hold any text
        found = _counters(bare, block, cursor)
        for hit in found:
            item = name if block == "counter" else _item(line, hit, len(found))
            group = f"{table} {block if block == 'counter' else name}".rstrip()
            shared = {"tool": "nft", "group": group, "item": item, **cursor.stamp}
            counters += packets_and_bytes(shared, int(hit[1]), int(hit[2]))
            if block == "chain" and (to := _TO.search(bare)):
                balancer.append(_service(bare, to, group, int(hit[1])) | cursor.stamp)
        if block and line.endswith("}") and cursor.match(_BLOCK):
            block = name = ""
    if not tables:
        cursor.refuse("a table of nft")
    if table:
        cursor.warnings.append(f"line {cursor.end}: the text ends inside a table")
    return _parsed(counters, balancer, cursor.warnings, "")


def _counters(bare: str, block: str, cursor: ListCursor) -> list[re.Match[str]]:
    """Return the packets and bytes of a line without quoted text; raise where a counter has no two numbers."""
    found = list(_COUNTER.finditer(bare))
    whole = len(found) == len(_COUNTED.findall(bare))
    if block == "counter" and not found:
        found = list(_OBJECT.finditer(bare))
        whole = whole and bool(found or "packets" not in bare)
    return found if whole else cursor.fail("counter packets N bytes N")


def parse_nft_json(text: str) -> Parsed:
    """Tables `counters` and `balancer` of ``nft -j list ruleset``.

    As `parse_nft` returns; `item` is ``handle N`` and the rule's expressions as compact JSON.

    Examples
    --------
    >>> text = '{"nftables": [{"counter": {"family": "ip", "table": "t", "name": "c", "packets": 5, "bytes": 300}}]}'
    >>> parse_nft_json(text).tables["counters"][["group", "item", "value"]].values.tolist()
    [['ip t counter', 'c', 5], ['ip t counter', 'c', 300]]
    """
    warnings: list[str] = []
    document = load_json(text, "JSON of nft", warnings)
    entries = document.get("nftables") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise nothing_in(text, "a list 'nftables' in the JSON of nft")
    counters: list[dict[str, Any]] = []
    balancer: list[dict[str, Any]] = []
    version = ""
    for entry in entries:
        for kind, what in entry.items():
            if not isinstance(what, dict):
                continue
            place = f"{what.get('family', '')} {what.get('table', '')}"
            if kind == "metainfo":
                version = str(what.get("version", ""))
            elif kind == "counter":
                shared = {"tool": "nft", "group": f"{place} counter", "item": str(what.get("name", ""))}
                counters += packets_and_bytes(shared, *_numbers(what))
            elif kind == "rule" and isinstance(what.get("expr"), list):
                _rule(what, f"{place} {what.get('chain', '')}", counters, balancer)
    return _parsed(counters, balancer, warnings, version)


def _parsed(
    counters: list[dict[str, Any]], balancer: list[dict[str, Any]], warnings: list[str], version: str
) -> Parsed:
    if not counters:
        warnings.append("there are no counters: a rule is counted only with the word counter")
    tables = {"counters": counters} | ({"balancer": balancer} if balancer else {})
    return Parsed("nft", tables, tuple(warnings), version)


def _item(line: str, hit: re.Match[str], counters: int) -> str:
    """Text of the rule that has a counter; for several counters in a line (elements of a set), the text before each."""
    if counters == 1:
        return " ".join(f"{line[: hit.start()]} {line[hit.end() :]}".split())
    return re.split(r"[{,=]", line[: hit.start()])[-1].strip()


def _service(rule: str, to: re.Match[str], group: str, connections: int) -> dict[str, Any]:
    address, port = _ADDRESS.search(rule), _PORT.search(rule)
    return {
        "tool": "nft", "kind": "server" if to[1] else "service", "protocol": port and port[1].upper(),
        "service": group, "virtual_address": address and address[1], "virtual_port": port and port[2],
        "server_address": to[1] and to[1].strip("[]"), "server_port": to[2], "connections": connections,
    }  # fmt: skip


def _numbers(counter: dict[str, Any]) -> tuple[int, int]:
    values = []
    for name in ("packets", "bytes"):
        value = counter.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            raise ParseError(1, "packets and bytes of a counter as whole numbers", json.dumps(counter)[:80])
        values.append(value)
    return values[0], values[1]


def _rule(rule: dict[str, Any], group: str, counters: list[dict[str, Any]], balancer: list[dict[str, Any]]) -> None:
    parts = [part for part in rule["expr"] if isinstance(part, dict)]
    counted = [part["counter"] for part in parts if isinstance(part.get("counter"), dict)]
    others = [part for part in parts if not isinstance(part.get("counter"), dict)]
    item = f"handle {rule.get('handle', '')} {json.dumps(others, separators=(',', ':'))}"
    for counter in counted:
        packets, size = _numbers(counter)
        counters += packets_and_bytes({"tool": "nft", "group": group, "item": item}, packets, size)
        targets = [part["dnat"] for part in parts if isinstance(part.get("dnat"), dict)]
        balancer += [_json_service(others, target, group, packets) for target in targets]


def _json_service(parts: list[dict[str, Any]], target: dict[str, Any], group: str, connections: int) -> dict[str, Any]:
    row: dict[str, Any] = {"tool": "nft", "kind": "service", "service": group, "connections": connections}
    for match in (part["match"] for part in parts if isinstance(part.get("match"), dict)):
        left, right = match.get("left"), match.get("right")
        payload = left.get("payload") if isinstance(left, dict) else None
        if isinstance(payload, dict) and match.get("op") == "==" and isinstance(right, str | int):
            if payload.get("field") == "daddr":
                row["virtual_address"] = str(right)
            elif payload.get("field") == "dport":
                row |= {"virtual_port": str(right), "protocol": str(payload.get("protocol", "")).upper() or None}
    if isinstance(target.get("addr"), str):
        row |= {"kind": "server", "server_address": target["addr"]}
    if isinstance(target.get("port"), int):
        row["server_port"] = str(target["port"])
    return row
