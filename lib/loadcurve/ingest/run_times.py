"""Rows of monitors to the runs during which they were sampled."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from loadcurve.errors import printable
from loadcurve.ingest.merge import join, label
from loadcurve.ingest.parsed import Rows
from loadcurve.ingest.raw_file import Matched, RawFile
from loadcurve.schemas import SCHEMAS

if TYPE_CHECKING:
    from typing import TypeAlias

    import pyarrow as pa

    Table: TypeAlias = pd.DataFrame | pa.Table | Rows

_Placed = tuple[RawFile, np.ndarray, Sequence[str]]
"""A file, the number of the run of each of its rows (below 0 for none), and the names of these runs."""

# Tools are started and stopped by hand or by scripts, and sar prints whole seconds.
_TOLERANCE_S = 2.0
# wrk prints its duration to 10 ms, and a script starts the next run at once.
_OVERLAP_S = 1.0
_LISTED = 4  # names in a warning
_TOGETHER = 20_000  # rows of small tables that are labelled together
_NONE, _SEVERAL = -1, -2


@dataclass(frozen=True)
class Window:
    """When a run was; times in s since 1970 UTC, NaN if unknown.

    Attributes
    ----------
    run_id : str
        Name of the run.
    started_at, duration_s : float
        As its report prints them.
    modified : float
        Time at which its report was last written, which was the end of the run unless the file was copied since.
    """

    run_id: str
    started_at: float
    duration_s: float
    modified: float


def seconds(time: object) -> float:
    """Return a time in s since 1970 UTC; NaN if it is missing."""
    stamp = pd.Timestamp(time) if time is not None else pd.NaT
    if stamp is pd.NaT:
        return float("nan")
    return (stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp).timestamp()


def match_times(
    files: Sequence[RawFile],
    owners: Mapping[PurePosixPath, str | None],
    windows: Sequence[Window],
    matched: Matched,
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of monitors with the run of each row, and note in `matched` what has none.

    A file that belongs to a run by its folder or name belongs to this run as a whole, unless its times are those of
    other runs.  Any other file is divided by its times.

    Parameters
    ----------
    files : sequence of RawFile
        Files without a report of a load generator.
    owners : mapping
        File -> its run by folder or name, or None.
    windows : sequence of Window
        When each run was.
    matched : Matched
        Gets warnings and origins, and the start of runs whose reports print none.
    """
    times = {file.path: _times(file) for file in files}
    spans = {path: (np.nanmin(at), np.nanmax(at)) for path, at in times.items() if np.isfinite(at).any()}
    known = {w.run_id: (w.started_at, w.started_at + w.duration_s) for w in windows if w.started_at + w.duration_s > 0}
    written = _by_modification([w for w in windows if w.run_id not in known], spans, owners)
    matched.started |= {run: start for run, (start, _) in written.items()}
    spanned = known | written
    names, limits = [*spanned], [*spanned.values()]
    numbers = {name: i for i, name in enumerate(names)}
    starts = {run: start for run, (start, _) in spanned.items()}
    whole, divided, lost = [], [], []
    placed: list[_Placed] = []
    for file in files:
        owner = owners[file.path]
        places = assign(times[file.path], limits)
        own = numbers.get(owner, _NONE) if owner else _NONE
        inside, outside = int((places == own).sum()) if own >= 0 else 0, int(((places >= 0) & (places != own)).sum())
        if owner is not None and (own < 0 or inside >= outside):
            places, runs = np.broadcast_to(np.intp(0), len(places)), [owner]
            whole.append(file.path)
            if own >= 0 and not inside and file.path in spans:
                matched.warnings.append(
                    f"{file.source}: its times are not those of run {owner}, to which its name assigns it: name the "
                    "time zone of its times (timezone=, --timezone), or check the clock of its host"
                )
        else:
            runs = names
            if owner is not None:
                matched.warnings.append(f"{file.source}: named like run {owner}, but its times are those of other runs")
            if not (places >= 0).any():
                runs = []
                lost.append(file.path)
            else:
                divided.append(file.path)
                _note_rest(file.source, places, times[file.path], matched)
        placed.append((file, places, runs))
    _note_files(matched, whole, divided, lost, bool(spanned))
    yield from _labelled(placed, starts)


