"""Rule ``empty-replies``: each response that counts has bytes.

What it means
-------------
The tool counts closed connections as responses.  ab calls a request complete when its connection ends, also without a
single byte: `Complete requests: 200`, `Failed requests: 0`, `Total transferred: 0 bytes`, and 25,000 requests/s.  The
shortest response of HTTP/1 has 16 bytes (`HTTP/1.1 200` and two line ends), of HTTP/2 9 bytes (RFC 9113, section 4.1).
So fewer bytes for each response are certainly not responses.

Why it happens
--------------
The server or a balancer closes or resets each connection at once: no server behind the balancer, a TLS port addressed
without TLS, a limit of connections for each client, a process that fails when it starts.  `Server Software:` of ab is
empty then.

How to fix it
-------------
Request one page by `curl -si URL`: `Empty reply from server` (exit code 52) or `Connection reset by peer` (56) confirms
it.  Read the error log of the server and of the balancer.  Then repeat the run.

When to ignore it
-----------------
Never.  An empty file is no such case: its response has a header of 200 bytes and more.
"""

from collections.abc import Iterator, Mapping

from loadcurve.audit.of_runs import Tables, rows_of
from loadcurve.audit.rule import Finding, Limit, Need, Rule


def judge_empty(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs`` with responses: bytes for each response."""
    for run, _ in rows_of(tables):
        if not run.requests:
            continue
        each = float(run.received_bytes) / int(run.requests)
        text = f"{run.received_bytes:.0f} bytes in {run.requests} responses are {each:.1f} bytes each"
        if each >= limits["bytes"]:
            yield Finding(run, "ok", f"{text}.", "", each, limits["bytes"])
        else:
            text += ", so the tool counts closed connections as responses"
            yield Finding(run, "error", f"{text}.", _ADVICE, each, limits["bytes"])


_ADVICE = "Request one page by `curl -si URL`, and read the error log of the server: it closes connections at once."

RULE = Rule(
    "empty-replies",
    "Has each response that counts any bytes?",
    judge_empty,
    {"ok": "at least 9 bytes for each response", "error": "fewer"},
    needs=(
        Need("runs", ("requests",), "the number of responses", "Use a generator that reports it.", applies=False),
        Need(
            "runs",
            ("received_bytes",),
            "the bytes received, headers included",
            "Use a generator that reports them, such as wrk or ab.",
            applies=False,
        ),
    ),
    limits={"bytes": Limit(9, "the header of a frame of HTTP/2 (RFC 9113, section 4.1); of HTTP/1, 16 bytes")},
    unfinished=True,
    family="Errors",
)
