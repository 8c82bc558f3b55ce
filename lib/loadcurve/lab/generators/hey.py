"""hey.  Seen: Debian's hey, which prints no version."""

from loadcurve.lab.generators.generator import CommandLine, Generator, body_file, header_options, milliseconds
from loadcurve.lab.generators.load import Load
from loadcurve.lab.hosts.tools import Tool

TOOL = Tool("hey", "load, closed loop", "", "hey")


def _command_line(load: Load, stem: str) -> CommandLine:
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


HEY = Generator(
    TOOL,
    "Sends requests from one worker per connection, and prints a histogram of response times.",
    _command_line,
    bounds=("duration_s", "requests"),
    methods=("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    duration_unit_s=0.001,
    even_requests=True,  # each of its workers sends N / C requests (requester/requester.go)
)
