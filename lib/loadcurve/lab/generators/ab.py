"""ab, of Apache's utilities.  Seen: Debian's ab 2.3."""

from urllib.parse import urlsplit

from loadcurve.lab.generators.generator import CommandLine, Generator, body_file, header_options
from loadcurve.lab.generators.load import Load
from loadcurve.lab.hosts.tools import Tool

# ab ends at -n even before -t: 100 s at 50,000 requests/s.  It reserves 32 bytes of addresses for each, 160 MB in all.
MAX_REQUESTS = 5_000_000
_METHOD_OPTIONS = {"GET": (), "HEAD": ("-i",), "POST": ("-T", "text/plain", "-p"), "PUT": ("-T", "text/plain", "-u")}
TOOL = Tool("ab", "load, closed loop", "-V", "apache2-utils", group="lab-tools")


def _command_line(load: Load, stem: str) -> CommandLine:
    """Command of ab: ``-l`` accepts bodies of any length, ``-r`` continues after an error of a socket."""
    load = load.by_address
    percentiles, requests = f"{stem}.ab.percentiles.csv", f"{stem}.ab.requests.txt"
    # -t sets -n to 50000, unless -n comes after it.
    bound = ("-t", f"{load.duration_s:g}", "-n", str(MAX_REQUESTS)) if load.duration_s else ("-n", str(load.requests))
    files = body_file(load, stem)
    method = (*_METHOD_OPTIONS.get(load.method, ("-m", load.method)), *files)
    each = ("-g", requests) if load.each_request else ()
    argv = (
        "ab", "-q", "-l", "-r", "-c", str(load.connections), *bound, "-s", f"{load.timeout_s:g}",
        *(("-k",) if load.keep_alive else ()), *method, *header_options(load), "-e", percentiles, *each,
        load.url if urlsplit(load.url).path else f"{load.url}/",  # ab refuses a URL without a path
    )  # fmt: skip
    return CommandLine(argv, files, {"percentiles": percentiles} | ({"requests": requests} if each else {}))


AB = Generator(
    TOOL,
    "Sends requests from one thread, and writes percentiles and, if asked, each request to files.",
    _command_line,
    bounds=("duration_s", "requests"),
    methods=("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"),
    has_threads=False,
    logs_requests=True,
    max_requests=MAX_REQUESTS,
)
