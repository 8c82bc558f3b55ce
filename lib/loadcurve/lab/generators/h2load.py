"""h2load, of nghttp2.  Seen: Debian's h2load 1.52.0."""

from loadcurve.lab.generators.generator import CommandLine, Generator, body_file, header_options, milliseconds
from loadcurve.lab.generators.load import Load
from loadcurve.lab.hosts.tools import Tool

TOOL = Tool("h2load", "load, HTTP/2", "--version", "nghttp2-client")


def _command_line(load: Load, stem: str) -> CommandLine:
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


H2LOAD = Generator(
    TOOL,
    "Sends requests by HTTP/1.1, one at a time on each connection, in a closed loop or at a fixed rate, and writes "
    "each of them to a file if asked; at a rate, all connections send at once, and a request due on a busy one waits.",
    _command_line,
    bounds=("duration_s", "requests"),
    loop="both",
    # -d makes the request a POST; no option closes a connection after a response.
    methods=("GET", "POST"),
    duration_unit_s=0.001,
    reconnects=False,
    logs_requests=True,
    times_from_due=False,
)
