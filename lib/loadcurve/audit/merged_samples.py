"""One row for each sample of a monitor, where several files of a folder hold parts of the same sample.

``sar -o`` records once, and people print it several times: ``sar -u``, ``sar -P ALL`` and ``sar -n EDEV`` into a file
each, beside the binary.  Counted twice, a sample doubles what interfaces carried and halves the width of an interval.
"""

import pandas as pd

_ITEM = {"cpu": ["cpu"], "network": ["interface"], "disks": ["device"], "tcp": [], "memory": [], "load": []}
"""Tables with one row for each run, host, time and item, and the column of the item."""


def merge_samples(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with one row for each sample; tables of other kinds, and samples without a time, unchanged.

    Parameters
    ----------
    name : str
        Of the table.
    table : pandas.DataFrame
        Rows of a monitor.  Rows of one file are never merged: it may hold several samples of one second.

    Returns
    -------
    pandas.DataFrame
        Each column has its first known value, that of the row with most known values first.

    Examples
    --------
    >>> rows = pd.DataFrame({"run_id": "a", "host": "h", "source": ["tcp.txt", "etcp.txt"], "elapsed_s": 1.0,
    ...                      "segments_sent_pps": [9.0, None], "retransmits_pps": [None, 0.5]})
    >>> merge_samples("tcp", rows)[["segments_sent_pps", "retransmits_pps"]].values.tolist()
    [[9.0, 0.5]]
    """
    if name not in _ITEM or not {"run_id", "elapsed_s", "source"} <= set(table):
        return table
    keys = [key for key in ("study", "run_id", "host", "elapsed_s", *_ITEM[name]) if key in table]
    dated = table["elapsed_s"].notna() & table["run_id"].notna()
    again = dated & table.duplicated(keys, keep=False)
    again &= ~table.duplicated([*keys, "source"], keep=False)
    if not again.any():
        return table
    rows = table[again]
    fullest = rows.notna().sum(axis=1).sort_values(ascending=False, kind="stable").index
    merged = rows.loc[fullest].groupby(keys, dropna=False, sort=False, observed=True).first().reset_index()
    kept = pd.concat([table[~again], merged[list(table.columns)].astype(table.dtypes)])
    return kept.sort_values("elapsed_s", kind="stable", ignore_index=True)
