"""vegeta: read ``vegeta report -type=json`` into tables.

Tables: `runs`, `latency`, and `histogram` if ``-buckets`` was given.  Seen: vegeta 6 to 12 in public repositories
(before 12: no ``throughput``, ``min``, ``90th``).  All times are in nanoseconds, ``success`` is a ratio 0-1, the rates
are as in `vegeta` (``lib/metrics.go``).
"""

import math
import re
from collections.abc import Mapping
from itertools import pairwise

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import with_generator_numbers
from loadcurve.ingest.json_text import each_json, instant, integer_at, line_of, number_at, value_at
from loadcurve.ingest.load.vegeta import ESTIMATOR, counts, rates
from loadcurve.ingest.parsed import Parsed

_EXPECTED = "JSON of vegeta report"
_KNOWN = {"total", "mean", "min", "max"}
_PERCENTILE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,9})?th")


def parse_vegeta_json(text: str) -> Parsed:
    r"""Tables `runs`, `latency` and `histogram` of every JSON report of vegeta in a text.

    Examples
    --------
    >>> text = '{"latencies":{"total":4000000,"mean":2000000,"50th":2000000,"max":3000000},"duration":1000000000,' \
    ...        '"wait":0,"requests":2,"rate":2,"success":1,"status_codes":{"200":2},"errors":[]}'
    >>> parse_vegeta_json(text).tables["runs"][["requests", "throughput_rps", "latency_mean_s"]].values.tolist()
    [[2.0, 2.0, 0.002]]
    """
    documents, warnings = each_json(text, _EXPECTED)
    runs = [
        {"runs": [_run(document, text)], "latency": _latencies(document, text), "histogram": _classes(document, text)}
        for document, _ in documents
    ]
    tables = with_generator_numbers(("runs", "latency", "histogram"), runs)
    return Parsed("vegeta", {name: rows for name, rows in tables.items() if rows}, tuple(warnings))


def _latencies(document: object, text: str) -> list[dict]:
    rows = []
    for name in _mapping(document, "latencies", text):
        if name in _KNOWN:
            continue
        if not _PERCENTILE.fullmatch(name) or not 0 < float(name[:-2]) < 100:
            raise ParseError(line_of(f"latencies.{name}", text), "a percentile such as '99th'", name)
        quantile = round(float(name[:-2]) / 100, 9)
        latency_s = _seconds(document, f"latencies.{name}", text)
        rows.append({"quantile": quantile, "latency_s": latency_s, "corrected": False})
    return rows


def _mapping(document: object, path: str, text: str) -> Mapping[str, object]:
    found = value_at(document, path, text)
    if not isinstance(found, Mapping):
        raise ParseError(line_of(path, text), f"an object for {path!r}", str(found))
    return found


def _seconds(document: object, path: str, text: str, required: bool = True) -> float:
    return number_at(document, path, text, required) / 1e9


def _run(document: object, text: str) -> dict:
    _mapping(document, "latencies", text)
    requests = integer_at(document, "requests", text)
    codes = {}
    for code, count in _mapping(document, "status_codes", text).items():
        if not (code.isascii() and code.isdigit() and len(code) <= 3) or not isinstance(count, int) or count < 0:
            raise ParseError(line_of("status_codes", text), "status codes and their counts", f"{code}: {count}")
        codes[int(code)] = count
    if sum(codes.values()) != requests:
        raise ParseError(line_of("status_codes", text), f"status codes of {requests} hits", str(codes))
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    success = number_at(document, "success", text, required=False)
    if requests and abs(success - good / requests) > 1e-6:
        raise ParseError(line_of("success", text), f"{good} / {requests}", str(success))
    duration = _seconds(document, "duration", text) + _seconds(document, "wait", text)
    throughput = number_at(document, "throughput", text, required=False)
    if duration > 0 and abs(throughput - good / duration) > 1e-3 * throughput + 1e-9:
        raise ParseError(line_of("throughput", text), f"{good} successes / {duration:g} s", str(throughput))
    messages = value_at(document, "errors", text, required=False) or []
    if not isinstance(messages, list):
        raise ParseError(line_of("errors", text), "a list for 'errors'", str(messages))
    mean, total = (_seconds(document, f"latencies.{name}", text, required=False) for name in ("mean", "total"))
    if requests and not abs(mean * requests - total) <= requests * 2e-9 + 1e-6 * total:
        raise ParseError(line_of("latencies.mean", text), f"{total:g} s / {requests}", f"{mean:g} s")
    run = {
        "tool": "vegeta", "status": "finished", "duration_s": duration,
        "received_body_bytes": number_at(document, "bytes_in.total", text, required=False),
        "sent_bytes": number_at(document, "bytes_out.total", text, required=False),
        "latency_mean_s": mean if requests else math.nan,
        "latency_min_s": _seconds(document, "latencies.min", text, required=False),
        "latency_max_s": _seconds(document, "latencies.max", text),
        "percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured",
    }  # fmt: skip
    earliest = value_at(document, "earliest", text, required=False)
    if isinstance(earliest, str) and not earliest.startswith("0001-"):
        run["started_at"] = instant(earliest, "earliest", text)
    run |= counts(requests, codes, [m for m in messages if isinstance(m, str)])
    return run | rates(requests, codes, number_at(document, "rate", text, required=False), throughput, duration)


def _classes(document: object, text: str) -> list[dict]:
    """Return rows of `histogram`: a bin begins at its key (ns) and ends at the next."""
    if value_at(document, "buckets", text, required=False) is None:
        return []
    rows = []
    for key, count in _mapping(document, "buckets", text).items():
        if not (key.isascii() and key.isdigit() and len(key) <= 18) or not isinstance(count, int) or count < 0:
            raise ParseError(line_of(f"buckets.{key}", text), "nanoseconds and a count", f"{key}: {count}")
        rows.append({"lower_s": int(key) / 1e9, "upper_s": math.nan, "responses": count, "corrected": False})
    rows.sort(key=lambda row: row["lower_s"])
    for row, after in pairwise(rows):
        row["upper_s"] = after["lower_s"]
    return rows
