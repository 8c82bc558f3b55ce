"""A folder of raw files without records into tables.

Each report of a load generator is a run (`loadcurve.ingest.run_facts`).  The files of monitors, server logs and
percentiles belong to runs by their folder, their name, or their times.  One run are:

- a report and its packed copy, ``c64.txt`` beside ``c64.txt.gz`` as ``gzip -k`` leaves them;
- the samples of JMeter and the dashboard made of them;
- two files of one folder and one stem, of which one is data (``c64.vegeta.txt``, ``c64.vegeta.json``), with one report
  each of the same tool, if the reports count the same requests in the same time.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from loadcurve import tables
from loadcurve.errors import LoadcurveError, printable
from loadcurve.files.paths import below, is_own_file, shown
from loadcurve.ingest.fact_columns import Factors, GivenFactors
from loadcurve.ingest.files import describe_links, list_files
from loadcurve.ingest.grouping import GROUPED, group_runs
from loadcurve.ingest.merge import join
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.raw_file import FACTORS, Matched, Note, Placement, RawFile
from loadcurve.ingest.run_facts import RunNames, name_runs, stem, words
from loadcurve.ingest.run_labels import labelled, labelled_runs, name_hosts
from loadcurve.ingest.streams import parse_each
from loadcurve.study import Study
from loadcurve.study.study import ONLY_VARIANT
from loadcurve.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    from loadcurve.ingest.fact_columns import Fact
    from loadcurve.ingest.merge import Table
    from loadcurve.ingest.run_times import Window


def name_reports(files: Iterable[RawFile]) -> dict[PurePosixPath, tuple[str, ...]]:
    """Return the names of the runs in each file that holds reports of load generators."""
    reports = [file for file in files if "runs" in file.tables]
    return name_runs({file.path: count for file in reports if (count := file.tables.count("runs"))})


def match_runs(
    files: Iterable[RawFile], folder_name: str, matched: Matched, started: Mapping[str, float]
) -> list[Placement]:
    """Return the runs of each file of a folder, with which its rows can be labelled (`loadcurve.ingest.run_labels`).

    Where no file holds a report of a load generator, each folder with files is a run, named by its path.
    """
    files = list(files)
    named = name_reports(files)
    if not named:
        folders = [file.path.parent for file in files]
        names = [printable(folder.as_posix() if folder.name else folder_name) for folder in folders]
        return [Placement(file, (name,)) for file, name in zip(files, names, strict=True)]
    reports = [file for file in files if file.path in named]
    others = [file for file in files if file.path not in named]
    matched.runs |= {name: file for file in reports for name in named[file.path]}
    owners = _owners(others, {file.path: named[file.path] for file in reports}) if others else {}
    # ab's report has whole milliseconds, its file of percentiles has decimals.
    finer = {owners[file.path] for file in others if "latency" in file.tables and file.tables.count("latency")}
    placements = []
    for file in reports:
        left_out = frozenset[str]() if finer.isdisjoint(named[file.path]) else frozenset({"latency"})
        placements.append(Placement(file, named[file.path], left_out=left_out))
    if others:
        from loadcurve.ingest.run_times import place_by_times  # with pandas, which reports do not need

        placements += place_by_times(others, owners, list(_windows(reports, named, started)), matched)
    return placements


def _owners(others: Iterable[RawFile], named: dict[PurePosixPath, tuple[str, ...]]) -> dict[PurePosixPath, str | None]:
    """Return the run to which each other file belongs by its folder, else by its name."""
    in_folder = Counter(path.parent for path in named)
    single = {path.parent: names[0] for path, names in named.items() if in_folder[path.parent] == len(names) == 1}
    keys: dict[PurePosixPath | None, dict[str, tuple[str, ...]]] = {}
    for path, names in named.items():
        if len(names) == 1:
            is_alone = in_folder[path.parent] == 1 and path.parent.name  # its folder names the run
            for place in (path.parent, None):
                keys.setdefault(place, {})[names[0]] = words(path.parent / "report" if is_alone else path)
    runs = {place: RunNames(known) for place, known in keys.items()}
    owners: dict[PurePosixPath, str | None] = {}
    for file in others:
        folder = next((folder for folder in file.path.parents if folder in in_folder), None)
        alone = folder in single and (folder.name or len(named) == 1)
        if folder is not None and alone:
            owners[file.path] = single[folder]
        else:
            known = [runs[place] for place in (file.path.parent, None) if place in runs]
            owners[file.path] = next((run for names in known if (run := names.find(words(file.path)))), None)
    return owners


def _windows(
    reports: Iterable[RawFile], named: Mapping[PurePosixPath, tuple[str, ...]], started: Mapping[str, float]
) -> "Iterable[Window]":
    """Yield when each run was, as far as its report, what is known of it, or the time of its file shows."""
    from loadcurve.ingest.run_times import Window, seconds

    for file in reports:
        records = file.tables.records("runs")
        for name, run in zip(named[file.path], records, strict=True):
            ended = file.modified if len(records) == 1 else float("nan")
            at = seconds(run.get("started_at"))
            at = started.get(name, at) if at != at else at
            yield Window(name, at, float(run.get("duration_s") or "nan"), ended)


_DATA = (".csv", ".json", ".jtl", ".xml")
_PACKED = (".bz2", ".gz", ".xz", ".zst")
_STATISTICS = "statistics.json"
_SAME = 0.005
"""Relative difference of throughput and duration; JSON has more digits than the text, which has three."""


def join_same_runs(files: Iterable[RawFile]) -> tuple[list[RawFile], list[str]]:
    """Return the files with one report for each run, and a line for each file that was joined or left out.

    The text of wrk gets the counters of the reporter's JSON.  Of any other pair, the report with more numbers counts.
    """
    kept, lines = _without_copies(files)
    kept = list(_without_dashboards(kept, lines))
    reports: dict[tuple[Any, ...], list[RawFile]] = {}
    for file in kept:
        if runs := file.tables.records("runs"):
            key = file.path.parent, stem(file.path.name), runs[0].get("tool")
            reports.setdefault(key, []).extend([file] * (len(runs) == 1))
    for group in reports.values():
        for one, other in pairwise(group):
            joined = _join(one, other) if (one.path.suffix in _DATA) != (other.path.suffix in _DATA) else None
            if joined is None:
                continue
            text, left = joined
            kept = [text if file.path == text.path else file for file in kept if file.path != left.path]
            lines.append(f"{left.source}: reports the same run as {text.source}, so it is not a run of its own")
            break
    return kept, lines


def _without_dashboards(files: Sequence[RawFile], lines: list[str]) -> Iterator[RawFile]:
    """Yield the files but the statistics of a dashboard of JMeter whose samples lie beside the dashboard or in it."""
    samples = [file for file in files if "requests" in file.tables and len(file.tables.records("runs")) == 1]
    for file in files:
        is_dashboard = file.path.name == _STATISTICS and len(file.tables.records("runs")) == 1
        places = (file.path.parent, file.path.parent.parent) if is_dashboard else ()
        own = next((one for one in samples if one.path.parent in places and _join(one, file)), None)
        if own is None:
            yield file
        else:
            lines.append(f"{file.source}: sums up the samples of {own.source}, so it is not a run of its own")


def _without_copies(files: Iterable[RawFile]) -> tuple[list[RawFile], list[str]]:
    """Return the files without packed copies of others of their folder with the same reports, and a line for each."""
    every = list(files)
    reports = {file.path: _numbers(file) for file in every if "runs" in file.tables}
    kept, lines = [], []
    for file in every:
        plain = file.path.with_suffix("")
        if file.path.suffix in _PACKED and reports.get(plain) == _numbers(file):
            lines.append(f"{file.source}: a packed copy of {plain.name}, so it is not a run of its own")
        else:
            kept.append(file)
    return kept, lines


def _numbers(file: RawFile) -> str:
    return repr([{**row, "source": None} for row in file.tables.records("runs")])


def _join(one: RawFile, other: RawFile) -> tuple[RawFile, RawFile] | None:
    """Return the report of both, and the file that is no report any more; None if they are different runs."""
    if "histogram" in one.tables and "histogram" not in other.tables:
        one, other = other, one
    first, second = one.tables.records("runs")[0], other.tables.records("runs")[0]
    if first.get("tool") == "wrk" and "histogram" in other.tables and "histogram" not in one.tables:
        from loadcurve.ingest.load.wrk_json import join_reporter  # with pandas, which most folders do not need

        text, report = join_reporter(Parsed("wrk", one.tables), Parsed("wrk", other.tables))
        if "runs" in report.tables or not len(report.tables):
            return None
        return RawFile(one.path, one.source, Tables({**text.tables, **report.tables}), one.modified), other
    if not all(_alike(first.get(name), second.get(name)) for name in ("requests", "throughput_rps", "duration_s")):
        return None
    return (one, other) if _count_known(one) >= _count_known(other) else (other, one)


def _alike(a: object, b: object) -> bool:
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return False
    return abs(a - b) <= _SAME * abs(a)


def _count_known(file: RawFile) -> int:
    """How many numbers and texts a report has."""
    cells = (value for name in file.tables for row in file.tables.records(name) for value in row.values())
    return sum(value is not None and value == value for value in cells)


# Rows of all tables of a part: enough for the format, and few enough for several parts per process.
_PART_ROWS = 1_000_000
_DISTINGUISHING = ("variant", "tool", "url", "connections", "threads", "target_rate_rps", "tls", "document_bytes",
                   "throughput_rps", "requests", "requests_asked", "duration_s", "duration_asked_s")  # fmt: skip


def read_own_folder(folder: Path) -> Parsed:
    """Read a folder of raw files that is no study; the readers of notebooks name it as the study of its rows."""
    listed = list_files(folder)
    paths = [path for path in listed.files if path != folder / FACTORS]
    if not paths:
        raise LoadcurveError(f"{shown(folder)}: expected reports of load generators or files of monitors, got no files")
    files, warnings = [], [f"not read: {line}" for line in [describe_links(shown(folder), listed.links)] if line]
    for path, parsed, refused in parse_each(paths, name=shown):
        if parsed is None:
            warnings.append(f"not read: {refused}")
            continue
        warnings += [f"{shown(path)}: {warning}" for warning in parsed.warnings]
        place = below(path, folder)
        files.append(RawFile(place, printable(place.as_posix()), parsed.tables, path.stat().st_mtime))
    matched = read_raw_folder(files, folder)
    joined = Tables(matched.tables)
    checked = {
        name: tables.check(name, joined[name].assign(study=printable(folder.name)), extra=name == "runs")
        for name in joined
    }
    return Parsed("", Tables(checked), (*warnings, *matched.warnings), origins=tuple(matched.origins))


def describe_own_folder(own: Parsed, folder_name: str) -> Study:
    """Return a study with the variants and the connections of the runs in a folder of raw files."""
    runs = own.tables["runs"] if "runs" in own.tables else tables.empty("runs")
    levels = tuple(sorted({int(level) for level in runs["connections"].dropna()}))
    return Study(
        _as_name(folder_name),
        f"What do the files in {folder_name} show?",
        variants={_as_name(variant): {} for variant in runs["variant"].dropna().unique()} or {ONLY_VARIANT: {}},
        factors={"connections": levels} if levels else {},
        repeats=1,
    )


def _as_name(text: str) -> str:
    """Text in the form of the name of a study."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).lstrip("-")[:64] or "unnamed"


