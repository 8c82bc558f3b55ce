"""wrk: read the JSON file of the laboratory's reporter into `runs`, `latency` and `histogram`.

Seen: Debian's wrk 4.1.0 with ``wrk -t2 -c8 -d1s --latency -s reporter.lua URL -- FILE CONNECTIONS``
(``lab/tools/generators/reporter.lua``).

Output of wrk (wrk 4.1.0, ``src/wrk.c``, ``src/stats.c``):

- A response time is the difference of two instants truncated to whole microseconds, so the counter of v holds times
  above v - 1 and below v + 1.  Times beyond ``--timeout`` are in no counter; ``errors.timeout`` counts them.
- ``stats_correct`` adds what coordinated omission hid: with E = duration / (requests / connections), all in whole
  numbers, a time n adds one at n - E, n - 2E, … as long as these exceed E.  So the counter of a v above E holds the
  responses of v, v + E, v + 2E, …, and c(v) - c(v + E) is the measured count.  The measured counts must add up to the
  requests that were not late.  If they do not, this wrk corrects differently, and only its own counters are returned.
- ``started_us`` are the instants at which wrk's threads called ``request()``; ``ended_us`` is that of ``done()``.

wrk's text is rounded to two decimals of a unit (`wrk_runs`); the JSON has whole microseconds, whole bytes and every
counter.  `join_reporter` combines both into one run; a number in both must agree within the rounding of the text.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.json_text import integer_at, line_of, load_json, mapping_at, number_at, value_at
from loadcurve.ingest.load.wrk_runs import units_of
from loadcurve.ingest.parsed import Parsed, Tables

_MOST = 2**53  # Lua's numbers are exact up to here
_NEXT_UNIT = 0.85  # of it; from this share on wrk prints in that unit (src/units.c)
_HALF = 0.005 * (1 + 1e-6)  # of the last decimal; a value halfway between two decimals can round either way
_FROM_TEXT = ("generator", "tool", "status", "started_at", "url")
_ERRORS = ("connect", "read", "write", "status", "timeout")


def parse_wrk_json(text: str) -> Parsed:
    """Tables `runs`, `latency` and `histogram` of the reporter's JSON."""
    warnings: list[str] = []
    document = load_json(text, "JSON of the reporter of wrk", warnings)
    integer_at(document, "wrk_reporter", text)
    row = _run(document, text)
    latency = [
        {"generator": 0, "quantile": quantile, "latency_s": value * 1e-6, "corrected": True}
        for quantile, value in _percentiles(document, text)
    ]
    counters = _counters(document, text)
    at = line_of("counters_us", text)
    if counters is None:
        warnings.append(f"line {at}: the reporter could not read wrk's counters in time; the histogram is missing")
        counters = np.empty((2, 0), dtype=np.int64)
    measured = _measured(counters, row)
    classes = [_classes(counters, True)]
    if counters.size and measured is None:
        warnings.append(
            f"line {at}: the correction for coordinated omission cannot be undone: what remains is not "
            f"{row['requests'] - row['errors_timeout']} responses; another version of wrk?"
        )
    elif measured is not None:
        classes.append(_classes(measured, False))
    histogram = pd.concat(classes, ignore_index=True)
    return Parsed("wrk", {"runs": [row], "latency": latency, "histogram": histogram}, tuple(warnings))


def _run(document: object, text: str) -> dict[str, Any]:
    duration = number_at(document, "duration_us", text, least=1) * 1e-6
    if duration >= _MOST * 1e-6:
        raise ParseError(line_of("duration_us", text), "duration_us below 2**53", f"{duration * 1e6:g}")
    requests, size = integer_at(document, "requests", text), integer_at(document, "bytes", text)
    errors = {f"errors_{name}": integer_at(document, f"errors.{name}", text) for name in _ERRORS}
    if errors["errors_status"] > requests:
        raise ParseError(line_of("errors.status", text), f"at most {requests} requests", str(errors["errors_status"]))
    connections, threads = integer_at(document, "connections", text), integer_at(document, "threads", text)
    started = value_at(document, "started_us", text)
    if not isinstance(started, list) or len(started) != threads or not all(map(_is_count, started)):
        raise ParseError(line_of("started_us", text), f"{threads} instants in microseconds", str(started))
    url = value_at(document, "url", text)
    if not isinstance(url, str):
        raise ParseError(line_of("url", text), "a URL", str(url))
    row = {
        "generator": 0, "tool": "wrk", "status": "finished", "url": url, "threads": threads, "connections": connections,
        "started_at": pd.Timestamp(min(started), unit="us", tz="UTC"), "duration_s": duration, "requests": requests,
        "throughput_rps": requests / duration,
        "received_bytes": float(size), "received_bytes_per_s": size / duration, **errors,
        "percentile_estimator": "nearest rank in 1 us bins", "latency_corrected": True,
    }  # fmt: skip
    times = {name: f"latency_us.{name}" for name in ("mean", "stdev", "min", "max")}
    if value_at(document, "latency_us", text, required=False) is None:
        return row | {f"latency_{name}_s": math.nan for name in times}
    measured = {f"latency_{name}_s": number_at(document, path, text) * 1e-6 for name, path in times.items()}
    return row | {"latency_origin": "measured"} | measured


