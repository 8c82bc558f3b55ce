"""Time, processor time and memory of a command with all processes that it starts."""

import os
import resource
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK_S = 0.05


@dataclass(frozen=True)
class Cost:
    """What a command needed; peak memory in bytes of itself, of its largest other process, and of all together."""

    wall_s: float
    cpu_s: float
    own_bytes: int
    largest_bytes: int
    together_bytes: int


def cost(argv: Sequence[str]) -> Cost:
    """Run a command, whose output is discarded and whose exit code does not matter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peaks: dict[int, int] = {}
    together = 0
    ended = threading.Event()

    def look() -> None:
        nonlocal together
        while not ended.wait(_LOOK_S):
            now = {pid: found for pid in _tree(process.pid) if (found := memory(pid))}
            together = max(together, sum(held for held, _ in now.values()))
            peaks.update({pid: peak for pid, (_, peak) in now.items()})

    looking = threading.Thread(target=look)
    looking.start()
    process.wait()
    took = time.perf_counter() - begun
    ended.set()
    looking.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    others = [peak for pid, peak in peaks.items() if pid != process.pid]
    return Cost(took, cpu_s, peaks.get(process.pid, 0), max(others, default=0), together)


def _tree(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [other for child in task.read_text().split() for other in _tree(int(child))]
        except OSError:  # it has ended
            continue
    return found


def memory(pid: int) -> tuple[int, int] | None:
    """Memory that a process holds, and the most that it held, in bytes; pages that processes share count in each."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    found = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return (found["VmRSS"], found["VmHWM"]) if len(found) == 2 else None


def machine() -> str:
    """Processor of this machine, as Linux names it."""
    lines = Path("/proc/cpuinfo").read_text().split("\n")
    name = next((line.split(":")[1].strip() for line in lines if "model name" in line), "unknown processor")
    return f"{name}, {len(os.sched_getaffinity(0))} processors"
