"""k6, whose test is a script.  Seen: k6 1.8.1, built by ``go install``."""

import json
from urllib.parse import urlsplit

from loadcurve.lab.generators.generator import CommandLine, Generator, milliseconds
from loadcurve.lab.generators.load import Load
from loadcurve.lab.hosts.tools import Tool

TOOL = Tool("k6", "load, both loops", "version", source="https://github.com/grafana/k6/releases")

# Longer than the percentiles of k6's default summary (p90, p95).
_STATISTICS = ["avg", "min", "med", "max", "p(75)", "p(90)", "p(95)", "p(99)", "p(99.9)"]
_SCRIPT = """\
// The load of one k6 process: each of its virtual users has one connection.
import http from "k6/http";

export const options = {options};
const body = {body};
const params = {params};

export default function () {{
  http.request({method}, {url}, body, params);
}}
"""


def _command_line(load: Load, stem: str) -> CommandLine:
    """Command of k6 and its script; it follows no redirect, opens no port, and reports nothing to its makers."""
    script = f"{stem}.k6.js"
    options = {
        "scenarios": {"load": _scenario(load)},
        "summaryTrendStats": _STATISTICS,
        "discardResponseBodies": True,
        "noConnectionReuse": not load.keep_alive,
        "maxRedirects": 0,
        "hosts": {urlsplit(load.url).hostname: load.address} if load.address else {},  # also not those of ~/.config
    }
    text = _SCRIPT.format(
        options=json.dumps(options, indent=2),
        body=f'"x".repeat({load.body_bytes})' if load.body_bytes else "null",
        params=json.dumps({"headers": dict(load.headers), "timeout": milliseconds(load.timeout_s)}),
        method=json.dumps(load.method),
        url=json.dumps(load.url),
    )
    return CommandLine(("k6", "run", "--no-color", "--no-usage-report", "--address=", script), {script: text})


def _scenario(load: Load) -> dict:
    users = load.connections
    stop = {"gracefulStop": milliseconds(load.timeout_s)}
    duration = milliseconds(load.duration_s)
    if load.rate_rps:
        rate = {"rate": load.rate_rps, "timeUnit": "1s", "preAllocatedVUs": users, "maxVUs": users}
        return {"executor": "constant-arrival-rate", "duration": duration, **rate, **stop}
    if load.duration_s:
        return {"executor": "constant-vus", "vus": users, "duration": duration, **stop}
    return {"executor": "shared-iterations", "vus": users, "iterations": load.requests, **stop}


K6 = Generator(
    TOOL,
    "Runs a script that sends in a closed loop, or at a fixed rate; at a rate, requests that are due while all "
    "connections are busy are not sent.",
    _command_line,
    bounds=("duration_s", "requests"),
    loop="both",
    methods=("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    duration_unit_s=0.001,
    has_threads=False,  # it has a thread for each processor that it may use
    times_from_due=False,
)
