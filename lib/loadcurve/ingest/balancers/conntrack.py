"""conntrack: tracked connections (``conntrack -L``) into `flows`, statistics (``conntrack -S``) into `counters`.

Seen: conntrack of Debian 12 (samples of the tests); 1.4.4 to 1.4.8 in public repositories.  Read but not seen as real
output: ``-o extended``, ``-E``, /proc/net/nf_conntrack.

Sources of the format (libnetfilter_conntrack, ``src/conntrack/snprintf_default.c``; conntrack-tools,
``src/conntrack.c``):

- ``tcp      6 431999 ESTABLISHED src=… dst=… sport=… dport=… [packets=… bytes=…] [UNREPLIED] src=… …``: the first four
  are what the client sent (its address, the one it spoke to), the second four what answers look like before they are
  translated back.  So the second ``src`` is the real server, and the second ``dst`` the address it answers to.
- The time left is in whole seconds; an offloaded connection has none.  ``packets`` and ``bytes`` are there with
  ``nf_conntrack_acct`` only.
- ``-S`` counts since boot, a line for each processor.
"""

import re
from typing import Any

import pandas as pd

from loadcurve.ingest.balancers.lists import ListCursor, flow_table
from loadcurve.ingest.parsed import Parsed

_HEAD = re.compile(
    r"(?:\[(?P<epoch>[0-9]{9,10}\.[0-9]{1,9})\s*\]\s*)?(?:\[(?P<event>NEW|UPDATE|DESTROY)\]\s*)?"
    r"(?:ipv[46]\s+(?:2|10)\s+)?(?P<protocol>[a-z][a-z0-9-]*)\s+(?P<number>[0-9]{1,3})\s+"
    r"(?:(?P<expires>[0-9]{1,10})\s+)?(?:(?P<state>[A-Z][A-Z0-9_-]*)\s+)?(?=src=)"
)
_PAIR = re.compile(r"([A-Za-z][\w-]*)=(\S*)")
_FLAG = re.compile(r"\[[A-Z_]+\]")
_SUMMARY = re.compile(r"conntrack v([0-9.]+) \(conntrack-tools\): ([0-9]+) (?:flow entries|expectations) have been .*")
_CPU = re.compile(r"cpu=([0-9]+)\s+(\w+=.*)")
_OLD_COUNT = re.compile(
    r"(entries|searched|found|new|invalid|ignore|delete|delete_list|insert|insert_failed|drop|early_drop|icmp_error"
    r"|expect_new|expect_create|expect_delete|search_restart)\s+([0-9]{1,18})"
)
_ERROR = re.compile(
    r"conntrack v[0-9.]+ \(conntrack-tools\): (?:Operation failed|Can't|Unknown|Bad|you |.*[Ee]rror).*"
    r"|.*conntrack: (?:command )?not found.*"
)
_LIKE_AN_ENTRY = re.compile(r"(?:ipv[46]\s+[0-9x]+\s+)?(?:tcp|udp|icmp|sctp|cpu=)\S*\s")
_NUMBERS = ("packets", "bytes", "mark", "use", "zone", "type", "code", "id")
_NUMBER = re.compile(r"[0-9]{1,20}|0x[0-9a-f]{1,16}")
_TUPLE = ("src", "dst", "sport", "dport")


def parse_conntrack(text: str, timezone: str = "UTC") -> Parsed:
    """Tables `flows` and `counters` of one or several ``conntrack -L``, ``-E`` or ``-S``.

    `flows`: a row for each connection; `reply_address` and `reply_port` only where the server answers to another place
    than the client's (source NAT).  `counters`: a row for each number of ``-S``; `item` is the processor.
    """
    cursor = ListCursor(text, "conntrack", timezone)
    flows: list[tuple[Any, ...]] = []
    counters: list[dict[str, Any]] = []
    version, listed, summaries = "", 0, 0
    for line in cursor:
        if summary := cursor.match(_SUMMARY):
            version = summary[1]
            summaries += 1
            # conntrack prints it to stderr, so it may come before its entries, or without them.
            if listed and listed != int(summary[2]):
                cursor.warn(f"{summary[2]} entries announced, {listed} listed above")
            listed = 0
        elif not (whole := _without_cut_word(line, cursor)):
            continue
        elif head := _HEAD.match(whole):
            flows.append(_flow(head, whole, cursor))
            listed += 1
        elif (found := _CPU.fullmatch(whole)) or _OLD_COUNT.fullmatch(whole):
            counters += _counts(whole, found, cursor)
        elif cursor.take_time():
            listed = 0
        elif not cursor.take_error(_ERROR):
            if _LIKE_AN_ENTRY.match(whole):
                cursor.fail("an entry of conntrack", whole)
            cursor.warn_ignored()
    if not flows and not counters and not summaries:
        cursor.refuse("entries or statistics of conntrack")
    tables: dict[str, Any] = {"flows": flow_table(flows)} if flows or summaries else {}
    return Parsed("conntrack", tables | ({"counters": counters} if counters else {}), tuple(cursor.warnings), version)


