"""Compare the curves of two records of one study: with the same shape, their ratio is the same at every load."""

import numpy as np
import pandas as pd

from loadcurve.tables.curves import check_points

# Below this a difference is smaller than what a record without repeats can show.
_MIN_LIMIT = 1.1


def summarise_similarity(runs: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Ratio of two curves over the loads that both have, and by how much it differs between loads.

    Parameters
    ----------
    runs, reference : pandas.DataFrame
        Rows of the table ``runs``: those in question, and those they are compared with.

    Returns
    -------
    pandas.DataFrame
        One row for each variant of both: ``levels`` (loads that both have), ``first_ratio`` (of the mean throughputs at
        the least of them), ``least_ratio, most_ratio``, ``spread`` (the most over the least), ``limit`` (the greatest
        ratio of two runs of one load of the reference, at least 1.1) and ``same_shape``, whether the spread is within
        the limit.  No row where they have fewer than 2 loads in common.

    Raises
    ------
    ValueRuleError
        When runs of one variant and load differ in another factor (see `loadcurve.tables.curves`).

    Examples
    --------
    >>> reference = pd.DataFrame({"connections": [1, 1, 8, 8], "throughput_rps": [98.0, 102, 790, 810]})
    >>> runs = pd.DataFrame({"connections": [1, 8], "throughput_rps": [5.0, 400]}).assign(variant="cpu")
    >>> likeness = summarise_similarity(runs, reference.assign(variant="cpu"))
    >>> likeness.round(2).iloc[0].to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'variant': 'cpu', 'levels': 2, 'first_ratio': 0.05, 'least_ratio': 0.05, 'most_ratio': 0.5, 'spread': 10.0,
     'limit': 1.1, 'same_shape': False}
    """
    keys = ["variant", "connections"]
    for each in (runs, reference):
        check_points(each, keys)
    measured, recorded = (
        each.dropna(subset=["throughput_rps"]).groupby(keys)["throughput_rps"] for each in (runs, reference)
    )
    ratios = (measured.mean() / recorded.mean()).replace([np.inf, -np.inf], np.nan).dropna()
    ratios = ratios.rename("ratio").reset_index()
    scatter = (recorded.max() / recorded.min()).groupby("variant").max()
    rows = []
    for variant, of_variant in ratios.groupby("variant"):
        ratio = of_variant.sort_values("connections")["ratio"].astype(float)
        if len(ratio) < 2:
            continue
        spread = ratio.max() / ratio.min() if ratio.min() > 0 else np.inf
        limit = max(_MIN_LIMIT, float(scatter[variant]))
        same = bool(spread <= limit)
        rows.append((variant, len(ratio), ratio.iloc[0], ratio.min(), ratio.max(), spread, limit, same))
    names = ["variant", "levels", "first_ratio", "least_ratio", "most_ratio", "spread", "limit", "same_shape"]
    return pd.DataFrame(rows, columns=names)


def similarity_verdict(likeness: pd.DataFrame) -> str:
    """Say which curves have the shape of the reference and which do not, with the numbers.

    Parameters
    ----------
    likeness : pandas.DataFrame
        As `summarise_similarity` gives it.

    Examples
    --------
    >>> row = {"variant": "cpu", "least_ratio": 0.05, "most_ratio": 0.5, "spread": 10.0, "limit": 1.1}
    >>> print(similarity_verdict(pd.DataFrame([row | {"same_shape": False}])))  # doctest: +NORMALIZE_WHITESPACE
    cpu has another shape: 0.05 to 0.5 times the recorded throughput, a factor of 10 between levels; recorded repeats of
    one level differ by a factor of up to 1.1
    """
    if likeness.empty:
        return "nothing was compared: no variant has two loads in common"
    sentences = []
    for row in likeness.itertuples():
        shape = "the same shape" if row.same_shape else "another shape"
        sentences.append(
            f"{row.variant} has {shape}: {row.least_ratio:.2g} to {row.most_ratio:.2g} times the recorded throughput, "
            f"a factor of {row.spread:.2g} between levels; recorded repeats of one level differ by a factor of up to "
            f"{row.limit:.2g}"
        )
    return ". ".join(sentences)
