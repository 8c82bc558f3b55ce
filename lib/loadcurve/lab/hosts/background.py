"""CPU time that processes outside a run, and the hypervisor (steal), took from it.

Remote hosts run this file by ``python3 -I -S`` (3.9 or newer) without the package, so it imports only the standard
library.  Linux accounts the CPU time of processes exactly, to a hundredth of a second, while ``/proc/stat`` samples
processors; so the time of others is summed over processes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of include/linux/sched.h: works for any process
# Fields of /proc/PID/stat after the name, proc_pid_stat(5).
_PARENT, _SESSION, _FLAGS, _TIMES = 1, 3, 6, slice(11, 15)
# user nice system irq softirq, and steal, of a line of /proc/stat, proc_stat(5); guests are in user and nice.
_BUSY, _STEAL = (1, 2, 3, 6, 7), 8


def sample(folder: str, own: Iterable[int], below: bool = False) -> dict[str, Any]:
    """Return the CPU time used so far by processes and on processors.

    Processes that work in the run's folder belong to the run, with their sessions; so do those of the launcher (`own`),
    and on request (`below`) their descendants.  The result has ``at_s`` (monotonic), ``other_s`` and ``run_s`` (sums
    over processes, with their ended children), ``cpus`` (number → busy and steal, in s).
    """
    processes = dict(filter(None, map(_process, Path("/proc").iterdir())))
    of_run = _of_run(processes, folder, set(own), below)
    total = {True: 0.0, False: 0.0}
    for pid, fields in processes.items():
        if not int(fields[_FLAGS]) & _KERNEL_THREAD:
            total[pid in of_run] += sum(map(int, fields[_TIMES])) * _TICK_S
    lines = Path("/proc/stat").read_text("ascii").splitlines()
    rows = [line.split() for line in lines if line.startswith("cpu") and not line.startswith("cpu ")]
    cpus = {row[0][3:]: [sum(int(row[n]) for n in _BUSY) * _TICK_S, int(row[_STEAL]) * _TICK_S] for row in rows}
    return {"at_s": time.monotonic(), "other_s": total[False], "run_s": total[True], "cpus": cpus}


def between(before: dict[str, Any], after: dict[str, Any], used: Iterable[int] = ()) -> dict[str, Any]:
    """Return the CPU time used between two samples, as ``run.json`` records it for a machine.

    `used` are the processors that the run uses, all if empty.  If the machine has more, others may have run on those:
    then their time is at most the busy time of the used processors minus that of the run.
    """
    cpus = sorted(map(str, used), key=int) or sorted(after["cpus"], key=int)
    busy, steal = (sum(after["cpus"][n][i] - before["cpus"][n][i] for n in cpus) for i in (0, 1))
    other = after["other_s"] - before["other_s"]
    if len(cpus) < len(after["cpus"]):
        other = min(other, busy - (after["run_s"] - before["run_s"]))
    seconds = after["at_s"] - before["at_s"]
    # The time of a process without a waiting parent is lost when it ends, so a sum can even decrease.
    other, steal = (round(min(max(0.0, value), seconds * len(cpus)), 3) for value in (other, steal))
    return {"cpus": list(map(int, cpus)), "seconds": round(seconds, 3), "other_cpu_s": other, "steal_s": steal}


def ancestors(pid: int) -> list[int]:
    """Return a process and its ancestors, such as the sshd processes of a remote command."""
    found: list[int] = []
    while pid and pid not in found:
        found.append(pid)
        process = _process(Path("/proc", str(pid)))
        pid = int(process[1][_PARENT]) if process else 0
    return found


def _process(folder: Path) -> tuple[int, list[str]] | None:
    if not folder.name.isdecimal():
        return None
    try:
        return int(folder.name), (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:  # it has ended
        return None


def _of_run(processes: dict[int, list[str]], folder: str, own: set[int], below: bool) -> set[int]:
    found = {pid for pid in processes if pid in own or _works_in(pid, folder)}
    sessions = {processes[pid][_SESSION] for pid in found - own}
    sessions -= {processes[pid][_SESSION] for pid in own & processes.keys()}
    found |= {pid for pid, fields in processes.items() if fields[_SESSION] in sessions}
    if below:
        found |= {pid for pid in processes if own & set(_above(pid, processes))}
    return found


def _above(pid: int, processes: dict[int, list[str]]) -> list[int]:
    seen: list[int] = []
    while pid in processes and pid not in seen:
        seen.append(pid)
        pid = int(processes[pid][_PARENT])
    return seen


def _works_in(pid: int, folder: str) -> bool:
    try:
        cwd = Path("/proc", str(pid), "cwd").resolve()
        return Path(folder) == cwd or Path(folder) in cwd.parents
    except OSError:  # it has ended, or belongs to somebody else
        return False


if __name__ == "__main__":
    print(json.dumps(sample(sys.argv[1], ancestors(os.getpid()))))
