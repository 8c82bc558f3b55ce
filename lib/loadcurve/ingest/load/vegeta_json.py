"""vegeta: read ``vegeta report -type=json`` into tables.

Tables: `runs`, `latency`, and `histogram` if ``-buckets`` was given.  Seen: vegeta 6 to 12 in public repositories
(before 12: no ``throughput``, ``min``, ``90th``).  All times are in nanoseconds, ``success`` is a ratio 0-1, the rates
are as in `vegeta` (``lib/metrics.go``).
"""

import math
import re
from itertools import pairwise

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import with_generator_numbers
from loadcurve.ingest.json_text import (
    counts_at,
    each_json,
    instant,
    integer_at,
    line_of,
    mapping_at,
    number_at,
    numbers_at,
    value_at,
)
from loadcurve.ingest.load.vegeta import ESTIMATOR, counts, rates
from loadcurve.ingest.parsed import Parsed

_EXPECTED = "JSON of vegeta report"
_TIMES = {"latency_mean_s": "latencies.mean", "latency_min_s": "latencies.min", "total_s": "latencies.total"}
_KNOWN = {"total", "mean", "min", "max"}
_NS = 1e9  # in a second
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
    for name in mapping_at(document, "latencies", text):
        if name in _KNOWN:
            continue
        if not _PERCENTILE.fullmatch(name) or not 0 < float(name[:-2]) < 100:
            raise ParseError(line_of(f"latencies.{name}", text), "a percentile such as '99th'", name)
        quantile = round(float(name[:-2]) / 100, 9)
        latency_s = number_at(document, f"latencies.{name}", text) / _NS
        rows.append({"quantile": quantile, "latency_s": latency_s, "corrected": False})
    return rows


def _run(document: object, text: str) -> dict:
    mapping_at(document, "latencies", text)
    requests = integer_at(document, "requests", text)
    printed = counts_at(document, "status_codes", text)
    if garbled := [code for code in printed if not (code.isascii() and code.isdigit() and len(code) <= 3)]:
        raise ParseError(line_of("status_codes", text), "status codes and their counts", garbled[0])
    codes = {int(code): count for code, count in printed.items()}
    if sum(codes.values()) != requests:
        raise ParseError(line_of("status_codes", text), f"status codes of {requests} hits", str(codes))
    good = sum(count for code, count in codes.items() if 200 <= code < 400)
    success = number_at(document, "success", text, required=False)
    if requests and abs(success - good / requests) > 1e-6:
        raise ParseError(line_of("success", text), f"{good} / {requests}", str(success))
    duration = number_at(document, "duration", text) / _NS + number_at(document, "wait", text) / _NS
    throughput = number_at(document, "throughput", text, required=False)
    if duration > 0 and abs(throughput - good / duration) > 1e-3 * throughput + 1e-9:
        raise ParseError(line_of("throughput", text), f"{good} successes / {duration:g} s", str(throughput))
    messages = value_at(document, "errors", text, required=False) or []
    if not isinstance(messages, list):
        raise ParseError(line_of("errors", text), "a list for 'errors'", str(messages))
    times = numbers_at(document, _TIMES, text, required=False, per=_NS)
    mean, total = times["latency_mean_s"], times.pop("total_s")
    if requests and not abs(mean * requests - total) <= requests * 2e-9 + 1e-6 * total:
        raise ParseError(line_of("latencies.mean", text), f"{total:g} s / {requests}", f"{mean:g} s")
    run = {
        "tool": "vegeta", "status": "finished", "duration_s": duration,
        "received_body_bytes": number_at(document, "bytes_in.total", text, required=False),
        "sent_bytes": number_at(document, "bytes_out.total", text, required=False),
        **times, "latency_mean_s": mean if requests else math.nan,
        "latency_max_s": number_at(document, "latencies.max", text) / _NS,
        "percentile_estimator": ESTIMATOR, "latency_corrected": False, "latency_origin": "measured",
    }  # fmt: skip
    earliest = value_at(document, "earliest", text, required=False)
    if isinstance(earliest, str) and not earliest.startswith("0001-"):
        run["started_at"] = instant(earliest, "earliest", text)
    run |= counts(requests, codes, [m for m in messages if isinstance(m, str)])
    return run | rates(requests, codes, number_at(document, "rate", text, required=False), throughput, duration)


def _classes(document: object, text: str) -> list[dict]:
    """Return rows of `histogram`: a bin begins at its key (ns) and ends at the next."""
    rows = []
    for key, count in counts_at(document, "buckets", text, required=False).items():
        if not (key.isascii() and key.isdigit() and len(key) <= 18):
            raise ParseError(line_of(f"buckets.{key}", text), "nanoseconds", key)
        rows.append({"lower_s": int(key) / _NS, "upper_s": math.nan, "responses": count, "corrected": False})
    rows.sort(key=lambda row: row["lower_s"])
    for row, after in pairwise(rows):
        row["upper_s"] = after["lower_s"]
    return rows
