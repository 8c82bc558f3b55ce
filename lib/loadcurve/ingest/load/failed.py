"""Which requests failed: each generator that the laboratory starts counts errors differently.

- wrk 4 counts each response in `requests`, also one with an error status and one later than its timeout
  (``response_complete`` in src/wrk.c).  Its errors of connect, write and read are not in `requests`.
- wrk2 checks every 2 s which responses are overdue (``check_timeouts``): its timeouts are not in `requests`.
- ab, with ``-r``, counts a request as complete also when writing it or reading its response failed
  (``close_connection`` in support/ab.c), and one whose TLS handshake failed, which it reports on standard error only.
  A request with an exception of the poll loop also has a failed read.
- weighttp counts every request as done. It counts a request as failed if the response was incomplete or had an error
  status (src/client.c).
- h2load, hey and oha count a response with an error status in `requests`, and requests without a response separately.
"""

import numpy as np
import pandas as pd

_ALL = ("errors_connect", "errors_read", "errors_write", "errors_timeout", "errors_other")
# Of each tool: the failed requests that `requests` includes, and those that it does not.
_FAILED = {
    "wrk": (("errors_status", "errors_timeout"), ("errors_connect", "errors_read", "errors_write")),
    "wrk2": (("errors_status",), ("errors_connect", "errors_read", "errors_write", "errors_timeout")),
    "ab": (("errors_status", "errors_read", "errors_write", "errors_other"), ("errors_connect",)),
    "weighttp": (("requests_failed",), ()),
    "h2load": (("errors_status",), ("errors_timeout", "errors_other")),
    "hey": (("errors_status",), _ALL),
    "oha": (("errors_status",), _ALL),
}
_LATE = "errors_timeout"  # a late response is a response


def succeeded(runs: pd.DataFrame) -> float:
    """Responses without an error, of all generators of a run together; one later than the timeout counts too.

    Parameters
    ----------
    runs : pandas.DataFrame
        Its rows of `runs`: one for each generator, wrk, wrk2, ab, weighttp, h2load, hey or oha.

    Examples
    --------
    >>> succeeded(pd.DataFrame({"tool": ["wrk"], "requests": [61566], "errors_status": [61566]}))
    0.0
    """
    total = 0.0
    for row in runs.to_dict("records"):
        among = sum(_count(row, name) for name in _FAILED[row["tool"]][0] if name != _LATE)
        total += max(0.0, _count(row, "requests") - among)
    return total


def failed_ratio(runs: pd.DataFrame) -> float:
    """Share of the requests that failed, of all generators of a run together.

    Parameters
    ----------
    runs : pandas.DataFrame
        Its rows of `runs`: one for each generator, wrk, wrk2, ab, weighttp, h2load, hey or oha.

    Returns
    -------
    float
        From 0 to 1.  A generator without a response and without an error had one request waiting on each of its
        connections: these are its failed requests.

    Examples
    --------
    >>> wrk = {"tool": "wrk", "requests": [80], "errors_status": [10], "errors_read": [20]}
    >>> failed_ratio(pd.DataFrame(wrk))  # 10 of 80 responses, and 20 requests without one
    0.3
    """
    failed, sent = np.sum([_failed_of(row) for row in runs.to_dict("records")], axis=0)
    return float(failed / sent)


def _failed_of(row: dict) -> tuple[float, float]:
    """Return the failed requests of a generator, and all its requests, which are more than 0."""
    among, beside = (sum(_count(row, name) for name in names) for names in _FAILED[row["tool"]])
    responses = _count(row, "requests")
    if not responses + beside:
        waiting = max(_count(row, "connections"), 1.0)
        return waiting, waiting
    return min(among, responses) + beside, responses + beside


def _count(row: dict, name: str) -> float:
    value = row.get(name)
    return 0.0 if value is None or pd.isna(value) else float(value)
