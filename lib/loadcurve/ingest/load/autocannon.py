"""autocannon: read its text and its JSON into `runs` and `latency`.

Seen: autocannon 9.0.0 (``autocannon -c 8 -d 3 URL``, ``-l`` for all percentiles, ``-j`` for JSON).

Output of autocannon (``lib/printResult.js``, ``lib/run.js``):

- Times are in milliseconds, measured in whole ones; bytes have decimal prefixes (kB of 1000).
- ``Req/Sec`` and ``Bytes/Sec`` describe the samples of whole seconds; ``total`` of the JSON counts responses.
- The last line of the text counts requests that were sent, rounded to thousands from 1000 on (``33k requests``), so
  those of a text are not read; ``33k errors`` are, with a warning.
- ``errors`` are requests without a response, timeouts included; their times are not among the latencies.
"""

import re
from typing import Any

from loadcurve.ingest.cursor import Cursor, with_generator_numbers
from loadcurve.ingest.json_text import each_json, integer_at, mapping_at, number_at, number_of, numbers_at
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import real, response_counts, whole

_START = re.compile(r"Running (?:(?P<time>[0-9]{1,12})s|[0-9]{1,18} requests) test @ (?P<url>\S{1,2000})")
_CONNECTIONS = re.compile(r"([0-9]{1,12}) connections?(?: with [0-9]{1,9} pipelining factor)?")
_ROW = re.compile(r"[│┌├└|].*")
_PERCENT = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,6})?%?")
_CODES = re.compile(r"([0-9]{1,18}) 2xx responses, ([0-9]{1,18}) non 2xx responses")
_ERRORS = re.compile(r"([0-9]{1,18})(k?) errors \(([0-9]{1,18})(k?) timeouts\)")
_END = re.compile(r"[0-9]{1,18}k? requests in ([0-9]{1,12}(?:\.[0-9]{1,6})?)s, [0-9.]{1,30} [kMGTP]?B read")
_NOT_READ = re.compile(r"Req/Bytes counts sampled once per second\.|# of samples: [0-9]{1,9}|[0-9]{1,9} workers?")
_FAILURE = re.compile(
    r"(?:autocannon|url|connections|duration|Error).{0,200}(?:invalid|required|must|not found).{0,200}"
)
_LATENCIES = {"Avg": "latency_mean_s", "Stdev": "latency_stdev_s", "Max": "latency_max_s"}
_COLUMNS = (*_LATENCIES, "Min")
_JSON = {
    "latency_mean_s": "latency.average", "latency_stdev_s": "latency.stddev", "latency_min_s": "latency.min",
    "latency_max_s": "latency.max",
}  # fmt: skip
_KEY = re.compile(r"p([0-9]{1,2}(?:_[0-9]{1,3})?)")
_KNOWN = {"tool": "autocannon", "percentile_estimator": "HdrHistogram of milliseconds", "latency_origin": "measured"}
_NAMES = ("runs", "latency")


def parse_autocannon(text: str) -> Parsed:
    """Tables `runs` and `latency` of the reports of autocannon in a text."""
    cursor = Cursor(text, "autocannon")
    runs: list[dict[str, Any]] = []
    run: dict[str, Any] = {}
    quantiles: dict[float, float] = {}
    codes: dict[int, int] = {}
    head: list[str] = []
    for line in cursor:
        if line.startswith("Running "):
            match = cursor.expect(_START, "Running Ns test @ URL")
            run, quantiles, codes, head = {"url": match["url"]}, {}, {}, []
            if match["time"]:
                run["duration_asked_s"] = float(match["time"])
        elif re.fullmatch(r"\S+ connections?(?: with .*)?", line):
            run["connections"] = int(cursor.expect(_CONNECTIONS, "a number of connections")[1])
        elif cursor.match(_ROW):
            cells = [cell.strip() for cell in re.split(r"[│|]", line)[1:-1]]
            if cells and cells[0] in ("Stat", "Percentile", "Code"):
                head = cells
                if head[0] == "Stat" and not all(one in _COLUMNS or _PERCENT.fullmatch(one) for one in head[1:]):
                    cursor.fail("a statistic or a percentile in each column")
            elif head[:1] == ["Code"] and len(cells) == 2:
                codes[whole(cells[0], cursor.number)] = whole(cells[1], cursor.number)
            elif len(cells) > 1:
                _take_row(cells, head, run, quantiles, cursor)
        elif line.endswith(" responses"):
            match = cursor.expect(_CODES, "counts of 2xx and other responses")
            good, bad = int(match[1]), int(match[2])
            run |= {"requests": good + bad, "responses_2xx": good, "errors_status": bad}
            if codes and sum(codes.values()) != good + bad:
                cursor.warn(f"the status codes count {sum(codes.values())} responses, this line {good + bad}")
            elif codes:
                run |= response_counts(codes)
            elif bad:
                cursor.warn("redirects are among the 'non 2xx' too: record the codes (--renderStatusCodes)")
        elif " requests in " in line:
            run["duration_s"] = real(cursor.expect(_END, "requests, seconds and bytes")[1], cursor.number)
            runs.append({"runs": [run], "latency": quantiles})
        elif runs and line.endswith(" timeouts)"):
            match = cursor.expect(_ERRORS, "counts of errors and timeouts")
            failed, late = int(match[1]) * (1000 if match[2] else 1), int(match[3]) * (1000 if match[4] else 1)
            run |= {"requests_failed": failed, "errors_timeout": late, "errors_other": max(failed - late, 0)}
            if match[2]:
                cursor.warn("autocannon rounds errors to thousands: record its JSON (-j)")
        elif not (cursor.match(_NOT_READ) or cursor.take_failure(_FAILURE) or cursor.warn_if_cut(False)):
            cursor.skip_unknown()
    if not runs:
        return cursor.failed_run("a report of autocannon")
    if run is not runs[-1]["runs"][0]:
        cursor.warn("the text ends before '… requests in …', so the last report is left out")
    tables = with_generator_numbers(_NAMES, [_finished(one) for one in runs])
    return Parsed("autocannon", tables, tuple(cursor.warnings))


