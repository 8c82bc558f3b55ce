r"""Several generators as one: sums of counts, bounds of the throughput, quantiles of merged histograms.

Generator i made n_i requests in its own time T_i, from s_i on.  With T the time in which any of them ran, and r the
throughput while all of them did:

.. math:: \frac{\sum_i n_i}{T} \le r \le \sum_i \frac{n_i}{T_i}

The lower end holds if some of them make no more requests than all of them; the upper end if none is faster beside
the others than without them, and it is r itself if each was steady.  Both meet when all began and ended at one instant.
Throughput is the count of completions over the time in which they were counted: P. J. Denning, J. P. Buzen, "The
Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from loadcurve.errors import ValueRuleError, check_columns
from loadcurve.stats.histogram import summarise_histogram_quantiles

_NEEDED = ("generator", "requests", "duration_s", "started_at")
_SUMS = ("requests", "requests_failed", "received_bytes", "received_body_bytes", "sent_bytes")


def summarise_merged(
    runs: pd.DataFrame,
    histogram: pd.DataFrame | None = None,
    quantiles: Sequence[float] = (0.5, 0.9, 0.99),
    *,
    by: str | Sequence[str] = ("study", "run_id"),
    rounding_s: float = 0.0,
) -> pd.DataFrame:
    """Return each run's generators as one; percentiles are those of all responses, never averaged.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of the table ``runs``, one for each generator: ``generator, requests, duration_s, started_at``, the
        columns `by`, and any of the counts of errors and bytes.
    histogram : pandas.DataFrame
        Rows of the table ``histogram``, either all corrected for coordinated omission or none; None for no percentiles.
    quantiles : sequence of float
        Each 0 < q < 1.
    by : str or sequence of str
        Columns that name a run.
    rounding_s : float
        As in `summarise_histogram_quantiles`.

    Returns
    -------
    pandas.DataFrame
        One row for each run: the columns `by`; ``generators``, their number; the sums of the counts, missing where
        one of the generators does not report its own; ``any_s, all_s``, the time in s in which any and in which all of
        them ran, and ``start_skew_s`` from the first start to the last; ``throughput_lower_rps``,
        ``throughput_upper_rps``, the bounds above, missing where they never ran all at once or a start is not known;
        and for each quantile ``latency_p99_lower_s, latency_p99_upper_s``, between which the response time lies that
        this part of all responses kept; missing where a generator has no histogram.

    Raises
    ------
    ValueRuleError
        When a column is missing, a run names a generator twice, a duration is not over 0, or the classes of a run
        cannot be added up (see `summarise_histogram_quantiles`).

    Examples
    --------
    >>> runs = pd.DataFrame({
    ...     "run_id": "a", "generator": [0, 1], "requests": [3000, 1000], "duration_s": 10.0, "errors_read": [1, 2],
    ...     "started_at": pd.to_datetime(["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"])})
    >>> classes = pd.DataFrame({
    ...     "run_id": "a", "generator": [0, 1], "lower_s": [0.1, 0.8], "upper_s": [0.2, 0.9],
    ...     "responses": [3000, 1000], "corrected": False})
    >>> summarise_merged(runs, classes, [0.5, 0.99], by="run_id").iloc[0].to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'run_id': 'a', 'generators': 2, 'requests': 4000, 'errors_read': 3, 'any_s': 11.0, 'all_s': 9.0,
     'start_skew_s': 1.0, 'throughput_lower_rps': 363.6363636363636, 'throughput_upper_rps': 400.0,
     'latency_p50_lower_s': 0.1, 'latency_p50_upper_s': 0.2, 'latency_p99_lower_s': 0.8, 'latency_p99_upper_s': 0.9}
    """
    keys = [by] if isinstance(by, str) else list(by)
    check_columns(runs, (*keys, *_NEEDED))
    if runs.duplicated([*keys, "generator"]).any():
        raise ValueRuleError("generator", "named once in each run", runs[runs.duplicated([*keys, "generator"])].iloc[0])
    if not (runs["duration_s"] > 0).all():
        raise ValueRuleError("duration_s", "> 0", runs["duration_s"].tolist())
    counts = [name for name in runs.columns if name in _SUMS or str(name).startswith("errors_")]
    rows = []
    for key, group in runs.groupby(keys, dropna=False, observed=True):
        sums = {name: group[name].sum(skipna=False) for name in counts}
        rows.append(dict(zip(keys, key, strict=True)) | {"generators": len(group)} | sums | _throughput(group))
    whole = pd.DataFrame(rows)
    whole.index = pd.MultiIndex.from_frame(whole[keys])
    if histogram is None:
        return whole.reset_index(drop=True)
    for column, values in _quantiles(runs, histogram, quantiles, keys, rounding_s).items():
        whole[column] = values.reindex(whole.index)
    return whole.reset_index(drop=True)


def _throughput(group: pd.DataFrame) -> dict[str, float]:
    """Times in which any and in which all generators of a run ran, and the bounds of their common throughput."""
    seconds = group["duration_s"].to_numpy(dtype=float)
    start = (group["started_at"] - group["started_at"].min()).dt.total_seconds().to_numpy(dtype=float)
    made = group["requests"].to_numpy(dtype=float, na_value=np.nan)
    order = np.argsort(start)
    start, end = start[order], (start + seconds)[order]
    before = np.concatenate([start[:1], np.maximum.accumulate(end)[:-1]])
    any_s = np.maximum(end - np.maximum(start, before), 0).sum()  # NaN where a start is not known
    all_s = np.maximum(end.min() - start.max(), 0)
    together = all_s > 0
    return {
        "any_s": any_s,
        "all_s": all_s,
        "start_skew_s": start.max() - start.min(),
        "throughput_lower_rps": made.sum() / any_s if together else np.nan,
        "throughput_upper_rps": (made / seconds).sum() if together else np.nan,
    }


def _quantiles(
    runs: pd.DataFrame, histogram: pd.DataFrame, quantiles: Sequence[float], keys: list[str], rounding_s: float
) -> dict[str, pd.Series]:
    """Both ends of each quantile by run, of the runs whose generators all have classes."""
    check_columns(histogram, (*keys, "generator"))
    reported = histogram[[*keys, "generator"]].drop_duplicates().assign(reported=True)
    known = runs[[*keys, "generator"]].merge(reported, how="left", on=[*keys, "generator"])
    complete = (
        known.groupby(keys, dropna=False, observed=True)["reported"].count()
        == known.groupby(keys, dropna=False, observed=True).size()
    )
    whole = complete[complete].reset_index()[keys]
    classes = histogram.merge(runs[[*keys, "generator"]], on=[*keys, "generator"]).merge(whole, on=keys)
    found = summarise_histogram_quantiles(classes, quantiles, by=keys, rounding_s=rounding_s)
    columns = {}
    for quantile in quantiles:
        part = found[found["quantile"] == quantile]
        ends = part.set_index(pd.MultiIndex.from_frame(part[keys]))
        for end in ("lower", "upper"):
            columns[f"latency_p{100 * quantile:g}_{end}_s"] = ends[f"{end}_s"]
    return columns
