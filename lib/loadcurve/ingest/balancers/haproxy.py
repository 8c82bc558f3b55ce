"""haproxy: statistics as CSV (``show stat``, ``/haproxy?stats;csv``) into the table `balancer`.

Seen: haproxy of Debian 12 (sample of the tests; ``echo 'show stat' | socat stdio SOCKET``); the column sets of 1.4 and
1.5 in public repositories: the columns differ by version, so the heading alone says which is which.

What haproxy counts (its ``doc/management.txt``, "Statistics and monitoring"):

- ``stot`` counts sessions: connections for a frontend, requests sent for an HTTP server; column `connections`.
  ``req_tot`` goes to `requests`.  ``rate`` and ``req_rate`` are of the last second.
- ``bin`` is what came from the clients, ``bout`` what went to them, of a server too.
- ``ttime`` is the mean total time of the last 1024 requests in whole milliseconds: 0 is under 1 ms.
- A backend is the sum of its servers, so its rows have a `kind` of their own.
- An empty field is missing; -1 too.
"""

import csv
import math
import re
from typing import Any

from loadcurve.ingest.balancers.lists import ListCursor
from loadcurve.ingest.parsed import Parsed

_COUNTS = {
    "qcur": "queued", "scur": "active", "stot": "connections", "req_tot": "requests", "weight": "weight",
    "bin": "received_bytes", "bout": "sent_bytes", "rate": "connections_per_s", "req_rate": "requests_rps",
    "econ": "errors_connect", "eresp": "errors_response", "ereq": "errors_request", "wretr": "retries",
    "wredis": "redispatches", "hrsp_1xx": "responses_1xx", "hrsp_2xx": "responses_2xx", "hrsp_3xx": "responses_3xx",
    "hrsp_4xx": "responses_4xx", "hrsp_5xx": "responses_5xx",
}  # fmt: skip
_NAMES = {"status": "health", "mode": "protocol", "algo": "scheduler"}
_KINDS = {"0": "service", "1": "backend", "2": "server", "3": "listener"}
_OTHER_COUNTS = {
    "qmax", "smax", "slim", "dreq", "dresp", "act", "bck", "chkfail", "chkdown", "lastchg", "downtime",
    "qlimit", "pid", "iid", "sid", "lbtot", "type", "rate_lim", "rate_max", "check_code", "check_duration",
    "hrsp_other", "hanafail", "req_rate_max", "cli_abrt", "srv_abrt", "comp_in", "comp_out", "comp_byp",
    "comp_rsp", "lastsess", "qtime", "ctime", "rtime", "agent_code", "agent_duration", "check_rise",
    "check_fall", "check_health", "agent_rise", "agent_fall", "agent_health", "conn_rate", "conn_rate_max",
    "conn_tot", "intercepted", "dcon", "dses", "wrew", "connect", "reuse", "cache_lookups", "cache_hits",
    "srv_icur", "src_ilim", "qtime_max", "ctime_max", "rtime_max", "ttime_max", "eint", "idle_conn_cur",
    "safe_conn_cur", "used_conn_cur", "need_conn_est", "uweight", "agg_server_status",
    "agg_server_check_status", "agg_check_status",
}  # fmt: skip
_OTHER_PREFIXES = ("ssl_", "h1_", "h2_", "h3_", "quic_")
_HEADING = re.compile(r"(?:#\s*)?pxname,svname,")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_NAME = re.compile(r"[A-Za-z_]\w*|-|")


def parse_haproxy(text: str, timezone: str = "UTC") -> Parsed:
    """Table `balancer` of one or several ``show stat``.

    A row for each line; `service` is the proxy's name, `kind` service (a frontend), backend, server or listener. Every
    column without one of its own stays in `other` as ``name=value``.
    """
    cursor = ListCursor(text, "haproxy", timezone)
    rows: list[dict[str, Any]] = []
    heading: list[str] = []
    headed = 0
    for line in cursor:
        if _HEADING.match(line):
            heading, headed = _heading(cursor), cursor.number
        elif "," not in line or not heading:
            if not cursor.take_time() and heading:
                cursor.warn_ignored()
        else:
            fields = _fields(cursor)
            if cursor.at_end and (len(fields) < len(heading) or fields[-1]):
                cursor.warn("the text ends inside this line, which is left out")
                continue
            if len(fields) > len(heading) and any(fields[len(heading) :]):
                cursor.fail(f"{len(heading)} columns as in line {headed}", f"{len(fields)}: {line}")
            if len(fields) < len(heading):
                cursor.warn(f"{len(fields)} columns where the heading has {len(heading)}")
            rows.append(_row(dict(zip(heading, fields, strict=False)), cursor))
    if not headed:
        cursor.refuse("the heading # pxname,svname,… of haproxy")
    if not rows:
        cursor.warnings.append(f"line {headed}: the list is empty")
    return Parsed("haproxy", {"balancer": rows}, tuple(cursor.warnings))


def _heading(cursor: ListCursor) -> list[str]:
    names = [name.strip() for name in cursor.line.lstrip("# ").split(",")]
    for name in names:
        if not _NAME.fullmatch(name):
            cursor.fail("names of columns", name)
    named = [name for name in names if name not in ("", "-")]
    if len(set(named)) < len(named):
        cursor.fail("each column once")
    return names


def _fields(cursor: ListCursor) -> list[str]:
    if '"' not in cursor.line:
        return cursor.line.split(",")
    try:
        return next(csv.reader([cursor.line], strict=True))
    except csv.Error as error:
        cursor.fail(f"a line of CSV: {error}")


def _row(fields: dict[str, str], cursor: ListCursor) -> dict[str, Any]:
    name = fields["svname"]
    kind = {"FRONTEND": "service", "BACKEND": "backend"}.get(name) or _KINDS.get(fields.get("type", ""), "server")
    row: dict[str, Any] = {"tool": "haproxy", "kind": kind, "service": fields["pxname"]}
    if kind in ("server", "listener"):
        row["server"] = name
    others = []
    for column, value in fields.items():
        if column in ("pxname", "svname", "", "-") or value == "":
            continue
        known = column in _COUNTS or column == "ttime"
        counted = known or column in _OTHER_COUNTS or column.startswith(_OTHER_PREFIXES)
        if counted and not _NUMBER.fullmatch(value):
            cursor.fail(f"a whole number for {column}", value)
        if known and int(value) < 0:
            continue
        if known:
            row |= {"latency_mean_s": int(value) / 1000} if column == "ttime" else {_COUNTS[column]: int(value)}
        elif column in _NAMES:
            row[_NAMES[column]] = value
        elif column == "addr":
            row |= _place(value, kind)
        else:
            others.append(f"{column}={value}" if " " not in value else f'{column}="{value}"')
    if not row.get("connections"):
        row["latency_mean_s"] = math.nan  # haproxy prints 0 when there were no requests
    row["other"] = " ".join(others) or None
    return row | cursor.stamp


def _place(value: str, kind: str) -> dict[str, Any]:
    address, colon, port = value.rpartition(":")
    numbered = bool(colon) and port.isdigit() and port.isascii()  # else a socket of the file system, or a name
    address = (address if numbered else value).removeprefix("[").removesuffix("]")
    end = "server" if kind == "server" else "virtual"
    return {f"{end}_address": address, f"{end}_port": port if numbered else None}
