"""Published reports as declared tables, as the list ``declared`` of their `source.yml` says.

An entry of the list makes one run of each row of a transcribed table, or one run in all without a table:

* ``rows_of`` names the table, and ``only`` the rows that are meant: column -> list of values; "" is an empty cell.
* ``run_id`` names each run, which is a variant of its own; ``{column}`` stands for the text or the number of a cell.
* ``runs``, ``network`` or another declared table: its columns.  The value of a text is written as ``run_id`` is.  The
  value of a number is a column of the table, a name of the table ``prose``, a number, or an expression of these
  (`loadcurve.reading.expressions.evaluate`).  An empty cell gives an empty value.
* ``raw`` names quoted outputs of tools: a column of the table, or without a table a file in the folder ``raw`` -> the
  host on which the tool ran.
"""

import math
import re
from collections import ChainMap
from collections.abc import Mapping
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from loadcurve import tables
from loadcurve.errors import LoadcurveError, check_type, printable
from loadcurve.files.document import Document, Place
from loadcurve.files.paths import check_own_file, data_name
from loadcurve.files.reads import record_reads, studies_read
from loadcurve.ingest.files import Hints, content, parse_bytes
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.published import read_table, source_folder
from loadcurve.reading.expressions import evaluate
from loadcurve.reading.reading import SOURCE, recording_text
from loadcurve.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    from loadcurve.ingest.published import Declaration, Source

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# A report has a few hundred rows; a few lines could ask for each row of a table many thousand times.
_MAX_ROWS, _MAX_CHARACTERS = 20_000, 2_000


def read_published_tables(folder: str | Path) -> Parsed:
    """Read a published report into declared tables; its rows count as finished runs.

    Parameters
    ----------
    folder : str or pathlib.Path
        Folder with a `source.yml`, or its name under `data/published`.

    Returns
    -------
    Parsed
        With an empty `tool`; no tables if `source.yml` declares none.

    Raises
    ------
    LoadcurveError
        When there is no such source, or an entry of ``declared`` is wrong; the text names the entry.

    Examples
    --------
    >>> runs = read_published_tables("scale_out_lvs").tables["runs"]
    >>> runs.loc[runs["run_id"] == "both", ["server_units", "throughput_rps"]].values.tolist()
    [[2, 659000.0]]
    """
    check_type("folder", folder, str | Path, "the path or the name of a published report")
    folder = Path(folder)
    if not (folder / SOURCE).exists():
        folder = source_folder(str(folder))
    from loadcurve.ingest.published import read_source  # here, because most files and folders do not need it

    source, document = read_source(folder)
    studies_read.add(data_name(folder))
    report = _Report(folder, source, document)
    collected: dict[str, list[pd.DataFrame]] = {}
    for i, entry in enumerate(source.declared):
        for name, frame in report.tables_of(entry, ("declared", i)):
            collected.setdefault(name, []).append(frame)
    joined = {name: pd.concat(parts, ignore_index=True) for name, parts in collected.items()}
    try:
        checked = Tables({name: tables.check(name, frame) for name, frame in joined.items()})
    except LoadcurveError as error:
        raise LoadcurveError(f"{document.path}: {error}") from None
    return Parsed("", checked, tuple(report.warnings))


def read_published_raw(source: str, name: str) -> Parsed:
    """Read tool output quoted in a published report, as `loadcurve.read` does.

    Parameters
    ----------
    source : str
        Folder under `data/published`.
    name : str
        Name of a file in the folder `raw` of the source.

    Returns
    -------
    Parsed
        Declared tables of the file.

    Raises
    ------
    LoadcurveError
        When the source or the file does not exist.
    ParseError
        When the file is not output of a tool; `source.yml` lists these files, with reasons.

    Examples
    --------
    >>> runs = read_published_raw("rt_qps_threads", "c8000.wrk.txt").tables["runs"]
    >>> runs[["errors_connect", "throughput_rps"]].to_numpy().tolist()
    [[6980, 20260.6]]
    """
    folder = source_folder(source)
    if name not in (known := _quotations(folder)):
        raise LoadcurveError(f"name must be one of {', '.join(known)}, got {name!r}")
    studies_read.add(f"published/{source}")
    return _raw(folder, name)


def _quotations(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "raw").glob("*"))


def _raw(folder: Path, name: str) -> Parsed:
    path, hints = check_own_file(folder / "raw" / name, folder), Hints()
    record_reads([path])
    parsed = parse_bytes(content(path, hints.max_bytes), str(path), hints, recording_text)
    checked = {t: tables.check(t, parsed.tables[t].assign(source=printable(str(path)))) for t in parsed.tables}
    return Parsed(parsed.tool, Tables(checked), parsed.warnings, parsed.version)


