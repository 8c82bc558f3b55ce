"""Limits of a host's commands: open files and CPU time."""

import contextlib
import os
import resource
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts import enter
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.network.ledger import CGROUPS, Ledger, Resource
from loadcurve.lab.hosts.tools import which

# In µs: the period of `docker --cpus` and of Kubernetes, and the kernel's own (sched-bwc of its documentation).
_PERIOD = 100_000
NONE = "no cgroup with a cpu controller is writable here"


@dataclass(frozen=True)
class Controller:
    """A hierarchy of control groups that limits CPU time, and the folder in which a group can be created."""

    version: int  # 1 or 2
    folder: Path  # Folder in which the group is created

    def settings(self, quota: float) -> tuple[str, ...]:
        """Return the settings for a quota in processors, each as ``FILE=VALUE``.

        Examples
        --------
        >>> Controller(1, Path("/sys/fs/cgroup/cpu")).settings(0.25)
        ('cpu.cfs_period_us=100000', 'cpu.cfs_quota_us=25000')
        >>> Controller(2, Path("/sys/fs/cgroup")).settings(1.5)
        ('cpu.max=150000 100000',)
        """
        quota_us = round(quota * _PERIOD)
        if self.version == 1:
            return f"cpu.cfs_period_us={_PERIOD}", f"cpu.cfs_quota_us={quota_us}"
        return (f"cpu.max={quota_us} {_PERIOD}",)


def mounted_controller(mounts: str | None = None, own: str | None = None, root: Path = CGROUPS) -> Controller | None:
    """Return where a group can be created, or None.

    In version 1 the cpu controller has its own hierarchy: the group is created below that of this process, so that it
    gets at most what this process has.  In version 2 a group with processes has no child with a quota (rule ``no
    internal processes`` of the kernel's cgroup-v2 document): the group is created below the nearest ancestor that
    delegates the controller.

    `mounts` and `own` are the texts of ``/proc/self/mountinfo`` and ``/proc/self/cgroup``, see proc(5) and cgroups(7);
    a hierarchy must be mounted below `root`.
    """
    try:
        mounts = Path("/proc/self/mountinfo").read_text("utf-8") if mounts is None else mounts
        own = Path("/proc/self/cgroup").read_text("utf-8") if own is None else own
    except OSError:  # not Linux
        return None
    for version, mounted, folder in sorted(_own_groups(mounts, own)):
        above = [parent for parent in folder.parents if parent.is_relative_to(mounted)] if version == 2 else []
        for candidate in (folder, *above) if mounted.is_relative_to(root) else ():
            if _delegates(version, candidate):
                return Controller(version, candidate)
    return None


def _delegates(version: int, folder: Path) -> bool:
    """Whether this user may create and enter a group with a quota below this one."""
    if not (os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)):
        return False
    if version == 1:
        return (folder / "cpu.cfs_quota_us").exists()
    return "cpu" in (folder / "cgroup.subtree_control").read_text("ascii").split()


def _own_groups(mounts: str, own: str) -> Iterator[tuple[int, Path, Path]]:
    """Version, mount point and own group of each hierarchy that may have a cpu controller."""
    groups = {names: path for _, names, path in (line.split(":", 2) for line in own.splitlines())}
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        within, point = left.split()[3:5]
        kind, _, options = right.split()[:3]
        if kind == "cgroup" and "cpu" in options.split(","):
            version, path = 1, next((path for names, path in groups.items() if "cpu" in names.split(",")), "")
        elif kind == "cgroup2":
            version, path = 2, groups.get("", "")
        else:
            continue
        below = path.removeprefix(within.rstrip("/")).strip("/") if path.startswith(within) else ""
        folder = Path(point) / below
        # A container may see the path of another hierarchy: then its group is the mounted one.
        yield version, Path(point), folder if ".." not in folder.parts and folder.is_dir() else Path(point)


_ENTER = Path(enter.__file__).read_text("utf-8")
# A program has its streams, a listening socket, what its libraries open … the largest fs.nr_open that kernels take.
_OPEN_FILES = (16, 2**30)
# The kernel's shortest quota is 1 ms (kernel/sched/core.c, min_cfs_quota_period), the period here 100 ms.
_CPU_QUOTA = (0.01, 1024.0)
_CAP_SYS_RESOURCE = 24  # linux/capability.h


