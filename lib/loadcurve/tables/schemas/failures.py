"""Which requests failed, from what each load generator counts: the only definition, of audit, analysis and launches.

- wrk counts each response in `requests`, also one with an error status and one later than its timeout (wrk 4.1.0,
  src/wrk.c, ``response_complete``); errors of write and read are requests without a response.  More errors of connect
  than connections are retries, as those of a refused handshake; a connection that never opened has no request.
- wrk2, and wrk before 4.0, look every 2 s which connections wait for longer than the timeout, and count each of them
  again at each look (``check_timeouts``): of these counts, at least one in each look is another request.
- ab, with ``-r``, counts a request as complete also when writing it, reading its response or its TLS handshake failed
  (support/ab.c, ``close_connection``); all these and error pages are counted as `Length` failures too.  A page of
  another length alone is no failure, and an exception of the poll loop is also a failed read.
- weighttp counts every request as done; it counts as failed if the response was incomplete or had an error status
  (src/client.c).  k6, Gatling, JMeter, Locust and ghz count all requests, failed ones included, too.
- h2load, vegeta and fortio count failed requests with and without a response together; hey, oha, siege and httperf
  count those without a response separately (siege: and those with a status from 500 on; src/browser.c, ``__http``).
"""

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

FEW_ERRORS = 0.01
"""Share of failed requests from which throughput and response times describe the failures too.

99 % is the least availability that service level objectives commonly ask for.
"""
POLL_S = 2.0
"""Seconds between two looks for overdue responses (wrk2, and wrk 3.1.0: src/wrk.h, ``TIMEOUT_INTERVAL_MS``)."""


class _Counts(NamedTuple):
    """Classes of errors among `requests` and beside them, and which of the two `requests_failed` counts."""

    among: str
    beside: str
    failed: Literal["among", "beside", "both", "none"]


_ALL = "connect read write timeout other"
_INCLUDED = _Counts(f"status {_ALL}", "", "among")
_APART = _Counts("status", _ALL, "beside")
_TOOLS = {
    "wrk": _Counts("status timeout", "retry read write overdue", "none"),
    "wrk2": _Counts("status", "retry read write overdue", "none"),
    "ab": _Counts("status read write other", "connect", "none"),
    **dict.fromkeys(("weighttp", "k6", "gatling", "jmeter", "locust", "ghz"), _INCLUDED),
    **dict.fromkeys(("h2load", "vegeta", "fortio"), _Counts("status", _ALL, "both")),
    **dict.fromkeys(("hey", "oha", "siege", "httperf"), _APART),
}
_OTHER = _Counts("status", "read write timeout other", "both")  # by the meaning of the columns: requests had a response


def counted_errors(tool: object, retried: bool) -> set[str]:
    """Return the columns with classes of errors that count as failed requests of a load generator.

    `retried` is whether more connections failed to open than were requested.

    Examples
    --------
    >>> "errors_connect" in counted_errors("hey", False), "errors_connect" in counted_errors("wrk", False)
    (True, False)
    """
    counts, names = _TOOLS.get(str(tool), _OTHER), {"overdue": "timeout", "retry": "connect" if retried else ""}
    return {f"errors_{names.get(name, name)}" for name in f"{counts.among} {counts.beside}".split()}


def polls_timeouts(runs: pd.DataFrame) -> pd.Series:
    """Return for each run whether its timeouts count looks at waiting connections, not responses.

    Examples
    --------
    A published run of an old wrk has 1,848 timeouts beside 1,776 responses:

    >>> polls_timeouts(pd.DataFrame({"tool": "wrk", "requests": [1776, 6000], "errors_timeout": [1848, 60]})).tolist()
    [True, False]
    """
    tool, late, requests, asked = _numbers(runs, "errors_timeout", "requests", "requests_asked")
    old = (late > requests) | (asked > 0)  # only wrk 1 and 2 end after a number of requests
    return pd.Series((tool == "wrk2") | ((tool == "wrk") & old), runs.index)


