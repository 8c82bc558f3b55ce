"""Read a file, a folder, or what a command line names.

A table of runs that no load generator printed is a CSV file, or a DataFrame, whose columns are those of ``runs``.
"""

import csv
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from loadcurve import tables
from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError, check_type, printable
from loadcurve.files.paths import data_name, is_own_file, is_plain, is_url
from loadcurve.files.reads import record_reads, studies_read
from loadcurve.files.remote import local_copy
from loadcurve.ingest.fact_columns import Factors, GivenFactors, base_column, broken_rule, meant_column
from loadcurve.ingest.files import Hints, content, describe_links, files_of, is_folder, list_files, parse_bytes
from loadcurve.ingest.merge import join
from loadcurve.ingest.packed import MAX_BYTES, read_stream
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.raw_file import RawFile
from loadcurve.reading.reading import SOURCE, Reading, recording_text, refused

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


NOT_READ = "not read: "
"""How the warning begins that names a path which was left out."""


def read(
    path: str | Path,
    tool: str | None = None,
    timezone: str = "UTC",
    log_format: str = "",
    max_bytes: int = MAX_BYTES,
    factors: Factors = None,
    *,
    follow: bool = False,
) -> Parsed:
    r"""Read a file, or every file of a folder, into declared tables.

    A folder is a set of runs: each report of a load generator is one run, named by its file, or by its subfolder if it
    is alone there.  Files of monitors belong to the run of their folder, of their name (``c64.sar.txt`` and
    ``c64.wrk.txt``) or of their times.  Facts that only a `run.json` records are missing.  A study (a folder with
    `study.yml`) is read with all facts of its records, and a published report (a folder with `source.yml`) as its list
    ``declared`` says.  A CSV file with columns of the table ``runs`` has one run in each row.

    Parameters
    ----------
    path : str or pathlib.Path
        File (plain, gzip, xz, bzip2, Zstandard, or binary of sysstat) or folder, or a URL of either, such as
        ``s3://bucket/folder``, of which a temporary copy is read.
    tool : str, optional
        ``TOOL`` or ``TOOL:VARIANT``; by default recognised from the text of each file.
    timezone : str
        IANA name of the time zone of local times in the files.
    log_format : str
        Format of access logs, as in nginx's `log_format` or Apache's `LogFormat`.
    max_bytes : int
        Size limit of a file in bytes, uncompressed; a larger file is rejected before it is loaded into memory.  Files
        of ``ab -g`` may be eight times as large, because their rows need less memory.
    factors : mapping of str to str, path or GivenFactors, optional
        Of a folder: column of ``runs``, or another factor -> regular expression that is searched in the name of each
        report, such as ``{"connections": r"c(\d+)"}``; or the path of a file like ``factors.csv``.  What a report says
        counts more, and so does ``factors.csv`` against a pattern.
    follow : bool
        Of a folder: whether links that lead out of it are read; by default a warning names them.

    Returns
    -------
    Parsed
        For a file, its tables and its tool.  For a folder, every table concatenated over the files, with an empty
        `tool`; the column `source` names the file of each row, the warnings list rejected files and rows without a run,
        and `origins` lists facts that no text states.

    Raises
    ------
    ParseError
        When a single file is not output of its tool.
    LoadcurveError
        When the file, folder, tool or format does not exist, or the folder is empty.

    Examples
    --------
    >>> from loadcurve.files import paths
    >>> parsed = read(paths.root() / "data/published/rt_qps_threads/raw/c8000.wrk.txt")
    >>> parsed.tool, parsed.tables["runs"][["connections", "throughput_rps"]].values.tolist()
    ('wrk', [[8000, 20260.6]])
    """
    check_type("path", path, str | Path, "the path of a file or a folder")
    if is_url(path):
        with local_copy(str(path)) as copy:
            return read(copy, tool, timezone, log_format, max_bytes, factors, follow=follow).renamed(
                str(copy), str(path).rstrip("/")
            )
    path, hints = Path(path), Hints(tool, timezone, log_format, max_bytes, follow)
    in_a_folder, recorded = is_folder(path), is_own_file(path / "study.yml", follow=follow)
    if in_a_folder:
        studies_read.add(data_name(path))
        record_reads([file for file in files_of(path, follow) if is_plain(file)])
    if GivenFactors.of(factors) and (recorded or is_own_file(path / SOURCE, follow=follow)):
        raise ValueRuleError("factors", "given for raw files only", printable(str(path)))
    if recorded:
        return _read_study(path, follow)
    if is_own_file(path / SOURCE, follow=follow):
        from loadcurve.reading.published import read_published_tables

        return read_published_tables(path)
    if tool is None and is_runs_csv(path):
        return read_runs_csv(path)
    return _read_folder(path, hints, factors) if in_a_folder else _read_checked_file(path, hints, factors)


