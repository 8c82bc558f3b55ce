"""Rows of monitors to the runs during which they were sampled."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from loadcurve.errors import printable
from loadcurve.ingest.on_disk import OnDisk, span_of, times_of
from loadcurve.ingest.raw_file import NOT_ATTACHED, Matched, Note, Placement, RawFile

# Tools are started and stopped by hand or by scripts, and sar prints whole seconds.
_TOLERANCE_S = 2.0
# wrk prints its duration to 10 ms, and a script starts the next run at once.
_OVERLAP_S = 1.0
_LISTED = 4  # names in a warning
_NONE, _SEVERAL = -1, -2


@dataclass(frozen=True)
class Window:
    """When a run was; times in s since 1970 UTC, NaN if unknown."""

    run_id: str
    # `started_at` and `duration_s`: as its report prints them.
    started_at: float
    duration_s: float
    # Time at which its report was last written, which was the end of the run unless the file was copied since.
    modified: float


def seconds(time: object) -> float:
    """Return a time in s since 1970 UTC; NaN if it is missing."""
    stamp = pd.Timestamp(time) if time is not None else pd.NaT
    if stamp is pd.NaT:
        return float("nan")
    return float((stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp).timestamp())


def place_by_times(
    files: Sequence[RawFile],
    owners: Mapping[PurePosixPath, str | None],
    windows: Sequence[Window],
    matched: Matched,
) -> list[Placement]:
    """Return the runs to which the rows of monitors may belong."""
    found = {f.path: f.tables.span if isinstance(f.tables, OnDisk) else span_of(f.tables) for f in files}
    spans = {path: span for path, span in found.items() if span}
    known = {w.run_id: (w.started_at, w.started_at + w.duration_s) for w in windows if w.started_at + w.duration_s > 0}
    written = _by_modification([w for w in windows if w.run_id not in known], spans, owners)
    matched.started |= {run: start for run, (start, _) in written.items()}
    spanned = known | written
    matched.timed = bool(spanned)
    numbers = {name: i for i, name in enumerate(spanned)}
    names, limits = [*spanned], np.array([*spanned.values()]).reshape(-1, 2)
    placements = []
    for file in files:
        owner = owners[file.path]
        first, last = spans.get(file.path, (np.nan, np.nan))
        touched = (limits[:, 1] >= first) & (limits[:, 0] <= last)
        if owner in numbers:
            touched[numbers[owner]] = True
        of_file = tuple((names[i], *limits[i].tolist()) for i in np.flatnonzero(touched))
        placements.append(Placement(file, owner=owner, windows=of_file))
    return placements


def runs_of_rows(placement: Placement) -> tuple[np.ndarray, list[tuple[str, float]], Note]:
    """Return the runs of the rows of a monitor's file, whose times are read for this.

    A file that belongs to a run by its folder or name belongs to this run as a whole, unless its times are those of
    other runs.  Any other file is divided by its times.
    """
    file, owner, windows = placement.file, placement.owner, placement.windows or ()
    times = times_of(file.tables)
    places = assign(times, [(start, end) for _, start, end in windows])
    runs = [(name, start) for name, start, _ in windows]
    own = next((i for i, (name, _) in enumerate(runs) if name == owner), _NONE)
    inside, outside = int((places == own).sum()) if own >= 0 else 0, int(((places >= 0) & (places != own)).sum())
    if owner is not None and (own < 0 or inside >= outside):
        began = runs[own][1] if own >= 0 else np.nan
        warnings = []
        if own >= 0 and not inside and np.isfinite(times).any():
            warnings.append(
                f"{file.source}: its times are not those of run {owner}, to which its name assigns it: name the "
                "time zone of its times (timezone=, --timezone), or check the clock of its host"
            )
        return np.broadcast_to(np.intp(0), len(places)), [(owner, began)], Note(file.path, "whole", tuple(warnings))
    warnings = [f"{file.source}: named like run {owner}, but its times are those of other runs"] if owner else []
    if not (places >= 0).any():
        return places, [], Note(file.path, "lost", tuple(warnings))
    return places, runs, Note(file.path, "divided", (*warnings, *_rest(file.source, places, times)))


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


def _rest(source: str, places: np.ndarray, times: np.ndarray) -> Iterator[str]:
    timed = int(np.isfinite(times).sum())
    for place, what in ((_NONE, "outside all runs"), (_SEVERAL, "within several runs at once")):
        rows = int(((places == place) & np.isfinite(times)).sum())
        if rows:
            yield f"{source}: {rows:,} of {timed:,} rows have a time {what} and belong to no run"


def note_files(matched: Matched, notes: Sequence[Note]) -> None:
    """Add what the times of all files showed to the warnings and origins."""
    how = {kind: [note.path for note in notes if note.how == kind] for kind in ("whole", "divided", "lost")}
    matched.warnings += [warning for note in notes for warning in note.warnings]
    if matched.started:
        runs = f"{len(matched.started):,} run{'s' * (len(matched.started) > 1)}"
        matched.origins.append(
            f"started_at of {runs}: the time at which the report was last written, minus the duration; the times of "
            "the monitors fit"
        )
    if how["whole"]:
        matched.origins.append(f"run of {_listed(how['whole'])}: the folder or the name of the file")
    if how["divided"]:
        matched.origins.append(f"run of each row of {_listed(how['divided'])}: the time of the row")
    if how["lost"]:
        why = "their times are outside all runs" if matched.timed else "the reports print no start time"
        matched.warnings.append(
            f"{NOT_ATTACHED}{_listed(how['lost'])}, because no report has the same name or is alone in the folder, and "
            f"{why}; name each file like its report (c64.sar.txt beside c64.wrk.txt), give each run a folder, "
            "name the start of each run in factors.csv (started_at), or name the time zone of the file "
            "(timezone=, --timezone)"
        )


def _listed(paths: Sequence[PurePosixPath]) -> str:
    shown = ", ".join(printable(path.as_posix()) for path in paths[:_LISTED])
    return f"{shown} and {len(paths) - _LISTED:,} more files" if len(paths) > _LISTED else shown
