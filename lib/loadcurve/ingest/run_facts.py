r"""Facts about runs without a record: from a file ``factors.csv``, from the names of files, from their folders.

A fact that a report prints always counts.  The others are used in this order:

1. ``factors.csv`` in the folder that is read: ``file,variant,connections,…``.  `file` is the path, the name or the stem
   of a report, or the name of its run.  Any column of ``runs`` may follow, and any other, which is a factor.  A row may
   also name a file of a monitor, with the column `host` alone.
2. Patterns on file names, such as ``{"connections": r"c(\d+)"}``.
3. The first-level subfolders: their names are the variants if they hold reports with the same names, and the repeats
   if they are numbered, such as ``r1`` and ``r2``.
"""

import csv
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

import pandas as pd

from loadcurve.errors import ParseError, ValueRuleError, printable, refuse
from loadcurve.ingest.clean import decode
from loadcurve.ingest.fact_columns import Fact, broken_rule
from loadcurve.ingest.files import content
from loadcurve.ingest.lazy_regex import lazy_regex
from loadcurve.ingest.raw_file import FACTORS
from loadcurve.ingest.run_names import stem
from loadcurve.paths import shown

_NAMING = ("study", "run_id", "source", "generator")  # columns that loadcurve fills
_NUMBERED = lazy_regex(r"(?:r|run|rep|repeat|repetition|try)?[-_ .]?([0-9]{1,4})", re.IGNORECASE)
_FACTOR = lazy_regex(r"[A-Za-z_][A-Za-z0-9_.]*")


def parse_factor(text: str) -> tuple[str, str]:
    r"""Return name and pattern of a factor in file names, from ``NAME=REGEX``.

    Raises
    ------
    ValueRuleError
        When the text has another form, or the pattern is no regular expression.

    Examples
    --------
    >>> parse_factor(r"connections=c(\d+)")
    ('connections', 'c(\\d+)')
    """
    name, sign, pattern = text.partition("=")
    if not sign or not _FACTOR.fullmatch(name) or not pattern:
        raise ValueRuleError("factor", r"NAME=REGEX, such as connections=c(\d+)", text)
    _found(name, pattern, [])
    return name, pattern


def read_factors(
    path: Path, runs: Mapping[str, PurePosixPath], others: Iterable[PurePosixPath] = ()
) -> tuple[list[Fact], dict[str, str]]:
    """Read ``factors.csv``: facts about runs, and the hosts of other files by their paths.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    runs : mapping of str to pathlib.PurePosixPath
        Name of each run -> the file of its report, relative to the folder.
    others : iterable of pathlib.PurePosixPath
        Files without a report, such as those of monitors, relative to the folder.

    Raises
    ------
    LoadcurveError
        With one line for each fault: ``PATH:LINE: expected …, got …``.
    """
    hosts: dict[str, str] = {}
    known = _names({file.as_posix(): file for file in others})
    facts, unknown = _facts_of(path, _names(runs), FACTORS, known, hosts)
    refuse(unknown, Path(printable(shown(path))))
    return facts, hosts


def read_factors_elsewhere(
    path: Path, runs: Mapping[str, PurePosixPath], folder: Path, warnings: list[str]
) -> list[Fact]:
    """Read a file like ``factors.csv`` that may also be about other folders.

    Parameters
    ----------
    path : pathlib.Path
        The file, anywhere.
    runs : mapping of str to pathlib.PurePosixPath
        As for `read_factors`.
    folder : pathlib.Path
        The folder of the reports; the file may name them relative to itself, too.
    warnings : list of str
        Gets a line for the rows about no report of this folder.

    Raises
    ------
    LoadcurveError
        As `read_factors` does, and when no row is about a report of this folder.
    """
    known = _names(runs)
    for run, report in runs.items():
        for name in (os.path.relpath(folder / report, path.parent), str((folder / report).resolve())):
            known.setdefault(PurePosixPath(name).as_posix(), []).append(run)
    where = printable(shown(path))
    facts, unknown = _facts_of(path, {name: list(dict.fromkeys(of)) for name, of in known.items()}, where, {}, {})
    if unknown and not facts:
        refuse(unknown, Path(where))
    if unknown:
        several = f" and {len(unknown) - 1} further rows name" if len(unknown) > 1 else " names"
        warnings.append(f"{where}:{unknown[0].line}: {unknown[0].got}{several} no report in {printable(str(folder))}")
    return facts


