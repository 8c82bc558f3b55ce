"""A study's run folders into tables: parsers read the texts, `run.json` adds the rest."""

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from loadcurve import tables
from loadcurve.errors import ParseError, original, printable
from loadcurve.files.paths import leads_out_of, shown
from loadcurve.ingest.files import files_of
from loadcurve.ingest.registry import FORMS
from loadcurve.ingest.run_columns import factors_of, of_run
from loadcurve.ingest.run_files import (
    Parts,
    check_factors,
    check_files,
    check_fingerprint,
    edits_of,
    is_report,
    read_finished,
    wrong,
)
from loadcurve.ingest.streams import parse_each
from loadcurve.study import Run, Study
from loadcurve.study.archive import opened
from loadcurve.study.manifest import NAME as MANIFEST
from loadcurve.study.manifest import accepted, gaps_of
from loadcurve.study.records import read_run, read_study, run_folders
from loadcurve.tables.schemas import RAW

REPORTS = ("runs", "latency", "histogram", "balancer")
"""Tables that report on the load."""


@dataclass(frozen=True)
class Ingested:
    """Checked tables of a study, the raw files each comes from, and warnings."""

    tables: dict[str, pd.DataFrame]  # Every table of `schemas.RAW`, some perhaps without rows
    sources: dict[str, tuple[Path, ...]]  # Files each table was made from
    warnings: tuple[str, ...]  # `PATH: sentence`, as the parsers and `run.json` gave them
    parsers: frozenset[str]  # `Form.parsed_by` of each form that was read


EachRun = Callable[[Callable[[Path], Parts], Sequence[Path]], Iterable[Parts]]
"""Calls a function, which can be pickled, with each run's folder; returns the results in order, as `map` does."""


def read_runs(folder: Path, each: EachRun = map, *, follow: bool = False) -> Ingested:
    """Read every run of a study's folder.

    A run that did not finish keeps its row in `runs`, with its status and without numbers.  A folder without `run.json`
    is a run made by hand: its files are recognised by their content, and what only a record knows is missing.  A run
    that a launch made and that is gone has a row with the status ``missing``; for each difference from the manifest
    (`loadcurve.study.manifest`) there is a warning.  Links out of the study are read only with `follow`.
    """
    study = read_study(folder)
    parts, folder = Parts(), opened(folder)
    root = os.path.realpath(folder)
    runs = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not follow:
        runs = [run for run in runs if not leads_out_of(root, run) and not leads_out_of(root, run / "run.json")]
    for found in each(functools.partial(_parts_of, study), runs):
        parts.add(found)
    _note_gaps(folder, study, parts, follow=follow)
    return _ingested(parts, folder)


def read_gaps(folder: Path) -> Ingested:
    """Read how a study differs from its manifest, and no run."""
    parts, folder = Parts(), opened(folder)
    _note_gaps(folder, read_study(folder), parts)
    return _ingested(parts, folder, ["runs"])


def _note_gaps(folder: Path, study: Study, parts: Parts, *, follow: bool = False) -> None:
    """Add a warning for each difference from the manifest, and a row for each missing run."""
    for run_id, difference, reason in _gaps(folder, study, follow=follow):
        how = f"accepted in study.yml: {reason}" if reason else "or give a reason under audit.accept in study.yml"
        parts.warnings.append(f"{shown(folder / run_id)}: {difference}; {how}")
        if difference.startswith("missing"):
            row = {"study": study.study, "run_id": run_id, "status": "missing", "source": MANIFEST}
            parts.frames["runs"].append(pd.DataFrame([row]))
    if (folder / MANIFEST).exists():
        parts.sources["runs"].add(folder / MANIFEST)


