"""A table of runs that no load generator printed: a CSV file, or a DataFrame, whose columns are those of ``runs``."""

import csv
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from loadcurve import tables
from loadcurve.errors import LoadcurveError, ParseError, check_type, printable
from loadcurve.ingest.fact_columns import base_column, broken_rule, meant_column
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
    columns = {name: base_column(name) for name in header}
    known = [name for name, (column, _) in columns.items() if column in declared.index]
    every = [columns[name][0] for name in header if name in known]
    if twice := next((name for name in every if every.count(name) > 1), ""):
        raise ParseError(1, "each column once", twice, where)
    rows = []
    for number, cells in enumerate(csv.reader(lines[1:]), start=2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise ParseError(number, f"{len(header)} cells", ",".join(cells), where)
        named = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        row: dict[str, Any] = {name: value or None for name, value in named.items() if name not in known}
        for name in known:
            column, unit = columns[name]
            value = _value(named[name], declared[column], name, number, where)
            row[column] = value if unit == 1 or value is None else value * unit
        rows.append({"run_id": f"line {number}", "status": "finished", "source": where} | row)
    if not rows:
        raise ParseError(len(lines), "a row for each run", "none", where)
    names = [row["run_id"] for row in rows]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ParseError(names.index(twice) + 2, "another run_id for each row", str(twice), where)
    frame = pd.DataFrame(rows)
    others = [name for name in header if name not in known]
    found = {"runs": tables.check("runs", frame.drop(columns=others))}
    if words := _words(frame[others]):
        found["factors"] = tables.check("factors", _factors(frame, words))
    return Parsed("", found, tuple(_left_out([name for name in header if name not in words], every)))


def own_runs(given: Mapping[str, pd.DataFrame]) -> Parsed:
    """Return tables whose runs no reader made: one finished run for each row, in base units.

    A column of words that ``runs`` does not declare is a factor.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [8, 8], "throughput_rps": [9.0, 7.0], "latency_mean_ms": 2, "server": "a"})
    >>> own_runs({"runs": runs}).tables["runs"][["run_id", "status", "latency_mean_s"]].values.tolist()
    [['row 0', 'finished', 0.002], ['row 1', 'finished', 0.002]]
    """
    check_type("runs", given["runs"], pd.DataFrame, "a DataFrame")
    runs = given["runs"].rename(columns=str)
    if "status" in runs:
        return Parsed("", given)
    columns = {name: base_column(name) for name in runs}
    lacking = [names for names in _REQUIRED if not {column for column, _ in columns.values()} & set(names)]
    if lacking or runs.empty:
        meant = [
            f"{name!r}" + (f" (write {to}?)" if (to := meant_column(name)) not in ("", name) else "") for name in runs
        ]
        rule = " and ".join(" or ".join(names) for names in lacking)
        needs = f"the columns {rule}, got {', '.join(meant) or 'none'}" if lacking else "a row for each run, got none"
        raise LoadcurveError(f"runs must have {needs}")
    declared = set(tables.columns("runs")["column"])
    words = _words(runs[[name for name in runs if columns[name][0] not in declared]])
    converted = {column: runs[name] * unit if unit != 1 else runs[name] for name, (column, unit) in columns.items()}
    own = pd.DataFrame(converted).reset_index(drop=True).assign(status="finished")
    own["run_id"] = own["run_id"] if "run_id" in own else [f"row {at}" for at in range(len(runs))]
    found = dict(given) | {"runs": own}
    if words and "factors" not in given:
        found["factors"] = _factors(own, words)
    return Parsed("", found, tuple(_left_out([name for name in runs if name not in words], list(found["runs"]))))


_REQUIRED = (("throughput_rps",), ("connections", "target_rate_rps"))


def _words(others: pd.DataFrame) -> list[str]:
    """Return the columns whose words are levels: neither numbers nor times, and not the same in all rows."""
    numbers = others.apply(pd.to_numeric, errors="coerce").isna().any()
    times = others.apply(pd.to_datetime, errors="coerce", utc=True, format="mixed").isna().any()
    return [name for name in others if numbers[name] and times[name] and len(others[name].unique()) > 1]


def _factors(runs: pd.DataFrame, words: list[str]) -> pd.DataFrame:
    long = runs.assign(study=runs.get("study")).melt(["study", "run_id"], words, "factor", "level")
    return long.dropna(subset="level").astype({"level": str})


def check_no_runs_csv(path: Path, error: ParseError) -> None:
    """Raise what a CSV table that resembles a table of runs lacks, instead of `error`; return for other files."""
    if path.suffix.lower() != ".csv" or error.line > 1:
        return
    line = content(path).split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    meant = {name: meant_column(name) for name in _header(line)}
    if len(set(meant.values()) - {""}) > 1:
        renamed = [f"{column} for {name!r}" for name, column in meant.items() if column not in ("", name)]
        hint = f"; write {', '.join(renamed)}" if renamed else ""
        raise ParseError(1, f"a table of runs, with a column {_ASKED}{hint}", line.strip(), str(path)) from None


def _left_out(header: list[str], columns: list[str]) -> Iterator[str]:
    """Yield warnings about columns without a meaning, and about connections that may have another name."""
    others = {name: meant_column(name) for name in header if base_column(name)[0] not in columns}
    if others:
        named = [f"{name!r}" + (f" (write {column}?)" if column else "") for name, column in others.items()]
        yield f"left out, because no column of runs has this name: {', '.join(named)}"
    if "threads" in columns and "connections" not in columns:
        yield "no column connections: if threads counts requests in flight, and not threads of wrk, name it connections"


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
        if rule := broken_rule(base_column(name)[0], str(number if kind == "number" else int(number))):
            raise ParseError(line, f"{rule} as {name}", cell, where)
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
