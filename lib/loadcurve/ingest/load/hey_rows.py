"""Convert one report of hey, oha or ghz to rows of `runs`, `histogram` and `phases`, and check it."""

import math

from loadcurve.errors import ParseError
from loadcurve.ingest.report_text import SECONDS, error_counts, real, response_counts

_SIZE = {u: 1024.0**i for i, u in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))} | {"bytes": 1.0, "Bytes": 1.0}
_KEPT = 1_000_000  # hey: maxRes in requester/report.go
DEADLINE = "aborted due to deadline"  # oha: the end of -z, not a failure
ESTIMATORS = {
    "hey": "first sorted time with i * 100 / n >= p",
    "oha": "sorted time of index p / 100 * n",
    "ghz": "first sorted time with i * 100 / n >= p",
}


def seconds(token: str, unit: str, number: int) -> float:
    """Return a printed time in seconds."""
    return _unit(SECONDS, "time", unit, token, number) * real(token, number, "a time")


def _unit(units: dict[str, float], kind: str, unit: str, token: str, number: int) -> float:
    if unit not in units:
        raise ParseError(number, f"a unit of {kind}: {', '.join(units)}", unit or token)
    return units[unit]


def _tool(report: dict) -> str:
    fields = report["fields"]
    words = any(code.isalpha() for code, _ in report.get("codes", []))  # codes of gRPC
    return "ghz" if words or "count" in fields else "oha" if "success" in fields else "hey"


def run_of(report: dict, last: bool, warnings: list[str]) -> dict:
    """Row of `runs` of a report; the last report of a text may be cut."""
    fields, tool = report["fields"], _tool(report)
    run: dict = {"tool": tool}
    for name, column in (("total", "duration_s"), ("mean", "latency_mean_s"), ("min", "latency_min_s"),
                         ("max", "latency_max_s")):  # fmt: skip
        if name in fields:
            run[column] = seconds(*fields[name])
    if not fields:
        warnings.append(f"line {report['line']}: the report has no 'Summary', so no times and no rate")
    if "total" in fields and "rps" not in fields:
        warnings.append(f"line {report['line']}: the report has no 'Requests/sec'")
    nothing = not run.get("latency_max_s") and "latency_mean_s" not in run
    if nothing or math.isnan(run.get("latency_mean_s", 0.0)):  # no response: values printed as 0 were not measured
        run |= dict.fromkeys(("latency_min_s", "latency_max_s"), math.nan)
    if "bytes" in fields:
        token, unit, number = fields["bytes"]
        run["received_body_bytes"] = _unit(_SIZE, "size", unit, token, number) * real(token, number, "a size")
    if "codes" in report or "errors" in report:
        counts = _counts(report, tool)
        listed = counts.get("requests_started", counts["requests"])
        if last and listed < (expected := _expected(report, run)):
            warnings.append(f"line {report['line']}: cut off, as {listed} requests are listed of some {expected:.0f}")
            report.pop("codes", None)
        else:
            run |= {"status": "finished", **counts}
    if run.get("requests") == 0 or math.isnan(run.get("latency_mean_s", 0.0)):
        messages = [message for message, _ in report.get("errors", []) if message]
        run |= {"status": "failed"} | ({"reason": messages[0]} if messages else {})
    run |= _rates(report, run, warnings)
    if tool == "hey" and run.get("requests", 0) > _KEPT:
        run["latency_mean_s"] = math.nan
        warnings.append(
            f"line {fields['mean'][2] if 'mean' in fields else report['line']}: hey divides its averages by {_KEPT} "
            f"where there are more responses, so they are missing; its distributions hold the first {_KEPT}"
        )
    corrected = {} if tool == "oha" else {"latency_corrected": False}  # oha: by an option that it does not print
    return run | {"percentile_estimator": ESTIMATORS[tool], **corrected, "latency_origin": "measured"}


def _expected(report: dict, run: dict) -> float:
    """Return the least number of requests consistent with the rounded rate and time of a report."""
    fields = report["fields"]
    if "rps" not in fields or "total" not in fields:
        return 0.0
    duration = run["duration_s"] - 0.5001 * 10.0 ** -_decimals(fields["total"][0]) * SECONDS[fields["total"][1]]
    rps = real(fields["rps"][0], fields["rps"][2], "a rate")
    least = (rps - 0.5001 * 10.0 ** -_decimals(fields["rps"][0])) * duration
    return least * (1 - 1e-9) if math.isfinite(least) else 0.0


