"""ab, weighttp, h2load and hey: their commands, all of the closed loop.

Seen: Debian's ab 2.3, h2load 1.52.0 and hey.  weighttp is not in Debian: its command follows ``weighttp -h``.
"""

from urllib.parse import urlsplit

from loadcurve.lab.generators.generator import body_file
from loadcurve.lab.generators.load import Load

# ab ends at -n even before -t: 100 s at 50,000 requests/s.  It reserves 32 bytes of addresses for each, 160 MB in all.
MOST_OF_AB = 5_000_000

Made = tuple[tuple[str, ...], dict[str, str], dict[str, str]]


def ab(load: Load, stem: str) -> Made:
    """Command of ab, which takes no URL without a path.

    ``-l`` accepts bodies of any length, ``-r`` goes on after an error of a socket.
    """
    percentiles, requests = f"{stem}.ab.percentiles.csv", f"{stem}.ab.requests.txt"
    # -t sets -n to 50000, unless -n comes after it.
    bound = ("-t", f"{load.duration_s:g}", "-n", str(MOST_OF_AB)) if load.duration_s else ("-n", str(load.requests))
    files = body_file(load, stem)
    known = {"GET": (), "HEAD": ("-i",), "POST": ("-T", "text/plain", "-p"), "PUT": ("-T", "text/plain", "-u")}
    method = (*known.get(load.method, ("-m", load.method)), *files)
    each = ("-g", requests) if load.each_request else ()
    argv = (
        "ab", "-q", "-l", "-r", "-c", str(load.connections), *bound, "-s", f"{load.timeout_s:g}",
        *(("-k",) if load.keep_alive else ()), *method, *_headers(load), "-e", percentiles, *each,
        load.url if urlsplit(load.url).path else f"{load.url}/",
    )  # fmt: skip
    return argv, files, {"percentiles": percentiles} | ({"requests": requests} if each else {})


def weighttp(load: Load, stem: str) -> Made:
    """Command of weighttp: a number of requests is all that ends it."""
    argv = (
        "weighttp", "-n", str(load.requests), "-c", str(load.connections), "-t", str(load.used_threads),
        *(("-k",) if load.keep_alive else ()), *_headers(load), load.url,
    )  # fmt: skip
    return argv, {}, {}


def h2load(load: Load, stem: str) -> Made:
    """Command of h2load by HTTP/1.1, one request at a time on each connection; ``-N`` ends what stands still."""
    log, files = f"{stem}.h2load.requests.txt", body_file(load, stem)
    bound = ("-D", _milliseconds(load.duration_s)) if load.duration_s else ("-n", str(load.requests))
    each = (f"--log-file={log}",) if load.each_request else ()
    argv = (
        "h2load", "--h1", "-c", str(load.connections), "-t", str(load.used_threads), *bound,
        "-N", _milliseconds(load.timeout_s), *[word for name in files for word in ("-d", name)], *_headers(load), *each,
        load.url,
    )  # fmt: skip
    return argv, files, {"requests": log} if each else {}


def hey(load: Load, stem: str) -> Made:
    """Command of hey; it does not follow a redirect, which could lead to a host that must not be loaded."""
    files = body_file(load, stem)
    bound = ("-z", _milliseconds(load.duration_s)) if load.duration_s else ("-n", str(load.requests))
    argv = (
        "hey", "-c", str(load.connections), "-cpus", str(load.threads), *bound,
        "-t", f"{load.timeout_s:g}", "-disable-redirects",
        *(() if load.keep_alive else ("-disable-keepalive",)), "-m", load.method,
        *[word for name in files for word in ("-D", name)], *_headers(load), load.url,
    )  # fmt: skip
    return argv, files, {}


def _headers(load: Load) -> list[str]:
    return [word for line in load.header_lines for word in ("-H", line)]


def _milliseconds(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"
