"""Settings of one study against each other: their labels, and what a setting changes."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.stats import Estimate, find_paired_ratio


def label_settings(runs: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return the runs of some settings in a given order, with a label for each setting.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``variant``, a row for each run.
    labels : mapping of str to str
        Name of each setting → its label, in the order of the result.

    Returns
    -------
    pandas.DataFrame
        As `runs`, with the column ``setting``.

    Raises
    ------
    ValueRuleError
        When no run has a named setting.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": ["off", "on", "other"], "throughput_rps": [3.0, 2.0, 1.0]})
    >>> label_settings(runs, {"on": "log on", "off": "log off"})["setting"].tolist()
    ['log on', 'log off']
    """
    groups = dict(list(runs.groupby("variant", sort=False)))
    if missing := [name for name in labels if name not in groups]:
        raise ValueRuleError("labels", f"of settings of the runs: {', '.join(map(str, groups))}", missing[0])
    return pd.concat([groups[name].assign(setting=label) for name, label in labels.items()], ignore_index=True)


def changes_of_settings(
    runs: pd.DataFrame, pairs: Mapping[str, str], column: str = "throughput_rps", level: float = 0.95
) -> dict[str, Estimate]:
    """Return by which ratio a setting changes a quantity, against another setting in the same blocks.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``variant``, ``repeat`` and `column`, a row for each run; each block has every setting once.
    pairs : mapping of str to str
        Name of the result → the names of the setting and of the setting it is compared with, separated by a space.
    column : str
        Quantity to compare, > 0.
    level : float
        Confidence level of each interval, 0 < level < 1.

    Returns
    -------
    dict of str to Estimate
        Ratio − 1 by the name of the result: −0.2 for a fifth less.

    Raises
    ------
    ValueRuleError
        When no run has a named setting.

    Examples
    --------
    >>> runs = pd.DataFrame({"variant": ["on", "off"] * 2, "repeat": [1, 1, 2, 2],
    ...                      "throughput_rps": [80.0, 100.0, 160.0, 200.0]})
    >>> print(changes_of_settings(runs, {"log": "on off"})["log"])
    -0.2 [-0.2, -0.2]
    """
    table = runs.pivot_table(index="repeat", columns="variant", values=column)
    found = {}
    for name, pair in pairs.items():
        setting, baseline = pair.split()
        if missing := {setting, baseline} - set(table):
            raise ValueRuleError("pairs", f"settings of the runs: {', '.join(map(str, table))}", missing.pop())
        ratio = find_paired_ratio(table[setting], table[baseline], level)
        found[name] = replace(ratio, value=ratio.value - 1, lo=ratio.lo - 1, hi=ratio.hi - 1)
    return found
