"""Export tables to other programs: one JSON object for each file, or one file for each table."""

import contextlib
import json
import math
import shutil
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from loadcurve.errors import LoadcurveError
from loadcurve.files.atomic import replacing
from loadcurve.ingest.merge import join
from loadcurve.ingest.parsed import Rows
from loadcurve.reading import Reading

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_SLICE = 20_000  # rows converted to Python objects at a time: about ten megabytes
_WAITING = 8  # parts of tables that wait for their thread


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


def write_tables(readings: Iterable[Reading], folder: Path, form: str, *, threaded: bool = False) -> dict[str, int]:
    """Write every table as ``FOLDER/<table>.parquet`` or ``.csv``, reading one raw file at a time.

    Parameters
    ----------
    readings : iterable of Reading
        From `loadcurve.reading.read_each` or `read_matched`, without rejected files.
    folder : pathlib.Path
        Created if needed; existing tables with these names are replaced atomically after everything has been read.
    form : str
        ``parquet`` with units and meanings of the columns in its metadata, or ``csv`` without formulas
        (`loadcurve.files.spreadsheet`), with units and meanings in ``FOLDER/columns.csv``.
    threaded : bool
        Whether tables are written at the same time, each by a thread of its own.

    Returns
    -------
    dict[str, int]
        Number of rows of each table.
    """
    import pyarrow as pa

    from loadcurve import tables
    from loadcurve.files.spreadsheet import without_formulas
    from loadcurve.schemas import SCHEMAS
    from loadcurve.tables.declared import ARROW_TEXT
    from loadcurve.tables.stored import to_arrow, write_columns_file

    folder.mkdir(parents=True, exist_ok=True)
    waiting: dict[str, list] = {}
    held: dict[str, int] = {}
    writers: dict = {}
    threads: dict[str, ThreadPoolExecutor] = {}  # one for each table, so that its rows are written in order
    written: deque[Future[None]] = deque()
    rows: dict[str, int] = {}

    def flush(name: str) -> None:
        held.pop(name)
        for frame in _frames(join(waiting.pop(name))):
            if name == "runs":  # columns that are no declared facts are in the table `factors`, too
                frame = frame.filter(items=SCHEMAS[name].columns)
            checked = tables.check(name, frame, text=ARROW_TEXT)
            write(name, to_arrow(name, without_formulas(checked) if form == "csv" else checked))

    def write(name: str, table: "pa.Table") -> None:
        if name not in writers:
            draft = drafts.enter_context(replacing(folder / f"{name}.{form}"))
            writers[name] = drafts.enter_context(_writer(draft, table.schema, form))
            threads[name] = ThreadPoolExecutor(1)
            drafts.callback(threads[name].shutdown, cancel_futures=True)
        rows[name] = rows.get(name, 0) + table.num_rows
        written.append(threads[name].submit(writers[name].write_table, table, 5 * _SLICE))
        while len(written) > (_WAITING if threaded else 0):
            written.popleft().result()

    with contextlib.ExitStack() as drafts:
        for reading in readings:
            for name in reading.parsed.tables:
                part = reading.rows(name)
                if isinstance(part, pa.Table):  # which is checked
                    if form == "parquet":
                        if name in waiting:
                            flush(name)
                        write(name, part)
                        continue
                    part = part.to_pandas()
                waiting.setdefault(name, []).append(part)
                held[name] = held.get(name, 0) + len(part)
                if held[name] >= _SLICE:
                    flush(name)
        for name in list(waiting):
            flush(name)
        for part in written:
            part.result()
    if form == "csv":
        write_columns_file(folder)
    return {name: rows[name] for name in SCHEMAS if name in rows}


def write_csv(readings: Iterable[Reading], out: BinaryIO) -> None:
    """Write the only table of some readings as CSV, after all of them were read.

    Raises
    ------
    LoadcurveError
        When there are several tables, or none.
    """
    with tempfile.TemporaryDirectory(prefix="loadcurve-") as folder:
        names = list(write_tables(readings, Path(folder), "csv"))
        if len(names) != 1:
            todo = ": name one with --table" if names else ""
            raise LoadcurveError(f"--output - must get one table, got {', '.join(names) or 'none'}{todo}")
        with Path(folder, f"{names[0]}.csv").open("rb") as file:
            shutil.copyfileobj(file, out)
    out.flush()


def _writer(path: Path, schema: "pa.Schema", form: str):
    if form == "csv":
        from pyarrow.csv import CSVWriter

        return CSVWriter(path, schema)
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    repeated = [field.name for field in schema if pa.types.is_large_string(field.type)]
    return ParquetWriter(path, schema, compression="zstd", use_dictionary=repeated)


def _frames(table: "pd.DataFrame | Rows") -> "Iterator[pd.DataFrame]":
    """Yield slices of a table, because a check copies the rows that it gets."""
    import pandas as pd

    frame = pd.DataFrame(list(table)) if isinstance(table, Sequence) else table
    for start in range(0, max(len(frame), 1), 5 * _SLICE):
        yield frame.iloc[start : start + 5 * _SLICE]


def _slices(table: "pd.DataFrame | Rows") -> Iterator[list[dict]]:
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