def assign(times: np.ndarray, windows: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return the number of the window that holds each time: -1 where none does, -2 where several do.

    A time at the end of one window and the start of the next belongs to the first, because a rate is printed at the
    end of its interval.

    Examples
    --------
    >>> assign(np.array([0.0, 1.0, 2.0, 5.0, np.nan]), [(0.0, 2.0), (2.0, 4.0)]).tolist()
    [0, 0, 0, -1, -1]
    """
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    found = np.full(len(times), _NONE)
    ends = {end for _, end in windows}
    if not windows or not np.isfinite(times).any():
        return found
    spans = np.array(windows)
    for place in np.flatnonzero((spans[:, 1] >= np.nanmin(times)) & (spans[:, 0] <= np.nanmax(times))):
        start, end = spans[place]
        first = np.searchsorted(ordered, start, side="right" if start in ends else "left")
        part = found[first : np.searchsorted(ordered, end, side="right")]
        part[:] = np.where(part == _NONE, place, _SEVERAL)
    result = np.empty_like(found)
    result[order] = found
    return result


def _times(file: RawFile) -> np.ndarray:
    """Times of the rows of a file's tables, one table after the other; NaN for rows without a time."""
    return np.concatenate([np.empty(0), *(_seconds_of(file.tables.rows(name)) for name in file.tables)])


def _seconds_of(rows: "pd.DataFrame | pa.Table | Rows") -> np.ndarray:
    """Times of rows in s since 1970 UTC; NaN for rows without a time."""
    if isinstance(rows, Sequence):
        times = [row.get("time") for row in rows]
        known = [time for time in times if isinstance(time, datetime) and time.tzinfo]
        if len(known) == len(times):
            return np.array([time.timestamp() for time in known], float)
        stamps = pd.Series(pd.to_datetime(times, utc=True)) if any(time is not None for time in times) else None
    else:
        stamps = _instants(rows)
    if stamps is None:
        return np.full(len(rows), np.nan)
    return (stamps - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy(float)


def _instants(table: "pd.DataFrame | pa.Table") -> pd.Series | None:
    """Column `time` of a table in UTC; None if it has none."""
    if not isinstance(table, pd.DataFrame):
        table = table.select([name for name in ("time",) if name in table.column_names]).to_pandas()
    return pd.to_datetime(table["time"], utc=True) if "time" in table and len(table) else None


def _by_modification(
    windows: Sequence[Window],
    spans: Mapping[PurePosixPath, tuple[float, float]],
    owners: Mapping[PurePosixPath, str | None],
) -> dict[str, tuple[float, float]]:
    """Return start and end of runs whose reports print no time, from the times at which the reports were written.

    These times are used only where they fit: no two runs overlap, and the times of a monitor include the run.  A
    monitor that belongs to a run by its name is the only one that counts for this run.
    """
    found = {w.run_id: (w.modified - w.duration_s, w.modified) for w in windows if w.modified - w.duration_s > 0}
    ordered = sorted(found.values())
    if any(later[0] < earlier[1] - _OVERLAP_S for earlier, later in pairwise(ordered)):
        return {}
    owned: dict[str, list[tuple[float, float]]] = {}
    for path, span in spans.items():
        if run := owners[path]:
            owned.setdefault(run, []).append(span)
    free = [span for path, span in spans.items() if owners[path] is None]

    def fits(run: str) -> bool:
        start, end = found[run]
        included = [a - _TOLERANCE_S <= start and end <= b + _TOLERANCE_S for a, b in owned.get(run, free)]
        return all(included) and bool(included) if run in owned else any(included)

    return {run: found[run] for run in found if fits(run)}


def _labelled(placed: Iterable[_Placed], starts: Mapping[str, float]) -> "Iterator[tuple[str, Table]]":
    """Yield the tables of files with the run of each row, and the time since the start of this run.

    Small tables of one name are joined first: labelling a DataFrame takes as long as parsing a hundred rows.
    """
    waiting: dict[str, list[tuple[Table, np.ndarray, np.ndarray, str]]] = {}
    for file, places, runs in placed:
        names = np.array([*runs, None], object)
        began = np.array([*(starts.get(run, np.nan) for run in runs), np.nan])
        at = 0
        for name in file.tables:
            rows = file.tables.rows(name)
            mine = np.maximum(places[at : at + len(rows)], _NONE)  # the last of `names` and `began`
            at += len(rows)
            is_arrow = not isinstance(rows, Sequence | pd.DataFrame)
            parts = waiting.setdefault(name, [])
            if not is_arrow:
                parts.append((rows, names[mine], began[mine], file.source))
            if parts and (is_arrow or sum(len(part) for part, *_ in parts) >= _TOGETHER):
                yield name, _joined(name, parts)
                parts.clear()
            if is_arrow:
                is_one = len(runs) == 1 and bool((mine >= 0).all())
                run_id = runs[0] if is_one else pd.Series(names[mine], dtype="str")
                yield name, label(rows, run_id=run_id, source=file.source, **_elapsed(name, rows, began[mine]))
    yield from ((name, _joined(name, parts)) for name, parts in waiting.items() if parts)


def _joined(name: str, parts: "Sequence[tuple[Table, np.ndarray, np.ndarray, str]]") -> pd.DataFrame:
    tables, runs, began, sources = zip(*parts, strict=True)
    rows = join(tables)
    frame = pd.DataFrame(list(rows)) if isinstance(rows, Sequence) else rows
    source = np.repeat(np.array(sources, object), [len(table) for table in tables])
    run_ids = pd.Series(np.concatenate(runs), frame.index, dtype="str")
    return frame.assign(run_id=run_ids, source=source, **_elapsed(name, frame, np.concatenate(began)))


def _elapsed(name: str, table: "pd.DataFrame | pa.Table", began: np.ndarray) -> dict[str, pd.Series]:
    """Return the column `elapsed_s` if the table has it and knows times, from the start of each row's run in s."""
    times = _instants(table) if "elapsed_s" in SCHEMAS[name].columns else None
    if times is None:
        return {}
    start = pd.Series(pd.to_datetime(began, unit="s", utc=True), times.index)
    return {"elapsed_s": (times - start).dt.total_seconds()}


def _note_rest(source: str, places: np.ndarray, times: np.ndarray, matched: Matched) -> None:
    timed = int(np.isfinite(times).sum())
    for place, what in ((_NONE, "outside all runs"), (_SEVERAL, "within several runs at once")):
        rows = int(((places == place) & np.isfinite(times)).sum())
        if rows:
            matched.warnings.append(f"{source}: {rows:,} of {timed:,} rows have a time {what} and belong to no run")


def _note_files(
    matched: Matched,
    whole: Sequence[PurePosixPath],
    divided: Sequence[PurePosixPath],
    lost: Sequence[PurePosixPath],
    timed: bool,
) -> None:
    if matched.started:
        matched.origins.append(
            f"started_at of {_count(len(matched.started), 'run')}: the time at which the report was last written, "
            "minus the duration; the times of the monitors fit"
        )
    if whole:
        matched.origins.append(f"run of {_listed(whole)}: the folder or the name of the file")
    if divided:
        matched.origins.append(f"run of each row of {_listed(divided)}: the time of the row")
    if lost:
        why = "their times are outside all runs" if timed else "the reports print no start time"
        matched.warnings.append(
            f"{_listed(lost)}: left out, because no report has the same name or is alone in the folder, and {why}; "
            "name each file like its report (c64.sar.txt beside c64.wrk.txt), give each run a folder, "
            "name the start of each run in factors.csv (started_at), or name the time zone of the file (timezone=)"
        )


def _listed(paths: Sequence[PurePosixPath]) -> str:
    shown = ", ".join(printable(path.as_posix()) for path in paths[:_LISTED])
    return f"{shown} and {len(paths) - _LISTED:,} more files" if len(paths) > _LISTED else shown


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
