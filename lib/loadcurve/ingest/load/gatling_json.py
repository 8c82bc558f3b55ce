"""Gatling: read ``js/stats.json`` and ``js/global_stats.json`` of its report into `runs`, `latency` and `labels`.

Seen: Gatling 3.7.6, 3.9.5 and 3.10.5 (the samples of the tests); 2.x and 3.x in public repositories.  Gatling 3.13
writes no such file.

Format and numbers (``StatsJsonTemplate``): each number has a ``total``, an ``ok`` and a ``ko``, in old versions as
text; ``-`` is missing.  Times are whole ms.  ``percentiles1`` to ``4`` are the percentiles 50, 75, 95 and 99 unless
``gatling.charting.indicators`` sets others.  The rate is the requests over the time of the run, in whole seconds.
"""

import math
from collections.abc import Iterator

from loadcurve.errors import ParseError
from loadcurve.ingest.json_text import line_of, load_json, value_at
from loadcurve.ingest.load.gatling import LABEL_QUANTILES, QUANTILES, run_of
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import real

_TIMES = {"mean": "meanResponseTime", "stdev": "standardDeviation", "min": "minResponseTime", "max": "maxResponseTime"}
_DEEPEST = 100  # groups inside each other


def parse_gatling_stats(text: str) -> Parsed:
    """Tables `runs`, `latency` and `labels` of Gatling's ``stats.json`` or ``global_stats.json``."""
    warnings: list[str] = []
    document = load_json(text, "stats.json of Gatling", warnings)
    stats = value_at(document, "stats", text, required=False) or document
    total, good_rate = _numbers(stats, text)
    labels = []
    for name, part in _leaves(document, text, 0):
        row = _numbers(value_at(part, "stats", text), text)[0]
        times = row.pop("quantiles")
        labels.append(
            {"generator": 0, "label": name}
            | {LABEL_QUANTILES[q]: t for q, t in times.items() if q in LABEL_QUANTILES}
            | row
        )
    if not total["quantiles"]:
        warnings.append("the file has fewer than four percentiles, so which ones they are is not known")
    run, latency = run_of(total, good_rate)
    tables = {"runs": [run], "latency": latency}
    return Parsed("gatling", tables | ({"labels": labels} if labels else {}), tuple(warnings))


def _leaves(document: object, text: str, depth: int) -> Iterator[tuple[str, object]]:
    """Requests of a group and of the groups in it, each with its path."""
    contents = value_at(document, "contents", text, required=False)
    if depth > _DEEPEST or not isinstance(contents or {}, dict):
        raise ParseError(line_of("contents", text), "groups of requests", str(contents)[:60])
    for part in (contents or {}).values():
        if value_at(part, "type", text) == "REQUEST":
            yield str(value_at(part, "path", text, required=False) or value_at(part, "name", text)), part
        else:
            yield from _leaves(part, text, depth + 1)


def _numbers(stats: object, text: str) -> tuple[dict, float]:
    """Numbers of all requests of a ``stats``, and the rate of those that were OK."""

    def of(path: str, required: bool = True) -> float:
        value = value_at(stats, path, text, required)
        if value in (None, "-", ""):
            return math.nan
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ParseError(line_of(path, text), f"a number for {path!r}", str(value)[:60])
        return real(str(value), line_of(path, text), f"a number for {path!r}")

    counts = {name: of(f"numberOfRequests.{name}") for name in ("total", "ok", "ko")}
    if (
        any(not count >= 0 or count != int(count) for count in counts.values())
        or counts["ok"] + counts["ko"] != counts["total"]
    ):
        raise ParseError(line_of("numberOfRequests", text), "a total that is ok and ko", str(counts))
    rate = {name: of(f"meanNumberOfRequestsPerSecond.{name}", required=name != "ok") for name in ("total", "ok")}
    # With fewer than four percentiles, the file does not say which ones they are.
    quantiles = QUANTILES if value_at(stats, "percentiles4", text, required=False) else ()
    row = {
        "requests": int(counts["total"]), "requests_failed": int(counts["ko"]), "throughput_rps": rate["total"],
        **{f"latency_{name}_s": of(f"{path}.total", required=False) / 1000 for name, path in _TIMES.items()},
        "quantiles": {q: of(f"percentiles{i}.total") / 1000 for i, q in enumerate(quantiles, 1)},
    }  # fmt: skip
    return row, rate["ok"]
