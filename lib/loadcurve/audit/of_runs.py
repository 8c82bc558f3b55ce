"""Tables by run: which rows belong to which run."""

from collections.abc import Mapping
from types import SimpleNamespace

import pandas as pd

Tables = Mapping[str, pd.DataFrame]


def key_of(frame: pd.DataFrame) -> pd.Series:
    """Return a text for each row that identifies its run: study and run, either of which may be missing.

    Examples
    --------
    >>> key_of(pd.DataFrame({"study": ["s", None], "run_id": ["c1", "c1"]})).tolist()
    ['s/c1', '/c1']
    """
    study = frame["study"].fillna("") if "study" in frame else ""
    return (study + "/" + frame["run_id"].fillna("")).astype(object)


def tables_of(runs: pd.DataFrame, tables: Tables) -> dict[str, pd.DataFrame]:
    """Return the rows of all tables that belong to some runs; tables without runs are kept whole.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": ["s"], "run_id": ["c1"]})
    >>> cpu = pd.DataFrame({"study": "s", "run_id": ["c1", "c2"], "cpu": "0"})
    >>> tables_of(runs, {"cpu": cpu})["cpu"]["run_id"].tolist()
    ['c1']
    """
    own = {"runs": runs}
    wanted = pd.Index(key_of(runs).unique())
    every = "runs" in tables and len(runs) == len(tables["runs"])
    for name, frame in tables.items():
        if name != "runs":
            own[name] = frame if every or "run_id" not in frame else frame[key_of(frame).isin(wanted)]
    return own


def all_of(runs: pd.DataFrame) -> SimpleNamespace:
    """Return what names all runs together in a finding: their study if they have one, and no run.

    Examples
    --------
    >>> all_of(pd.DataFrame({"study": ["s", "s"], "run_id": ["c1", "c2"]})).study
    's'
    """
    studies = runs["study"].dropna().unique() if "study" in runs else []
    return SimpleNamespace(study=studies[0] if len(studies) == 1 else None, run_id=None, source=None)
