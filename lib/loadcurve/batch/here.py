"""Run jobs in threads of this process, each with a kernel of its own."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue

from loadcurve.batch.execution import Kernels
from loadcurve.batch.grid import Job
from loadcurve.runtime.signals import pause

Finished = tuple[Job, float, Exception | None]
"""A job, how many seconds it took, and why it failed."""

LOOK_S = 0.05
"""Time between two looks at what has finished; a notebook takes seconds."""

_END_S = 20.0  # for the clean-up after an interrupt; nbclient looks for a dead kernel once in a second


def run_here(jobs: Sequence[Job], at_once: int, make: Callable[[Job, Kernels], None]) -> Iterator[Finished]:
    """Yield each job when it has finished; where the caller stops, all kernels are ended.

    The threads are daemons: the interpreter does not wait for them.
    """
    kernels, waiting, finished = Kernels(), SimpleQueue[Job](), SimpleQueue[Finished]()
    for job in jobs:
        waiting.put(job)

    def work() -> None:
        while not kernels.ended:
            try:
                job = waiting.get_nowait()
            except Empty:
                return
            start, error = time.monotonic(), None
            try:
                make(job, kernels)
            except Exception as raised:
                error = raised
            finished.put((job, time.monotonic() - start, error))

    threads = [threading.Thread(target=work, name="loadcurve-notebook", daemon=True) for _ in jobs[:at_once]]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            while finished.empty():
                pause(LOOK_S)
            yield finished.get()
    finally:
        kernels.end()
        end = time.monotonic() + _END_S
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
