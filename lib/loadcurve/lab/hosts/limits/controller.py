"""Find where on this machine a control group can limit CPU time, from /proc and the mounted hierarchies."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Where systemd and all containers mount them, and where the ledger may remove one.
CGROUPS = Path("/sys/fs/cgroup")
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