class _Report:
    """Tables of the entries of ``declared``; each file is read once."""

    def __init__(self, folder: Path, source: "Source", document: Document):
        self._source, self._document, self._rows = source, document, 0
        self._quotations = _quotations(folder)
        self._table, self._raw = cache(partial(read_table, folder)), cache(partial(_raw, folder))
        self.warnings: list[str] = []

    def tables_of(self, entry: "Declaration", at: Place) -> list[tuple[str, pd.DataFrame]]:
        """Return the name and the rows of each table that an entry gives; `at` is the place of the entry."""
        rows = self._selected(entry, at)
        run_ids = self._texts(entry.run_id, rows, (*at, "run_id"))
        own = {name: columns for name in SCHEMAS if (columns := getattr(entry, name)) is not None}
        given = {name: self._columns(name, own[name], rows, (*at, name)).assign(run_id=run_ids) for name in own}
        found = []
        for key, host in entry.raw.items():
            names = self._column(rows, key, (*at, "raw", key)) if entry.rows_of else pd.Series([key])
            for i, name in names[names != ""].items():
                if name not in self._quotations:
                    quoted = f"one of the files of raw {', '.join(self._quotations) or '(none)'}"
                    raise self._document.fault((*at, "raw", key), quoted, name)
                parsed, known = self._raw(name), {"run_id": run_ids[i], "host": host, "source": f"raw/{name}"}
                found += _quoted(parsed, known, given["runs"].loc[i] if "runs" in given else pd.Series())
                self.warnings += [f"raw/{name}: {warning}" for warning in parsed.warnings]
        if not entry.raw:
            source = f"{entry.rows_of}.csv" if entry.rows_of else "prose.csv"
            found = [(name, frame.assign(source=source)) for name, frame in given.items()]
            found = [(name, frame.assign(status="finished") if name == "runs" else frame) for name, frame in found]
        return [(name, frame.assign(variant=frame["run_id"]) if name == "runs" else frame) for name, frame in found]

    def _selected(self, entry: "Declaration", at: Place) -> pd.DataFrame:
        rows = self._table(entry.rows_of) if entry.rows_of else pd.DataFrame(index=[0])
        for name, values in entry.only.items():
            cells = self._column(rows, name, (*at, "only", name)).astype(object)
            rows = rows[cells.where(cells.notna(), "").isin(values)]
        self._rows += len(rows) + 1
        if self._rows > _MAX_ROWS:
            raise self._document.fault(at, f"at most {_MAX_ROWS} rows in all", "more")
        return rows.reset_index(drop=True)

    def _columns(self, name: str, columns: Mapping[str, Any], rows: pd.DataFrame, at: Place) -> pd.DataFrame:
        declared = tables.columns(name).set_index("column")["type"]
        values = {}
        for column, value in columns.items():
            if column not in declared.index:
                raise self._document.fault((*at, column), f"a column of {name}", column)
            written = self._texts if declared[column] == "text" else self._numbers
            values[column] = written(value, rows, (*at, column))
        return pd.DataFrame(values, index=rows.index)

    def _column(self, rows: pd.DataFrame, name: str, at: Place) -> pd.Series:
        if name not in rows:
            raise self._document.fault(at, f"one of the columns {', '.join(rows) or '(none without rows_of)'}", name)
        return rows[name]

    def _texts(self, template: Any, rows: pd.DataFrame, at: Place) -> list[str]:
        if not isinstance(template, str) or len(template) > _MAX_CHARACTERS:
            raise self._document.fault(at, f"a text of at most {_MAX_CHARACTERS} characters", template)
        for name in _PLACEHOLDER.findall(template):
            self._column(rows, name, at)
        texts = [_PLACEHOLDER.sub(lambda found: _cell(row[found[1]]), template) for row in rows.to_dict("records")]  # noqa: B023
        if too_long := next((text for text in texts if len(text) > _MAX_CHARACTERS), ""):
            raise self._document.fault(at, f"texts of at most {_MAX_CHARACTERS} characters", too_long)
        return texts

    def _numbers(self, expression: str | float, rows: pd.DataFrame, at: Place) -> pd.Series:
        if isinstance(expression, str) and expression in rows:
            if rows[expression].dtype != float:
                raise self._document.fault(at, "a number", "a column of texts")
            return rows[expression]
        try:
            values = [evaluate(str(expression), ChainMap(row, self._in_prose)) for row in rows.to_dict("records")]
        except LoadcurveError as error:
            raise self._document.fault(at, f"a number, or an expression of them ({error})", expression) from None
        if odd := [value for value in values if not isinstance(value, float)]:
            raise self._document.fault(at, "an expression of numbers", odd[0])
        return pd.Series(values, index=rows.index, dtype=float)

    @cached_property
    def _in_prose(self) -> dict[str, float]:
        if "prose" not in self._source.tables:
            return {}
        prose = self._table("prose")
        names, values = (self._column(prose, name, ("tables", "prose")) for name in ("name", "value"))
        return dict(zip(names, values, strict=True))


def _cell(value: Any) -> str:
    """Return a cell as it is printed: a number without superfluous zeros, nothing for a missing one."""
    return value if isinstance(value, str) else "" if math.isnan(value) else f"{value:.15g}"


def _quoted(parsed: Parsed, known: Mapping[str, str], given: pd.Series) -> list[tuple[str, pd.DataFrame]]:
    """Return the tables of a quoted output under its run; what the output does not say of the run is given."""
    found = []
    for name, frame in parsed.tables.items():
        labelled = frame.assign(**{column: value for column, value in known.items() if column in frame})
        if name == "runs":
            own = [column for column in given.index if column != "run_id"]
            labelled = labelled.assign(**{column: labelled[column].fillna(given[column]) for column in own})
        if len(labelled):
            found.append((name, labelled))
    return found
