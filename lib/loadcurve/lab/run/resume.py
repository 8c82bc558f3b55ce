"""Resume a study: which runs are finished, whether the folder belongs to the study, and the lock on it."""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loadcurve.errors import LabError, LoadcurveError, printable
from loadcurve.files.paths import shown
from loadcurve.lab.hosts.process import now
from loadcurve.lab.run.quiet import disturbance
from loadcurve.lab.schedule.points import Point
from loadcurve.study import Run, Study, differences, in_one_word
from loadcurve.study.archive import unpack
from loadcurve.study.manifest import list_run
from loadcurve.study.records import read_run, read_study, run_folders, write_study


def is_finished(point: Point, folder: Path) -> bool:
    """Whether the run in `folder` is finished, and so never repeated.

    Raises LabError when its settings differ from those of the study: such runs cannot share a curve.
    """
    if not (folder / "run.json").exists() or (run := read_run(folder)).status != "finished":
        return False
    wanted, held = json.loads(json.dumps(point.settings)), run.factors.get("settings")
    if held is None:
        wanted = in_one_word(wanted)
        held = {name: run.factors.get(name) for name in wanted}
    other = [f"{place} {value}" for place, value, _ in differences(held, wanted)]
    if run.factors.get("variant") != point.variant:
        other.append(f"variant {run.factors.get('variant')}")
    if other:
        raise LabError(f"{shown(folder)} was run with {', '.join(other)}: launch under another name, or remove it")
    return True


_AGAIN = ".again"
"""Folder of a run that replaces a finished one, until it is finished itself: no reader looks into it."""


def folder_for(folder: Path, run_id: str) -> Path:
    """Return where a run is measured: beside a finished one that it replaces, else in its own folder."""
    own = folder / run_id
    if not (own / "run.json").is_file():
        return own
    if (run := read_run(own)).status != "finished":
        list_run(folder, run_id, replaces=_why_again(run))
        return own
    (folder / _AGAIN).mkdir(exist_ok=True)
    return folder / _AGAIN / run_id


def put_in_place(folder: Path) -> None:
    """Put a run that was measured beside a finished one into its place if it has finished, else remove it."""
    for later in sorted(path.parent for path in (folder / _AGAIN).glob("*/run.json")):
        if (run := _finished(later)) is None:
            continue
        unpack(folder)
        os.sync()  # before the earlier one goes
        own = folder / later.name
        if (own / "run.json").is_file():  # else this was killed here
            list_run(folder, own.name, replaces=_why_again(read_run(own)))
        if own.is_symlink():
            own.unlink()
        elif own.exists():
            shutil.rmtree(own)
        later.rename(own)
        list_run(folder, own.name, run.seal)
    shutil.rmtree(folder / _AGAIN, ignore_errors=True)


def _finished(folder: Path) -> Run | None:
    try:
        run = read_run(folder)
    except (LoadcurveError, OSError):  # a machine that lost its power may leave half a record
        return None
    return run if run.status == "finished" else None


def _why_again(run: Run) -> dict[str, str]:
    """Return why a recorded run is measured again, as the manifest keeps it."""
    why = " ".join(filter(None, [disturbance(run.background) or run.status, run.reason]))
    return {"seal": run.seal, "why": why, "at": now()}


def check_folder(study: Study, folder: Path) -> None:
    """Check that `folder` belongs to the study: same name, same settings; create it where it does not exist."""
    if folder.name != study.study:
        raise LabError(f"folder must bear the study's name {study.study!r}, got {folder.name!r}")
    if not (folder / "study.yml").exists():
        write_study(study, folder)
    held, wanted = as_written(read_study(folder)), as_written(study)
    if changed := [name for name in wanted if held[name] != wanted[name]]:
        more = changed == ["repeats"] and wanted["repeats"] > held["repeats"]
        add = f"to add blocks, set `repeats: {study.repeats}` in its study.yml and launch the folder"
        way = add if more else "launch under another name, or remove the folder"
        raise LabError(f"{shown(folder)} holds this study with other {', '.join(changed)}: {way}")


def as_written(study: Study) -> dict[str, Any]:
    """Return the settings of its runs as the study's file represents them, with lists for tuples."""
    written: dict[str, Any] = json.loads(json.dumps(asdict(study)))
    del written["question"], written["audit"], written["fault_on_purpose"]  # are about the runs, and change none
    return written


# Facts that must agree for runs to share a curve; load, limits and addresses may change between launches.
_SAME_MACHINE = ("kernel", "architecture", "cpu_model", "cpus", "memory_bytes", "tcp_congestion_control")


def check_same_machine(folder: Path, here: Mapping[str, Any], remote: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse to resume a study whose finished runs come from another machine, or from this one before it changed.

    `here` are the facts of this machine, `remote` those of each remote host by its ssh URL.  Raises LabError when a
    fact differs that affects results.
    """
    for held in run_folders(folder):
        if (there := read_run(held)).status != "finished":
            continue
        pairs = [("", there.machine, here)]
        for name, facts in there.machine.get("hosts", {}).items():
            if (url := facts.get("ssh")) in remote:
                pairs.append((f"{name}: ", facts, remote[url]))
        if differ := [fact for pair in pairs for fact in _differing(*pair)]:
            differences = "; ".join(differ)
            raise LabError(
                f"{shown(folder)} was recorded on another machine ({differences}): launch under another name"
            )


def _differing(name: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    for key in _SAME_MACHINE:
        if there.get(key) != here[key]:
            yield printable(f"{name}{key} {there.get(key)} there, {here[key]} here")


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock the folder, so that two launches never write into one study at the same time."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # fork fails with the same error when no process is left, hence only flock is inside
            raise LabError(f"{shown(folder)} is being written by another launch") from None
        yield
    finally:
        os.close(handle)
