r"""The response times have several modes, so the mean is the response time of hardly any request.

What it means
-------------
The response times are bimodal: a fast and a slow kind of responses, each at least a tenth of all, with few between. The
mean response time often lies in the gap; with nearly equal shares, a small change moves the median to the other mode.

Why it happens
--------------
Two code paths (cache hit and miss), two servers or two processors of different speed, connections that are kept and
connections that are opened, Nagle's algorithm with delayed acknowledgements (40 ms), retransmissions (200 ms and
more), a scheduler that parks one of two workers.

How to fix it
-------------
Report both modes with their shares, not the mean.  Separate them by a factor: request each URL, each server and each
kind of connection alone.  `ss -tin` shows retransmissions, an access log with `$upstream_cache_status` the cache.

When to ignore it
-----------------
The mix is the load that you want to know about, and you report percentiles.

The rule takes the responses by class of the histogram, by printed percentile, or one by one.  It looks for a class
whose density is less than half of the peaks on both sides of it, by more than five standard errors of the counts, and
for modes that are a factor of two apart.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from loadcurve.audit.rule import Finding, Limit, Rule, not_checked
from loadcurve.audit.run_tables import Tables, key_of, rows_of
from loadcurve.stats.arrays import Array

_RECORD = "Use a generator that prints a histogram (hey, oha, `vegeta report -type=hist`) or each request."
_NEEDS = "needs a histogram, ten percentiles, or the response time of each request"
_STANDARD_ERRORS = 5.0  # of a Poisson count; the valley was chosen among many
_CLASSES = 5  # of a histogram: two modes and a valley leave no fewer
_QUANTILES = 10  # of a spectrum: the percentiles of a summary are too few to show a valley
_FEWEST = 200  # responses: ten in a class
_BINS = 100  # of single response times, before they are merged
_MERGED = 0.05  # least share of the responses in a class
_ACCESS_LOGS = ("nginx", "apache")


def judge_modes(tables: Tables, limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield one finding for each run: the deepest valley between two modes of its response times."""
    classes = _of_quantiles(tables) | _of_requests(tables) | _of_histograms(tables)  # a histogram counts first
    for run, key in rows_of(tables):
        if key not in classes:
            yield not_checked(run, _NEEDS, _RECORD)
            continue
        depth, words = _deepest(*classes[key], limits)
        if words:
            advice = "Report both modes with their shares, not the mean, and find what separates them."
            yield Finding(run, "warning", words, advice, depth, limits["depth"])
        else:
            evidence = f"No valley between two distant modes in {classes[key][2].size} classes of response times."
            yield Finding(run, "ok", evidence, "", depth, limits["depth"])


def _deepest(lower: Array, upper: Array, counts: Array, limits: Mapping[str, float]) -> tuple[float, str]:
    """Return how many times the lower of two peaks is the valley between them, and the sentence about it, or none."""
    lower, upper, counts = _merged(lower, upper, counts)
    width, total = upper - lower, counts.sum()
    density = counts / width
    left, right = np.maximum.accumulate(density), np.maximum.accumulate(density[::-1])[::-1]
    peak = np.minimum(left, right)  # the lower one of the peaks on both sides
    before = np.cumsum(counts) - counts
    share = np.minimum(before, total - before) / total  # a class ends within the slower mode, if there is one
    expected = peak * width
    certain = (expected - counts) > _STANDARD_ERRORS * np.sqrt(expected + counts)
    deep = np.where(certain & (share >= limits["share"]), peak / np.maximum(density, 1e-12 * peak.max()), 1.0)
    at = int(np.argmax(np.where(deep > 1, deep * share, 0.0)))
    if deep[at] <= limits["depth"]:
        return float(deep[at]), ""
    fast, slow = int(np.argmax(density[:at])), at + 1 + int(np.argmax(density[at + 1 :]))
    if lower[slow] < limits["ratio"] * upper[fast]:
        return float(deep[at]), ""
    words = f"{_range(lower, upper, fast)} and {_range(lower, upper, slow)} are modes, between them "
    words += f"{_range(lower, upper, at)} has {counts[at]:.0f} of {total:.0f} responses; "
    return float(deep[at]), f"{words}{(total - before[at]) / total * 100:.3g} % are in or above this valley."


def _merged(lower: Array, upper: Array, counts: Array) -> tuple[Array, Array, Array]:
    """Return classes of at least a twentieth of the responses each: narrower ones are peaks by rounding.

    A class that has so many by itself stays alone, so that the valley before a narrow mode is a class too.
    """
    total = np.cumsum(counts)
    steps = np.floor(total / total[-1] / _MERGED + 1e-9)
    many = np.r_[counts[1:] >= _MERGED * total[-1], True]
    ends = np.flatnonzero(np.r_[steps[0] > 0, steps[1:] > steps[:-1]] | many)
    ends = ends[np.r_[True, upper[ends[1:]] > upper[ends[:-1]]]]  # equal times have no width
    starts = np.r_[lower[0], upper[ends[:-1]]]
    kept = upper[ends] > starts
    return starts[kept], upper[ends][kept], np.diff(total[ends], prepend=0.0)[kept]


