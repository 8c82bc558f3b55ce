"""What is written down of a run: while it lasts, and its last word in `run.json`."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loadcurve.lab.deployment import Deployment
from loadcurve.lab.deployment.host_slot import processors, with_role
from loadcurve.lab.generators import begun_late_s
from loadcurve.lab.run import disk_reserve
from loadcurve.lab.schedule.points import Point
from loadcurve.lab.study_file import StudyFile
from loadcurve.records import fingerprint, write_run
from loadcurve.study import Command, Run

# Throughputs are summed over the generators' own times, so this is by how much the sum can be wrong.
_UNEVEN_RATIO = 0.01
Judge = Callable[[Run, Path], tuple[str, tuple[str, ...]]]
"""A finished run and its folder → why it has failed all the same, empty where it has not, and warnings."""
_WRITING = ("collector", "warm_up", "generator")
# What the sampler complains of: a file, an instant, a reason.  Tools that it starts complain in other forms.
_COMPLAINT = re.compile(r"(\S+\.txt): [0-9-]{10}T[0-9:.]+Z: (.+)")


@dataclass
class Record:
    """What is known of a run so far; `full` says that a disk had no room, so that what tools wrote may be cut."""

    commands: list[tuple[int, Command]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    events: list[dict[str, str]] = field(default_factory=list)
    hosts: dict[str, Any] = field(default_factory=dict)
    background: dict[str, dict[str, Any]] = field(default_factory=dict)
    begun: int = 0
    full: bool = False

    def number(self) -> int:
        """Place of a command in the order of start: the wall clock may be set meanwhile."""
        self.begun += 1
        return self.begun

    def look_for_room(self, folder: Path) -> None:
        """Note whether the disk of the run's folder is full."""
        self.full = self.full or not disk_reserve.has_room(folder)


def factors_of(settings: StudyFile, point: Point, deployment: Deployment) -> dict[str, Any]:
    """What `run.json` says of a run's factors."""
    load, slots = settings.load, deployment.slots
    pins = {
        role: processors(settings, slots, host, role)
        for role, host in (("S1", with_role(slots, "S")[0].name), ("C1", with_role(slots, "C")[0].name))
    }
    urls = list(dict.fromkeys(loader.url for loader in deployment.loaders))
    return {
        "variant": point.variant,
        "connections": load.connections,
        "repeat": point.repeat,
        "order": point.order,
        "threads": load.threads,
        "seconds": load.seconds,
        "url": " ".join(urls),
        "server_cpu": pins["S1"][0] if len(pins["S1"]) == 1 and deployment.services else None,
        "generator_cpu": pins["C1"][0] if len(pins["C1"]) == 1 else None,
        **({"expected_shares": dict(deployment.balanced.expected)} if deployment.balanced else {}),
        "levels": dict(point.levels),
        "settings": dict(point.settings),
    }


def named(command: Command) -> str:
    """A tool, and its host where there are several."""
    return command.tool if command.host == "local" else f"{command.tool} on {command.host}"


def without_report(deployment: Deployment, record: Record, folder: Path) -> str:
    """Say which report of a generator is empty or not there, though it ended well; empty for none."""
    files = [command.stdout for _, command in record.commands if command.role == "generator"]
    outputs = [loader.generator.outputs for loader in deployment.loaders]
    files += [each["json"] for each in outputs if "json" in each]  # the only one that no load leaves empty
    empty = [name for name in files if not (folder / name).is_file() or not (folder / name).stat().st_size]
    return f"the generators ended well, but nothing is in {', '.join(empty)}" if empty else ""


def closed(run: Run, record: Record, folder: Path, judge: Judge = lambda run, folder: ("", ())) -> Run:
    """Write the last word on a run: its commands in order of start, its files with their fingerprints, its verdict."""
    kept, warnings = [], list(record.warnings)
    for _, command in sorted(record.commands, key=lambda item: item[0]):
        streams = {}
        for stream in ("stdout", "stderr"):
            file = folder / getattr(command, stream)
            if file.is_file() and file.stat().st_size == 0:
                file.unlink()
            if not file.is_file():
                streams[stream] = ""
        kept.append(replace(command, **streams))
        if command.role in _WRITING and streams.get("stdout") == "":
            warnings.append(f"{named(command)} wrote nothing")
    for file in dict.fromkeys(command.stderr for command in kept if command.role == "collector" and command.stderr):
        warnings += _complaints(folder / file)
    warnings += _uneven_start(folder, run.factors["seconds"])
    for path in sorted(folder.iterdir()):
        if path.is_dir():  # of a service that was ended before its folders were removed
            shutil.rmtree(path)
    files = {p.name: fingerprint(p) for p in sorted(folder.iterdir()) if not p.name.startswith("run.json")}
    machine = {**run.machine, "hosts": record.hosts} if record.hosts else run.machine
    run = replace(
        run, commands=tuple(kept), files=files, machine=machine, events=tuple(record.events),
        background=record.background, warnings=(*run.warnings, *warnings),
    )  # fmt: skip
    if run.status == "finished":
        reason, warned = judge(run, folder)
        status = "failed" if reason else run.status
        run = replace(run, status=status, reason=reason, warnings=(*run.warnings, *warned))
    write_run(run, folder)
    return run


def _uneven_start(folder: Path, seconds: float) -> list[str]:
    """Say where generators that have one instant began apart by more than a hundredth of the load."""
    late, warnings = [], []
    for path in sorted(folder.glob("*.at.json")):
        try:
            late += [begun_late_s(path.read_text("utf-8"))] if "-warm-up." not in path.name else []
        except (ValueError, KeyError, TypeError):
            warnings.append(f"{path.name} is cut: it does not say when its generator began")
    skew_s = max(late, default=0.0) - min(late, default=0.0)
    if skew_s > _UNEVEN_RATIO * seconds and seconds:
        warnings.append(f"generators began {skew_s:.3f} s apart: in that time not all of the load was there")
    return warnings


def _complaints(file: Path) -> list[str]:
    """What the sampler could not take, told once for each file that lacks it."""
    if not file.is_file():
        return []
    found: dict[str, list[str]] = {}
    for line in file.read_text("utf-8", "replace").splitlines():
        if match := _COMPLAINT.fullmatch(line):
            found.setdefault(match[1], []).append(match[2])
    return [f"{name} lacks {len(why)} snapshots, the first one for: {why[0]}" for name, why in found.items()]
