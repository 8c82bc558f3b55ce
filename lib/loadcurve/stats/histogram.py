"""Quantiles of several runs together, from their histogram classes; percentiles are never averaged.

The mean of two 99th percentiles is no percentile of anything.  Classes of response times can be added up, and then
say between which ends the quantile of all responses lies.  Without classes, only the spread of the runs is known: the
quantile of all responses together lies between the least and the greatest of theirs.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from loadcurve.errors import ValueRuleError, check_columns
from loadcurve.stats.arrays import Array, between_0_and_1

_CLASSES = ("lower_s", "upper_s", "responses", "corrected")
_QUANTILES = ("quantile", "latency_s", "corrected")


def summarise_histogram_quantiles(
    histogram: pd.DataFrame, quantiles: Sequence[float], *, by: str | Sequence[str], rounding_s: float = 0.0
) -> pd.DataFrame:
    """Quantiles of all responses of a point, from the classes of its runs.

    Parameters
    ----------
    histogram : pandas.DataFrame
        Rows of the table ``histogram``: ``lower_s, upper_s, responses, corrected`` and the columns `by`.  A missing
        lower end counts as 0, a missing upper end as infinite.  The classes of two runs need not be the same.
    quantiles : sequence of float
        Each 0 < q < 1.
    by : str or sequence of str
        Columns that name a point.
    rounding_s : float
        Half a unit of the last digit to which the ends of the classes are printed, >= 0: 0.0005 for hey.

    Returns
    -------
    pandas.DataFrame
        The columns `by`, ``quantile, lower_s, upper_s, responses``.  The response time that at least the part q of
        the responses keeps lies between both ends: they are certain, no confidence interval, and as far apart as the
        classes are wide (and twice `rounding_s`).  For the scatter between runs, show the runs one by one.

    Raises
    ------
    ValueRuleError
        When a column is missing, a class has no number of responses, its ends are in disorder, or a point mixes runs
        corrected for coordinated omission with others: these cannot be added up.

    Examples
    --------
    >>> classes = pd.DataFrame({
    ...     "connections": 8, "lower_s": [0.0, 0.1, 0.0, 0.1], "upper_s": [0.1, 0.2, 0.1, 0.4],
    ...     "responses": [90, 10, 60, 40], "corrected": False})
    >>> summarise_histogram_quantiles(classes, [0.5, 0.9], by="connections")
       connections  quantile  lower_s  upper_s  responses
    0            8       0.5      0.0      0.1        200
    1            8       0.9      0.1      0.4        200
    """
    keys = _checked(histogram, by, _CLASSES)
    if not 0 <= rounding_s < np.inf:
        raise ValueRuleError("rounding_s", ">= 0", rounding_s)
    checked = [between_0_and_1("quantiles", quantile) for quantile in quantiles]
    rows = []
    for key, group in histogram.groupby(keys, dropna=False, observed=True):
        lower, upper, counts = class_arrays(group)
        total = counts.sum()
        for quantile in checked:
            # Each response lies somewhere in its class: all at the lower ends is the earliest, at the upper the latest.
            rank = quantile * total * (1 - 1e-12)  # a whole number stays one in spite of rounding
            least = max(at_rank(lower, counts, rank) - rounding_s, 0.0)
            rows.append((*key, quantile, least, at_rank(upper, counts, rank) + rounding_s, int(total)))
    return pd.DataFrame(rows, columns=[*keys, "quantile", "lower_s", "upper_s", "responses"])


def _checked(frame: pd.DataFrame, by: str | Sequence[str], needed: tuple[str, ...]) -> list[str]:
    keys = [by] if isinstance(by, str) else list(by)
    check_columns(frame, (*keys, *needed))
    kinds = frame.groupby(keys, dropna=False, observed=True)["corrected"].nunique(dropna=False)
    if (kinds > 1).any():
        raise ValueRuleError("corrected", "the same for all runs of a point", f"both at {kinds.idxmax()}")
    return keys


def class_arrays(group: pd.DataFrame) -> tuple[Array, Array, Array]:
    """Return lower ends, upper ends and responses of checked classes; a missing end is 0 or infinite."""
    lower = group["lower_s"].to_numpy(dtype=float, na_value=0.0)
    upper = group["upper_s"].to_numpy(dtype=float, na_value=np.inf)
    counts = group["responses"].to_numpy(dtype=float, na_value=np.nan)
    if not (counts >= 0).all() or counts.sum() == 0:
        raise ValueRuleError("responses", "known for each class, >= 0, and some at each point", counts.tolist())
    if not (lower <= upper).all():
        raise ValueRuleError("upper_s", ">= lower_s", upper[lower > upper][0])
    return lower, upper, counts


def at_rank(ends: Array, counts: Array, rank: float) -> float:
    """Least end at which the classes up to it hold at least `rank` responses."""
    order = np.argsort(ends, kind="stable")
    reached = int(np.searchsorted(np.cumsum(counts[order]), rank))
    return float(ends[order][min(reached, ends.size - 1)])
