"""oha.  Seen: oha 1.16.0, from crates.io."""

from urllib.parse import urlsplit

from loadcurve.lab.generators.generator import CommandLine, Generator, body_file, header_options, milliseconds
from loadcurve.lab.generators.load import Load
from loadcurve.lab.hosts.tools import Tool

TOOL = Tool("oha", "load, both loops", "--version", source="cargo install oha")


def _command_line(load: Load, stem: str) -> CommandLine:
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


OHA = Generator(
    TOOL,
    "Sends requests in a closed loop, or at a fixed rate; at a rate, response times count from when a request was due "
    "or, on request, from when it was sent.",
    _command_line,
    bounds=("duration_s", "requests"),
    loop="both",
    methods=("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    duration_unit_s=0.001,
    has_threads=False,  # it has a thread for each processor that it may use
)
