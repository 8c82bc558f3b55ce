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

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.balancers.lists import flow_table, is_chatter, settle_times, time_of
from loadcurve.ingest.form import Form
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
_NUMBERS = ("packets", "bytes", "mark", "use", "zone", "type", "code", "id")
_NUMBER = re.compile(r"[0-9]{1,20}|0x[0-9a-f]{1,16}")
_TUPLE = ("src", "dst", "sport", "dport")


def parse_conntrack(text: str, timezone: str = "UTC") -> Parsed:
    """Tables `flows` and `counters` of one or several ``conntrack -L``, ``-E`` or ``-S``.

    Parameters
    ----------
    text : str
        Output, each snapshot perhaps after a line with its time.
    timezone : str
        IANA name of the zone of times that name none.

    Returns
    -------
    Parsed
        `flows`: a row for each connection; `reply_address` and `reply_port` only where the server answers to another
        place than the client's (source NAT).  `counters`: a row for each number of ``-S``; `item` is the processor.

    Raises
    ------
    ParseError
        Where a line is not what conntrack prints, and where it prints an error only.

    Examples
    --------
    >>> line = ("tcp 6 111 TIME_WAIT src=198.18.0.1 dst=198.18.0.2 sport=44224 dport=8080 "
    ...         "src=198.18.0.3 dst=198.18.0.2 sport=80 dport=44224 [ASSURED] mark=0 use=1")
    >>> flows = parse_conntrack(line + chr(10)).tables["flows"]
    >>> flows[["client_address", "server_address", "server_port", "reply_address", "expires_s"]].values.tolist()
    [['198.18.0.1', '198.18.0.3', '80', '198.18.0.2', 111.0]]
    """
    lines = text.removeprefix("\ufeff").split("\n")
    flows: list[tuple] = []
    counters: list[dict] = []
    warnings: list[str] = []
    errors: list[tuple[int, str]] = []
    version, time, listed, summaries = "", None, 0, 0
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line:
            continue
        if summary := _SUMMARY.fullmatch(line):
            version = summary[1]
            summaries += 1
            # conntrack prints it to stderr, so it may come before its entries, or without them.
            if listed and listed != int(summary[2]):
                warnings.append(f"line {number}: {summary[2]} entries announced, {listed} listed above")
            listed = 0
            continue
        if number == len(lines) and not _FLAG.fullmatch(line.split()[-1]) and (_HEAD.match(line) or "=" in line):
            warnings.append(f"line {number}: the text ends inside this line; the part that may be cut is left out")
            line = line[: -len(line.split()[-1])].rstrip()
            if not (_CPU.fullmatch(line) or len(re.findall(r"(?:src|dst|dport|code)=\S", line)) >= 6):
                continue
        if head := _HEAD.match(line):
            flow = _flow(head, line, number, time)
            flows.append((*flow[:-1], None) if number == len(lines) else flow)
            listed += 1
        elif (found := _CPU.fullmatch(line)) or _OLD_COUNT.fullmatch(line):
            counters += _counts(line, number, found, time)
        elif (instant := time_of(line, number, timezone, warnings)) is not None:
            time, listed = instant, 0
        elif _ERROR.fullmatch(line):
            errors.append((number, line))
        elif re.match(r"(?:ipv[46]\s+[0-9x]+\s+)?(?:tcp|udp|icmp|sctp|cpu=)\S*\s", line):
            raise ParseError(number, "an entry of conntrack", line)
        elif not is_chatter(line):
            warnings.append(f"line {number}: ignored: {line[:60]!r}")
    if not flows and not counters and not summaries:
        number, line = errors[0] if errors else (1, next((s.strip() for s in lines if s.strip()), ""))
        raise ParseError(number, "entries or statistics of conntrack", line)
    tables: dict = {"flows": flow_table(flows)} if flows or summaries else {}
    if counters:
        settle_times(counters)
        tables["counters"] = counters
    return Parsed("conntrack", tables, tuple(warnings), version)


def _flow(head: re.Match[str], line: str, number: int, time: object) -> tuple:
    sides: list[dict[str, str]] = [{}, {}]
    others = [f"[{head['event']}]"] if head["event"] else []
    side = -1
    for token in line[head.end() :].split():
        pair = _PAIR.fullmatch(token)
        if pair is None:
            # The owner of a connection or a module may add words of its own.
            if not _FLAG.fullmatch(token) and not re.fullmatch(r"[\w.:,/()-]+", token):
                raise ParseError(number, "name=value or a flag such as [ASSURED]", token)
            others.append(token)
        elif pair[1] in _TUPLE:
            side += pair[1] == "src"
            garbled = pair[1].endswith("port") and not re.fullmatch(r"[0-9]{1,5}", pair[2])
            if side > 1 or pair[1] in sides[side] or garbled:
                raise ParseError(number, "two times src, dst, sport and dport", token)
            sides[side][pair[1]] = pair[2]
        else:
            value = pair[2]
            if pair[1] in _NUMBERS and not _NUMBER.fullmatch(value):
                raise ParseError(number, f"a number for {pair[1]}", value)
            others.append(token)
    original, translated = sides
    if "dst" not in original or (translated and "dst" not in translated):
        raise ParseError(number, "src and dst", line)
    client = (original["src"], original.get("sport"))
    reply = (translated.get("dst"), translated.get("dport"))
    if head["epoch"]:
        time = pd.Timestamp(head["epoch"].split(".")[0] and float(head["epoch"]), unit="s").to_datetime64()
    return (
        time, "conntrack", head["protocol"].upper(), head["state"], float(head["expires"] or "nan"), *client,
        original["dst"], original.get("dport"), translated.get("src"), translated.get("sport"),
        *(reply if reply != client else (None, None)), " ".join(others) or None,
    )  # fmt: skip


def _counts(line: str, number: int, found: re.Match | None, time: object) -> list[dict]:
    if found is None:
        name, value = line.split()
        pairs, item = [(name, value)], {}
    else:
        pairs, item = [], {"item": found[1]}
        for token in found[2].split():
            pair = _PAIR.fullmatch(token)
            if pair is None or not re.fullmatch(r"[0-9]{1,18}", pair[2]):
                raise ParseError(number, "name=number", token)
            pairs.append((pair[1], pair[2]))
    moment = {} if time is None else {"time": time}
    return [
        {"tool": "conntrack", "group": "statistics", **item, "counter": name, "value": int(value), "unit": "", **moment}
        for name, value in pairs
    ]


CONNTRACK = Form(
    "conntrack",
    "",
    parse_conntrack,
    (
        (
            r"(?:\[[0-9.]{1,30}[ \t]*\][ \t]*)?(?:\[(?:NEW|UPDATE|DESTROY)\][ \t]*)?"
            r"(?:ipv[46][ \t]+[0-9]+[ \t]+)?[a-z][a-z0-9-]{0,20}[ \t]+[0-9]{1,3}[ \t]+(?:[0-9]{1,10}[ \t]+)?"
            r"(?:[A-Z_0-9]{1,20}[ \t]+)?src=[0-9a-f]"
        ),
        r"conntrack v[0-9.]+ \(conntrack-tools\): ",
        r"cpu=[0-9]+[ \t]+(?:found|searched)=[0-9]",
        r"entries[ \t]+[0-9]+[ \t]*\n[ \t]*searched[ \t]",
        r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )conntrack: ",
    ),
)
