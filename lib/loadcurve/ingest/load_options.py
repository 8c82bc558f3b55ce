"""What a load generator was asked for, where its command line says it and its report does not.

This is the rate at which it was asked to send, whether it counts response times from when a request was due, and its
connections.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from loadcurve.ingest.parsed import Parsed, Tables

_MOST = 1_000_000  # characters; a report of a load generator is short
# A run can be ahead of its rate by the requests of its first instant; more than this, the command is of another run.
_OVER_RATE = 1.05
_NUMBER = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([kKMG]?)")
_UNITS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}  # wrk2: src/units.c
_END = re.compile(r"\s(?:[|;>]|&&|2>|#\s).*|[`'\")]*\s*$")
_URL = re.compile(r"(https?://[^\s'\"|)`>,;]+)|--server[= ](\S+)")
_TARGET = re.compile(r"[./:]\w")


@dataclass(frozen=True)
class _Options:
    """Options of one tool: names of the rate and of the connections, and the flag of correction."""

    rate: tuple[str, ...]
    connections: tuple[str, ...] = ()
    default: int = 0  # number of connections without that option
    of_each: bool = False  # each connection has the rate
    states_connections: bool = False  # the report does
    attached: bool = False  # a short option may have its value in the same word, as getopt allows
    due: str = ""  # counts response times from when a request was due


# Each tool's own help; the flags of Go programs have no value in the same word, except after `=`.
_TOOLS = {
    "oha": _Options(("-q",), ("-c",), 50, attached=True, due="--latency-correction"),
    "wrk2": _Options(("-R", "--rate"), attached=True),
    "hey": _Options(("-q",), ("-c",), 50, of_each=True),
    "h2load": _Options(("--rps",), ("-c", "--clients"), 1, of_each=True, states_connections=True, attached=True),
    "k6": _Options(("--rps",)),
    "ghz": _Options(("-r", "--rps"), ("-c", "--concurrency"), 50),
}


def options_of(tool: str, argv: Sequence[str]) -> dict[str, float | bool]:
    """Return ``target_rate_rps``, ``connections`` and ``latency_corrected``, as far as a command line settles them."""
    known = _TOOLS.get(tool)
    at = next((i for i, word in enumerate(argv) if PurePosixPath(word).name == tool), None)
    if known is None or at is None:
        return {}
    words = argv[at + 1 :]
    rate, connections = (_value(words, names, known.attached) for names in (known.rate, known.connections))
    connections = known.default if connections != connections else connections
    rate *= connections if known.of_each else 1
    found: dict[str, float | bool] = {"target_rate_rps": rate} if rate > 0 else {}
    if connections and not known.states_connections:
        found["connections"] = int(connections)
    if known.due:  # without a rate no request is due
        found["latency_corrected"] = rate > 0 and known.due in words
    return found


def _value(words: Sequence[str], names: tuple[str, ...], attached: bool) -> float:
    """Return the number of the last of these options; NaN if there is none, or no number."""
    value = float("nan")
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, text = word.partition("=")
        if name not in names:
            name = next((n for n in names if attached and len(n) == 2 and word.startswith(n)), "")
            equals, text = name, word[2:]
        if name and (match := _NUMBER.fullmatch(text if equals else following)):
            value = float(match[1]) * _UNITS[match[2]]
    return value


def add_options(parsed: Parsed, text: str) -> Parsed:
    """Return what was parsed of a text with the options of the commands in it, if there is one command for each run."""
    parsed = _with_url(parsed, text)
    # The parser of wrk2 takes the rate itself, because it knows to which of the reports a line belongs.
    if parsed.tool not in _TOOLS or parsed.tool == "wrk2" or "runs" not in parsed.tables or len(text) > _MOST:
        return parsed
    runs = parsed.tables.rows("runs")
    commands = list(_commands(parsed.tool, text))
    if not isinstance(runs, Sequence) or not commands or len(commands) != len(runs):
        return parsed
    return with_options(parsed, [options_of(parsed.tool, command) for command in commands])


def with_options(parsed: Parsed, options: Sequence[dict[str, float | bool]]) -> Parsed:
    """Return what was parsed with the options of each run, where the report says nothing."""
    tables = {name: parsed.tables.rows(name) for name in parsed.tables}
    if not any(options) or any(not isinstance(table, Sequence) for table in tables.values()):
        return parsed
    corrected = {}
    rows = []
    for run, asked in zip(tables["runs"], options, strict=True):
        more = {name: value for name, value in asked.items() if name not in run}
        if run.get("throughput_rps", 0.0) > more.get("target_rate_rps", float("inf")) * _OVER_RATE:
            more = {}
        rows.append({**run, **more})
        if "latency_corrected" in more:
            corrected[run.get("generator")] = more["latency_corrected"]
    for name in ("latency", "histogram"):
        if name in tables:
            tables[name] = [_marked(row, corrected) for row in tables[name]]
    return replace(parsed, tables=Tables({**tables, "runs": rows}))


def _with_url(parsed: Parsed, text: str) -> Parsed:
    """Return what was parsed with the URL that the commands in the text name, if reports print none."""
    runs = parsed.tables.rows("runs") if "runs" in parsed.tables else ()
    if not isinstance(runs, Sequence) or len(text) > _MOST or all("url" in run for run in runs):
        return parsed
    lines = [line for line in text.replace("\\\n", " ").split("\n") if f"{parsed.tool} " in line]
    targets = {_URL.sub(r"\1\2", found[0]) for line in lines if (found := _URL.search(line))}
    if len(targets) != 1:
        return parsed
    url = targets.pop()
    rows = [{"url": url if "://" in url else f"http://{url}/", **run} for run in runs]
    return replace(parsed, tables=Tables({**{name: parsed.tables.rows(name) for name in parsed.tables}, "runs": rows}))


def _marked(row: dict[str, Any], corrected: dict[Any, Any]) -> dict[str, Any]:
    found = corrected.get(row.get("generator"))
    return row if found is None or row.get("corrected") is not None else {**row, "corrected": found}


def _commands(tool: str, text: str) -> Iterator[list[str]]:
    """Words of each command of a tool that a line of the text shows: it has an option, and a URL or a file."""
    for line in text.replace("\\\n", " ").split("\n"):
        place = line.find(f"{tool} ")
        before = line[:place].rstrip("`'\"(").split(" ")[-1] if place >= 0 else ""
        if place < 0 or not (before == "" or before.endswith(("/", "$", "#", ">", "%"))):
            continue
        shown = _END.sub("", line[place:], count=1)
        try:
            words = shlex.split(shown)
        except ValueError:  # quotes that are not closed
            words = shown.split()
        if any(word.startswith("-") for word in words) and any(_TARGET.search(word) for word in words):
            yield words
