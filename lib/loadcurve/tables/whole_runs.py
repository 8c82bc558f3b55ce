"""Merge the rows of a run's load generators into one row per run."""

import pandas as pd

# Columns that are summed over the generators of a run; other columns are kept if the generators agree.
_SUMS = ("connections", "threads", "target_rate_rps", "throughput_rps", "goodput_rps")
_SUM_PREFIXES = ("requests", "errors_", "responses_", "received_", "sent_")
_EXTREMES = {"latency_min_s": "min", "latency_max_s": "max", "duration_s": "max", "started_at": "min"}


def merge_generators(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with one row for each recorded run, merged over its generators.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``.

    Returns
    -------
    pandas.DataFrame
        As `runs`.  Counts, rates and connections are sums over the generators, missing if any generator does not report
        its value; the mean response time is the mean over all responses; other columns have a value if the generators
        agree.  Rows without a `repeat` are unchanged, because the reports in a folder without records may be from
        runs one after the other.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": "s", "run_id": "a", "repeat": 1, "generator": [0, 1], "connections": [4, 4],
    ...                      "requests": [300, 100], "throughput_rps": [30.0, 10.0], "latency_mean_s": [0.1, 0.3]})
    >>> merge_generators(runs)[["connections", "throughput_rps", "latency_mean_s"]].to_numpy().round(3).tolist()
    [[8.0, 40.0, 0.15]]
    """
    several = runs["repeat"].notna() & runs.duplicated(["study", "run_id"], keep=False)
    if not several.any():
        return runs
    merged = [_merged(rows) for _, rows in runs[several].groupby(["study", "run_id"], sort=False)]
    return pd.concat([runs[~several], *merged]).sort_index().astype(runs.dtypes.to_dict())


def _merged(rows: pd.DataFrame) -> pd.DataFrame:
    whole = rows.iloc[[0]].copy()
    for name in rows:
        values = rows[name]
        if name in _SUMS or name.startswith(_SUM_PREFIXES):
            found = values.sum(skipna=False)
        elif name in _EXTREMES:
            found = getattr(values, _EXTREMES[name])()
        elif name == "latency_mean_s":
            found = (values * rows["requests"]).sum(skipna=False) / rows["requests"].sum(skipna=False)
        elif name == "latency_usable":
            found = values.all() if values.notna().all() else pd.NA
        elif name == "status":
            found = next((status for status in values if status != "finished"), "finished")
        else:
            alike = name in ("generator", "source") or len(values.drop_duplicates()) == 1
            found = values.iloc[0] if alike else pd.NA
        # None is missing in every type; float64, which a table that was not checked has, takes no NA.
        whole[name] = pd.Series([None if found is pd.NA else found], index=whole.index, dtype=values.dtype)
    return whole
