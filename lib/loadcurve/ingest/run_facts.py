r"""Facts about runs without a record: from a file ``factors.csv``, from the names of files, from their folders.

A fact that a report prints always counts.  The others are used in this order:

1. ``factors.csv`` in the folder that is read: ``file,variant,connections,…``.  `file` is the path, the name or the stem
   of a report, or the name of its run.  Any column of ``runs`` may follow, and any other, which is a factor.  A row may
   also name a file of a monitor, with the column `host` alone.
2. Patterns on file names, such as ``{"connections": r"c(\d+)"}``.
3. The names of files and folders, grouped by `loadcurve.ingest.grouping`.
"""

import csv
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from loadcurve.errors import ParseError, ValueRuleError, printable, refuse
from loadcurve.files.paths import shown
from loadcurve.ingest.clean import decode
from loadcurve.ingest.fact_columns import Fact, broken_rule
from loadcurve.ingest.files import content
from loadcurve.ingest.raw_file import FACTORS
from loadcurve.ingest.run_names import stem

_NAMING = ("study", "run_id", "source", "generator")  # columns that loadcurve fills
_FACTOR = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


def parse_factor(text: str) -> tuple[str, str]:
    r"""Return name and pattern of a factor in file names, from ``NAME=REGEX``.

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
    """Read ``factors.csv``: facts about runs, and the hosts of other files by their paths."""
    hosts: dict[str, str] = {}
    known = _names({file.as_posix(): file for file in others})
    facts, unknown = _facts_of(path, _names(runs), FACTORS, known, hosts)
    refuse(unknown, Path(printable(shown(path))))
    return facts, hosts


def read_factors_elsewhere(
    path: Path, runs: Mapping[str, PurePosixPath], folder: Path, warnings: list[str]
) -> list[Fact]:
    """Read a file like ``factors.csv`` that may also be about other folders."""
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
        if name == "repeat" and not all(fact.value.isdecimal() for fact in found):
            continue  # words that count as repeats, such as dates
        for fact in found:
            if rule := broken_rule(name, fact.value):
                rule = f"{rule}, as its pattern finds it in {runs[fact.run_id]}"
                raise ValueRuleError(f"factor {name}", rule, fact.value)
        facts += found
    return facts


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