def as_parsed(data: "str | Path | Parsed | pd.DataFrame | Mapping[str, pd.DataFrame]") -> Parsed:
    """Return data as `read` returns them: read a path, and complete tables that no reader made (`own_runs`).

    Examples
    --------
    >>> as_parsed({}).warnings
    ()
    """
    if isinstance(data, str | Path):
        return read(data)
    if isinstance(data, Parsed):
        return data
    rule = "a path, what loadcurve.read returns, a table of runs, or a mapping of names to tables"
    check_type("data", data, pd.DataFrame | Mapping, rule)
    given = {"runs": data} if isinstance(data, pd.DataFrame) else data
    return own_runs(given) if "runs" in given else Parsed("", given)


def _read_study(path: Path, follow: bool) -> Parsed:
    """Return the tables of a recorded study that have rows."""
    from loadcurve.ingest.folder import read_runs
    from loadcurve.reading.folder import each_run

    found = read_runs(path, each_run, follow=follow)
    return Parsed("", Tables({name: t for name, t in found.tables.items() if len(t)}), found.warnings)


def _read_checked_file(path: Path, hints: Hints, factors: Factors) -> Parsed:
    """Return the tables of one file, complete as declared, with its name in the column `source`."""
    try:
        parsed = read_file(path, hints)
    except ParseError as error:
        check_no_runs_csv(path, error)
        raise
    source = printable(str(path))
    reports = parsed.tables.count("runs") if "runs" in parsed.tables else 0
    if reports > 1 or (reports and factors):  # runs as those of a folder
        from loadcurve.ingest.raw_folder import read_raw_folder

        matched = read_raw_folder([RawFile(PurePosixPath(path.name), source, parsed.tables)], path, factors)
        parsed = Parsed(
            parsed.tool, matched.tables, (*parsed.warnings, *matched.warnings), parsed.version, tuple(matched.origins)
        )
    checked = {
        name: tables.check(name, parsed.tables[name].assign(source=source), extra=name == "runs")
        for name in parsed.tables
    }
    return Parsed(parsed.tool, Tables(checked), parsed.warnings, parsed.version, parsed.origins)


def _read_folder(path: Path, hints: Hints, factors: Factors) -> Parsed:
    from loadcurve.reading.folder import no_files, read_matched  # which can read in many processes

    files, links, _ = list_files(path, hints.follow)
    if not files:
        raise LoadcurveError(describe_links(str(path), links)) if links else no_files(path)
    collected: dict[str, list[pd.DataFrame]] = {}
    warnings: list[str] = []
    origins: list[str] = []
    for reading in read_matched(path, hints, factors=factors):
        if reading.refused:
            warnings.append(NOT_READ + reading.refused)
            continue
        warnings += reading.warnings
        origins += reading.parsed.origins
        for name in reading.parsed.tables:
            collected.setdefault(name, []).append(reading.rows(name))
    names = sorted(collected, key=lambda name: name != "runs")  # what people look for first
    joined = Tables({name: join(collected[name]) for name in names})
    checked = Tables({name: tables.check(name, joined[name], extra=name == "runs") for name in joined})
    return Parsed("", checked, tuple(warnings), origins=tuple(origins))


def require_report(parsed: Parsed, source: str) -> None:
    """Raise unless there is the report of a load generator: what was found instead, and what to do."""
    if "runs" in parsed.tables and len(parsed.tables["runs"]):
        return
    refused = [warning.removeprefix(NOT_READ) for warning in parsed.warnings if warning.startswith(NOT_READ)]
    if known := ", ".join(name for name in parsed.tables if len(parsed.tables[name])):
        got = f"only {known}: add the output of the load generator, or write these tables with loadcurve ingest"
    elif refused:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        got = f"none; {refused[0]}{more}"
    else:
        got = "none"
    raise LoadcurveError(f"{source or 'runs'}: expected the report of a load generator (wrk, ab, k6 …), got {got}")


def read_named(name: str, hints: Hints, workers: int = 0) -> Iterator[Reading]:
    """Yield the readings of a file, a folder, or ``-`` for standard input, as named on the command line."""
    if not name:  # an unset shell variable, which must not mean the current folder
        yield refused("", "the name of a file or folder must not be empty")
        return
    if name != "-":
        from loadcurve.reading.folder import read_each

        yield from read_each(name, hints, workers)
        return
    try:
        raw = read_stream(sys.stdin.buffer, hints.max_bytes)
        yield Reading("-", parse_bytes(raw, "-", hints, recording_text))
    except LoadcurveError as error:
        yield refused("-", error.at("-") if isinstance(error, ParseError) else error)


def read_file(path: Path, hints: Hints) -> Parsed:
    """Return the tables of one file, as its parser returned them."""
    return parse_bytes(content(path, hints.max_bytes), str(path), hints, recording_text)
