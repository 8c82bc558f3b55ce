"""Rule ``effective-concurrency``: as many requests are in flight as connections were requested.

By Little's law a generator that never pauses keeps N = X · R requests in flight (J. D. C. Little, Operations Research
9(3), 1961; E. D. Lazowska et al., "Quantitative System Performance", 1984, chapter 3).  Throughput X and mean response
time R are measured and N was requested.  If X · R differs from N, the run is a point at another N than its label says.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from loadcurve.audit.rule import Finding, Rule, Severity, Tables
from loadcurve.models.laws import little_connections
from loadcurve.schemas.derived import LITTLE_RATIO
from loadcurve.units import format_quantity

# Sweeps usually double N from level to level.  From a factor of 2 on, the run belongs to a neighbouring level.
ERROR_RATIO = (0.5, 2.0)
# wrk and wrk2 give each thread connections // threads of them (wrk 4.1.0, src/wrk.c), so some may never be opened.
_EVEN_SHARES = ("wrk", "wrk2")

_NEEDED = {"connections": "connections", "throughput_rps": "throughput", "latency_mean_s": "mean response time"}


def judge_effective_concurrency(tables: Tables) -> Iterator[Finding]:
    """Yield one finding for each finished row of ``runs``: X · R against the connections requested.

    The finding is ok within 10 %, a warning within a factor of 2, an error beyond, and a warning too where a number is
    missing, because then nothing was checked.  Observed is X · R and expected N, both in connections.

    Examples
    --------
    >>> from loadcurve.tables import check
    >>> runs = check("runs", pd.DataFrame({
    ...     "study": ["001"], "run_id": ["c8000"], "status": ["finished"], "connections": [8000],
    ...     "throughput_rps": [20260.6], "latency_mean_s": [0.04994], "errors_connect": [6980]}))
    >>> print(next(judge_effective_concurrency({"runs": runs})).evidence)
    20260.6 × 49.94 ms = 1011.8 in flight; 8000 connections were requested, 6980 failed to open.
    """
    runs = tables["runs"]
    for _, run in runs[runs["status"] == "finished"].iterrows():
        yield _finding(run)


def _finding(run: pd.Series) -> Finding:
    # A mean of 0 s is what wrk prints when it recorded no response time: not measured.
    missing = [
        words for name, words in _NEEDED.items() if pd.isna(run[name]) or (name != "throughput_rps" and run[name] == 0)
    ]
    requested = np.nan if pd.isna(run["connections"]) else float(run["connections"])
    if missing:
        return Finding(
            run,
            "warning",
            f"Not checked: the run has {' and '.join(f'no {words}' for words in missing)}.",
            "Use a generator that reports throughput and mean response time, and note its connections.",
            expected=requested,
        )
    in_flight = float(little_connections(run["throughput_rps"], run["latency_mean_s"]))  # N = X R, Z = 0
    severity = _severity(in_flight / requested)
    advice = "" if severity == "ok" else " ".join(_advice(run, in_flight / requested))
    return Finding(run, severity, _evidence(run, in_flight), advice, in_flight, requested)


def _severity(ratio: float) -> Severity:
    if LITTLE_RATIO[0] <= ratio <= LITTLE_RATIO[1]:
        return "ok"
    return "warning" if ERROR_RATIO[0] <= ratio <= ERROR_RATIO[1] else "error"


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


RULE = Rule(
    "effective-concurrency",
    "Were as many requests in flight as connections were requested?",
    judge_effective_concurrency,
    {
        "ok": "X · R / N is 0.9 to 1.1",
        "warning": "X · R / N is 0.5 to 2, or a number is missing, so nothing was checked",
        "error": "X · R / N is below 0.5 or above 2",
    },
)