def _range(lower: Array, upper: Array, at: int) -> str:
    return f"{lower[at] * 1e3:.3g} to {upper[at] * 1e3:.3g} ms"


def _of_histograms(tables: Tables) -> dict[str, tuple[Array, Array, Array]]:
    """Return the classes of each run with one histogram; a class without an upper end is left out."""
    rows = tables.get("histogram")
    if rows is None or rows.empty:
        return {}
    rows = rows.assign(key=key_of(rows)).dropna(subset=["upper_s", "responses"])
    rows = rows.sort_values(["key", "upper_s"], kind="stable")
    before = rows.groupby("key")["upper_s"].shift().fillna(0.0)
    rows = rows.assign(lower=rows["lower_s"].astype(float).fillna(before))
    # Several generators, or corrected beside measured times, are several histograms: their classes overlap.
    overlap = (rows["lower"] < before - 1e-12).groupby(rows["key"]).transform("any")
    rows = rows[~overlap & (rows["upper_s"] > rows["lower"])]
    return _split(rows["key"].to_numpy(), rows["lower"], rows["upper_s"], rows["responses"], _CLASSES)


def _of_quantiles(tables: Tables) -> dict[str, tuple[Array, Array, Array]]:
    """Return classes between the percentiles of each run with a spectrum, if the number of its responses is known."""
    rows = tables.get("latency")
    if rows is None or rows.empty:
        return {}
    runs = tables["runs"]
    requests = runs.assign(key=key_of(runs)).groupby("key")["requests"].sum(min_count=1).astype(float)
    rows = rows.assign(key=key_of(rows))
    rows = rows[rows["generator"].fillna(0).eq(0) & rows["latency_s"].notna() & rows["key"].isin(requests.index)]
    rows = rows.sort_values(["key", "quantile", "latency_s"], kind="stable")
    rows = rows[~rows.duplicated(["key", "quantile"], keep=False)]  # corrected and measured times are two spectra
    each = rows.groupby("key")
    lower, from_quantile = each["latency_s"].shift(), each["quantile"].shift()
    counts = (rows["quantile"] - from_quantile) * rows["key"].map(requests)
    known = lower.notna() & (rows["latency_s"] > lower) & counts.notna()
    return _split(rows["key"][known].to_numpy(), lower[known], rows["latency_s"][known], counts[known], _QUANTILES)


def _of_requests(tables: Tables) -> dict[str, tuple[Array, Array, Array]]:
    """Return classes of equal ratio of the response times of each run that has one row for each request."""
    rows = tables.get("requests")
    if rows is None or rows.empty:
        return {}
    rows = rows[~rows["tool"].isin(_ACCESS_LOGS) & (rows["latency_s"] > 0)]
    found = {}
    for key, times in rows["latency_s"].astype(float).groupby(key_of(rows)):
        low, high = times.quantile([0.01, 0.99])
        if times.size < _FEWEST or high <= low:
            continue
        # Times of ab are whole milliseconds: each class holds the same number of possible times in each unit of width.
        unit = float(np.diff(np.unique(times.round(9))).min())
        edges = np.unique(np.round(np.geomspace(low, high, _BINS + 1) / unit) + 0.5) * unit
        counts = np.histogram(times, edges)[0]
        found[str(key)] = (edges[:-1], edges[1:], counts.astype(float))
    return found


def _split(
    keys: np.ndarray, lower: pd.Series, upper: pd.Series, counts: pd.Series, least: int
) -> dict[str, tuple[Array, Array, Array]]:
    """Return the classes of each key, of which there are at least some with at least `_FEWEST` responses in all."""
    columns = [each.to_numpy(float) for each in (lower, upper, counts)]
    if not len(keys):
        return {}
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    found = {}
    for start, end in zip(starts, [*starts[1:], len(keys)], strict=True):
        if end - start >= least and columns[2][start:end].sum() >= _FEWEST:
            found[str(keys[start])] = (columns[0][start:end], columns[1][start:end], columns[2][start:end])
    return found


RULE = Rule(
    "several-modes",
    "Do the response times have one mode?",
    judge_modes,
    {"ok": "no valley beyond chance between two modes of a tenth of the responses", "warning": "there is one"},
    limits={
        "depth": Limit(2, "a class with half the density of the peaks on both sides is visible as a valley"),
        "ratio": Limit(2, "a mean describes closer modes within a third, and the ticks of a scheduler make such modes"),
        "share": Limit(0.1, "a smaller mode is a tail, which percentiles describe"),
    },
    family="Statistics",
)
