"""wrk, with a script that writes its results as JSON.  Seen: Debian's wrk 4.1.0."""

from pathlib import Path

from loadcurve.lab.generators.generator import CommandLine, Generator, header_options
from loadcurve.lab.generators.load import Load
from loadcurve.lab.hosts.tools import Tool

_REPORTER = Path(__file__).with_name("reporter.lua").read_text("utf-8")
_PIN = """
-- The address that was checked: no second lookup of the name.
local resolve = wrk.resolve
function wrk.resolve(_, service) resolve("{address}", service) end
"""
# Not HEAD: wrk waits for the body that the response to HEAD announces and never sends.
METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS")
TOOL = Tool("wrk", "load, closed loop", "-v", "wrk", group="lab-tools")


def _command_line(load: Load, stem: str) -> CommandLine:
    script, report = f"{stem}.wrk.lua", f"{stem}.wrk.json"
    body = (load.method, str(load.body_bytes)) if load.method != "GET" else ()
    argv = ("wrk", *options(load), "-s", script, load.url, "--", report, str(load.connections), *body)
    return CommandLine(argv, {script: _REPORTER + pin(load)}, {"json": report})


def pin(load: Load) -> str:
    """Text for a script of wrk or wrk2: connect to the checked address, and name the host of the URL."""
    return _PIN.format(address=load.address) if load.address else ""


def options(load: Load) -> tuple[str, ...]:
    """Options that wrk and wrk2 share."""
    closing = () if load.keep_alive else ("-H", "Connection: close")
    return (
        f"-t{load.used_threads}", f"-c{load.connections}", f"-d{load.duration_s:g}s",
        "--timeout", f"{load.timeout_s:g}s", "--latency", *header_options(load), *closing,
    )  # fmt: skip


WRK = Generator(
    TOOL,
    "Sends requests from several threads; a script of the laboratory writes counts and percentiles as JSON.",
    _command_line,
    bounds=("duration_s",),
    methods=METHODS,
    even_connections=True,  # src/wrk.c: t->connections = cfg.connections / cfg.threads
)