def _without_cut_word(line: str, cursor: ListCursor) -> str:
    """Return a line without the word that the end of the text may cut; empty where too little is left."""
    if not cursor.at_end:
        return line
    last = line.split()[-1]
    if _FLAG.fullmatch(last) or not (_HEAD.match(line) or "=" in line):
        return line
    cursor.warn("the text ends inside this line; the part that may be cut is left out")
    rest = line.removesuffix(last).rstrip()
    is_enough = _CPU.fullmatch(rest) or len(re.findall(r"(?:src|dst|dport|code)=\S", rest)) >= 6
    return rest if is_enough else ""


def _flow(head: re.Match[str], line: str, cursor: ListCursor) -> tuple[Any, ...]:
    """Return an entry in the order of `FLOW_COLUMNS`."""
    sides: list[dict[str, str]] = [{}, {}]
    others = [f"[{head['event']}]"] if head["event"] else []
    side = -1
    for token in line[head.end() :].split():
        pair = _PAIR.fullmatch(token)
        if pair is None:
            # The owner of a connection or a module may add words of its own.
            if not _FLAG.fullmatch(token) and not re.fullmatch(r"[\w.:,/()-]+", token):
                cursor.fail("name=value or a flag such as [ASSURED]", token)
            others.append(token)
        elif pair[1] in _TUPLE:
            side += pair[1] == "src"
            garbled = pair[1].endswith("port") and not re.fullmatch(r"[0-9]{1,5}", pair[2])
            if side > 1 or pair[1] in sides[side] or garbled:
                cursor.fail("two times src, dst, sport and dport", token)
            sides[side][pair[1]] = pair[2]
        else:
            if pair[1] in _NUMBERS and not _NUMBER.fullmatch(pair[2]):
                cursor.fail(f"a number for {pair[1]}", pair[2])
            others.append(token)
    original, translated = sides
    if "dst" not in original or (translated and "dst" not in translated):
        cursor.fail("src and dst", line)
    client = (original["src"], original.get("sport"))
    reply = (translated.get("dst"), translated.get("dport"))
    time = cursor.time
    if head["epoch"]:
        time = pd.Timestamp(float(head["epoch"]), unit="s").to_datetime64()
    return (
        time, "conntrack", head["protocol"].upper(), head["state"], float(head["expires"] or "nan"), *client,
        original["dst"], original.get("dport"), translated.get("src"), translated.get("sport"),
        *(reply if reply != client else (None, None)), None if cursor.at_end else " ".join(others) or None,
    )  # fmt: skip


def _counts(line: str, found: re.Match[str] | None, cursor: ListCursor) -> list[dict[str, Any]]:
    """Return rows of `counters` of a processor (`found`), or of a line with one name and number."""
    if found is None:
        pairs, item = [tuple(line.split())], {}
    else:
        pairs, item = [], {"item": found[1]}
        for token in found[2].split():
            pair = _PAIR.fullmatch(token)
            if pair is None or not re.fullmatch(r"[0-9]{1,18}", pair[2]):
                cursor.fail("name=number", token)
            pairs.append((pair[1], pair[2]))
    shared = {"tool": "conntrack", "group": "statistics", **item}
    return [{**shared, "counter": name, "value": int(value), "unit": "", **cursor.stamp} for name, value in pairs]
