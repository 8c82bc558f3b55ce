"""Tables that others published: `data/published/<source>/<table>.csv`; `source.yml` says where they are from."""

import csv
from pathlib import Path

import pandas as pd
import yaml

from loadcurve import paths
from loadcurve.errors import LoadcurveError, ParseError
from loadcurve.ingest.store import record_reads, studies_read


def read_published(source: str, table: str) -> pd.DataFrame:
    """Read one table of a published source; numbers are floats, a column that holds a word is text, empty is missing.

    Parameters
    ----------
    source : str
        Folder under `data/published`.
    table : str
        A table that its `source.yml` declares, with the meaning of each column.

    Raises
    ------
    LoadcurveError
        When there is no such source or table.
    ParseError
        When the file's columns are not the declared ones, a row is cut short, or one cell of a column of numbers
        is none.

    Examples
    --------
    >>> read_published("nginx_10gbe", "rates")["throughput_rps"].max()
    np.float64(691614.0)
    """
    folder = paths.root() / "data" / "published" / source
    columns = _declared(folder, table)
    path = folder / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    where = paths.shown(path)
    if header != columns:
        raise ParseError(1, ", ".join(columns), ", ".join(header), where)
    for line, row in enumerate(rows, start=2):
        if len(row) != len(columns):
            raise ParseError(line, f"{len(columns)} cells", ",".join(row), where)
    record_reads([folder / "source.yml", path])
    studies_read.add(f"published/{source}")
    return pd.DataFrame({name: _values(name, [row[i] for row in rows], where) for i, name in enumerate(columns)})


def _declared(folder: Path, table: str) -> list[str]:
    try:
        declared = yaml.safe_load((folder / "source.yml").read_text("utf-8"))["tables"]
    except FileNotFoundError:
        known = sorted(p.parent.name for p in folder.parent.glob("*/source.yml"))
        raise LoadcurveError(f"source must be one of {', '.join(known)}, got {folder.name!r}") from None
    if table not in declared:
        raise LoadcurveError(f"table must be one of {', '.join(declared)}, got {table!r}")
    return list(declared[table])


def _values(name: str, cells: list[str], where: str) -> pd.Series:
    """A column of text when no cell is a number, else one of numbers: a garbled one among them stops the reader."""
    numbers = pd.to_numeric(pd.Series(cells, dtype=object).replace("", None), errors="coerce").astype(float)
    if numbers.isna().all():
        return pd.Series(cells, dtype="str")
    for line, (cell, number) in enumerate(zip(cells, numbers, strict=True), start=2):
        if cell and pd.isna(number):
            raise ParseError(line, f"a number as {name}", cell, where)
    return numbers
