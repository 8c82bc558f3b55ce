"""A real Dask scheduler with two workers, for tests that kill one of them."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kernel import HANG_S


def wait(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + HANG_S
    while not condition():
        assert time.monotonic() < end, "hangs"
        time.sleep(0.02)


@contextlib.contextmanager
def dask_cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Yield the address of a scheduler, and its two workers, each with one thread; nobody restarts a killed worker."""
    started = []

    def start(*argv: str) -> subprocess.Popen[bytes]:
        started.append(
            subprocess.Popen([sys.executable, "-m", "distributed.cli." + argv[0], *argv[1:]], cwd=folder, **quiet)
        )
        return started[-1]

    with (folder / "dask.log").open("w") as log:
        quiet = {"stdout": log, "stderr": log}
        file = folder / "scheduler.json"
        start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        wait(file.exists)
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder)]
        workers = [start("dask_worker", "--scheduler-file", str(file), *options) for _ in range(2)]
        wait(lambda: "tcp://" in file.read_text())
        try:
            yield json.loads(file.read_text())["address"], workers
        finally:
            for process in started:
                process.kill()
                process.wait()
