"""The record of a run, and the reserve of disk that it needs."""

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loadcurve.errors import LabError
from loadcurve.files.secrets import conceal, conceal_file
from loadcurve.lab.run.deployment import Deployment, processors, with_role
from loadcurve.lab.schedule.points import Point
from loadcurve.lab.study_file import StudyFile
from loadcurve.lab.tools.generators.generator import start_delay_s
from loadcurve.study import Command, Run
from loadcurve.study.records import fingerprint, write_run

FULL = os.strerror(errno.ENOSPC)
# A run.json is a few KiB; with long commands and many files it stays below this.
RESERVE_BYTES = 64 * 1024
_NAME, _PROBE = "run.json.reserve", "run.json.probe"
_ERRORS = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def translate_disk_full() -> Iterator[None]:
    """Raise `LabError` where the system reports a full disk or an exhausted quota."""
    try:
        yield
    except OSError as error:
        if error.errno not in _ERRORS:
            raise
        raise LabError(f"{os.strerror(error.errno)}: free some, and launch again") from None


def reserve(folder: Path) -> None:
    """Reserve `RESERVE_BYTES` in a run's folder; raise OSError when the disk has less free space than that."""
    with (folder / _NAME).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)


def has_room(folder: Path) -> bool:
    """Whether every user's tools could still write; called before files are removed, because that frees space.

    The number of free blocks is not enough to decide this, because of quotas; those for root alone are of no use.
    """
    if not os.statvfs(folder).f_bavail:
        return False
    probe = folder / _PROBE
    try:
        with probe.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, 1)
    except OSError as error:
        if error.errno not in _ERRORS:
            raise
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True


def release(folder: Path) -> None:
    """Release the reserved space."""
    (folder / _NAME).unlink(missing_ok=True)


# Throughputs are summed over generators, each over its own time, so this bounds the relative error of the sum.
_UNEVEN_RATIO = 0.01
Judge = Callable[[Run, Path], tuple[str, tuple[str, ...]]]
"""A finished run and its folder → the reason why it failed after all (empty if it did not), and warnings."""
_WRITING = ("collector", "warm_up", "generator")
# An error line of the sampler: file, time, reason.  Tools that it starts print errors in other forms.
_SAMPLER_ERROR = re.compile(r"(\S+\.txt): [0-9-]{10}T[0-9:.]+Z: (.+)")