def _facts_of(
    path: Path,
    known: Mapping[str, list[str]],
    origin: str,
    others: Mapping[str, list[str]],
    hosts: dict[str, str],
) -> tuple[list[Fact], list[ParseError]]:
    """Return the facts in a file, and a fault for each row that names no report; any other fault raises.

    `hosts` gets the host of each file among `others` for which a row names the host alone.
    """
    text, _ = decode(content(path))
    header, *rows = list(csv.reader(text.splitlines(), delimiter=_delimiter(text))) or [[]]
    columns = [cell.strip() for cell in header]
    where = printable(shown(path))
    if fault := _header_fault(columns):
        raise ParseError(1, *fault, where)
    facts: list[Fact] = []
    faults: list[ParseError] = []
    unknown: list[ParseError] = []
    for line, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(columns):
            faults.append(ParseError(line, f"{len(columns)} cells", ",".join(row), where))
            continue
        cells = {name: cell.strip() for name, cell in zip(columns, row, strict=True)}
        name = cells.pop("file").removeprefix("./")
        named = known.get(name, [])
        if not named and name in others and [column for column in cells if cells[column]] == ["host"]:
            hosts |= dict.fromkeys(others[name], printable(cells["host"]))
            continue
        if not named:
            unknown.append(ParseError(line, "the name of a file with a report in this folder", name, where))
        for column, cell in cells.items():
            if cell and (rule := broken_rule(column, cell)):
                faults.append(ParseError(line, f"{rule} as {column}", cell, where))
            elif cell:
                facts += [Fact(run, column, cell, origin) for run in named]
    if faults:
        refuse(sorted([*faults, *unknown], key=lambda fault: fault.line), Path(where))
    return facts, unknown


def match_patterns(patterns: Mapping[str, str], runs: Mapping[str, PurePosixPath]) -> list[Fact]:
    r"""Return facts from file names: the first group of a pattern, or all that it matches.

    A pattern is searched in the name of the file first, then in its path.

    Raises
    ------
    ValueRuleError
        When a pattern is no regular expression, its factor is a column that loadcurve fills, it matches no file, or
        what it matches is no value of its column.

    Examples
    --------
    >>> [fact.value for fact in match_patterns({"connections": r"c(\d+)"}, {"c64": PurePosixPath("c64.wrk.txt")})]
    ['64']
    """
    facts = []
    for name, pattern in patterns.items():
        if name in _NAMING:
            raise ValueRuleError("factor", f"none of {', '.join(_NAMING)}", name)
        in_name = _found(name, pattern, [path.name for path in runs.values()])
        in_path = _found(name, pattern, [path.as_posix() for path in runs.values()])
        values = [two if one is None else one for one, two in zip(in_name, in_path, strict=True)]
        origin = f"names of files, by the pattern {pattern}"
        found = [Fact(run, name, value, origin) for run, value in zip(runs, values, strict=True) if value]
        if not found:
            raise ValueRuleError(f"factor {name}", "a pattern that matches the name of a report", pattern)
        for fact in found:
            if rule := broken_rule(name, fact.value):
                rule = f"{rule}, as its pattern finds it in {runs[fact.run_id]}"
                raise ValueRuleError(f"factor {name}", rule, fact.value)
        facts += found
    return facts