@dataclass(frozen=True)
class Limits:
    """Limits of a host's commands; a host without limits has those of this process.

    Examples
    --------
    >>> Limits(cpu_quota=0)
    Traceback (most recent call last):
    loadcurve.errors.ValueRuleError: cpu_quota must be a number of 0.01 to 1024, got 0
    """

    open_files: int | None = None  # Of each process: `ulimit -n`, soft and hard, 16–2³⁰
    # CPU time of all commands of the host together, in processors, 0.01–1024.  It is granted per 100 ms: once it is
    # used up, commands wait for the next period, so a response may take 100 ms longer than on a slower processor.
    cpu_quota: float | None = None

    def __post_init__(self) -> None:
        files, quota = self.open_files, self.cpu_quota
        (fewest, most), (low, high) = _OPEN_FILES, _CPU_QUOTA
        if files is not None and (isinstance(files, bool) or not isinstance(files, int) or not fewest <= files <= most):
            raise ValueRuleError("open_files", f"a whole number of {fewest} to {most}", files)
        if quota is not None and (
            isinstance(quota, bool) or not isinstance(quota, int | float) or not low <= quota <= high
        ):
            raise ValueRuleError("cpu_quota", f"a number of {low:g} to {high:g}", quota)


@dataclass(frozen=True)
class Prefix:
    """The prefix that applies limits to a command, before the host's own prefix.

    ``ip netns exec`` mounts another ``/sys``, in which there are no control groups: they are entered before it.  So
    ``replace(host, prefix=(*prefix.argv, *host.prefix))`` is the host for servers and generators, and `host` remains
    the one for monitors.
    """

    argv: tuple[str, ...] = ()  # Before the command, run in the run's folder; empty where there are no limits
    # Name of each file in the run's folder → its text, written before the start.
    files: Mapping[str, str] = field(default_factory=dict)
    group: str = ""  # Path of the control group; empty where there is none


def why_not(limits: Limits) -> str:
    """Return in one line why this machine cannot apply the limits; empty if it can."""
    if limits.open_files is not None:
        if which("prlimit") is None:
            return "prlimit is not installed (apt-get install util-linux)"
        allowed = int(Path("/proc/sys/fs/nr_open").read_text("ascii"))
        if not _may_raise():
            allowed = min(allowed, resource.getrlimit(resource.RLIMIT_NOFILE)[1])  # never infinite: nr_open bounds it
        if allowed < limits.open_files:
            return f"no process may have {limits.open_files} open files here, but {allowed}"
    if limits.cpu_quota is not None and mounted_controller() is None:
        return NONE
    return ""


@contextlib.contextmanager
def limited(limits: Limits, ledger: Ledger | None, name: str, python: str = sys.executable) -> Iterator[Prefix]:
    """Limit the commands of a host for as long as the context lasts; at its end kill all processes in the group.

    The file that it needs is ``NAME.enter.py``; `name` is a letter, then up to 31 letters, digits and ``-``.  Yields
    the prefix before the host's own.  Raises LabError when this machine cannot apply the limits, see `why_not`.
    """
    check_name("stem", name)
    if reason := why_not(limits):
        raise LabError(reason)
    files = () if limits.open_files is None else _open_files_argv(limits.open_files)
    if limits.cpu_quota is None:
        yield Prefix(files)
        return
    controller = mounted_controller()
    if controller is None or ledger is None:
        raise LabError(NONE)
    group = Resource("cgroup", f"{controller.folder}/{ledger.tag}-{name}")
    settings = controller.settings(limits.cpu_quota)
    ledger.record(group)
    try:
        try:
            Path(group.name).mkdir()
            enter.settle(group.name, list(settings))
        except OSError as error:
            raise LabError(f"no quota of {limits.cpu_quota:g} processors here: {error}") from None
        argv = (python, "-I", "-S", f"{name}.enter.py", group.name, *settings, "--", *files)
        yield Prefix(argv, {f"{name}.enter.py": _ENTER}, group.name)
    finally:
        ledger.remove(group)


def throttling(prefix: Prefix) -> dict[str, float]:
    """Return how far the quota has limited the commands, for `run.json`; empty without a quota.

    ``periods``: periods in which a command was runnable; ``throttled``: those in which the quota was used up;
    ``throttled_s``: time for which commands were throttled, summed over processors, in s.
    """
    if not prefix.group:
        return {}
    counted = dict(line.split() for line in Path(prefix.group, "cpu.stat").read_text("ascii").splitlines())
    # Version 1 counts in ns, version 2 in µs (kernel/sched/core.c, cpu_cfs_stat_show and cpu_extra_stat_show).
    name, per_s = ("throttled_time", 1e9) if "throttled_time" in counted else ("throttled_usec", 1e6)
    return {
        "periods": int(counted["nr_periods"]),
        "throttled": int(counted["nr_throttled"]),
        "throttled_s": int(counted[name]) / per_s,
    }


def _open_files_argv(count: int) -> tuple[str, ...]:
    """Set the limit, and drop the capability to raise it: haproxy and mariadbd raise their own limit if they can."""
    kept = ("setpriv", "--bounding-set=-sys_resource", "--inh-caps=-sys_resource") if _may_raise() else ()
    return ("prlimit", f"--nofile={count}:{count}", *kept)


def _may_raise() -> bool:
    """Whether this process may raise its hard limits; root in a container often may not."""
    lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
    held = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
    return bool(held >> _CAP_SYS_RESOURCE & 1)
