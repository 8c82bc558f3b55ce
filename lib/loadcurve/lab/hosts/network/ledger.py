"""What the laboratory makes on this machine, each thing with its removal, and the file that lists it.

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
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadcurve.errors import LabError, LoadcurveError, ValueRuleError
from loadcurve.files.atomic import runtime_folder
from loadcurve.lab.hosts.network.conditions import run

NAMESPACES = Path("/run/netns")  # where `ip netns` keeps them (iproute2, include/namespace.h: NETNS_RUN_DIR)
CGROUPS = Path("/sys/fs/cgroup")  # where systemd and all containers mount them
_INTERFACES = Path("/sys/class/net")
_NFT_TABLE = re.compile(r"(?:ip|ip6|inet|arp|bridge|netdev) [a-z0-9_]+")
# IFNAMSIZ of linux/if.h is 16, one of them the closing zero.
_LONGEST_LINK = 15
# A killed process ends at once, but a busy machine runs it late.
_KILLED_END_S = 10.0


@dataclass(frozen=True)
class Resource:
    """A resource that remains when the process that created it dies.

    Whatever is in a network namespace is removed with it (links, bridges, queueing disciplines, tables, processes), and
    a queueing discipline with its link, so those need no entry.
    """

    kind: str  # `namespace`; `link`, `nft_table` outside of namespaces; `cgroup`; `folder`
    name: str  # Name of a namespace or link; `FAMILY NAME` of a table; absolute path of a cgroup or folder

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} {self.name}"


def check_resource(resource: Resource, tag: str) -> Resource:
    """Return a resource if its name begins with the launch's tag; raise otherwise, so that nothing else is removed.

    Examples
    --------
    >>> check_resource(Resource("namespace", "lc3fa9c1-S1"), "lc3fa9c1").name
    'lc3fa9c1-S1'
    >>> check_resource(Resource("folder", "/home"), "lc3fa9c1")
    Traceback (most recent call last):
    loadcurve.errors.ValueRuleError: resource must be of a known kind, with a name in lc3fa9c1*, got 'folder /home'
    """
    own, path = resource.name, Path(resource.name)
    if resource.kind == "nft_table":
        own = resource.name.partition(" ")[2] if _NFT_TABLE.fullmatch(resource.name) else ""
    elif resource.kind in ("cgroup", "folder"):
        outside = resource.kind == "cgroup" and CGROUPS not in path.parents
        own = "" if outside or not path.is_absolute() or ".." in path.parts else path.name
    elif resource.kind == "link" and len(own) > _LONGEST_LINK:
        own = ""
    if resource.kind not in _REMOVERS or not re.fullmatch(rf"{tag}[A-Za-z0-9._-]*", own):
        raise ValueRuleError("resource", f"of a known kind, with a name in {tag}*", str(resource))
    return resource


def exists(resource: Resource) -> bool:
    """Whether such a resource exists now, whoever created it."""
    if resource.kind == "nft_table":
        return f"table {resource.name}" in run(("nft", "list", "tables")).splitlines()
    roots = {"namespace": NAMESPACES, "link": _INTERFACES}
    return os.path.lexists(roots.get(resource.kind, Path("/")) / resource.name)


def remove(resources: Iterable[Resource], holding: int) -> None:
    """Remove resources, those of one kind together; ignore those that are gone already.

    The tools keep the ledger's lock (`holding`), so that `clean` waits for those of a killed launcher.  Raises LabError
    when a resource still exists afterwards.
    """
    resources = list(resources)
    for kind, remover in _REMOVERS.items():
        names = [resource.name for resource in resources if resource.kind == kind and exists(resource)]
        if names:
            remover(names, holding)
    left = [str(resource) for resource in resources if exists(resource)]
    if left:
        raise LabError(f"not removed: {', '.join(left)}")


def _remove_namespaces(names: list[str], holding: int) -> None:
    """Kill the processes in namespaces, which would keep them alive, and delete their names."""
    with contextlib.ExitStack() as stack:
        # Held open, so that no new namespace gets the inode number of a removed one.
        held = [stack.enter_context((NAMESPACES / name).open("rb")) for name in names]
        numbers = {(stat.st_dev, stat.st_ino) for stat in (os.fstat(file.fileno()) for file in held)}
        _end_processes_in(numbers)
        run(("ip", "-force", "-batch", "-"), "".join(f"netns del {name}\n" for name in names), holding)
        _end_processes_in(numbers)  # a process may have been about to enter


def _end_processes_in(numbers: set[tuple[int, int]]) -> None:
    for _ in range(3):  # a process may fork while it is being killed
        if not _end_processes(_processes_in(numbers)):
            break


def _processes_in(numbers: set[tuple[int, int]]) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):  # the process has ended meanwhile
                stat = (entry / "ns/net").stat()
                if (stat.st_dev, stat.st_ino) in numbers:
                    found.append(int(entry.name))
    return found


def _end_processes(pids: list[int]) -> bool:
    """Kill processes and wait up to 10 s until they are gone; return whether there were any."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _KILLED_END_S
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(pids)