def match_subfolders(runs: Mapping[str, PurePosixPath], connections: Mapping[str, object]) -> list[Fact]:
    """Return variant or repeat of runs, if first-level subfolders hold reports with the same names.

    A folder for each level, such as ``c64/a.txt, c64/b.txt, c128/a.txt``, is no variant: all its reports have the same
    connections, and those of other folders have others.

    Parameters
    ----------
    runs : mapping of str to pathlib.PurePosixPath
        Name of each run -> the file of its report, relative to the folder.
    connections : mapping of str to object
        Name of each run -> its connections, as far as they are known.

    Examples
    --------
    >>> runs = {name: PurePosixPath(name + ".txt") for name in ("nginx/c1", "nginx/c2", "apache/c1", "apache/c2")}
    >>> [fact.value for fact in match_subfolders(runs, {})]
    ['nginx', 'nginx', 'apache', 'apache']
    """
    folders: dict[str, list[str]] = {}
    names: dict[str, set[str]] = {}
    for run, path in runs.items():
        if len(path.parts) < 2:
            return []
        folders.setdefault(path.parts[0], []).append(run)
        names.setdefault(path.parts[0], set()).add(PurePosixPath(*path.parts[1:-1], stem(path.name)).as_posix())
    shared = set.intersection(*names.values()) if len(names) > 1 else set()
    if not shared or max(map(len, names.values())) < 2:
        return []
    levels = [{connections[run] for run in of if pd.notna(connections.get(run))} for of in folders.values()]
    if all(len(level) == 1 for level in levels) and len(set().union(*levels)) == len(levels):
        return []
    numbered = {folder: _NUMBERED.fullmatch(folder) for folder in folders}
    origin = "first-level subfolders, which hold reports with the same names"
    if all(numbered.values()):
        return [Fact(run, "repeat", match[1], origin) for f, match in numbered.items() if match for run in folders[f]]
    return [Fact(run, "variant", printable(folder), origin) for folder, of in folders.items() for run in of]


def _header_fault(columns: list[str]) -> tuple[str, str] | None:
    got = ",".join(columns)
    if "file" not in columns or len(columns) < 2:
        return "a header such as file,variant,connections", got
    if twice := {name for name in columns if columns.count(name) > 1}:
        return "each column once", ", ".join(sorted(twice))
    wrong = [name for name in columns if name in _NAMING or not _FACTOR.fullmatch(name)]
    return (f"names of factors, none of {', '.join(_NAMING)}", ", ".join(wrong)) if wrong else None


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return next((sign for sign in (",", ";", "\t") if sign in first), ",")


def _names(runs: Mapping[str, PurePosixPath]) -> dict[str, list[str]]:
    """Names under which a row of the file finds runs."""
    known: dict[str, list[str]] = {}
    for run, path in runs.items():
        whole = path.as_posix()
        names = (run, whole, path.with_name(stem(path.name)).as_posix(), path.name, path.stem, stem(path.name))
        for name in dict.fromkeys(names):
            known.setdefault(name, []).append(run)
    return known


def _found(name: str, pattern: str, texts: list[str]) -> list[str | None]:
    """Return the first group of a pattern in each text, or all that it matches; None where it does not match.

    RE2, which pyarrow uses, needs time in proportion to the text; Python's module needs hours for ``(a+)+$``.
    """
    import pyarrow as pa  # here, because most folders need no pattern
    from pyarrow import compute

    whole = [text.encode("utf-8", "replace").decode() for text in texts]
    try:
        group = pattern if re.compile(pattern).groups else f"({pattern})"
        is_found = compute.match_substring_regex(pa.array(whole, pa.string()), pattern)
        groups = compute.replace_substring_regex(pa.array(whole, pa.string()), rf"(?s)^.*?(?:{group}).*$", r"\1")
    except (re.error, RecursionError, pa.ArrowInvalid) as error:
        rule = f"a regular expression without look-around and back-references ({str(error).splitlines()[0]})"
        raise ValueRuleError(f"factor {name}", rule, pattern) from None
    return [one.as_py() if matched.as_py() else None for one, matched in zip(groups, is_found, strict=True)]
