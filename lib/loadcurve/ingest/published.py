"""Tables that others published: `data/published/<source>/<table>.csv`; `source.yml` cites the source.

`source.yml` also says which columns are text: their meaning begins with ``text,``.  All others hold numbers, so that a
garbled cell is found even where it is the only one of its column.
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import pandas as pd
from pydantic import ConfigDict

from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError, refuse
from loadcurve.files import paths
from loadcurve.files.document import Document, built, read_text
from loadcurve.files.paths import check_own_file
from loadcurve.files.reads import record_reads, studies_read
from loadcurve.files.yaml_document import parse_yaml
from loadcurve.study.section import Section, with_keys
from loadcurve.tables.schemas import SCHEMAS

_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
@with_keys({name: (dict[str, str | float], f"Columns of the table {name}.") for name in SCHEMAS})
class Declaration(Section):
    """An entry of ``declared``; `loadcurve.reading.published` describes its keys."""

    run_id: str
    rows_of: str = ""
    only: dict[str, tuple[str | float, ...]] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Source(Section):
    """The keys of a `source.yml` that are evaluated; others describe the report to its reader."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore", strict=True)

    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    declared: tuple[Declaration, ...] = ()

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        wrong = [name for name in self.tables if not _NAME.fullmatch(name)]
        yield from (ValueRuleError("tables", "named with letters, digits, _ and -", name) for name in wrong)


def read_source(folder: Path) -> tuple[Source, Document]:
    """Read and check the `source.yml` of a folder."""
    path = check_own_file(folder / "source.yml")
    record_reads([path])
    return _checked(read_text(path), path)


@lru_cache(maxsize=16)
def _checked(text: str, path: Path) -> tuple[Source, Document]:
    document = parse_yaml(text, path)
    source, faults = built(Source, document)
    refuse(faults, path)
    for i, one in enumerate(source.declared):
        if one.rows_of and one.rows_of not in source.tables:
            known = f"one of the tables {', '.join(source.tables) or '(none)'}"
            raise document.fault(("declared", i, "rows_of"), known, one.rows_of)
    return source, document


def read_published(source: str, table: str) -> pd.DataFrame:
    """Read one table of a published source; numbers are floats, and an empty cell of theirs is missing.

    Parameters
    ----------
    source : str
        Folder under `data/published`.
    table : str
        A table that its `source.yml` declares, with the meaning of each column; that of text begins with ``text,``.

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
    studies_read.add(f"published/{source}")
    return read_table(source_folder(source), table)


def read_table(folder: Path, table: str) -> pd.DataFrame:
    """Read one table of a folder with a `source.yml`, as `read_published` does."""
    declared = read_source(folder)[0].tables
    if table not in declared:
        raise LoadcurveError(f"table must be one of {', '.join(declared)}, got {table!r}")
    columns, path = declared[table], paths.check_own_file(folder / f"{table}.csv")
    where, lines = paths.shown(path), csv.reader(io.StringIO(read_text(path), newline=""))
    try:
        header, *rows = list(lines) or [[]]
    except csv.Error as error:
        raise ParseError(lines.line_num, "CSV", str(error), where) from None
    if header != list(columns):
        raise ParseError(1, ", ".join(columns), ", ".join(header), where)
    for line, row in enumerate(rows, start=2):
        if len(row) != len(columns):
            raise ParseError(line, f"{len(columns)} cells", ",".join(row), where)
    record_reads([path])
    cells = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    text = {name for name, meaning in columns.items() if meaning.startswith("text,")}
    return pd.DataFrame(
        {name: pd.Series(c, dtype="str") if name in text else _numbers(name, c, where) for name, c in cells.items()}
    )


def read_load(source: str, curve: str) -> str:
    """Read what the load of a published curve counts, such as ``processors``: the label of its axis.

    Raises
    ------
    LoadcurveError
        When there is no such source or curve.

    Examples
    --------
    >>> read_load("scaling_curves", "nginx_http_100kb")
    'Processors (worker processes)'
    """
    curves = read_published_entries(source, "curves").reindex(columns=["id", "load"], fill_value="")
    loads = dict(zip(curves["id"], curves["load"], strict=True))
    if curve not in loads:
        raise LoadcurveError(f"curve must be one of {', '.join(loads) or 'none'}, got {curve!r}")
    load = str(loads[curve])
    return load[:1].upper() + load[1:]


def read_published_entries(source: str, name: str) -> pd.DataFrame:
    """Read a list of a published source's `source.yml`, such as its ``curves`` or its ``sources``, as a table.

    Parameters
    ----------
    source : str
        Folder under `data/published`.
    name : str
        A list of entries in its `source.yml`.

    Returns
    -------
    pandas.DataFrame
        One row for each entry, as text; an entry without a fact has an empty cell there.

    Raises
    ------
    LoadcurveError
        When there is no such source or list.

    Examples
    --------
    >>> read_published_entries("scaling_curves", "curves")["id"][0]
    'spec_sdm91'
    """
    document = read_source(source_folder(source))[1]
    lists = {key: value for key, value in document.values.items() if isinstance(value, list)}  # noqa: PD011
    if name not in lists:
        raise LoadcurveError(f"name must be one of {', '.join(lists)}, got {name!r}")
    for i, entry in enumerate(lists[name]):
        if not isinstance(entry, dict):
            raise document.fault((name, i), "a mapping", entry)
    return pd.DataFrame(lists[name]).fillna("").astype(str)


def source_folder(source: str) -> Path:
    """Folder of a published source, by its name."""
    published = paths.root() / "data" / "published"
    known = sorted(p.parent.name for p in published.glob("*/source.yml"))
    if source not in known:
        raise LoadcurveError(f"source must be one of {', '.join(known)}, got {source!r}")
    return published / source


def _numbers(name: str, cells: list[str], where: str) -> pd.Series:
    numbers = pd.to_numeric(pd.Series(cells, dtype=object).replace("", None), errors="coerce").astype(float)
    for line, (cell, number) in enumerate(zip(cells, numbers, strict=True), start=2):
        if cell and not math.isfinite(number):
            raise ParseError(line, f"a number as {name}", cell, where)
    return numbers


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
        at = int(repeated.idxmax())
        raise ParseError(at + 2, "an experiment once", stated["experiment"][at], where)
    return stated


def _faults(row: dict[str, str], known: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what was expected and what was got for each broken rule of a row."""
    yield from ((f"a text as {name}", row[name].strip()) for name in _NEVER_EMPTY if not row[name].strip())
    yield from (("a name of claims.csv", name) for name in row["claims"].split() if name not in known)
    if row["measured"]:
        yield from ((f"{name} beside what was measured", "") for name in ("evidence", "figure") if not row[name])
