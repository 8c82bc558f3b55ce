"""Raw files of a folder without records, as tables whose rows name their runs.

Each report of a load generator is a run (`loadcurve.ingest.run_names`).  The files of monitors, server logs and
percentiles belong to runs by their folder, their name, or their times.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from loadcurve.errors import printable
from loadcurve.ingest.merge import label
from loadcurve.ingest.parsed import Rows
from loadcurve.ingest.raw_file import Matched, RawFile
from loadcurve.ingest.run_names import RunNames, name_runs, words

if TYPE_CHECKING:
    import pandas as pd

    from loadcurve.ingest.run_times import Window


def name_reports(files: Iterable[RawFile]) -> dict[PurePosixPath, tuple[str, ...]]:
    """Return the names of the runs in each file that holds reports of load generators."""
    return name_runs({file.path: n for file in files if (n := len(_rows(file, "runs")))})


def match_runs(
    files: Iterable[RawFile], folder_name: str, matched: Matched, started: Mapping[str, float] | None = None
) -> "Iterator[tuple[str, pd.DataFrame | Rows]]":
    """Yield the tables of the files of a folder in parts: each row with its run and its file.

    Where no file holds a report of a load generator, each folder with files is a run, named by its path.

    Parameters
    ----------
    files : iterable of RawFile
        In the order of their rows.
    folder_name : str
        Name of the folder that is read.
    matched : Matched
        Gets the runs, warnings, origins, and the start of runs whose reports print none.
    started : mapping of str to float, optional
        Run -> its start in s since 1970 UTC, where its report prints none.
    """
    files = list(files)
    named = name_reports(files)
    if not named:
        yield from _by_folder(files, folder_name)
        return
    reports = [file for file in files if file.path in named]
    others = [file for file in files if file.path not in named]
    matched.runs |= {name: file for file in reports for name in named[file.path]}
    owners = _owners(others, {file.path: named[file.path] for file in reports}) if others else {}
    # ab's report has whole milliseconds, its file of percentiles has decimals.
    finer = {owners[file.path] for file in others if len(_rows(file, "latency"))}
    for file in reports:
        for name, rows in _of_report(file, named[file.path]):
            if name != "latency" or finer.isdisjoint(named[file.path]):
                yield name, rows
    if others:
        from loadcurve.ingest.run_times import match_times  # with pandas, which reports do not need

        yield from match_times(others, owners, list(_windows(reports, named, started or {})), matched)


def _by_folder(files: Iterable[RawFile], folder_name: str) -> "Iterator[tuple[str, pd.DataFrame | Rows]]":
    for file in files:
        run_id = printable(file.path.parent.as_posix() if file.path.parent.name else folder_name)
        for name in file.tables:
            yield name, label(file.tables.rows(name), run_id=run_id, source=file.source)


def _rows(file: RawFile, name: str) -> "pd.DataFrame | Rows":
    return file.tables.rows(name) if name in file.tables else ()


def _of_report(file: RawFile, names: Sequence[str]) -> "Iterable[tuple[str, pd.DataFrame | Rows]]":
    """Yield the tables of a file with reports; with several, each row of a generator belongs to the run of its report.

    Rows of a monitor in such a text, as in a copied terminal session, belong to no run unless there is only one.
    """
    for name in file.tables:
        rows = file.tables.rows(name)
        if len(names) == 1:
            yield name, label(rows, run_id=names[0], source=file.source)
            continue
        records = rows if isinstance(rows, Sequence) else file.tables[name].to_dict("records")
        known = dict(enumerate(names))
        at = [row.get("generator", i if name == "runs" else None) for i, row in enumerate(records)]
        split = [
            {**row, "run_id": known.get(i), "source": file.source, **({"generator": 0} if i in known else {})}
            for row, i in zip(records, at, strict=True)
        ]
        yield name, split


def _owners(others: Iterable[RawFile], named: dict[PurePosixPath, tuple[str, ...]]) -> dict[PurePosixPath, str | None]:
    """Return the run to which each other file belongs by its folder, else by its name."""
    in_folder = Counter(path.parent for path in named)
    single = {path.parent: names[0] for path, names in named.items() if in_folder[path.parent] == len(names) == 1}
    keys: dict[PurePosixPath | None, dict[str, tuple[str, ...]]] = {}
    for path, names in named.items():
        if len(names) == 1:
            for place in (path.parent, None):
                keys.setdefault(place, {})[names[0]] = _key(path, in_folder)
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


def _key(path: PurePosixPath, in_folder: Counter) -> tuple[str, ...]:
    """Words that name the run of a report: of its folder if it is alone there."""
    alone = in_folder[path.parent] == 1 and path.parent.name
    return words(path.parent / "report") if alone else words(path)


def _windows(
    reports: Iterable[RawFile], named: Mapping[PurePosixPath, tuple[str, ...]], started: Mapping[str, float]
) -> "Iterable[Window]":
    """Yield when each run was, as far as its report, what is known of it, or the time of its file shows."""
    from loadcurve.ingest.run_times import Window, seconds

    for file in reports:
        runs = _rows(file, "runs")
        records = runs if isinstance(runs, Sequence) else runs.to_dict("records")
        for name, run in zip(named[file.path], records, strict=True):
            ended = file.modified if len(records) == 1 else float("nan")
            at = seconds(run.get("started_at"))
            at = started.get(name, at) if at != at else at
            yield Window(name, at, float(run.get("duration_s") or "nan"), ended)
