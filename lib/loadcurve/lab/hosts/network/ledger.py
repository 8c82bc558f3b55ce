"""The ledger of a launch: a list of all resources that it creates on the machine, so that they can be removed later.

Each launch has one small file, in a folder that only its user may enter.  The file name identifies the launcher::

    /run/loadcurve/lc3fa9c1.4242.181516.1f0c2d3e.ledger
                   tag      pid  start  boot

The start time distinguishes a process from a later one with the same number, and the boot ID from one before a restart.
Each line lists resources: ``made`` is written before they are created, ``gone`` after they are removed.  Lines are
appended in one write; a last line without a newline lists resources that were never created.
"""

import contextlib
import fcntl
import json
import os
import re
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from loadcurve.errors import LabError, LoadcurveError
from loadcurve.files.atomic import runtime_folder
from loadcurve.lab.hosts.network.resources import Resource, check_resource, exists, is_running, process_state, remove

_FILE = re.compile(r"(lc[0-9a-f]{6})\.([0-9]+)\.([0-9]+)\.([0-9a-f]{8})\.ledger")
# Time for the tools of a killed launcher to end; they get their signal at once, but a busy machine runs them late.
_TOOLS_END_S = 15.0


class Ledger:
    """The resources of a launch; leaving the context removes all of them.

    Parameters
    ----------
    folder : pathlib.Path, optional
        Folder of the file; the user's runtime folder by default.
    """

    def __init__(self, folder: Path | None = None):
        self.tag = f"lc{secrets.token_hex(3)}"  # `lc` and six random digits: every name of this launch begins with it
        self._pid = os.getpid()
        self._resources: list[Resource] = []
        started = process_state(self._pid)[1]
        self._path = runtime_folder(folder) / f"{self.tag}.{self._pid}.{started}.{_boot()}.ledger"
        self.lock = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def record(self, *resources: Resource) -> None:
        """Record resources that are about to be created.

        Raises ValueRuleError when a name does not begin with the launch's tag, and LabError when the resource exists
        already, because then it belongs to somebody else.
        """
        for resource in resources:
            if exists(check_resource(resource, self.tag)):
                raise LabError(f"{resource} exists already and does not belong to this launch")
        self._write("made", resources)
        self._resources += resources

    def remove(self, *resources: Resource) -> None:
        """Remove resources of this launch, and record that they are gone."""
        _remove_completely(resources, self.lock)
        self._resources = [resource for resource in self._resources if resource not in resources]
        self._write("gone", resources)

    def close(self) -> None:
        """Remove the remaining resources of this launch, and the ledger."""
        if os.getpid() != self._pid or self.lock < 0:  # a fork of the launcher owns no resources
            return
        try:
            _remove_completely(self._resources, self.lock)
            self._path.unlink(missing_ok=True)
        finally:
            os.close(self.lock)
            self.lock = -1

    def _write(self, what: str, resources: tuple[Resource, ...]) -> None:
        line = json.dumps({what: [[t.kind, t.name] for t in resources]}).encode() + b"\n"
        size = os.fstat(self.lock).st_size
        try:
            if os.write(self.lock, line) == len(line):
                return
        except OSError as error:
            raise LabError(f"{self._path}: {error.strerror}") from None
        os.ftruncate(self.lock, size)
        raise LabError(f"{self._path}: no room for another line")


def _remove_completely(resources: Sequence[Resource], lock: int) -> None:
    try:
        remove(resources, lock)
    except KeyboardInterrupt:  # a second Ctrl-C: finish the removal first
        remove(resources, lock)
        raise


def clean(folder: Path | None = None) -> tuple[str, ...]:
    """Remove the resources left by launches that have ended, and nothing else.

    Parameters
    ----------
    folder : pathlib.Path, optional
        Folder of the ledgers; the user's runtime folder by default.

    Returns
    -------
    tuple of str
        A sentence for each resource that was removed, and for each ledger that could not be removed.
    """
    messages: list[str] = []
    for path in sorted(runtime_folder(folder).glob("*.ledger")):
        found = _FILE.fullmatch(path.name)
        if not found or _is_alive(int(found[2]), int(found[3]), found[4]):
            continue
        with contextlib.suppress(FileNotFoundError):  # another process cleaned it meanwhile
            messages += _clean_one(path, found[1])
    return tuple(messages)


def _clean_one(path: Path, tag: str) -> list[str]:
    with path.open("rb") as file:
        if not _locked(file.fileno()):
            return [f"{tag}: its launcher has ended, but a process that it started is still at work; try again"]
        path.stat()  # raises if another process cleaned it while this one waited
        try:
            resources = [check_resource(resource, tag) for resource in reversed(_remaining(file.read()))]
            here = [resource for resource in resources if exists(resource)]
            remove(here, file.fileno())
        except (LoadcurveError, OSError) as error:
            return [f"{tag}: {error}; {path} stays"]
        path.unlink()
        return [f"{tag}: removed {resource}" for resource in here]


def _remaining(lines: bytes) -> list[Resource]:
    """Resources that a ledger lists as made and not as gone."""
    left: list[Resource] = []
    for number, line in enumerate(lines.split(b"\n")[:-1], 1):
        try:
            ((what, pairs),) = json.loads(line).items()
            resources = [Resource(kind, name) for kind, name in pairs]
        except (ValueError, TypeError, AttributeError):
            raise LabError(f"line {number} is not a line of a ledger") from None
        left = [*left, *resources] if what == "made" else [resource for resource in left if resource not in resources]
    return left


def _locked(file: int) -> bool:
    deadline = time.monotonic() + _TOOLS_END_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)


def _is_alive(pid: int, started: int, boot: str) -> bool:
    try:
        return boot == _boot() and is_running(pid) and process_state(pid)[1] == started
    except OSError:
        return False


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii")[:8]
