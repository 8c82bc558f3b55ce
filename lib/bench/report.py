"""How a figure is measured and printed, beside what it was asked to be."""

import resource
import time
from collections.abc import Callable


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Least time of some repeats: what else the machine does can only add to it."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begun)
        del result
    return min(times)


def peak_bytes() -> int:
    """Most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def say(what: str, figure: str, asked: str, fine: bool) -> None:
    """One line of the report."""
    print(f"{what:<44} {figure:<52} asked {asked:<22} {'yes' if fine else 'NO'}", flush=True)
