"""Run the jobs of a batch that are not complete, here or on a Dask cluster, each in a kernel of its own."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from loadcurve.batch import execution
from loadcurve.batch.grid import Job
from loadcurve.batch.here import Finished, run_here
from loadcurve.batch.notebook import (
    files_read,
    finish,
    keep_partial,
    partial_of,
    run_notebook,
    work_folder,
)
from loadcurve.batch.outcome import Outcome, outcome_of
from loadcurve.batch.resume import files_state, stamp_of, why_not_complete
from loadcurve.files import paths
from loadcurve.files.atomic import alone
from loadcurve.files.remote import local_path
from loadcurve.runtime.signals import deferred
from loadcurve.runtime.workers import processors

Report = Callable[[str], object]
Place = Callable[[], contextlib.AbstractContextManager[Path]]


def run_batch(
    jobs: Sequence[Job],
    folder: Path | str,
    *,
    at_once: int = 0,
    scheduler: str = "",
    report: Report = lambda line: None,
) -> list[Outcome]:
    """Run jobs whose output is missing or stale; write `index.html` and `values.parquet` about all of them.

    A failed notebook does not stop the others.  SIGINT, SIGTERM and SIGHUP end all kernels; the next call with the same
    jobs runs what is missing.

    Parameters
    ----------
    jobs : sequence of Job
        From `jobs_of`.
    folder : pathlib.Path or str
        Folder for the outputs, or its URL (`loadcurve.files.remote`); it is created.
    at_once : int
        Number of notebooks that run at the same time; 0 for the number of processors.
    scheduler : str
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``; ``local`` for a Dask cluster on this machine;
        empty for threads of this process.
    report : callable
        Called with a line about each job.

    Returns
    -------
    list of Outcome
        In the order of the jobs.
    """
    run = partial(_run_batch, jobs, at_once=at_once or processors(), scheduler=scheduler, report=report)
    if (local := local_path(folder)) is not None:
        local.mkdir(parents=True, exist_ok=True)
        with alone(f"batch {paths.shown(local)}", report), deferred():
            return run(local.absolute(), paths.shown, lambda output: None)
    from loadcurve.batch.index import INDEX, VALUES
    from loadcurve.batch.mirror import mirrored

    url = str(folder).rstrip("/")
    with alone(f"batch {url}", report), deferred(), mirrored(url, [job.name for job in jobs]) as mirror:
        found = run(mirror.folder, mirror.shown, mirror.send_output)
        mirror.send([mirror.folder / VALUES, mirror.folder / INDEX])
    return found


def _run_batch(
    jobs: Sequence[Job],
    folder: Path,
    shown: Callable[[Path], str],
    sent: Callable[[Path], object],
    *,
    at_once: int,
    scheduler: str,
    report: Report,
) -> list[Outcome]:
    """Run jobs in a local folder; `shown` names a file in messages, `sent` is called when an output is in place."""
    from loadcurve.batch.index import write_index  # imports pandas; `run_alone` starts without

    stamps = {job.name: stamp_of(job) for job in jobs}
    outcomes: dict[str, Outcome] = {}
    for job in jobs:
        why = why_not_complete(_output(folder, job), stamps[job.name])
        if not why:
            outcomes[job.name] = Outcome(job, "kept")
        elif why != "missing":
            report(f"stale: {job.name}: {why}")
    if outcomes:
        report(f"{len(outcomes)} of {len(jobs)} outputs are complete")
    pending = [job for job in jobs if job.name not in outcomes]
    places = {job.name: partial(_place, _output(folder, job), stamps[job.name], sent) for job in pending}
    for job, seconds, error in _run(pending, places, at_once, scheduler):
        outcomes[job.name] = outcome_of(job, error, shown)
        took = "" if error else f" in {seconds:.0f} s"
        report(f"[{len(outcomes)}/{len(jobs)}] {outcomes[job.name]}{took}")
    found = [outcomes[job.name] for job in jobs]
    write_index(folder, found)
    return found


def run_alone(
    notebook: Path,
    output: Path,
    parameters: Mapping[str, object],
    *,
    publish: bool = False,
    report: Report = lambda line: None,
) -> Path:
    """Call `run_notebook` in a thread; SIGINT, SIGTERM and SIGHUP end its kernel.

    Raises
    ------
    LoadcurveError
        As `run_notebook`.
    """

    def make(job: Job, kernels: execution.Kernels) -> None:
        run_notebook(notebook, output, parameters, publish=publish, report=report, kernels=kernels)

    with deferred():
        for _, _, error in run_here([Job(notebook)], 1, make):
            if error is not None:
                raise error
    return output


def _output(folder: Path, job: Job) -> Path:
    return folder / f"{job.name}.ipynb"


def _run(pending: Sequence[Job], places: Mapping[str, Place], at_once: int, scheduler: str) -> Iterator[Finished]:
    """Yield each job when it has finished; `places` are contexts with the folder in which its files are written."""
    if scheduler and pending:
        from loadcurve.batch.cluster import run_on_cluster

        return run_on_cluster(pending, places, at_once, scheduler)

    def make(job: Job, kernels: execution.Kernels) -> None:
        with places[job.name]() as work:
            folder = job.notebook.absolute().parent
            execution.execute(job.notebook, work, f"{job.name}.ipynb", job.parameters, folder, kernels)

    return run_here(pending, at_once, make)


@contextlib.contextmanager
def _place(output: Path, stamp: Mapping[str, Any], sent: Callable[[Path], object]) -> Iterator[Path]:
    """Yield a folder for the files of a job; at the end they are moved to their place, with a stamp."""
    with work_folder(output) as work:
        try:
            yield work
        except execution.NotebookError as error:
            kept = keep_partial(error, work / output.name, partial_of(output))
            sent(output)
            raise kept from None
        read, figures = files_read(work), sorted(path.name for path in (work / "figures").iterdir())
        finish(output, work, {**stamp, "read": read, "state": files_state(read), "figures": figures})
        partial_of(output).unlink(missing_ok=True)
        sent(output)
