"""Response times of several loads in common classes, for a heat map."""

import numpy as np
import pandas as pd

from loadcurve.errors import NotMeasuredError

_PER_DECADE = 12
"""Classes of response times, each a fifth longer than the one below it."""


def summarise_heatmap(histogram: pd.DataFrame, column: str = "connections") -> pd.DataFrame:
    """Return the share of responses in logarithmic classes of response time, for each level of a column.

    Parameters
    ----------
    histogram : pandas.DataFrame
        Rows of the table ``histogram``, either all corrected for coordinated omission or none, with `column` joined.
    column : str
        What the columns of the map are, such as the connections.

    Returns
    -------
    pandas.DataFrame
        ``column lower_s upper_s share_ratio``, in the order of the levels, without empty classes.  A class of the table
        counts where its middle lies; the shares of a level add up to 1.

    Raises
    ------
    NotMeasuredError
        When there is no class.

    Examples
    --------
    >>> classes = pd.DataFrame({"connections": 8, "lower_s": [0.0009, 0.0015], "upper_s": [0.0011, 0.0017],
    ...                         "responses": [30, 10]})
    >>> summarise_heatmap(classes)[["column", "share_ratio"]].values.tolist()
    [['8', 0.75], ['8', 0.25]]
    """
    if histogram.empty:
        raise NotMeasuredError("No histogram belongs to these runs", "wrk writes one when the laboratory launches it")
    middle = (histogram["lower_s"] + histogram["upper_s"]).astype(float) / 2
    place = np.floor(_PER_DECADE * np.log10(middle.clip(lower=1e-6)))
    counts = histogram["responses"].astype(float).groupby([histogram[column], place]).sum()
    shares = counts / counts.groupby(level=0).transform("sum")
    found = shares.rename("share_ratio").rename_axis(["level", "place"]).reset_index()
    ends = {"lower_s": 10 ** (found["place"] / _PER_DECADE), "upper_s": 10 ** ((found["place"] + 1) / _PER_DECADE)}
    names = found["level"].map("{:g}".format) if pd.api.types.is_numeric_dtype(found["level"]) else found["level"]
    return pd.DataFrame({"column": names.astype(str), **ends, "share_ratio": found["share_ratio"]})
