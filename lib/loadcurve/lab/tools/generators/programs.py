"""The load generators, each with its command and what it can do."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from loadcurve.files.secrets import in_lua
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.tools.generators.generator import (
    CommandLine,
    Generator,
    Load,
    body_file,
    header_options,
    milliseconds,
)

# ab ends at -n even before -t: 100 s at 50,000 requests/s.  It reserves 32 bytes of addresses for each, 160 MB in all.
MAX_REQUESTS = 5_000_000
_AB_METHODS = {"GET": (), "HEAD": ("-i",), "POST": ("-T", "text/plain", "-p"), "PUT": ("-T", "text/plain", "-u")}


def _ab(load: Load, stem: str) -> CommandLine:
    """Command of ab: ``-l`` accepts bodies of any length, ``-r`` continues after an error of a socket."""
    load = load.by_address
    percentiles, requests = f"{stem}.ab.percentiles.csv", f"{stem}.ab.requests.txt"
    # -t sets -n to 50000, unless -n comes after it.
    bound = ("-t", f"{load.duration_s:g}", "-n", str(MAX_REQUESTS)) if load.duration_s else ("-n", str(load.requests))
    files = body_file(load, stem)
    method = (*_AB_METHODS.get(load.method, ("-m", load.method)), *files)
    each = ("-g", requests) if load.each_request else ()
    argv = (
        "ab", "-q", "-l", "-r", "-c", str(load.connections), *bound, "-s", f"{load.timeout_s:g}",
        *(("-k",) if load.keep_alive else ()), *method, *header_options(load), "-e", percentiles, *each,
        load.url if urlsplit(load.url).path else f"{load.url}/",  # ab refuses a URL without a path
    )  # fmt: skip
    return CommandLine(argv, files, {"percentiles": percentiles} | ({"requests": requests} if each else {}))


# ab, of Apache's utilities.  Seen: Debian's ab 2.3.
AB = Generator(
    Tool("ab", "load, closed loop", "-V", "apache2-utils", group="lab-tools"),
    "Sends requests from one thread, and writes percentiles and, if asked, each request to files.",
    _ab,
    bounds=("duration_s", "requests"),
    methods=("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    has_threads=False,
    logs_requests=True,
    max_requests=MAX_REQUESTS,
)


def _h2load(load: Load, stem: str) -> CommandLine:
    """Command of h2load by HTTP/1.1, one request at a time on each connection; ``-N`` closes idle connections.

    ``--rps`` is the rate of each connection, which is idle until its next request is due.  All connections send at the
    same instants: 4 connections at 50 requests/s send 4 requests every 20 ms.  It would send Host among its ``-H``
    beside its own, which is the pseudo-header ``:authority``.
    """
    log, files = f"{stem}.h2load.requests.txt", body_file(load, stem)
    bound = ("-D", milliseconds(load.duration_s)) if load.duration_s else ("-n", str(load.requests))
    each = (f"--log-file={log}",) if load.each_request else ()
    rate = (f"--rps={load.rate_rps / load.connections:.6f}",) if load.rate_rps else ()
    pause_s = load.connections / load.rate_rps if load.rate_rps else 0.0
    argv = (
        "h2load", "--h1", "-c", str(load.connections), "-t", str(load.used_threads), *bound, *rate,
        "-N", milliseconds(load.timeout_s + pause_s), *[word for name in files for word in ("-d", name)],
        *((f"--connect-to={load.endpoint}",) if load.address else ()),
        *header_options(load, ("-H", ":authority: ")), *each, load.url,
    )  # fmt: skip
    return CommandLine(argv, files, {"requests": log} if each else {})


# h2load, of nghttp2.  Seen: Debian's h2load 1.52.0.
H2LOAD = Generator(
    Tool("h2load", "load, HTTP/2", "--version", "nghttp2-client", group="lab-tools"),
    "Sends requests by HTTP/1.1, one at a time on each connection, in a closed loop or at a fixed rate, and writes "
    "each of them to a file if asked; at a rate, all connections send at once, and a request due on a busy one waits.",
    _h2load,
    bounds=("duration_s", "requests"),
    loop="both",
    # -d makes the request a POST; no option closes a connection after a response.
    methods=("GET", "POST"),
    duration_unit_s=0.001,
    reconnects=False,
    logs_requests=True,
    times_from_due=False,
)


def _hey(load: Load, stem: str) -> CommandLine:
    """Command of hey; it follows no redirect, which could lead to a host that must not be loaded.

    hey ignores Host among its ``-H``.
    """
    load, files = load.by_address, body_file(load, stem)
    bound = ("-z", milliseconds(load.duration_s)) if load.duration_s else ("-n", str(load.requests))
    argv = (
        "hey", "-c", str(load.connections), "-cpus", str(load.threads), *bound,
        "-t", f"{load.timeout_s:g}", "-disable-redirects",
        *(() if load.keep_alive else ("-disable-keepalive",)), "-m", load.method,
        *[word for name in files for word in ("-D", name)], *header_options(load, ("-host", "")), load.url,
    )  # fmt: skip
    return CommandLine(argv, files)


# hey.  Seen: Debian's hey, which prints no version.
HEY = Generator(
    Tool("hey", "load, closed loop", "", "hey"),
    "Sends requests from one worker per connection, and prints a histogram of response times.",
    _hey,
    bounds=("duration_s", "requests"),
    methods=("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    duration_unit_s=0.001,
    even_requests=True,  # each of its workers sends N / C requests (requester/requester.go)
)


# Longer than the percentiles of k6's default summary (p90, p95).
_K6_STATISTICS = ["avg", "min", "med", "max", "p(75)", "p(90)", "p(95)", "p(99)", "p(99.9)"]
_K6_SCRIPT = """\
// The load of one k6 process: each of its virtual users has one connection.
import exec from "k6/execution";
import http from "k6/http";