def _decimals(token: str) -> int:
    return len(token.partition(".")[2])


def _counts(report: dict, tool: str) -> dict:
    """Return the counts from the status codes and the errors."""
    codes, errors = report.get("codes", []), report.get("errors", [])
    late = sum(count for message, count in errors if message == DEADLINE)
    failed = [(message, count) for message, count in errors if message != DEADLINE]
    responses = sum(count for _, count in codes)
    counts: dict = {"requests": responses}
    if tool == "ghz":  # an error of gRPC has a code too, and is in both blocks
        succeeded = sum(count for code, count in codes if code == "OK")
        counts |= {"requests_succeeded": succeeded, "requests_failed": responses - succeeded}
        # Without all their messages the kinds of the failures are not known.
        return counts | (_kinds(failed) if sum(count for _, count in failed) == responses - succeeded else {})
    counts["requests_started"] = responses + late + sum(count for _, count in failed)
    counts["requests_failed"] = sum(count for _, count in failed)
    return counts | response_counts({int(code): count for code, count in codes}) | _kinds(failed)


def _kinds(failed: list[tuple[str, int]]) -> dict[str, int]:
    return error_counts(failed) if all(message for message, _ in failed) else {}


def _rates(report: dict, run: dict, warnings: list[str]) -> dict:
    """Return responses per second from the tool's rate of all requests."""
    fields = report["fields"]
    if "rps" not in fields or "total" not in fields:
        return {}
    rps, line = real(fields["rps"][0], fields["rps"][2], "a rate"), fields["rps"][2]
    if not run.get("requests") and math.isnan(run.get("latency_mean_s", 0.0)):
        return {"throughput_rps": 0.0}
    if "codes" not in report:
        warnings.append(f"line {line}: no status codes, so failed requests may be among these {rps:g} per second")
        return {"throughput_rps": rps}
    responses, duration = run["requests"], run["duration_s"]
    started = run.get("requests_started", responses)
    half = [0.5 * 10.0 ** -_decimals(fields[name][0]) for name in ("rps", "total")]
    slack = half[0] * duration + half[1] * SECONDS[fields["total"][1]] * rps + 1e-6 * started
    if abs(rps * duration - started) <= slack:
        throughput = rps * responses / started if started else 0.0
        if started > responses:
            warnings.append(f"line {line}: {started - responses} requests without a response are in 'Requests/sec'")
    elif abs(rps * duration - responses) <= slack:  # boom, hey 0.0.1
        throughput = rps
    elif abs(rps * duration - min(responses, _KEPT)) <= slack:
        throughput = responses / duration
        warnings.append(f"line {line}: this hey counts {_KEPT} requests at most; the rate is responses / Total")
    else:
        warnings.append(f"line {line}: 'Requests/sec' x 'Total' is {rps * duration:.0f}, but {started} are listed")
        return {}
    return {"throughput_rps": throughput}


def classes_of(report: dict, tool: str) -> list[dict]:
    """Return rows of `histogram`; a bin lies between two bounds, and the first holds only the fastest."""
    rows, lower = [], math.nan
    unit = {"hey": "secs", "ghz": "ms"}.get(tool) or report["fields"].get("max", ("", "secs"))[1]
    for mark, own, count, number in report.get("histogram", []):
        upper = mark * SECONDS[unit] if own is None else seconds(f"{mark!r}", own, number)
        rows.append({"lower_s": lower, "upper_s": upper, "responses": count})
        lower = upper
    return rows


def phases_of(report: dict, run: dict) -> list[dict]:
    """Return rows of `phases`; what hey prints of other requests is missing."""
    rows = []
    for phase, (mean, least, most) in report.get("phases", []):
        if math.isnan(mean):
            least = most = math.nan
        if run["tool"] == "hey" and run.get("requests", 0) > _KEPT:
            mean = math.nan
        if run["tool"] == "hey" and phase == "connect":
            whole_request = (run.get("latency_min_s"), run.get("latency_max_s"))
            if (least, most) == whole_request:  # hey prints those of the whole request next to DNS+dialup
                least = most = math.nan
        rows.append({"phase": phase, "mean_s": mean, "min_s": least, "max_s": most})
    return rows