def is_running(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return process_state(pid)[0] not in "ZX"
    except OSError:
        return False


def process_state(pid: int) -> tuple[str, int]:
    """Return a process's state letter and its start in clock ticks since boot (proc(5), /proc/pid/stat 3 and 22)."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return fields[0], int(fields[19])


def _remove_links(names: list[str], holding: int) -> None:
    # The other end of a veth pair goes with the first one.
    lines = "".join(f"link del dev {name}\n" for name in names if (_INTERFACES / name).exists())
    run(("ip", "-force", "-batch", "-"), lines, holding)


def _remove_tables(names: list[str], holding: int) -> None:
    run(("nft", "-f", "-"), "".join(f"delete table {name}\n" for name in names), holding)


def _remove_cgroups(names: list[str], _holding: int) -> None:
    for name in names:
        for folder, _, _ in os.walk(name, topdown=False):
            _remove_cgroup(Path(folder))


def _remove_cgroup(folder: Path) -> None:
    """End its processes and remove it; one that starts others while they are being ended is tried again for 10 s."""
    for file, boundless in (("cpu.cfs_quota_us", "-1"), ("cpu.max", "max")):
        with contextlib.suppress(OSError):  # one of the two is not there; under a small quota they would end slowly
            (folder / file).write_text(boundless)
    deadline = time.monotonic() + _KILLED_END_S
    while folder.exists():
        # A process of another pid namespace reads as 0, which to kill(2) is the caller's whole group.
        pids = {int(pid) for pid in (folder / "cgroup.procs").read_text("ascii").split()} - {0, os.getpid()}
        _end_processes(sorted(pids))
        try:
            folder.rmdir()
        except OSError:  # a process has come since
            if time.monotonic() > deadline:
                return  # `remove` says that it is there
            time.sleep(0.005)


def _remove_folders(names: list[str], _holding: int) -> None:
    for name in map(Path, names):
        if name.is_dir() and not name.is_symlink():
            shutil.rmtree(name, ignore_errors=True)
        else:
            name.unlink()


# In the order of removal: processes go with their namespace or group before their folders do.
_REMOVERS: dict[str, Callable[[list[str], int], None]] = {
    "namespace": _remove_namespaces,
    "link": _remove_links,
    "nft_table": _remove_tables,
    "cgroup": _remove_cgroups,
    "folder": _remove_folders,
}


_FILE = re.compile(r"(lc[0-9a-f]{6})\.([0-9]+)\.([0-9]+)\.([0-9a-f]{8})\.ledger")
# Time for the tools of a killed launcher to end; they get their signal at once, but a busy machine runs them late.
_TOOLS_END_S = 15.0


class Ledger:
    """The resources of a launch; leaving the context removes all of them.

    Its file is in `folder`, by default the user's runtime folder.
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

    Ledgers are in `folder`, by default the user's runtime folder.  Returns a sentence for each resource that was
    removed, and for each ledger that could not be removed.
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