export const options = {options};
const body = {body};
const params = {params};
const urls = {urls};

export default function () {{
  http.request({method}, urls[exec.scenario.iterationInTest % urls.length], body, params);
}}
"""


def _k6(load: Load, stem: str) -> CommandLine:
    """Command of k6 and its script; it follows no redirect, opens no port, and reports nothing to its makers.

    It makes each path absolute, and a user without rights may not enter the folders above the run's; the link is one.
    """
    script, root = f"{stem}.k6.js", urlsplit(load.url)._replace(path="", query="").geturl()
    options = {
        "scenarios": {"load": _k6_scenario(load)},
        "summaryTrendStats": _K6_STATISTICS,
        "discardResponseBodies": True,
        "noConnectionReuse": not load.keep_alive,
        "maxRedirects": 0,
        "hosts": {urlsplit(load.url).hostname: load.address} if load.address else {},  # also not those of ~/.config
    }
    text = _K6_SCRIPT.format(
        options=json.dumps(options, indent=2),
        body=json.dumps(load.body) if load.body else f'"x".repeat({load.body_bytes})' if load.body_bytes else "null",
        params=json.dumps({"headers": dict(load.headers), "timeout": milliseconds(load.timeout_s)}),
        method=json.dumps(load.method),
        urls=json.dumps([f"{root}{path}" for path in load.paths] or [load.url]),
    )
    return CommandLine(
        ("k6", "run", "--no-color", "--no-usage-report", "--address=", f"/proc/self/cwd/{script}"), {script: text}
    )


def _k6_scenario(load: Load) -> dict[str, Any]:
    users = load.connections
    stop = {"gracefulStop": milliseconds(load.timeout_s)}
    duration = milliseconds(load.duration_s)
    if load.rate_rps:
        rate = {"rate": load.rate_rps, "timeUnit": "1s", "preAllocatedVUs": users, "maxVUs": users}
        return {"executor": "constant-arrival-rate", "duration": duration, **rate, **stop}
    if load.duration_s:
        return {"executor": "constant-vus", "vus": users, "duration": duration, **stop}
    return {"executor": "shared-iterations", "vus": users, "iterations": load.requests, **stop}


# k6, whose test is a script.  Seen: k6 1.8.1, built by ``go install``.
K6 = Generator(
    Tool("k6", "load, both loops", "version", source="https://github.com/grafana/k6/releases"),
    "Runs a script that sends in a closed loop, or at a fixed rate; at a rate, requests that are due while all "
    "connections are busy are not sent.",
    _k6,
    bounds=("duration_s", "requests"),
    loop="both",
    methods=("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    duration_unit_s=0.001,
    has_threads=False,  # it has a thread for each processor that it may use
    times_from_due=False,
    mixes=True,
)


def _oha(load: Load, stem: str) -> CommandLine:
    """Command of oha; ``-q`` is the rate of all its connections together.  It follows no redirect."""
    files = body_file(load, stem)
    bound = ("-z", milliseconds(load.duration_s)) if load.duration_s else ("-n", str(load.requests))
    due = ("--latency-correction",) if load.from_due else ()
    host, _, port = load.endpoint.rpartition(":")
    place = ("--connect-to", f"{urlsplit(load.url).hostname}:{port}:{host}:{port}") if load.address else ()
    rate = ("-q", str(load.rate_rps), *due) if load.rate_rps else ()
    argv = (
        "oha", "--no-tui", "-c", str(load.connections), *bound, *rate,
        "-t", milliseconds(load.timeout_s), "-r", "0",
        *(() if load.keep_alive else ("--disable-keepalive",)), "-m", load.method,
        *[word for name in files for word in ("-D", name)], *header_options(load), *place, load.url,
    )  # fmt: skip
    return CommandLine(argv, files)


# oha.  Seen: oha 1.16.0, from crates.io.
OHA = Generator(
    Tool("oha", "load, both loops", "--version", source="cargo install oha"),
    "Sends requests in a closed loop, or at a fixed rate; at a rate, response times count from when a request was due "
    "or, on request, from when it was sent.",
    _oha,
    bounds=("duration_s", "requests"),
    loop="both",
    methods=("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    duration_unit_s=0.001,
    has_threads=False,  # it has a thread for each processor that it may use
)


def _weighttp(load: Load, stem: str) -> CommandLine:
    load = load.by_address
    return CommandLine((
        "weighttp", "-n", str(load.requests), "-c", str(load.connections), "-t", str(load.used_threads),
        *(("-k",) if load.keep_alive else ()), *header_options(load), load.url,
    ))  # fmt: skip


# weighttp.  It is not in Debian: its command follows ``weighttp -h`` (0.4).
WEIGHTTP = Generator(
    Tool("weighttp", "load, closed loop", "-v", source="build https://git.lighttpd.net/lighttpd/weighttp"),
    "Sends a fixed number of GET requests from several threads.",
    _weighttp,
    # 0.4 has no option for a duration or a method (show_help in src/weighttp.c).
    bounds=("requests",),
)


_REPORTER = Path(__file__).with_name("reporter.lua").read_text("utf-8")
_WRK_PIN = """
-- The address that was checked: no second lookup of the name.
local resolve = wrk.resolve
function wrk.resolve(_, service) resolve("{address}", service) end
"""
# Not HEAD: wrk waits for the body that the response to HEAD announces and never sends.
_WRK_METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS")


_WRK_REQUEST = """\
-- The request of this load.
wrk.method = "{method}"
wrk.body = {body}
"""
_WRK_MIX = """
-- The requests of the mix, in their order.
local requests, number = {{}}, 0
function init()
   for i, path in ipairs {{ {paths} }} do requests[i] = wrk.format(nil, path) end
