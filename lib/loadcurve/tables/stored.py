"""Tables in Parquet and CSV files: each column carries its unit and its meaning.

In a Parquet file they are metadata of each field of the Arrow schema, under `unit` and `description`; the metadata of
the schema holds the table's description and the version of loadcurve.  DuckDB and Polars do not show the metadata of
fields, so the file's metadata holds the units again: `units` is a JSON object, column → unit.  pandas shows the same
units as ``frame.attrs["units"]``.  For a folder of CSV files they are in `columns.csv`.

CSV is written without formulas: text that a spreadsheet would evaluate as a formula gets a leading apostrophe.  Excel,
LibreOffice and Google Sheets evaluate a cell that begins with ``= + - @``, with their full-width forms, or with one of
these after a tab or a line end (OWASP, "CSV Injection").  A leading apostrophe makes the cell text.  Numbers are never
changed, neither in numeric columns nor as text; Parquet and JSON hold every text as it was read.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pandas as pd
import pyarrow as pa

from loadcurve.errors import LoadcurveError, printable
from loadcurve.files.atomic import write_text
from loadcurve.packages import __version__
from loadcurve.tables import declared
from loadcurve.tables.schemas import SCHEMAS
from loadcurve.units import unit_of_column

COLUMNS_FILE = "columns.csv"
"""Name of the file that describes the columns of a folder of CSV files."""

# Kind of a dtype, as NumPy abbreviates it → its name in the description of a table.
_TYPE = {"b": "yes/no", "i": "integer", "u": "integer", "f": "number", "M": "time"}


def to_arrow(table: str, frame: pd.DataFrame) -> pa.Table:
    """Return a checked table, or some of its columns, as an Arrow table whose metadata holds units and meanings.

    Text is `large_string`, so a column may exceed 2 GB, also where all its values are missing.

    Examples
    --------
    >>> field = to_arrow("latency", declared.empty("latency")).schema.field("latency_s")
    >>> field.metadata
    {b'unit': b's', b'description': b'Response time at that quantile.'}
    """
    schema = _arrow_schema(table)
    fields = pa.schema([schema.field(name) for name in frame.columns], schema.metadata)
    return pa.Table.from_pandas(frame, preserve_index=False).cast(fields)


def with_all_columns(table: str, some: pa.Table) -> pa.Table:
    """Return an Arrow table with all columns of its declaration, missing ones without values.

    Examples
    --------
    >>> with_all_columns("latency", pa.table({"latency_s": [0.1]})).select(["latency_s", "quantile"]).to_pylist()
    [{'latency_s': 0.1, 'quantile': None}]
    """
    schema = _arrow_schema(table)
    known = set(some.column_names)
    columns = [some[f.name] if f.name in known else pa.nulls(some.num_rows, f.type) for f in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def with_columns(table: pa.Table, **values: object) -> pa.Table:
    """Return an Arrow table with other values in some of its columns: one value for all rows, or one for each row.

    Examples
    --------
    >>> table = to_arrow("latency", declared.check("latency", pd.DataFrame({"latency_s": [0.1, 0.2]})))
    >>> with_columns(table, run_id="c8", quantile=[0.5, 0.9]).to_pandas()[["run_id", "quantile"]].values.tolist()
    [['c8', 0.5], ['c8', 0.9]]
    """
    for name, value in values.items():
        field = table.schema.field(name)
        is_one = value is None or isinstance(value, str)
        column = (
            pa.repeat(pa.scalar(value, field.type), table.num_rows)
            if is_one
            else pa.array(value, field.type, from_pandas=True)
        )
        table = table.set_column(table.schema.get_field_index(name), field, column)
    return table


@cache
def _arrow_schema(table: str) -> pa.Schema:
    """Return the types and metadata of a table in a file; they do not depend on how a frame holds its text."""
    made = pa.Schema.from_pandas(declared.empty(table), preserve_index=False)
    notes, schema_notes = _notes(table)
    fields = []
    for field in made:
        is_text = pa.types.is_string(field.type) or pa.types.is_null(field.type)
        fields.append(field.with_type(pa.large_string() if is_text else field.type).with_metadata(notes[field.name]))
    return pa.schema(fields, {**(made.metadata or {}), **schema_notes})


@cache
def _notes(table: str) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return the metadata of a table's fields and of its schema."""
    described = declared.columns(table)
    fields = {row.column: {"unit": row.unit, "description": row.meaning} for row in described.itertuples()}
    units = {name: notes["unit"] for name, notes in fields.items() if notes["unit"]}
    return fields, {
        "description": SCHEMAS[table].description,
        "loadcurve.table": table,
        "loadcurve.version": __version__,
        "units": json.dumps(units),
        "PANDAS_ATTRS": json.dumps({"units": units}),
    }