def count_failures(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the requests of each run that failed, and all that it sent; missing where the tool counts no failures."""
    polled = polls_timeouts(runs).to_numpy()
    tool, requests, late, duration = _numbers(runs, "requests", "errors_timeout", "duration_s")
    known = ("requests_failed", "requests_succeeded", "connections", "received_bytes")
    _, failed, succeeded, connections, received = _numbers(runs, *known)
    looks = np.fmax(duration / POLL_S, 1.0)
    own = pd.DataFrame(index=range(len(runs)), columns=["failed", "sent"], dtype=float)
    classes = {name: _numbers(runs, f"errors_{name}")[1] for name in f"status {_ALL}".split()}
    classes |= {"timeout": np.where(polled, np.nan, late), "overdue": np.where(polled, late / looks, np.nan)}
    lengths, twice = (np.nan_to_num(_numbers(runs, f"errors_{name}")[1]) for name in ("length", "exception"))
    of_ab = failed - np.nan_to_num(classes["connect"]) - lengths - np.minimum(twice, np.nan_to_num(classes["read"]))
    classes["retry"] = np.where(classes["connect"] > connections, classes["connect"], np.nan)
    for name in pd.unique(tool):
        rows, counts = tool == name, _TOOLS.get(name, _OTHER)
        among, beside = (_sum(rows, *(classes[each] for each in names.split())) for names in counts[:2])
        if counts.failed == "beside":
            beside = np.fmax(beside, failed[rows])
        elif counts.failed != "none":
            rest = np.nan_to_num(beside) if counts.failed == "both" else 0.0
            among = np.fmax(among, np.maximum(failed[rows] - rest, 0.0))
        among = np.fmax(among, of_ab[rows] if name == "ab" else requests[rows] - succeeded[rows])
        among = np.where((name == "ab") & (received[rows] == 0), requests[rows], np.minimum(among, requests[rows]))
        without = np.nan_to_num(beside)
        silent = requests[rows] + without == 0
        waiting = np.fmax(np.fmax(connections[rows], failed[rows]), 1.0)
        counted = silent | ~(np.isnan(among) & np.isnan(beside))
        sent = np.where(silent, waiting, requests[rows] + without)
        own.loc[rows, "sent"] = np.where(counted, sent, np.nan)
        own.loc[rows, "failed"] = np.where(counted, np.where(silent, waiting, np.nan_to_num(among) + without), np.nan)
    return own.where(own["sent"].notna()).set_axis(runs.index)


def count_unopened(runs: pd.DataFrame) -> pd.Series:
    """Return the connections of each run that never opened; missing where the tool counts them as failed requests.

    Examples
    --------
    >>> count_unopened(pd.DataFrame({"tool": ["wrk", "ab"], "connections": 400, "errors_connect": 250})).tolist()
    [250.0, nan]
    """
    tool, unopened, connections = _numbers(runs, "errors_connect", "connections")
    apart = np.array(["connect" not in " ".join(_TOOLS.get(str(name), _OTHER)[:2]).split() for name in tool], bool)
    return pd.Series(np.where(apart & (unopened <= connections), unopened, np.nan), runs.index)


def error_ratio(runs: pd.DataFrame) -> pd.Series:
    """Return the share of the requests of each run that failed, from 0 to 1, by `count_failures`.

    If a larger share of the connections never opened, that share: nobody was served on these.
    """
    counts, connections = count_failures(runs), _numbers(runs, "connections")[1]
    never = np.divide(count_unopened(runs), connections, out=np.full(len(runs), np.nan), where=connections > 0)
    return np.fmax(counts["failed"] / counts["sent"], never)


def _numbers(runs: pd.DataFrame, *columns: str) -> list[np.ndarray]:
    """Return the tool of each run, empty if it is not known, and numbers, NaN if they are not."""
    tool = runs["tool"].astype(object).fillna("").to_numpy() if "tool" in runs else np.full(len(runs), "")
    return [tool, *(runs[name].to_numpy(float, na_value=np.nan) if name in runs else np.full(len(runs), np.nan)
                    for name in columns)]  # fmt: skip


def _sum(rows: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """Return the sums of known numbers, NaN where none is known."""
    parts = np.array([np.full(rows.sum(), np.nan), *(each[rows] for each in columns)])
    return np.where(np.isnan(parts).all(axis=0), np.nan, np.nansum(parts, axis=0))