def read_raw_folder(files: Iterable[RawFile], folder: Path, factors: Factors = None) -> Matched:
    """Return the tables of files of a folder, with the run of every row and all that is known of each run."""
    matched = Matched({}, {})
    parts: dict[str, list[Any]] = {"runs": []}
    for name, rows in raw_folder_parts(files, folder, factors, matched):
        parts.setdefault(name, []).append(rows)
    matched.tables = {name: join(tables) for name, tables in parts.items() if tables}
    return matched


Write = Callable[[Sequence[Sequence[Placement]]], Iterable[Sequence[Note]]]
"""Labels groups of files and writes their rows, elsewhere; returns the notes about each group, in order."""


def raw_folder_parts(
    files: Iterable[RawFile],
    folder: Path,
    factors: Factors,
    matched: Matched,
    write: Write | None = None,
    *,
    follow: bool = False,
) -> "Iterator[tuple[str, Table]]":
    """Yield the tables of files of a folder in parts, ``runs`` last; parameters as for `read_raw_folder`.

    `matched` gets everything else, and is whole when the last part was yielded.  With `write`, only the tables ``runs``
    and ``factors`` are yielded.
    """
    kept, same = join_same_runs(files)
    given = GivenFactors.of(factors)
    facts, started, hosts = _given_facts(folder, kept, given, matched.warnings, follow)
    kept = [replace(file, host=hosts.get(file.path.as_posix(), "")) for file in kept] if hosts else kept
    placements = match_runs(name_hosts(kept), folder.resolve().name, matched, started)
    notes: list[Note] = []
    if write is None:
        yield from labelled(placements, notes)
    else:
        for found in write(list(_groups(placements))):
            notes += found
    if notes:
        from loadcurve.ingest.run_times import note_files  # with pandas, which reports do not need

        note_files(matched, notes)
    matched.origins += same
    reports = [rows for placement in placements if (rows := labelled_runs(placement)) is not None]
    matched.tables = {"runs": join(reports)} if reports else {}
    _add_facts(matched, facts, given)
    yield from matched.tables.items()


