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
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from loadcurve.errors import ParseError, ValueRuleError, printable, refuse
from loadcurve.files.paths import shown
from loadcurve.ingest.clean import decode
from loadcurve.ingest.fact_columns import Fact, broken_rule
from loadcurve.ingest.files import content
from loadcurve.ingest.raw_file import FACTORS
from loadcurve.ingest.registry import FORMS

# Words of a file's name that do not name a run, beside the names of tools and their variants.
_COMMON = {
    "bz2", "csv", "data", "err", "gz", "html", "json", "load", "log", "logs", "md", "monitor", "monitors", "out",
    "output", "raw", "report", "reports", "result", "results", "run", "runs", "stats", "stderr", "stdout", "tsv", "txt",
    "xml", "xz", "zst",
}  # fmt: skip
_EXTENSION = re.compile(r"[A-Za-z]{1,5}")
_STAMP = re.compile(r"[0-9]{6,}")  # a date or a time of day, which differs between the files of one run


def name_runs(reports: Mapping[PurePosixPath, int]) -> dict[PurePosixPath, tuple[str, ...]]:
    """Return the names of the runs in each file with reports of load generators, unique over all files.

    A subfolder with one such file gives the run its name.  Otherwise the run is named by the stem of its file:
    ``c64.wrk.txt`` is ``c64``, unless two files of a folder have that stem.

    Examples
    --------
    >>> names = name_runs({PurePosixPath(f): n for f, n in {"c1.wrk.txt": 1, "all.log": 2, "c8/load.txt": 1}.items()})
    >>> list(names.values())
    [('c1',), ('all-1', 'all-2'), ('c8',)]
    """
    in_folder = Counter(path.parent for path in reports)
    candidates = {path: _candidates(path, in_folder[path.parent]) for path in reports}
    named = {path: _numbered(candidates[path][0], reports[path]) for path in reports}
    for _ in range(3):
        uses = Counter(name for names in named.values() for name in names)
        shared = [path for path, names in named.items() if any(uses[name] > 1 for name in names)]
        for path in shared:
            if len(candidates[path]) > 1:
                candidates[path] = candidates[path][1:]
            named[path] = _numbered(candidates[path][0], reports[path])
    return named


def _candidates(path: PurePosixPath, in_folder: int) -> list[str]:
    """Names of a file's run, from the shortest to its whole path."""
    alone = [path.parent.as_posix()] if in_folder == 1 and path.parent.name else []
    names = dict.fromkeys((stem(path.name), path.stem, path.name))
    return [*alone, *(path.with_name(name).as_posix() for name in names)]


def _numbered(name: str, count: int) -> tuple[str, ...]:
    name = printable(name)
    return (name,) if count == 1 else tuple(f"{name}-{i:0{len(str(count))}}" for i in range(1, count + 1))


def stem(name: str) -> str:
    """Return a file's name without its extension, the tool that wrote the file, and the variant of its output.

    Examples
    --------
    >>> stem("c64.wrk.txt"), stem("c64.ss.connections.txt.gz"), stem("wrk-c64.txt"), stem("v1.2-c64.log")
    ('c64', 'c64', 'wrk-c64', 'v1.2-c64')
    """
    parts = name.split(".")
    while len(parts) > 1 and parts[-1].lower() in _ignored():
        parts.pop()
    if len(parts) > 1 and len(name) == len(".".join(parts)) and _EXTENSION.fullmatch(parts[-1]):
        parts.pop()
    return ".".join(parts)


def words(path: PurePosixPath) -> tuple[str, ...]:
    """Return the words of a path that can name a run, in lower case.

    Examples
    --------
    >>> words(PurePosixPath("nginx/logs/20261122/sar_c64.txt"))
    ('nginx', '20261122', 'c64')
    """
    parts = (*path.parts[:-1], stem(path.name)) if path.parts else ()
    found = (word for part in parts for word in re.split(r"[\W_]+", part.lower()) if word)
    return tuple(word for word in found if word not in _ignored())


class RunNames:
    """The words of each run's name, to find the run of a file.

    Examples
    --------
    >>> names = RunNames({"c1": ("c1",), "tls-c1": ("tls", "c1")})
    >>> names.find(("c1",)), names.find(("tls", "c1", "server")), names.find(("c8",))
    ('c1', 'tls-c1', None)
    """

    def __init__(self, runs: Mapping[str, tuple[str, ...]]) -> None:
        self._equal: dict[tuple[str, ...], str | None] = {}
        for run, key in runs.items():
            self._equal[key] = None if key in self._equal else run
        self._equal.pop((), None)
        # Dates and times of day differ between the files of one run.
        lasting = ((frozenset(word for word in key if not _STAMP.fullmatch(word)), run) for run, key in runs.items())
        self._among = sorted(((key, run) for key, run in lasting if key), key=lambda pair: -len(pair[0]))

    def find(self, key: tuple[str, ...]) -> str | None:
        """Return the run whose words are equal to those of a file, or else whose words are all among them.

        The run with the most words wins.  None where no run matches, or several equally.
        """
        if key in self._equal:
            return self._equal[key]
        held, found, length = set(key), None, 0
        for own, run in self._among:
            if len(own) < length:
                break
            if held.issuperset(own):
                if found is not None:
                    return None
                found, length = run, len(own)
        return found


@cache
def _ignored() -> frozenset[str]:
    """Words of tools that measure; servers and balancers are what is measured, so their names distinguish runs."""
    forms = [form for form in FORMS if form.parsed_by.startswith(("load.", "sysstat.", "sockets.", "kernel."))]
    variants = {word for form in forms for word in re.split(r"[-_]", form.variant) if len(word) > 1}
    return frozenset(_COMMON | {form.tool for form in forms} | variants)


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
