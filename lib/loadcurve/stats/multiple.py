"""Several comparisons at once, with p values corrected for their number."""

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError, check_columns
from loadcurve.stats._runs import two_groups
from loadcurve.stats.arrays import Array
from loadcurve.stats.mean import PERCENTILE
from loadcurve.stats.rank import find_rank_ratio
from loadcurve.stats.ratio import find_ratio
from loadcurve.tables.curves import check_points


def holm(p_values: ArrayLike) -> Array:
    """P values corrected by Holm's step-down procedure for the family that they make.

    Rejecting where the corrected value is <= α keeps the chance of even one false rejection at most α, whatever the
    dependence between the tests.

    Parameters
    ----------
    p_values : array_like of float, shape (m,)
        In 0–1.  NaN is a test that was not made: it stays NaN and does not count.

    Returns
    -------
    numpy.ndarray
        Corrected values, in the same order, never below the given ones and never above 1.

    Raises
    ------
    ValueRuleError
        When a value lies outside 0–1, or `p_values` is not one-dimensional.

    Notes
    -----
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian J. Statistics 6 (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, 0.005]).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    every = np.asarray(p_values, dtype=float)
    if every.ndim != 1:
        raise ValueRuleError("p_values", "one-dimensional", f"{every.ndim} dimensions")
    wrong = every[(every < 0) | (every > 1)]
    if wrong.size:
        raise ValueRuleError("p_values", "in 0–1", wrong[0])
    corrected = np.full(every.shape, np.nan)
    order = np.argsort(every)[: np.sum(~np.isnan(every))]  # NaN sorts last
    steps = (order.size - np.arange(order.size)) * every[order]
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return corrected


def summarise_comparisons(
    runs: pd.DataFrame, *, by: str, column: str, baseline: object, level: float = 0.95, ranks: bool = False
) -> pd.DataFrame:
    """Each server against one baseline, corrected for the number of comparisons.

    Parameters
    ----------
    runs : pandas.DataFrame
        One row for each run.
    by : str
        Column that names the server (or the variant, or the load).
    column : str
        The quantity to compare, > 0.  Use `ranks` for a percentile, which has no mean over runs.
    baseline : object
        The value of `by` in the denominator.
    level : float
        Confidence of the whole family, 0 < level < 1.
    ranks : bool
        Ratios by ranks and Mann–Whitney's test, instead of ratios of means and Welch's t test.

    Returns
    -------
    pandas.DataFrame
        A row for each other server, in order of appearance: `by`, ``runs``, ``ratio``; ``lo``, ``hi`` by Bonferroni
        (with the chance `level`, all intervals hold their ratio at once); ``p_value``, ``p_holm``; ``verdict``
        (``different`` where ``p_holm`` <= 1 − level, else ``undecided``: never "the same"); ``warnings``.  Holm's
        test is a little sharper than Bonferroni's intervals, so a verdict ``different`` can come with an interval
        that just holds 1.

    Raises
    ------
    ValueRuleError
        When a column or the baseline is missing, when nothing is left to compare, for a percentile without `ranks`, or
        when runs of one server differ in a factor (see `loadcurve.tables.curves`).

    Notes
    -----
    Bonferroni: O. J. Dunn, "Multiple comparisons among means", J. American Statistical Association 56 (1961).

    Examples
    --------
    >>> table = pd.DataFrame({"server": list("aaabbbccc"), "rps": [100, 101, 99, 110, 112, 108, 100, 102, 99]})
    >>> summarise_comparisons(table, by="server", column="rps", baseline="a")[["server", "p_holm", "verdict"]].round(4)
      server  p_holm    verdict
    0      b  0.0096  different
    1      c  0.7700  undecided
    """
    check_columns(runs, (by, column))
    if PERCENTILE.search(column) and not ranks:
        raise ValueRuleError("column", "a quantity that has a mean over runs (compare a percentile by ranks)", column)
    check_points(runs, [by])
    names = runs[by].dropna().unique()
    others = [name for name in names if name != baseline]
    if len(others) == len(names) or not others:
        raise ValueRuleError("baseline", f"one of two or more values of {by}", baseline)
    find, test = (find_rank_ratio, _mann_whitney) if ranks else (find_ratio, _welch)
    of = {name: runs.loc[runs[by] == name, column] for name in names}
    within = 1 - (1 - level) / len(others)
    rows = []
    for name in others:
        known = int(of[name].notna().sum())
        if not known:
            rows.append((name, 0, np.nan, np.nan, np.nan, np.nan, "0 runs have a value"))
            continue
        found = find(of[name], of[baseline], within)
        first, second, _ = two_groups(of[name], of[baseline])
        p_value = np.nan if min(first.size, second.size) == 1 else test(first, second)
        rows.append((name, known, found.value, found.lo, found.hi, p_value, "; ".join(found.warnings)))
    table = pd.DataFrame(rows, columns=[by, "runs", "ratio", "lo", "hi", "p_value", "warnings"])
    p_holm = holm(table["p_value"])
    table.insert(6, "p_holm", p_holm)
    table.insert(7, "verdict", np.where(p_holm <= 1 - level, "different", "undecided"))
    return table


def _welch(first: Array, second: Array) -> float:
    if first.var() == second.var() == 0:  # no scatter: what was measured is all there is
        return float(first[0] == second[0])
    return float(scipy.stats.ttest_ind(first, second, equal_var=False).pvalue)


def _mann_whitney(first: Array, second: Array) -> float:
    return float(scipy.stats.mannwhitneyu(first, second).pvalue)