def _groups(placements: Iterable[Placement]) -> Iterator[list[Placement]]:
    """Yield files in groups, each of them a part of the tables; they do not depend on the number of processes."""
    group: list[Placement] = []
    rows = 0
    for placement in placements:
        tables = placement.file.tables
        more = sum(tables.count(name) for name in tables if name != "runs")
        if group and rows + more > _PART_ROWS:
            yield group
            group, rows = [], 0
        group.append(placement)
        rows += more
    if group:
        yield group


def _given_facts(
    folder: Path, files: Sequence[RawFile], given: GivenFactors, warnings: list[str], follow: bool
) -> "tuple[list[Fact], dict[str, float], dict[str, str]]":
    """Return what a given file and ``factors.csv`` state: facts, starts of runs in s since 1970 UTC, hosts of files."""
    own = folder / FACTORS
    is_given = is_own_file(own, follow=follow)
    if not is_given and not given.file:
        return [], {}, {}
    from loadcurve.ingest.run_facts import read_factors, read_factors_elsewhere
    from loadcurve.ingest.run_times import seconds

    reports = {run: path for path, names in name_reports(files).items() for run in names}
    facts, hosts = [], dict[str, str]()
    if given.file and given.files != (own.resolve(),):
        facts += read_factors_elsewhere(given.file, reports, folder, warnings)
    if is_given:
        of_runs, hosts = read_factors(own, reports, (file.path for file in files if file.path not in reports.values()))
        facts += of_runs
    starts = {fact.run_id: seconds(fact.value) for fact in reversed(facts) if fact.column == "started_at"}
    return facts, starts, hosts


