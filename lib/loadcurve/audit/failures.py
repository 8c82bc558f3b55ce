"""The share of requests that failed, from whatever counts a load generator prints."""

import pandas as pd

FEW_ERRORS = 0.01
"""Share of failed requests from which throughput and response times describe the failures too.

99 % is the least availability that service level objectives commonly ask for.
"""

# Each exception of ab's poll loop is also an error while reading; connections that failed to open are no requests.
_NOT_REQUESTS = ("errors_exception", "errors_connect")
# ab counts an error page of another length than the first response in both classes.
_OVERLAPPING = ["errors_status", "errors_length"]
# wrk counts a request when its response is complete, so one that ended in a socket error is not among them; one that
# timed out is, if its response came later (wrk 4.1.0, src/wrk.c, response_complete).
_COUNT_RESPONSES, _BESIDE = ("wrk", "wrk2"), ["errors_read", "errors_write"]


def error_ratio(runs: pd.DataFrame) -> pd.Series:
    """Share of the requests of each run that failed; missing where the tool reports neither errors nor failures.

    Examples
    --------
    >>> error_ratio(pd.DataFrame({"requests": [100, 100], "errors_status": [5, 0], "errors_timeout": [1, 0]})).tolist()
    [0.06, 0.0]

    ab counts 53 error pages among 200 responses, and the same 53 as responses of another length:

    >>> error_ratio(pd.DataFrame({"requests": [200], "errors_status": [53], "errors_length": [53]})).tolist()
    [0.265]
    """
    classes = [name for name in runs.filter(like="errors_") if name not in _NOT_REQUESTS]
    both = [name for name in _OVERLAPPING if name in classes]
    apart = runs[[name for name in classes if name not in both]].astype(float)
    pages = runs[both].astype(float).max(axis=1)
    errors = pd.concat([apart, pages.rename("pages")], axis=1).sum(axis=1, min_count=1)
    if "requests_failed" in runs:
        errors = errors.fillna(runs["requests_failed"].astype(float))
    requests = runs["requests"].astype(float)
    if "tool" in runs:
        beside = runs.reindex(columns=_BESIDE).astype(float).sum(axis=1).where(runs["tool"].isin(_COUNT_RESPONSES), 0.0)
        requests = requests + beside
    ratio = errors / requests.where(lambda number: number > 0)
    return ratio.clip(upper=1.0).astype(float)