end
function request()
   number = number % #requests + 1
   return requests[number]
end
"""


def _wrk(load: Load, stem: str) -> CommandLine:
    script, report = f"{stem}.wrk.lua", f"{stem}.wrk.json"
    argv = ("wrk", *_wrk_options(load), "-s", script, load.url, "--", report, str(load.connections))
    return CommandLine(argv, {script: _wrk_script(load) + _REPORTER}, {"json": report})


def _wrk_script(load: Load) -> str:
    """Lua of wrk or wrk2 for what their options do not say; empty if there is nothing."""
    body = in_lua(load.body) if load.body else f'string.rep("x", {load.body_bytes})'
    request = _WRK_REQUEST.format(method=load.method, body=body) if load.method != "GET" else ""
    mix = _WRK_MIX.format(paths=", ".join(map(in_lua, load.paths))) if load.mix else ""
    # Connect to the checked address, and name the host of the URL.
    pin = _WRK_PIN.format(address=load.address) if load.address else ""
    return "".join((request, mix, load.script and f"{load.script.rstrip()}\n", pin))


def _wrk_options(load: Load) -> tuple[str, ...]:
    """Options that wrk and wrk2 share."""
    closing = () if load.keep_alive else ("-H", "Connection: close")
    return (
        f"-t{load.used_threads}", f"-c{load.connections}", f"-d{load.duration_s:g}s",
        "--timeout", f"{load.timeout_s:g}s", "--latency", *header_options(load), *closing,
    )  # fmt: skip


# wrk, with a script that writes its results as JSON.  Seen: Debian's wrk 4.1.0.
WRK = Generator(
    Tool("wrk", "load, closed loop", "-v", "wrk", group="lab-tools"),
    "Sends requests from several threads; a script of the laboratory writes counts and percentiles as JSON.",
    _wrk,
    bounds=("duration_s",),
    methods=_WRK_METHODS,
    even_connections=True,  # src/wrk.c: t->connections = cfg.connections / cfg.threads
    mixes=True,
    runs_lua=True,
)


def _wrk2(load: Load, stem: str) -> CommandLine:
    """Command of wrk2: ``-R`` is the rate of all its connections together."""
    script = f"{stem}.wrk2.lua"
    files = {script: text} if (text := _wrk_script(load)) else {}
    return CommandLine(
        ("wrk2", f"-R{load.rate_rps}", *_wrk_options(load), *(("-s", script) if files else ()), load.url), files
    )


# wrk2, which sends at a rate.  It is not in Debian: its command follows its README.
WRK2 = Generator(
    Tool("wrk2", "load, open loop", "-v", source="build https://github.com/giltene/wrk2"),
    "Sends requests at a fixed rate; response times count from the instant at which each request was due.",
    _wrk2,
    bounds=("duration_s",),
    loop="open",
    methods=_WRK_METHODS,
    even_connections=True,
    mixes=True,
    runs_lua=True,
)
