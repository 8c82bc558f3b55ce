"""The responses are shorter than those of comparable runs, so part of them may be other pages.

What it means
-------------
The responses of this run have fewer bytes than those of the other runs with the same URL, tool and variant, or than the
first response of the same run (`Document Length` of ab).  Part of them may be other pages: truncated, an error page
with status 200, or a login form.  They cost the server and the link less, so throughput is not comparable.  The rule
compares bytes for each response with the median of at least three runs.  5 % is a warning; half of the length is an
error.

Why it happens
--------------
A server under load responds with a short page and status 200.  A proxy truncates responses (`proxy_temp_path` without
write permission, a full disk, an upstream that is reset).  Compression was switched on.  `ab -l` and wrk accept
responses of any length; ab without `-l` counts them as `Length` failures.

How to fix it
-------------
Save a page under load and compare it with one at rest: `curl -s URL | wc -c`.  Compare `received bytes / requests` of
all runs.  Look in the server's log for `upstream prematurely closed connection` and for the status and size of each
request.

When to ignore it
-----------------
When the length of the page varies by design, or when the tool's options differ between runs, such as keep-alive, whose
headers are a few bytes longer.  A run with failed requests is left out: `failed-requests` reports it.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Need, Rule, Severity, not_checked
from loadcurve.audit.run_tables import Tables, key_of
from loadcurve.tables.schemas.failures import FEW_ERRORS, error_ratio

_LEAST_RUNS = 3
_ADVICE = (
    "Compare a page under load with one at rest (`curl -s URL | wc -c`), and look in the server's log for its size."
)


def judge_length(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each row of ``runs``: bytes for each response against those of its peers."""
    runs = tables["runs"]
    requests = runs["requests"].astype(float).where(lambda number: number > 0)
    body = runs["received_body_bytes"].astype(float) / requests
    whole = (runs["received_bytes"].astype(float) / requests).fillna(body)
    good = ~(error_ratio(runs) > FEW_ERRORS) & whole.notna()
    groups = [*_alike(tables), runs["received_bytes"].isna().rename("body alone")]
    peers = whole.where(good).groupby(groups, dropna=False)
    median, number = peers.transform("median"), peers.transform("count")
    first = runs["document_bytes"].astype(float).where(runs["tool"] == "ab")
    # ab requests one document; its length is that of the first response.
    own = (body / first.where(first > 0)).where(good)
    other = (whole / median.where(number >= _LEAST_RUNS)).where(good)
    for run, each, by_first, by_peers, usual, count in zip(
        runs.itertuples(index=False), whole, own, other, median, number, strict=True
    ):
        if np.isnan(by_first) and np.isnan(by_peers):
            reason = f"needs {_LEAST_RUNS} runs of one URL without failed requests"
            yield not_checked(run, reason, "Repeat the run.")
            continue
        share = np.nanmin([by_first, by_peers])
        severity: Severity = "warning" if share < 1 - limits["warning"] else "ok"
        severity = "error" if share < 1 - limits["error"] else severity
        if share == by_first:
            length = run.document_bytes
            text = f"Each response had {by_first * length:.1f} bytes; the first had {length:.0f}."
        else:
            text = f"Each response had {each:.1f} bytes; the median of {count:.0f} runs of this URL is {usual:.1f}."
        yield Finding(run, severity, text, _ADVICE, share, 1.0)


def _alike(tables: Tables) -> list[pd.Series]:
    """Return what runs with responses of one length have in common: all but the load."""
    runs, factors = tables["runs"], tables.get("factors")
    path = runs["url"].astype("string").str.replace(r"^https?://[^/]*", "", regex=True)
    levels = pd.Series("", runs.index)
    if factors is not None and len(factors):
        others = factors[~factors["factor"].astype("string").str.startswith("load.").fillna(False)]
        named = others["factor"].astype(object) + "=" + others["level"].astype(object).fillna("")
        levels = key_of(runs).map(named.groupby(key_of(others)).agg(" ".join)).astype(object).fillna("")
    return [runs["study"], runs["tool"], runs["variant"], path.rename("path"), levels.rename("levels")]


RULE = Rule(
    "short-responses",
    "Are the responses as long as those of the other runs?",
    judge_length,
    {"ok": "at most 5 % shorter", "warning": "more than 5 % shorter", "error": "less than half as long"},
    needs=(
        Need("runs", ("url", "requests"), "the URL and the number of responses", applies=False),
        Need(
            "runs",
            ("received_bytes",),
            "the bytes received",
            "Use a generator that reports them.",
            applies=False,
            alternatives=(Need("runs", ("received_body_bytes",)),),
        ),
    ),
    limits={
        "warning": Limit(0.05, "headers such as Connection and Date change a response of 600 bytes by less"),
        "error": Limit(0.5, "no header of a usual page is half of it"),
    },
    family="Errors",
)
