"""Raw files of a folder without records, as tables whose rows name their runs.

Each report of a load generator is a run (`loadcurve.ingest.run_names`).  The files of monitors, server logs and
percentiles belong to runs by their folder, their name, or their times.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from loadcurve.errors import printable
from loadcurve.ingest.parsed import Rows
from loadcurve.ingest.raw_file import Matched, Placement, RawFile
from loadcurve.ingest.run_names import RunNames, name_runs, words

if TYPE_CHECKING:
    import pandas as pd

    from loadcurve.ingest.run_times import Window


def name_reports(files: Iterable[RawFile]) -> dict[PurePosixPath, tuple[str, ...]]:
    """Return the names of the runs in each file that holds reports of load generators."""
    return name_runs({file.path: n for file in files if (n := len(_rows(file, "runs")))})


def match_runs(
    files: Iterable[RawFile], folder_name: str, matched: Matched, started: Mapping[str, float] | None = None
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

        placements += place_by_times(others, owners, list(_windows(reports, named, started or {})), matched)
    return placements


def _rows(file: RawFile, name: str) -> "pd.DataFrame | Rows":
    return file.tables.rows(name) if name in file.tables else ()


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
