"""JMeter: read the dashboard's ``statistics.json`` into the tables `runs`, `latency` and `labels`.

Seen: JMeter 5.6.3 (``jmeter -n -t PLAN -l FILE.jtl -e -o FOLDER``, the samples of the tests); 3.x to 5.x in public
repositories.

Output of JMeter (``StatisticsSummaryConsumer`` and its template): times are in ms, ``errorPct`` in per cent,
``receivedKBytesPerSec`` in units of 1024 bytes.  ``Total`` leaves out transaction controllers, but counts sub-samples
(``Moved-0``).  ``pct1`` to ``pct3`` are the percentiles 90, 95 and 99, unless ``aggregate_rpt_pct1`` to ``3`` set
others; they are interpolated, of the last 20,000 samples of each label (``jmeter.reportgenerator.statistic_window``).
"""

from loadcurve.errors import ParseError
from loadcurve.ingest.json_text import integer_at, line_of, load_json, number_at, numbers_at
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.report_text import nothing_in

_TIMES = {"latency_mean_s": "meanResTime", "latency_min_s": "minResTime", "latency_max_s": "maxResTime"}
_QUANTILES = {0.5: "medianResTime", 0.9: "pct1ResTime", 0.95: "pct2ResTime", 0.99: "pct3ResTime"}
_NAMES = {0.5: "median", 0.9: "p90", 0.95: "p95", 0.99: "p99"}
_KIB = 1024.0


def parse_jmeter_statistics(text: str) -> Parsed:
    """Tables `runs`, `latency` and `labels` of JMeter's ``statistics.json``."""
    warnings: list[str] = []
    document = load_json(text, "statistics.json of JMeter", warnings)
    if not isinstance(document, dict) or not document or not all(isinstance(each, dict) for each in document.values()):
        raise nothing_in(text, "an object with statistics by label")
    labels = [_row({"": each}, name, text) for name, each in document.items() if name != "Total"]
    tables: dict[str, list[dict]] = {"runs": [], "latency": [], "labels": [row for row, _ in labels]}
    if "Total" in document:
        total, latency = _row({"": document["Total"]}, "Total", text)
        requests, failed = total["requests"], total["requests_failed"]
        rate = total["throughput_rps"]
        kept = {
            name: value for name, value in total.items() if not name.startswith(("label", "latency_p", "latency_med"))
        }
        tables["runs"] = [
            kept | {
                "tool": "jmeter", "status": "finished", "requests_succeeded": requests - failed,
                "duration_s": requests / rate if rate else 0.0,
                "percentile_estimator": "interpolated, of the last 20,000 samples by default",
                "latency_corrected": False, "latency_origin": "measured",
            }
        ]  # fmt: skip
        tables["latency"] = latency
    else:
        warnings.append("there is no 'Total', so the run as a whole is missing")
    return Parsed("jmeter", tables, tuple(warnings))


def _row(document: dict, name: str, text: str) -> tuple[dict, list[dict]]:
    """Row of `labels`, and its quantiles as rows of `latency`."""
    document = document[""]
    at = text.find(f'"{name}"')
    part = "\n" * text.count("\n", 0, max(at, 0)) + text[max(at, 0) :]  # errors name a line of this label
    requests, failed = integer_at(document, "sampleCount", part), integer_at(document, "errorCount", part)
    share = number_at(document, "errorPct", part, required=False)
    if failed > requests or (requests and abs(share - 100 * failed / requests) > 0.01):
        raise ParseError(line_of("errorPct", part), f"a share of {failed} of {requests} samples", str(share))
    row = {
        "generator": 0, "label": name, "requests": requests, "requests_failed": failed,
        "throughput_rps": number_at(document, "throughput", part),
        "received_bytes_per_s": number_at(document, "receivedKBytesPerSec", part, required=False) * _KIB,
        "sent_bytes_per_s": number_at(document, "sentKBytesPerSec", part, required=False) * _KIB,
        **numbers_at(document, _TIMES, part, per=1000),
    }  # fmt: skip
    times = {q: number_at(document, path, part, required=False) / 1000 for q, path in _QUANTILES.items()}
    latency = [{"generator": 0, "quantile": q, "latency_s": t, "corrected": False} for q, t in times.items()]
    return row | {f"latency_{_NAMES[q]}_s": t for q, t in times.items()}, latency