def _gaps(folder: Path, study: Study, *, follow: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield name, description, and the reason why the study accepts it, of each difference from the manifest."""
    held, reasons = {path.name: read_run(path).seal for path in run_folders(folder)}, accepted(study)
    yield from ((name, difference, reasons.get(name, "")) for name, difference in gaps_of(folder, held, follow=follow))


def is_complete(folder: Path) -> bool:
    """Whether a study is as its manifest says, but for what its study.yml accepts."""
    return all(reason for _, _, reason in _gaps(opened(folder), read_study(folder)))


def read_run_folder(folder: Path) -> Ingested:
    """Read one run of a study's folder, as `read_runs` reads each of them."""
    folder = opened(Path(original(str(folder))))  # the copy is not on every machine of a cluster
    return _ingested(_parts_of(read_study(folder.parent), folder), folder.parent)


def read_reports(folder: Path, run: Run | None = None) -> Ingested:
    """Read the reports of the generators and the balancer of a finished run: the tables of `REPORTS`."""
    run, parts = read_run(folder) if run is None else run, Parts()
    check_factors(run, folder)
    read_finished(run, folder, parts, is_report)
    return _ingested(parts, folder.parent, REPORTS)


def _parts_of(study: Study, folder: Path) -> Parts:
    """Return what the folder of one run holds."""
    parts = Parts()
    if not (folder / "run.json").exists():
        _read_unrecorded(folder, study, parts)
        return parts
    run = _read_run(folder, study)
    parts.sources["runs"].add(folder / "run.json")
    if run.status == "finished":
        check_factors(run, folder)
        for edit in edits_of(run, study):
            parts.edits[edit].append(run.run_id)
        read_finished(run, folder, parts)
        check_files(run, folder)
        return parts
    for name in sorted(run.files):
        check_fingerprint(run, folder / name)
    row = {
        "status": run.status,
        "reason": run.reason or None,
        **factors_of(run),
        "connections": run.factors.get("connections"),
    }
    parts.frames["runs"].append(of_run(pd.DataFrame([row]), run))
    parts.warnings.append(f"{shown(folder)}: {run.status}: {run.reason or 'a launch is at work on it, or was killed'}")
    return parts


def _ingested(parts: Parts, folder: Path, names: Iterable[str] = RAW) -> Ingested:
    checked = {
        name: tables.check(
            name, pd.concat(frames, ignore_index=True) if (frames := parts.frames[name]) else pd.DataFrame()
        )
        for name in names
    }
    common_sources = {folder / "study.yml"}
    sources = {name: tuple(sorted(parts.sources[name] | common_sources)) for name in checked}
    edited = [
        f"{shown(folder / 'study.yml')}: edited after {_named(runs)}: {edit}; these runs keep the settings they were "
        "launched with: undo the edit, or give the edited study another name"
        for edit, runs in parts.edits.items()
    ]
    return Ingested(checked, sources, tuple(map(printable, (*edited, *parts.warnings))), frozenset(parts.parsers))


def _named(runs: list[str]) -> str:
    return runs[0] if len(runs) == 1 else f"{len(runs)} runs from {runs[0]} on"


def _read_unrecorded(folder: Path, study: Study, parts: Parts) -> None:
    """Read the files of a run without a record; one that cannot be read is named in a warning, and the rest is kept."""
    parts.parsers.update(form.parsed_by for form in FORMS)  # any may be tried
    for path, parsed, refused in parse_each(files_of(folder), name=shown):
        if parsed is None:
            parts.warnings.append(f"not read: {refused}")
            continue
        parts.warnings += [f"{shown(path)}: {warning}" for warning in parsed.warnings]
        for name, frame in parsed.tables.items():
            source = printable(path.relative_to(folder).as_posix())
            known = {"study": study.study, "run_id": printable(folder.name), "source": source}
            parts.frames[name].append(frame.assign(**known))
            parts.sources[name].add(path)


def _read_run(folder: Path, study: Study) -> Run:
    """Read the `run.json` of a folder, which must be of this folder and this study."""
    try:
        run = read_run(folder / "run.json")
    except ParseError as error:
        raise error.at(f"{shown(folder)}/run.json") from None
    for key, named, expected in (("run_id", run.run_id, folder.name), ("study", run.study, study.study)):
        if named != expected:
            raise wrong(folder, key, f"the {key} {expected!r} of this folder", named)
    return run
