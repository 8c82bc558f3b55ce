"""wrk, closed loop, and wrk2, which sends at a rate: the reporter's script, and the commands.

Seen: Debian's wrk 4.1.0.  wrk2 is not in Debian: its command follows its README.
"""

from pathlib import Path

from loadcurve.lab.generators.load import Load

_REPORTER = Path(__file__).with_name("reporter.lua").read_text("utf-8")

_REQUEST = """\
-- The request of this load, for wrk2.
wrk.method = "{method}"
wrk.body = string.rep("x", {body_bytes})
"""


def wrk(load: Load, stem: str) -> tuple[tuple[str, ...], dict[str, str], dict[str, str]]:
    """Command of wrk with the laboratory's reporter, its files, and the JSON that the reporter writes."""
    script, report = f"{stem}.wrk.lua", f"{stem}.wrk.json"
    body = (load.method, str(load.body_bytes)) if load.method != "GET" else ()
    argv = ("wrk", *_options(load), "-s", script, load.url, "--", report, str(load.connections), *body)
    return argv, {script: _REPORTER}, {"json": report}


def wrk2(load: Load, stem: str) -> tuple[tuple[str, ...], dict[str, str], dict[str, str]]:
    """Command of wrk2: ``-R`` requests a second in all, response times from the instant each was due."""
    script = f"{stem}.wrk2.lua"
    if load.method == "GET":
        return ("wrk2", f"-R{load.rate_rps}", *_options(load), load.url), {}, {}
    text = _REQUEST.format(method=load.method, body_bytes=load.body_bytes)
    return ("wrk2", f"-R{load.rate_rps}", *_options(load), "-s", script, load.url), {script: text}, {}


def _options(load: Load) -> tuple[str, ...]:
    closing = () if load.keep_alive else ("Connection: close",)
    headers = [word for line in (*load.header_lines, *closing) for word in ("-H", line)]
    return (
        f"-t{load.used_threads}",
        f"-c{load.connections}",
        f"-d{load.duration_s:g}s",
        "--timeout",
        f"{load.timeout_s:g}s",
        "--latency",
        *headers,
    )
