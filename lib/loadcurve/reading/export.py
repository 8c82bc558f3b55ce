"""Export tables to other programs: one JSON object for each file, or one file for each table."""

import contextlib
import json
import math
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from loadcurve.errors import LoadcurveError, named_as
from loadcurve.files.atomic import replacing, temporary_folder
from loadcurve.ingest.parsed import Rows
from loadcurve.ingest.table_parts import Parts, parts_of, write_slices
from loadcurve.reading import Reading
from loadcurve.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    import pandas as pd

_SLICE = 20_000  # rows converted to Python objects at a time: about ten megabytes


def json_lines(reading: Reading) -> Iterator[str]:
    """Yield one line of JSON in pieces: ``{"source", "tool", "version", "tables": {name: [rows]}, "warnings"}``.

    Numbers are in SI units, times are ISO 8601 in UTC, and missing values are null.
    """
    parsed = reading.parsed
    head = {"source": reading.source, "tool": parsed.tool, "version": parsed.version or None}
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "tables": {'
    for i, name in enumerate(parsed.tables):
        yield f'{", " if i else ""}"{name}": ['
        for j, part in enumerate(_slices(parsed.tables.rows(name))):
            yield (", " if j else "") + ", ".join(json.dumps(row, ensure_ascii=False) for row in part)
        yield "]"
    yield f'}}, "warnings": {json.dumps(parsed.warnings, ensure_ascii=False)}}}\n'


def other_tables(folder: Path, form: str, written: Iterable[str]) -> list[str]:
    """Return the names of files of tables in a folder that a call of `write_tables` did not write.

    Examples
    --------
    >>> other_tables(Path("nowhere"), "csv", ["runs"])
    []
    """
    others = (f"{name}.{form}" for name in SCHEMAS if name not in set(written))
    return [name for name in others if (folder / name).exists()]


def write_tables(readings: Iterable[Reading], folder: Path, form: str, *, parts: Parts | None = None) -> dict[str, int]:
    """Write every table as ``FOLDER/<table>.parquet`` or ``.csv``, reading one raw file at a time."""
    tables = ((name, reading.rows(name)) for reading in readings for name in reading.parsed.tables)
    if form == "csv":
        folder.mkdir(parents=True, exist_ok=True)
        from loadcurve.tables.stored import write_columns_file

        rows = write_slices(tables, form, lambda name: replacing(folder / f"{name}.csv"))
        write_columns_file(folder)
    else:
        with contextlib.nullcontext(parts) if parts else parts_of(folder) as open_parts:
            open_parts.write(tables)
            rows = dict(open_parts.rows)
    return {name: rows[name] for name in SCHEMAS if name in rows}


def write_csv(readings: Iterable[Reading], out: BinaryIO) -> None:
    """Write the only table of some readings as CSV, after all of them were read."""
    with temporary_folder() as folder:
        names = list(write_tables(readings, folder, "csv"))
        if len(names) != 1:
            todo = ": name one with --table" if names else ""
            raise LoadcurveError(f"--output - must get one table, got {', '.join(names) or 'none'}{todo}")
        with named_as("standard output"), (folder / f"{names[0]}.csv").open("rb") as file:
            shutil.copyfileobj(file, out)
    out.flush()


def _slices(table: "pd.DataFrame | Rows") -> Iterator[list[dict[str, Any]]]:
    if isinstance(table, Sequence):
        yield [{name: _plain(value) for name, value in row.items()} for row in table]
        return
    for start in range(0, len(table), _SLICE):
        part = table.iloc[start : start + _SLICE]
        columns = {}
        for name in part:
            values = part[name]
            if hasattr(values, "dt") and values.dtype.kind == "M":
                # Always with microseconds, as in the tables, so that times sort as text.
                values = values.dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            columns[name] = [_plain(value) for value in values.astype(object).where(values.notna(), None)]
        yield [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, datetime):  # pandas' Timestamp too
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if value == value else None
    return value.item() if hasattr(value, "item") else None