@dataclass
class Record:
    """What is known of a run so far; `full` means that the disk was full, so that files of tools may be truncated."""

    commands: list[tuple[int, Command]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    events: list[dict[str, str]] = field(default_factory=list)
    hosts: dict[str, Any] = field(default_factory=dict)
    background: dict[str, dict[str, Any]] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()  # Names of variables whose values must not be recorded
    begun: int = 0
    full: bool = False

    def number(self) -> int:
        """Return the number of a command in order of start; times of the wall clock fail where it is set."""
        self.begun += 1
        return self.begun

    def note_full_disk(self, folder: Path) -> None:
        """Note whether the disk of the run's folder is full."""
        self.full = self.full or not has_room(folder)


def factors_of(settings: StudyFile, point: Point, deployment: Deployment) -> dict[str, Any]:
    """Return the factors of a run for `run.json`."""
    load, slots = settings.load, deployment.slots
    server = processors(settings, slots, with_role(slots, "S")[0].name, "S1")
    client = processors(settings, slots, with_role(slots, "C")[0].name, "C1")
    urls = list(dict.fromkeys(loader.url for loader in deployment.loaders))
    return {
        "variant": point.variant,
        "connections": load.connections,
        "repeat": point.repeat,
        "order": point.order,
        "threads": load.threads,
        "seconds": load.seconds,
        "url": " ".join(urls),
        "server_cpu": server[0] if len(server) == 1 and deployment.services else None,
        "generator_cpu": client[0] if len(client) == 1 else None,
        **({"expected_shares": dict(deployment.balanced.expected)} if deployment.balanced else {}),
        "levels": dict(point.levels),
        "settings": dict(point.settings),
    }


def tool_on_host(command: Command) -> str:
    """Return the name of a tool, with its host where the study has several."""
    return command.tool if command.host == "local" else f"{command.tool} on {command.host}"


def missing_reports(deployment: Deployment, record: Record, folder: Path) -> str:
    """Return which report of a generator is empty or missing although it exited with code 0; empty for none."""
    files = [command.stdout for _, command in record.commands if command.role == "generator"]
    outputs = [loader.generator.outputs for loader in deployment.loaders]
    files += [each["json"] for each in outputs if "json" in each]  # the only output that is never empty
    empty = [name for name in files if not (folder / name).is_file() or not (folder / name).stat().st_size]
    return f"the generators ended well, but nothing is in {', '.join(empty)}" if empty else ""


def finish(run: Run, record: Record, folder: Path, judge: Judge = lambda run, folder: ("", ())) -> Run:
    """Write `run.json`: commands in order of start, files with their fingerprints, status and warnings."""
    kept, warnings = [], list(record.warnings)
    for _, command in sorted(record.commands, key=lambda item: item[0]):
        streams: dict[str, Any] = {}
        for stream in ("stdout", "stderr"):
            file = folder / getattr(command, stream)
            if file.is_file() and file.stat().st_size == 0:
                file.unlink()
            if not file.is_file():
                streams[stream] = ""
        kept.append(replace(command, **streams))
        if command.role in _WRITING and streams.get("stdout") == "":
            warnings.append(f"{tool_on_host(command)} wrote nothing")
    for file in dict.fromkeys(command.stderr for command in kept if command.role == "collector" and command.stderr):
        warnings += _missed_samples(folder / file)
    warnings += _uneven_start(folder, run.factors["seconds"])
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not (path.is_dir() or path.is_file()):  # left by a program of the study
            path.unlink()
        elif path.is_dir():  # left by a service that was killed
            shutil.rmtree(path)
    warnings += _concealed(folder, record.secrets)
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
    run = replace(
        run,
        reason=conceal(run.reason, record.secrets),
        warnings=tuple(conceal(warning, record.secrets) for warning in run.warnings),
        events=tuple({**event, "what": conceal(event["what"], record.secrets)} for event in run.events),
    )
    write_run(run, folder)
    return run


def _concealed(folder: Path, secrets: tuple[str, ...]) -> list[str]:
    """Replace the values of variables in the files of a run by their names; return a warning with the files changed."""
    changed, left = [], []
    for path in sorted(folder.iterdir()) if secrets else ():
        try:
            changed += [path.name] if conceal_file(path, secrets) else []
        except OSError as error:
            left.append(f"{path.name} may hold a secret, which could not be replaced ({error.strerror}): remove it")
    names = " or ".join(f"${{{name}}}" for name in secrets)
    found = f"not verbatim, because a tool printed the value of {names}, written as its name: {', '.join(changed)}"
    return [found] * bool(changed) + left


def _uneven_start(folder: Path, seconds: float) -> list[str]:
    """Return a warning where generators started more than 1 % of the load's duration apart."""
    late, warnings = [], []
    for path in sorted(folder.glob("*.at.json")):
        try:
            late += [start_delay_s(path.read_text("utf-8"))] if "-warm-up." not in path.name else []
        except (ValueError, KeyError, TypeError):
            warnings.append(f"{path.name} is cut: it does not say when its generator began")
    skew_s = max(late, default=0.0) - min(late, default=0.0)
    if skew_s > _UNEVEN_RATIO * seconds and seconds:
        warnings.append(f"generators began {skew_s:.3f} s apart: in that time not all of the load was there")
    return warnings


def _missed_samples(file: Path) -> list[str]:
    """Return one warning for each file in which the sampler missed samples."""
    if not file.is_file():
        return []
    found: dict[str, list[str]] = {}
    for line in file.read_text("utf-8", "replace").splitlines():
        if match := _SAMPLER_ERROR.fullmatch(line):
            found.setdefault(match[1], []).append(match[2])
    return [f"{name} lacks {len(why)} snapshots, the first one for: {why[0]}" for name, why in found.items()]