def _percentiles(document: object, text: str) -> list[tuple[float, float]]:
    rows: list[tuple[float, float]] = []
    for rank, value in mapping_at(document, "percentiles_us", text).items():
        try:
            quantile = round(float(rank) / 100, 12)
        except ValueError:
            quantile = math.nan
        if not (0 < quantile < 1 and _is_count(value)) or (rows and (quantile, value) < rows[-1]):
            raise ParseError(line_of("percentiles_us", text), "percentiles that go up, with times", f"{rank}: {value}")
        rows.append((quantile, value))
    return rows


def _counters(document: object, text: str) -> np.ndarray | None:
    """Values in microseconds and their counts, shape (2, k); None if the reporter did not read them."""
    found = value_at(document, "counters_us", text, required=False)
    if found is None:
        return None
    first = line_of("counters_us", text) + 1
    rule = "[microseconds, responses] in rising order, 1 response at least"
    if not isinstance(found, list):
        raise ParseError(first - 1, f"a list of {rule}", str(found))
    before = -1
    for at, pair in enumerate(found, first):
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(map(_is_count, pair))
        if not is_pair or pair[0] <= before or not pair[1]:
            raise ParseError(at, rule, str(pair))  # the reporter writes each on its own line
        before = pair[0]
    return np.array(found, dtype=np.int64).reshape(-1, 2).T


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _measured(counters: np.ndarray, row: dict[str, Any]) -> np.ndarray | None:
    """Return the counters without what `stats_correct` added; None if the rest does not add up to the responses."""
    rounds = row["requests"] // row["connections"] if row["connections"] else 0
    value, count = counters
    if rounds:
        interval = round(row["duration_s"] * 1e6) // rounds  # E
        at = np.searchsorted(value, value + interval)
        index = np.minimum(at, value.size - 1)
        later = np.where((at < value.size) & (value[index] == value + interval), count[index], 0) if value.size else 0
        count = count - np.where(value > interval, later, 0)  # c(v) - c(v + E)
    late = row["errors_timeout"]
    if (count < 0).any() or count.sum() != row["requests"] - late:
        return None
    return np.stack([value[count > 0], count[count > 0]])


def _classes(counters: np.ndarray, corrected: bool) -> pd.DataFrame:
    value, count = counters
    ends = {"lower_s": np.maximum(value - 1, 0) * 1e-6, "upper_s": (value + 1) * 1e-6}
    return pd.DataFrame({"generator": 0, **ends, "responses": count, "corrected": corrected})


def join_reporter(text: Parsed, report: Parsed) -> tuple[Parsed, Parsed]:
    """Make one run of wrk's text and the reporter's JSON: the text's row, with numbers and times of the JSON."""
    printed, counted = text.tables["runs"], report.tables["runs"]
    if contradictions := _contradictions(text, report):
        more = f" (and {len(contradictions) - 1} more)" if len(contradictions) > 1 else ""
        warning = f"not of the run that the text reports, and left out: {contradictions[0]}{more}"
        return text, Parsed(report.tool, {}, (warning,))
    better = {name: [value] for name, value in counted.iloc[0].items() if name not in _FROM_TEXT and pd.notna(value)}
    times = {name: table for name, table in report.tables.items() if name != "runs" and len(table)}
    others = {name: table for name, table in text.tables.items() if name not in times}
    joined = {**others, "runs": printed.assign(**better)}
    return replace(text, tables=Tables(joined)), replace(report, tables=Tables(times))


def _contradictions(text: Parsed, report: Parsed) -> list[str]:
    printed, counted = text.tables["runs"], report.tables["runs"]
    if len(printed) != 1:
        return [f"{len(printed)} reports in the text, 1 here"]
    both = [name for name in counted if name in printed and name not in ("generator", "status")]
    pairs = {name: (printed[name].iloc[0], counted[name].iloc[0]) for name in both}
    exact = _quantiles(report)
    for quantile, latency_s in _quantiles(text).items():
        pairs[f"the {quantile:g} quantile of latency_s"] = latency_s, exact.get(quantile, math.nan)
    return [
        f"{name} is {_shown(here)} here, {_shown(value)} in the text"
        for name, (value, here) in pairs.items()
        if pd.notna(here) and pd.notna(value) and not _agree(name, value, here)
    ]


def _quantiles(parsed: Parsed) -> dict[float, float]:
    return {row["quantile"]: row["latency_s"] for row in parsed.tables["latency"].to_dict("records")}


def _agree(name: str, printed: Any, counted: Any) -> bool:
    """Whether a number of the text can be a rounded number of the JSON; words must be the same."""
    units, _ = units_of(name)
    if not units:
        return bool(printed == counted)
    reached = (unit for unit in units.values() if printed >= _NEXT_UNIT * unit * (1 - 1e-9))
    unit = max(reached, default=min(units.values()))
    return math.isclose(printed, counted, rel_tol=1e-9, abs_tol=_HALF * unit)


def _shown(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
