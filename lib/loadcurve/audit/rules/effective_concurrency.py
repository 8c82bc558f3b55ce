"""Rule ``effective-concurrency``: as many requests are in flight as connections were requested.

By Little's law a generator that never pauses keeps N = X · R requests in flight (J. D. C. Little, Operations Research
9(3), 1961; E. D. Lazowska et al., "Quantitative System Performance", 1984, chapter 3).  Throughput X and mean response
time R are measured and N was requested.  If X · R differs from N, the run is a point at another N than its label says.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from loadcurve.audit.of_runs import Tables
from loadcurve.audit.rule import NOT_CHECKED, Finding, Limit, Need, Rule, Severity
from loadcurve.models.laws import little_connections
from loadcurve.schemas.derived import LITTLE_RATIO
from loadcurve.units import format_quantity

# wrk and wrk2 give each thread connections // threads of them (wrk 4.1.0, src/wrk.c), so some may never be opened.
_EVEN_SHARES = ("wrk", "wrk2")


def judge_effective_concurrency(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: X · R against the connections requested, both in connections.

    Examples
    --------
    >>> from loadcurve.tables import check
    >>> runs = check("runs", pd.DataFrame({
    ...     "study": ["001"], "run_id": ["c8000"], "status": ["finished"], "connections": [8000],
    ...     "throughput_rps": [20260.6], "latency_mean_s": [0.04994], "errors_connect": [6980]}))
    >>> print(RULE.audit({"runs": runs})["evidence"][0])
    20260.6 × 49.94 ms = 1011.8 in flight; 8000 connections were requested, 6980 failed to open.
    """
    for _, run in tables["runs"].iterrows():
        requested = float(run["connections"])
        if run["latency_mean_s"] == 0:  # what wrk prints when it recorded no response time
            evidence = f"{NOT_CHECKED}the mean response time is 0, so no response was timed."
            yield Finding(run, "unchecked", evidence, _RECORD, expected=requested)
            continue
        in_flight = float(little_connections(run["throughput_rps"], run["latency_mean_s"]))  # N = X R, Z = 0
        severity = _severity(in_flight / requested, limits["factor"])
        advice = "" if severity == "ok" else " ".join(_advice(run, in_flight / requested))
        yield Finding(run, severity, _evidence(run, in_flight), advice, in_flight, requested)


def _severity(ratio: float, factor: float) -> Severity:
    if LITTLE_RATIO[0] <= ratio <= LITTLE_RATIO[1]:
        return "ok"
    return "warning" if 1 / factor <= ratio <= factor else "error"


def _evidence(run: pd.Series, in_flight: float) -> str:
    requested = _count(run, "connections")
    text = (
        f"{run['throughput_rps']:.1f} × {format_quantity(run['latency_mean_s'], 's', 4)} = {in_flight:.1f} in flight; "
        f"{requested} connection{'s were' if requested != 1 else ' was'} requested"
    )
    if _opened(run) < requested:
        text += f", {run['tool']} opens {_opened(run)} of them on {_count(run, 'threads')} threads"
    for column, words in [
        ("errors_connect", "failed to open"),
        ("errors_read", "read errors"),
        ("errors_write", "write errors"),
        ("errors_timeout", "responses came after the timeout"),
    ]:
        if _count(run, column):
            text += f", {_count(run, column)} {words}"
    return text + "."


def _advice(run: pd.Series, ratio: float) -> list[str]:
    advice = []
    if ratio < 1 and _count(run, "errors_connect"):
        advice.append(
            "Give the generator more file descriptors (ulimit -n) or more local ports "
            "(net.ipv4.ip_local_port_range), and rerun."
        )
    if ratio < 1 and _opened(run) < _count(run, "connections"):
        advice.append("Request a multiple of the number of threads.")
    if ratio < 1 and run["tool"] == "wrk2":
        advice.append("wrk2 holds a rate, so its connections may be idle: its run is no point of a curve over them.")
    any_errors = sum(_count(run, name) for name in ("errors_read", "errors_write", "errors_timeout"))
    if ratio < 1 and not advice and run["tool"] == "wrk" and not any_errors:
        advice.append(
            "wrk starts timing when it writes the request, so its response times leave out the time for which a "
            "connection waits for a busy wrk. Check whether wrk's processor was busy and give wrk more processors, or "
            "take R = N / X, which includes that wait."
        )
    elif ratio < 1 and not advice:
        advice.append(
            "Connections were idle, or the mean leaves out requests that never ended: compare the established "
            "connections on both sides (ss -s), and check the errors."
        )
    if ratio > 1 and run["latency_corrected"] is not pd.NA and run["latency_corrected"]:
        advice.append(
            "The tool corrects its response times for coordinated omission: more than N requests cannot be in flight, "
            "so its mean is not the measured one. Use a tool that does not correct, or take R = N / X."
        )
    elif ratio > 1:
        advice.append(
            "More than N requests cannot be in flight: mean and throughput cover different requests or times."
        )
    return [*advice, f"Until then do not use this run as a point at N = {_count(run, 'connections')}."]


def _opened(run: pd.Series) -> int:
    requested, threads = _count(run, "connections"), _count(run, "threads")
    even = pd.notna(run["tool"]) and run["tool"] in _EVEN_SHARES and threads
    return threads * (requested // threads) if even else requested


def _count(run: pd.Series, column: str) -> int:
    return 0 if pd.isna(run[column]) else int(run[column])


_RECORD = "Use a generator that reports throughput and mean response time, and note its connections."

RULE = Rule(
    "effective-concurrency",
    "Were as many requests in flight as connections were requested?",
    judge_effective_concurrency,
    {
        "ok": "X · R / N is 0.9 to 1.1",
        "warning": "X · R / N is 0.5 to 2",
        "error": "X · R / N is below 0.5 or above 2",
    },
    needs=(
        Need("runs", ("connections",), "the connections", _RECORD),
        Need("runs", ("throughput_rps",), "the throughput", _RECORD),
        Need("runs", ("latency_mean_s",), "the mean response time", _RECORD),
    ),
    limits={"factor": Limit(2, "sweeps usually double N, so beyond it the run belongs to a neighbouring level")},
)
