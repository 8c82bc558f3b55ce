"""A CSV file whose columns are those of the table ``runs``: numbers that somebody published, or a table of ours."""

import csv
import math
from pathlib import Path
from typing import Any

import pandas as pd

from loadcurve import tables
from loadcurve.errors import ParseError, printable
from loadcurve.ingest.files import content
from loadcurve.ingest.parsed import Parsed

_ASKED = "throughput_rps"  # no tool's own CSV names a column so
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def is_runs_csv(path: Path) -> bool:
    """Return whether a file is a CSV table with the column ``throughput_rps``."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.readline(10_000).decode("utf-8-sig", "replace")
    return _ASKED in _header(head)


def read_runs_csv(path: Path) -> Parsed:
    r"""Read a CSV file into the table ``runs``: one finished run for each row.

    Parameters
    ----------
    path : pathlib.Path
        The first line names columns of ``runs``, such as ``connections,throughput_rps,latency_mean_s``, in SI units.
        An empty cell is missing.  Without a column ``run_id``, the number of its line names each run.  Any other column
        is left out, with a warning.

    Raises
    ------
    ParseError
        When a row has another number of cells, a cell is not of its column's type, a name occurs twice, or there is no
        row.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("connections,throughput_rps,latency_mean_s\n8000,20260.6,0.04994\n")
    >>> read_runs_csv(file).tables["runs"][["run_id", "connections", "throughput_rps"]].values.tolist()
    [['line 2', 8000, 20260.6]]
    """
    where = printable(str(path))
    lines = content(path).decode("utf-8-sig", "replace").splitlines()
    header = _header(lines[0])
    declared = tables.columns("runs").set_index("column")["type"]
    known = [name for name in header if name in declared.index]
    if twice := next((name for name in known if header.count(name) > 1), ""):
        raise ParseError(1, "each column once", twice, where)
    rows = []
    for number, cells in enumerate(csv.reader(lines[1:]), start=2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise ParseError(number, f"{len(header)} cells", ",".join(cells), where)
        named = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        row = {name: _value(named[name], declared[name], name, number, where) for name in known}
        rows.append({"run_id": f"line {number}", "status": "finished", "source": where} | row)
    if not rows:
        raise ParseError(len(lines), "a row for each run", "none", where)
    names = [row["run_id"] for row in rows]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ParseError(names.index(twice) + 2, "another run_id for each row", str(twice), where)
    others = [name for name in header if name not in known]
    warnings = [f"left out, because no column of runs has this name: {', '.join(map(repr, others))}"] if others else []
    return Parsed("", {"runs": tables.check("runs", pd.DataFrame(rows))}, tuple(warnings))


def _header(line: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line.rstrip("\r\n")]), [])]


def _value(cell: str, kind: str, name: str, line: int, where: str) -> Any:
    if not cell:
        return None
    if kind in ("integer", "number"):
        try:
            number = float(cell)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or (kind == "integer" and number % 1):
            raise ParseError(line, f"{'a whole number' if kind == 'integer' else 'a number'} as {name}", cell, where)
        return int(number) if kind == "integer" else number
    if kind == "yes/no":
        if cell.lower() not in _TRUTHS:
            raise ParseError(line, f"true or false as {name}", cell, where)
        return _TRUTHS[cell.lower()]
    if kind == "time":
        time = pd.to_datetime(cell, utc=True, errors="coerce")
        if pd.isna(time):
            raise ParseError(line, f"a time as {name}", cell, where)
        return time
    return cell