def _take_row(
    cells: list[str], head: list[str], run: dict[str, Any], quantiles: dict[float, float], cursor: Cursor
) -> None:
    """Take a row of a table into a run; the columns are named by the table's head."""
    if head[:1] == ["Percentile"]:
        if not _PERCENT.fullmatch(cells[0]):
            cursor.fail("a percentile")
        quantiles[round(float(cells[0]) / 100, 9)] = real(cells[1], cursor.number) / 1000
        return
    if len(cells) != len(head):
        cursor.fail(f"{len(head)} cells", cursor.line)
    for name, cell in zip(head[1:], cells[1:], strict=True):
        if cells[0] == "Req/Sec" and name == "Avg":
            run["throughput_rps"] = real(cell.replace(",", ""), cursor.number)
        elif cells[0] == "Latency" and (name in _LATENCIES or _PERCENT.fullmatch(name)):
            if not cell.endswith(" ms"):
                cursor.fail("milliseconds", cell)
            value = real(cell.removesuffix(" ms"), cursor.number) / 1000
            if name in _LATENCIES:
                run[_LATENCIES[name]] = value
            else:
                quantiles[round(float(name.removesuffix("%")) / 100, 9)] = value


def _finished(one: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of a report; without any response, the zeros that autocannon prints as times are none."""
    run, quantiles = one["runs"][0], one["latency"]
    if run.get("throughput_rps") == 0:
        run = {name: value for name, value in run.items() if not name.startswith("latency_")} | {"status": "failed"}
        quantiles = {}
    rows = [{"quantile": quantile, "latency_s": latency} for quantile, latency in sorted(quantiles.items())]
    return {"runs": [{"status": "finished", **_KNOWN, **run}], "latency": rows}


def parse_autocannon_json(text: str) -> Parsed:
    """Tables `runs` and `latency` of every JSON result of autocannon in a text."""
    documents, warnings = each_json(text, "JSON of autocannon")
    runs: list[dict[str, Any]] = []
    for document, _ in documents:
        responses, failed = integer_at(document, "requests.total", text), integer_at(document, "errors", text)
        late, duration = integer_at(document, "timeouts", text), number_at(document, "duration", text)
        run: dict[str, Any] = {
            "status": "finished" if responses else "failed", **_KNOWN,
            "connections": integer_at(document, "connections", text), "duration_s": duration, "requests": responses,
            "requests_started": integer_at(document, "requests.sent", text), "requests_failed": failed,
            **{f"responses_{n}xx": integer_at(document, f"{n}xx", text) for n in range(1, 6)},
            "errors_status": integer_at(document, "4xx", text) + integer_at(document, "5xx", text),
            "errors_timeout": late, "errors_other": max(failed - late, 0),
            "received_bytes": number_at(document, "throughput.total", text),
        }  # fmt: skip
        if duration:
            run |= {"throughput_rps": responses / duration, "received_bytes_per_s": run["received_bytes"] / duration}
        quantiles = []
        if responses:
            run |= {name: value / 1000 for name, value in numbers_at(document, _JSON, text).items()}
            for key, value in mapping_at(document, "latency", text).items():
                if match := _KEY.fullmatch(key):
                    quantile = round(float(match[1].replace("_", ".")) / 100, 9)
                    quantiles.append({"quantile": quantile, "latency_s": number_of(value, key, text) / 1000})
        runs.append({"runs": [run], "latency": quantiles})
    return Parsed("autocannon", with_generator_numbers(_NAMES, runs), tuple(warnings))