def write_columns_file(folder: Path) -> None:
    """Write `columns.csv`, which describes the columns of each ``<table>.csv`` in a folder."""
    names = [name for name in SCHEMAS if (folder / f"{name}.csv").is_file()]
    described = [declared.columns(name).assign(table=name) for name in names]
    if described:
        rows = pd.concat(described).rename(columns={"meaning": "description"})
        written = rows[["table", "column", "type", "unit", "description"]]
        write_text(folder / COLUMNS_FILE, written.to_csv(index=False, lineterminator="\r\n"))


def columns(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return the unit and the meaning of each column of a table: ``column``, ``type``, ``unit``, ``meaning``.

    Parameters
    ----------
    source : str, pathlib.Path or pandas.DataFrame
        Name of a declared table, a Parquet file or a folder with its parts, or any table.  A file of another program,
        or a column that loadcurve does not declare, has the unit that its name ends in and no meaning.

    Raises
    ------
    LoadcurveError
        When no table has this name, or the file cannot be read.

    Examples
    --------
    >>> columns("latency").query("column == 'latency_s'")[["unit", "meaning"]].values.tolist()
    [['s', 'Response time at that quantile.']]
    >>> columns(pd.DataFrame({"throughput_rps": [410.0], "rack": ["b"]}))[["column", "type", "unit"]].values.tolist()
    [['throughput_rps', 'number', 'requests/s'], ['rack', 'text', '']]
    """
    if isinstance(source, str) and not source.endswith(".parquet"):
        return declared.columns(source)
    if isinstance(source, pd.DataFrame):
        names = set(map(str, source.columns))
        most = max(SCHEMAS, key=lambda table: len(SCHEMAS[table].columns.keys() & names))  # the table that has most
        return _described(source, _notes(most)[0])
    import pyarrow.parquet as pq  # with file systems of clouds, which an audit of a file does not need

    try:
        parts = sorted(Path(source).glob("[!.]*.parquet"))
        schema = pq.read_schema(parts[0] if parts else source)
    except (OSError, pa.ArrowException) as error:
        got = getattr(error, "strerror", None) or str(error).split(". ")[0]
        raise LoadcurveError(printable(f"{source}: expected a Parquet file, got {got}")) from None
    stored = {field.name: {k.decode(): v.decode() for k, v in (field.metadata or {}).items()} for field in schema}
    return _described(schema.empty_table().to_pandas(), stored)


def _described(frame: pd.DataFrame, notes: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    rows = []
    for name, kind in zip(map(str, frame.columns), frame.dtypes, strict=True):
        known = notes.get(name, {})
        unit = known.get("unit", declared.shown_unit(unit_of_column(name)))
        rows.append((name, _TYPE.get(kind.kind, "text"), unit, known.get("description", "")))
    return pd.DataFrame(rows, columns=["column", "type", "unit", "meaning"])


_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?\Z", re.IGNORECASE)


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an apostrophe before each text or column name that a spreadsheet would evaluate.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["=1+1", "-5", "c=1"], "value": [-1.0, 2.0, 3.0]})
    >>> without_formulas(table).to_dict("list")
    {'name': ["'=1+1", '-5', 'c=1'], 'value': [-1.0, 2.0, 3.0]}
    """
    made = frame.rename(columns={name: _guarded(name) for name in frame.columns})
    for place, (name, kind) in enumerate(zip(made.columns, made.dtypes, strict=True)):
        if isinstance(kind, pd.CategoricalDtype):
            made = made.assign(**{name: frame.iloc[:, place].astype(object).map(_guarded)})
        elif not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_datetime64_any_dtype(kind)):
            made = made.assign(**{name: frame.iloc[:, place].map(_guarded, na_action="ignore").astype(kind)})
    return made


def csv_text(frame: pd.DataFrame) -> str:
    """Return the table as CSV (RFC 4180) without its index and without formulas."""
    # With this line terminator, pandas also quotes a lone CR, which readers would take for the end of a row.
    return str(without_formulas(frame).to_csv(index=False, lineterminator="\r\n"))


def as_read(cell: object) -> object:
    """Return the original text of a cell; the inverse of `without_formulas`.

    Examples
    --------
    >>> as_read("'=1+1"), as_read("'tis")
    ('=1+1', "'tis")
    """
    if isinstance(cell, str) and cell.startswith("'") and _FORMULA.match(cell):
        return cell[1:]
    return cell


def _guarded(cell: object) -> object:
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.match(cell):
        return cell
    return f"'{cell}"
