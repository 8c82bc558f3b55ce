"""Published reports as declared tables, as the list ``declared`` of their `source.yml` says.

An entry of the list makes one run of each row of a transcribed table, or one run in all without a table:

* ``rows_of`` names the table, and ``only`` the rows that are meant: column -> list of values; "" is an empty cell.
* ``run_id`` names each run, which is a variant of its own; ``{column}`` stands for a cell, as in `str.format`.
* ``runs``, ``network`` or another declared table: its columns.  The value of a text is written as ``run_id`` is.  The
  value of a number is a number, a column of the table, or a name of the table ``prose``, or several of them with
  ``+ - * /`` between blanks, computed from left to right.
* ``raw`` names quoted outputs of tools: a column of the table, or without a table a file in the folder ``raw`` -> the
  host on which the tool ran.
"""

import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from loadcurve import tables
from loadcurve.errors import LoadcurveError, check_type, printable
from loadcurve.ingest.files import content, parse_bytes
from loadcurve.ingest.hints import Hints
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.published import read_table, source_folder
from loadcurve.ingest.reads import record_reads, studies_read
from loadcurve.paths import data_name, is_own_file
from loadcurve.reading.recordings import recording_text

SOURCE = "source.yml"
_KEYS = ("rows_of", "only", "run_id", "raw")
_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


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
    if not (folder / SOURCE).is_file():
        folder = source_folder(str(folder))
    import yaml  # here, because most files and folders do not need it

    facts = yaml.safe_load((folder / SOURCE).read_text("utf-8"))
    studies_read.add(data_name(folder))
    record_reads([folder / SOURCE])
    said = _said(folder) if "prose" in facts.get("tables", {}) else {}
    collected: dict[str, list[pd.DataFrame]] = {}
    warnings: list[str] = []
    for i, entry in enumerate(facts.get("declared", ())):
        try:
            for name, frame in _tables_of(entry, folder, said, warnings):
                collected.setdefault(name, []).append(frame)
        except (LoadcurveError, KeyError, ValueError, TypeError, AttributeError) as error:
            message = error if isinstance(error, LoadcurveError) else f"{type(error).__name__}: {error}"
            raise LoadcurveError(f"{folder / SOURCE}: entry {i + 1} of declared: {message}") from None
    joined = {name: pd.concat(parts, ignore_index=True) for name, parts in collected.items()}
    return Parsed("", Tables({name: tables.check(name, frame) for name, frame in joined.items()}), tuple(warnings))


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
    studies_read.add(f"published/{source}")
    return _raw(folder, name)


def _raw(folder: Path, name: str) -> Parsed:
    known = sorted(p.name for p in (folder / "raw").glob("*") if is_own_file(p))
    if name not in known:
        raise LoadcurveError(f"name must be one of {', '.join(known)}, got {name!r}")
    path, hints = folder / "raw" / name, Hints()
    record_reads([path])
    parsed = parse_bytes(content(path, hints.max_bytes), str(path), hints, recording_text)
    checked = {t: tables.check(t, parsed.tables[t].assign(source=printable(str(path)))) for t in parsed.tables}
    return Parsed(parsed.tool, Tables(checked), parsed.warnings, parsed.version)


def _said(folder: Path) -> dict[str, float]:
    prose = read_table(folder, "prose")
    return dict(zip(prose["name"], prose["value"], strict=True))


def _tables_of(
    entry: Mapping[str, Any], folder: Path, said: Mapping[str, float], warnings: list[str]
) -> list[tuple[str, pd.DataFrame]]:
    table = entry.get("rows_of")
    rows = read_table(folder, table) if table else pd.DataFrame(index=[0])
    for column, values in entry.get("only", {}).items():
        rows = rows[rows[column].astype(object).where(rows[column].notna(), "").isin(values)]
    rows = rows.reset_index(drop=True)
    run_ids = _texts(entry["run_id"], rows)
    own = {name: columns for name, columns in entry.items() if name not in _KEYS}
    given = {name: _columns(name, columns, rows, said).assign(run_id=run_ids) for name, columns in own.items()}
    found = []
    for key, host in entry.get("raw", {}).items():
        names = rows[key] if table else pd.Series([key])
        for i, name in names[names != ""].items():
            parsed, known = _raw(folder, name), {"run_id": run_ids[i], "host": host, "source": f"raw/{name}"}
            found += _quoted(parsed, known, given["runs"].loc[i] if "runs" in given else pd.Series())
            warnings += [f"raw/{name}: {warning}" for warning in parsed.warnings]
    if not entry.get("raw"):
        source = f"{table}.csv" if table else "prose.csv"
        found = [(name, frame.assign(source=source)) for name, frame in given.items()]
        found = [(name, frame.assign(status="finished") if name == "runs" else frame) for name, frame in found]
    return [(name, frame.assign(variant=frame["run_id"]) if name == "runs" else frame) for name, frame in found]


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


def _columns(name: str, columns: Mapping[str, Any], rows: pd.DataFrame, said: Mapping[str, float]) -> pd.DataFrame:
    declared = tables.columns(name).set_index("column")["type"]
    values = {}
    for column, value in columns.items():
        if column not in declared.index:
            raise LoadcurveError(f"expected a column of {name}, got {column!r}")
        is_text = declared[column] == "text"
        values[column] = _texts(value, rows) if is_text else _numbers(value, rows, said)
    return pd.DataFrame(values, index=rows.index)


def _texts(template: str, rows: pd.DataFrame) -> list[str]:
    return [template.format_map(row) for row in rows.to_dict("records")]


def _numbers(expression: str | float, rows: pd.DataFrame, said: Mapping[str, float]) -> pd.Series:
    first, *rest = str(expression).split()
    value = _operand(first, rows, said)
    for sign, name in zip(rest[::2], rest[1::2], strict=True):
        value = _OPERATORS[sign](value, _operand(name, rows, said))
    return value


def _operand(name: str, rows: pd.DataFrame, said: Mapping[str, float]) -> pd.Series:
    if name in rows:
        return rows[name].astype(float)
    return pd.Series(float(said.get(name, name)), index=rows.index)
