"""wrk2, which sends at a rate.  It is not in Debian: its command follows its README."""

from loadcurve.lab.generators.generator import CommandLine, Generator
from loadcurve.lab.generators.load import Load
from loadcurve.lab.generators.wrk import METHODS, options, pin
from loadcurve.lab.hosts.tools import Tool

_REQUEST = """\
-- The request of this load, for wrk2.
wrk.method = "{method}"
wrk.body = string.rep("x", {body_bytes})
"""
TOOL = Tool("wrk2", "load, open loop", "-v", source="build https://github.com/giltene/wrk2")


def _command_line(load: Load, stem: str) -> CommandLine:
    """Command of wrk2: ``-R`` is the rate of all its connections together."""
    script = f"{stem}.wrk2.lua"
    request = "" if load.method == "GET" else _REQUEST.format(method=load.method, body_bytes=load.body_bytes)
    files = {script: text} if (text := request + pin(load)) else {}
    return CommandLine(
        ("wrk2", f"-R{load.rate_rps}", *options(load), *(("-s", script) if files else ()), load.url), files
    )


WRK2 = Generator(
    TOOL,
    "Sends requests at a fixed rate; response times count from the instant at which each request was due.",
    _command_line,
    bounds=("duration_s",),
    loop="open",
    methods=METHODS,
    even_connections=True,
)
