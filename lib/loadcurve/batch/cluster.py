"""Run jobs on a Dask cluster: a notebook travels to a worker, and what it wrote travels back.

Only the process that called moves outputs to their place, so an output is written once, also where a worker was lost
and Dask repeated its job, and workers need no common file system for outputs.  They need this version of loadcurve,
and the data under the same paths.
"""

import contextlib
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from distributed import Future

from loadcurve.batch import execution
from loadcurve.batch.execution import LOOK_S, Finished, OpenFolder
from loadcurve.batch.grid import Job
from loadcurve.files.atomic import temporary_folder
from loadcurve.runtime.cluster import check_library, connected, library
from loadcurve.runtime.signals import pause

Files = dict[str, bytes]
"""Content of files by their path in a folder."""


def run_on_cluster(
    jobs: Sequence[Job], places: Mapping[str, OpenFolder], at_once: int, scheduler: str
) -> Iterator[Finished]:
    """Yield each job when it has finished; where the caller stops, the kernels of all workers are ended."""
    with connected(scheduler, min(at_once, len(jobs))) as client:
        batch = secrets.token_hex(8)
        tasks = {}
        for job in jobs:
            path = job.notebook.absolute()
            sent = batch, library(), job.name, path.read_bytes(), str(path), job.parameters
            tasks[client.submit(_execute, *sent, key=f"{job.name}-{batch}", pure=False)] = job
        try:
            while tasks:
                done = [task for task in tasks if task.done()]
                for task in done:
                    job = tasks.pop(task)
                    yield job, *_received(task, places[job.name])
                    task.release()
                if not done:
                    pause(LOOK_S)
        finally:
            if tasks:
                client.cancel(list(tasks))
                with contextlib.suppress(Exception):  # a worker may be lost: its kernels end with it
                    client.run(_end, batch, wait=True)


def _received(task: "Future[Any]", place: OpenFolder) -> tuple[float, Exception | None]:
    """Write the files of a job to its place; return how many seconds it took, and why it failed."""
    seconds = 0.0
    try:
        seconds, line, cell, files = task.result()
        with place() as work:
            for name, content in files.items():
                (work / name).parent.mkdir(exist_ok=True)
                (work / name).write_bytes(content)
            if line:
                raise execution.NotebookError(line, cell)
            (work / "figures").mkdir(exist_ok=True)
    except Exception as error:
        return seconds, error
    return seconds, None


# --- on a worker ---------------------------------------------------------------------------------------------------


@cache
def _kernels(batch: str) -> execution.Kernels:
    """Return the kernels that this worker runs for a batch."""
    return execution.Kernels()


def _end(batch: str) -> None:
    _kernels(batch).end()


def _execute(
    batch: str, expected: str, name: str, content: bytes, path: str, given: dict[str, object]
) -> tuple[float, str, str, Files]:
    """Execute a notebook; return the seconds it took, why it failed, the cell that failed, and all that it wrote."""
    start = time.monotonic()
    check_library(expected)
    with temporary_folder() as folder:
        notebook, work = folder / Path(path).name, folder / "work"
        notebook.write_bytes(content)
        work.mkdir()
        line = cell = ""
        home = Path(path).parent
        try:
            execution.execute(
                notebook, work, f"{name}.ipynb", given, home if home.is_dir() else folder, _kernels(batch)
            )
        except execution.NotebookError as error:
            line, cell = str(error), error.cell
        files = {str(file.relative_to(work)): file.read_bytes() for file in work.rglob("*") if file.is_file()}
    return time.monotonic() - start, line, cell, files
