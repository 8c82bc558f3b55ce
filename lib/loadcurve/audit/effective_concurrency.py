"""Rule ``effective-concurrency``: as many requests are in flight as connections were asked for.

By Little's law a generator that never pauses keeps N = X · R requests in flight (J. D. C. Little, Operations Research
9(3), 1961; E. D. Lazowska et al., "Quantitative System Performance", 1984, chapter 3).  Throughput X and mean response
time R are measured, N was asked for, and the three must agree; where they do not, the run is a point at another N than
its label says.
"""

import numpy as np
import pandas as pd

from loadcurve import tables as schemas
from loadcurve.models.laws import little_connections
from loadcurve.schemas.derived import LITTLE_RATIO
from loadcurve.units import format_quantity

RULE = "effective-concurrency"

# Sweeps usually double N from level to level.  From a factor of 2 on, the run belongs to a neighbouring level.
ERROR_RATIO = (0.5, 2.0)
# wrk and wrk2 give each thread connections // threads of them (wrk 4.1.0, src/wrk.c), so some may never be opened.
_EVEN_SHARES = ("wrk", "wrk2")

_NEEDED = {"connections": "connections", "throughput_rps": "throughput", "latency_mean_s": "mean response time"}


def audit_effective_concurrency(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one finding for each finished row of ``runs``: X · R against the connections asked for.

    Parameters
    ----------
    tables : dict of str to pandas.DataFrame
        With the declared table ``runs``.

    Returns
    -------
    pandas.DataFrame
        The table ``findings``: observed = X · R, expected = N, both in connections.  ok within 10 %; warning within a
        factor of 2; error beyond; warning too where a number is missing, because then nothing was checked.

    Examples
    --------
    >>> runs = schemas.check("runs", pd.DataFrame({
    ...     "study": ["001"], "run_id": ["c8000"], "status": ["finished"], "connections": [8000],
    ...     "throughput_rps": [20260.6], "latency_mean_s": [0.04994], "errors_connect": [6980]}))
    >>> print(audit_effective_concurrency({"runs": runs})["evidence"][0])
    20260.6 × 49.94 ms = 1011.8 in flight; 8000 connections were asked for, 6980 failed to open.
    """
    runs = tables["runs"]
    finished = runs[runs["status"] == "finished"].reset_index(drop=True)
    return schemas.check("findings", pd.DataFrame([_finding(row) for _, row in finished.iterrows()]))


def _finding(run: pd.Series) -> dict:
    row = {"study": run["study"], "run_id": run["run_id"], "source": run["source"], "rule": RULE}
    # A mean of 0 s is what wrk prints when it recorded no response time: not measured.
    missing = [
        words for name, words in _NEEDED.items() if pd.isna(run[name]) or (name != "throughput_rps" and run[name] == 0)
    ]
    if missing:
        asked = np.nan if pd.isna(run["connections"]) else float(run["connections"])
        return row | {
            "severity": "warning",
            "expected": asked,
            "evidence": f"Not checked: the run has no {' and no '.join(missing)}.",
            "advice": "Use a generator that reports throughput and mean response time, and note its connections.",
        }
    asked = float(run["connections"])
    in_flight = float(little_connections(run["throughput_rps"], run["latency_mean_s"]))  # N = X R, Z = 0
    severity = _severity(in_flight / asked)
    return row | {
        "severity": severity,
        "observed": in_flight,
        "expected": asked,
        "evidence": _evidence(run, in_flight),
        "advice": "" if severity == "ok" else " ".join(_advice(run, in_flight / asked)),
    }


def _severity(ratio: float) -> str:
    if LITTLE_RATIO[0] <= ratio <= LITTLE_RATIO[1]:
        return "ok"
    return "warning" if ERROR_RATIO[0] <= ratio <= ERROR_RATIO[1] else "error"


def _evidence(run: pd.Series, in_flight: float) -> str:
    asked = _count(run, "connections")
    text = (
        f"{run['throughput_rps']:.1f} × {format_quantity(run['latency_mean_s'], 's', 4)} = {in_flight:.1f} in flight; "
        f"{asked} connection{'s were' if asked != 1 else ' was'} asked for"
    )
    if _opened(run) < asked:
        text += f", {_opened(run)} are what {run['tool']} opens on {_count(run, 'threads')} threads"
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
            "(net.ipv4.ip_local_port_range) and run it again."
        )
    if ratio < 1 and _opened(run) < _count(run, "connections"):
        advice.append("Ask for a multiple of the threads.")
    if ratio < 1 and run["tool"] == "wrk2":
        advice.append("wrk2 holds a rate, and its connections may idle: it makes no point at a number of connections.")
    any_errors = sum(_count(run, name) for name in ("errors_read", "errors_write", "errors_timeout"))
    if ratio < 1 and not advice and run["tool"] == "wrk" and not any_errors:
        advice.append(
            "wrk starts its clock when it writes a request: a connection that waits for a busy wrk is not in its "
            "response times. See whether wrk's processor was busy, and give it more; or take R = N / X, which holds "
            "that wait."
        )
    elif ratio < 1 and not advice:
        advice.append(
            "Connections were idle, or their requests never ended and are not in the mean: compare the established "
            "connections on both sides (ss -s) and the errors."
        )
    if ratio > 1 and run["latency_corrected"] is not pd.NA and run["latency_corrected"]:
        advice.append(
            "The tool adds to its response times to correct for coordinated omission: more than N cannot be in flight, "
            "so its mean is not the measured one. Use a tool that does not correct, or take R = N / X."
        )
    elif ratio > 1:
        advice.append("More than N cannot be in flight: mean and throughput are not of the same requests or time.")
    return [*advice, f"Until then do not use this run as a point at N = {_count(run, 'connections')}."]


def _opened(run: pd.Series) -> int:
    asked, threads = _count(run, "connections"), _count(run, "threads")
    even = pd.notna(run["tool"]) and run["tool"] in _EVEN_SHARES and threads
    return threads * (asked // threads) if even else asked


def _count(run: pd.Series, column: str) -> int:
    return 0 if pd.isna(run[column]) else int(run[column])
