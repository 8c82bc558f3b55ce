"""Experiments of a published report, and what rerunning each takes: `data/published/<report>/experiments.csv`."""

from collections.abc import Iterator

import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.files import paths
from loadcurve.ingest.published import read_published, source_folder

_NEVER_EMPTY = ("experiment", "title", "study")


def read_experiments(source: str) -> pd.DataFrame:
    """Read the experiments of a published report, all text, and check each row.

    Examples
    --------
    >>> read_experiments("nginx_10gbe")["study"][0]
    'nginx_saturating_size'
    """
    stated = read_published(source, "experiments")
    known = set(read_published(source, "claims")["name"])
    where = paths.shown(source_folder(source) / "experiments.csv")
    for line, row in enumerate(stated.to_dict("records"), start=2):
        for expected, got in _faults(row, known):
            raise ParseError(line, expected, got, where)
    repeated = stated["experiment"].duplicated()
    if repeated.any():
        raise ParseError(
            int(repeated.idxmax()) + 2, "an experiment once", stated["experiment"][repeated.idxmax()], where
        )
    return stated


def _faults(row: dict[str, str], known: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what was expected and what was got for each broken rule of a row."""
    yield from ((f"a text as {name}", row[name].strip()) for name in _NEVER_EMPTY if not row[name].strip())
    yield from (("a name of claims.csv", name) for name in row["claims"].split() if name not in known)
    if row["measured"]:
        yield from ((f"{name} beside what was measured", "") for name in ("evidence", "figure") if not row[name])
