"""weighttp.  It is not in Debian: its command follows ``weighttp -h`` (0.4)."""

from loadcurve.lab.generators.generator import CommandLine, Generator, header_options
from loadcurve.lab.generators.load import Load
from loadcurve.lab.hosts.tools import Tool

TOOL = Tool("weighttp", "load, closed loop", "-v", source="build https://git.lighttpd.net/lighttpd/weighttp")


def _command_line(load: Load, stem: str) -> CommandLine:
    load = load.by_address
    return CommandLine((
        "weighttp", "-n", str(load.requests), "-c", str(load.connections), "-t", str(load.used_threads),
        *(("-k",) if load.keep_alive else ()), *header_options(load), load.url,
    ))  # fmt: skip


WEIGHTTP = Generator(
    TOOL,
    "Sends a fixed number of GET requests from several threads.",
    _command_line,
    # 0.4 has no option for a duration or a method (show_help in src/weighttp.c).
    bounds=("requests",),
)
