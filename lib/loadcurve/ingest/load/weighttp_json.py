"""weighttp: read the JSON of its rewrite as the result of one run.

The rewrite counts ``retired`` requests, ``pass``, ``fail`` and ``errs`` (never summed), and prints the times to
connect, to the first byte and to the end of the response in whole units of ``unit``, with the keys ``0%`` to ``100%``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.json_text import Decoder, integer_at, number_at, optional_integer_at, value_at

_PHASES = {
    "connect_times": "connect", "time_to_first_byte": "first_byte", "response_times": "processing",
    "total_times": "total",
}  # fmt: skip
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_RANK = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%")
_KEYS = {
    "request_counts": ("started", "retired"), "response_counts": ("pass", "fail", "errs"),
    "status_codes": ("2xx", "3xx", "4xx", "5xx"), "traffic": ("bytes_total", "bytes_headers", "bytes_body"),
}  # fmt: skip


_SINGLE = ("reqs_per_sec", "kBps_per_sec", "secs_elapsed")
_MORE = {"request_counts": ("total", "keep-alive")}
_OF_TIMES = ("avg", "num", "stddev", "unit")


@dataclass
class Run:
    """The result of one run."""

    line: int
    version: str = ""
    command: int = 0
    threads: list[tuple[int, int]] = field(default_factory=list)
    errors: list[tuple[str, int]] = field(default_factory=list)
    result: dict[str, tuple[int, ...]] = field(default_factory=dict)
    latest: int = 0
    duration: float = 0.0
    columns: dict = field(default_factory=dict)
    phases: list[dict] = field(default_factory=list)
    latency: list[dict] = field(default_factory=list)
    ended: bool = False  # an error before the start, or the whole result


def take_json(run: Run, cursor: Cursor) -> int:
    """Take the JSON that begins in the current line; return how many lines it has."""
    text = cursor.rest()
    try:
        decoder = Decoder(parse_int=_whole)
        document, end = decoder.raw_decode(text, text.index("{"))
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            cursor.warn("the text ends inside the JSON, which is left out")
            return text.count("\n") + 1
        line, got = cursor.number + error.lineno - 1, text[error.pos : error.pos + 40]
        raise ParseError(line, f"JSON of weighttp: {error.msg}", got) from None
    except (RecursionError, ValueError) as error:
        raise ParseError(cursor.number, "JSON of weighttp", type(error).__name__) from None
    cursor.warnings += decoder.warnings(cursor.number)
    part = text[:end]
    try:
        _take_document(run, document, part, cursor)
    except ParseError as error:
        raise ParseError(cursor.number + error.line - 1, error.expected, error.got) from None
    run.latest, run.ended = cursor.number, True
    return part.count("\n") + 1


def _whole(digits: str) -> int:
    if len(digits) > 20:  # 2**64 - 1 is printed as the least of no times
        raise ValueError("a whole number of more than 64 bits")
    return int(digits)


def _take_document(run: Run, document: object, part: str, cursor: Cursor) -> None:
    if unknown := sorted(_unknown(document)):
        cursor.warn(f"keys of weighttp not known, left out: {' '.join(unknown)[:200]}")
    counts = {name: _counts(document, name, keys, part) for name, keys in _KEYS.items()}
    run.duration = number_at(document, "secs_elapsed", part)
    requested = optional_integer_at(document, "request_counts.total", part)
    run.result = {
        "finished": (integer_at(document, "reqs_per_sec", part), integer_at(document, "kBps_per_sec", part)),
        "requests": (-1 if requested is None else requested, *counts["request_counts"], *counts["response_counts"]),
        "status": counts["status_codes"],
        "traffic": counts["traffic"],
    }
    alive = optional_integer_at(document, "request_counts.keep-alive", part)
    run.columns = {} if alive is None else {"requests_keepalive": alive}
    for name, phase in _PHASES.items():
        if isinstance(times := value_at(document, name, part, required=False), Mapping) and times.get("num"):
            run.phases.append(_phase(document, name, phase, part))
            if phase in ("processing", "total"):
                run.latency = _quantiles(document, name, part)
    main = next((row for row in reversed(run.phases) if row["phase"] in ("processing", "total")), None)
    if main and not is_silent(run):
        run.columns |= {
            f"latency_{name}": main[name] for name in ("mean_s", "stdev_s", "min_s", "max_s") if name in main
        }
        run.columns |= {"latency_origin": "measured", "percentile_estimator": "order statistic floor(n p)"}
    else:
        run.latency = []


def _unknown(document: object) -> set[str]:
    """Keys of the document and of its parts that weighttp does not print."""
    found = set()
    for key, value in document.items() if isinstance(document, Mapping) else ():
        known = (*_KEYS.get(key, ()), *(_OF_TIMES if key in _PHASES else _MORE.get(key, ())))
        found |= set() if key in _SINGLE or key in _KEYS or key in _PHASES else {str(key)}
        inner = value if isinstance(value, Mapping) and key in (*_KEYS, *_PHASES) else ()
        found |= {f"{key}.{name}" for name in inner if name not in known and not _RANK.fullmatch(str(name))}
    return found


def _counts(document: object, name: str, keys: tuple[str, ...], part: str) -> tuple[int, ...]:
    return tuple(integer_at(document, f"{name}.{key}", part) for key in keys)


def _scale(document: object, name: str, part: str) -> float:
    unit = value_at(document, f"{name}.unit", part)
    if unit not in _SECONDS:
        raise ParseError(1, f"a unit of {name} such as us", str(unit))
    return _SECONDS[unit]


def _phase(document: object, name: str, phase: str, part: str) -> dict:
    scale = _scale(document, name, part)
    keys = {"mean_s": "avg", "stdev_s": "stddev", "min_s": "0%", "median_s": "50%", "max_s": "100%"}
    values = {
        column: number_at(document, f"{name}.{key}", part, required=False) * scale for column, key in keys.items()
    }
    return {"phase": phase, **{column: value for column, value in values.items() if value == value}}


def _quantiles(document: object, name: str, part: str) -> list[dict]:
    scale = _scale(document, name, part)
    times = value_at(document, name, part)
    found = [(float(match[1]), key) for key in times if (match := _RANK.fullmatch(key)) and float(match[1]) <= 100]
    rows = [(rank, number_at(document, f"{name}.{key}", part) * scale) for rank, key in found if "." not in key]
    return [{"quantile": rank / 100, "latency_s": value, "corrected": False} for rank, value in rows]


def is_silent(run: Run) -> bool:
    """Whether requests ended without a byte received."""
    return run.result["requests"][2] > 0 and run.result["traffic"][0] == 0
