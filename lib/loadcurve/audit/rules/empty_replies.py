"""Responses without a byte were counted, so the throughput is partly that of closed connections.

What it means
-------------
ab calls a request complete when its connection ends, also without a single byte: `Complete requests: 200`, `Failed
requests: 0`, `Total transferred: 0 bytes`, and 25,000 requests/s. The shortest response of HTTP/1 has 16 bytes
(`HTTP/1.1 200` and two line ends), of HTTP/2 9 bytes (RFC 9113, section 4.1). So fewer bytes for each response are
certainly not responses.

If only some replies of ab are empty, the totals show them: equal responses of $h$ bytes of header and $b$ of body make
$m h$ and $m b$ bytes, so their number $m$ divides both totals; the rule takes the largest such number.  In one
run ab counted 46,700 requests; its bytes are those of 42,110 responses of 144 and 616 bytes.  By chance two totals have
such a divisor about once in as many runs as there are requests.

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

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Need, Rule, Severity
from loadcurve.audit.run_tables import Tables, rows_of


def judge_empty(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs`` with responses: bytes for each response."""
    for run, _ in rows_of(tables):
        if not run.requests or run.received_body_bytes > run.received_bytes:  # h2load counts 0 bytes of HTTP/1.1
            continue
        each = float(run.received_bytes) / int(run.requests)
        text = f"{run.received_bytes:.0f} bytes in {run.requests} responses are {each:.1f} bytes each"
        if whole := _whole_responses(run):
            share = 1 - whole / int(run.requests)
            header, body = ((run.received_bytes - run.received_body_bytes) / whole, run.received_body_bytes / whole)
            text = (
                f"The bytes are those of at most {whole} equal responses ({header:.0f} bytes of header, {body:.0f} of "
                f"body); {run.requests} were counted, so at least {run.requests - whole} replies were empty"
            )
            severity: Severity = "error" if share > limits["share"] else "warning"
            yield Finding(run, severity, f"{text}.", _ADVICE, each, limits["bytes"])
        elif each >= limits["bytes"]:
            yield Finding(run, "ok", f"{text}.", "", each, limits["bytes"])
        else:
            text += ", so the tool counts closed connections as responses"
            yield Finding(run, "error", f"{text}.", _ADVICE, each, limits["bytes"])


def _whole_responses(run: Any) -> int:
    """Return at most how many equal responses have the bytes of a run; 0 if they may be all that it counts."""
    if run.tool != "ab":  # others count an empty reply as an error, and bytes of requests that did not end
        return 0
    counted, whole, bodies = int(run.requests), run.received_bytes, run.received_body_bytes
    if counted < _FEWEST:
        return 0
    # Where ab knows the length of the document, it counts an empty reply as a failure.
    if pd.isna(bodies) or bodies <= 0 or whole <= bodies or whole % 1 or bodies % 1 or pd.notna(run.document_bytes):
        return 0
    divisor = math.gcd(int(whole - bodies), int(bodies))
    in_flight = 0 if pd.isna(run.connections) else int(run.connections)  # at the end, received but not counted
    least = max(divisor // (counted + in_flight), 1)
    number = next((divisor // part for part in range(least, 2 * least + 2) if divisor % part == 0), 0)
    header = (whole - bodies) / number if number else 0
    return number if counted / 2 < number < counted and _SHORTEST <= header < _LONGEST else 0


# A number m divides both totals by chance in one of m^2 cases, one from n / 2 to n in about one of n; then the bytes of
# responses that had not come in full at the end are taken for empty replies.
_FEWEST = 1000
# Bytes of a header: a status line alone, and the buffers of nginx and Apache httpd for one.
_SHORTEST, _LONGEST = 16, 8192
_ADVICE = (
    "The server closes connections without a byte. Request one page by `curl -si URL`, read the server's error log, "
    "and repeat; until then throughput counts closed connections."
)


RULE = Rule(
    "empty-replies",
    "Has each response that counts any bytes?",
    judge_empty,
    {
        "ok": "at least 9 bytes for each response",
        "warning": "the bytes are those of fewer equal responses",
        "error": "fewer bytes, or more than 10 % of the replies are empty",
    },
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
    limits={
        "bytes": Limit(9, "the header of a frame of HTTP/2 (RFC 9113, section 4.1); of HTTP/1, 16 bytes"),
        "share": Limit(0.1, "a tenth changes throughput by more than most differences that a study looks for"),
    },
    unfinished=True,
    family="Errors",
)