def _add_facts(matched: Matched, facts: "list[Fact]", given: GivenFactors) -> None:
    """Add what is given, what the names of files state, and how the runs are grouped by them."""
    reports = {run: file.path for run, file in matched.runs.items()}
    if matched.started:
        from loadcurve.ingest.fact_columns import add_starts

        add_starts(matched)
    if given.patterns:
        from loadcurve.ingest.run_facts import match_patterns

        facts += match_patterns(given.patterns, reports)
    runs = {run["run_id"]: run for run in Tables(matched.tables).records("runs")}
    if len(runs) > 1:
        found = group_runs(_names(matched, runs, given), _known(runs, facts))
        matched.origins += [GROUPED + note for note in found.notes]
        if found.columns:
            from loadcurve.ingest.fact_columns import Fact

            facts += [
                Fact(run, column, level, "names of files")
                for column, levels in found.columns.items()
                for run, level in levels.items()
            ]
    if facts and reports:
        from loadcurve.ingest.fact_columns import add_facts

        add_facts(matched, facts)


def _names(matched: Matched, runs: dict[str, dict[str, Any]], given: GivenFactors) -> dict[str, list[str]]:
    """Return the parts of each run's name, without what names a given factor or repeat."""
    names = {
        run: [*file.path.parts[:-1], stem(file.path.name), str(runs[run].get("label") or "")]
        for run, file in matched.runs.items()
    }
    own = [p for name, p in given.patterns.items() if name == "repeat" or name not in SCHEMAS["runs"].columns]
    if own:
        import pyarrow as pa
        from pyarrow import compute

        for run, parts in names.items():
            for pattern in own:  # RE2, as in `match_patterns`
                parts = compute.replace_substring_regex(pa.array(parts, pa.string()), pattern, " ").to_pylist()
            names[run] = parts
    return names


def _known(runs: dict[str, dict[str, Any]], facts: "Sequence[Fact]") -> dict[str, dict[str, object]]:
    """Return what distinguishes each run from others: columns that its report prints, and given factors."""
    schema = SCHEMAS["runs"].columns
    known = {
        run: {name: value for name, value in row.items() if name in _DISTINGUISHING or name not in schema}
        for run, row in runs.items()
    }
    for fact in facts:  # what is printed counts most, then the first
        if (printed := known[fact.run_id].get(fact.column)) is None or printed != printed:
            known[fact.run_id][fact.column] = fact.value
    return known
