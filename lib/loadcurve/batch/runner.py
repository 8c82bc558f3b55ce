"""Run one notebook, or the jobs of a batch that are not complete, here or on a Dask cluster.

Outputs are put into place when they are complete.  What is complete is read from the remote folder.  An output is sent
as it is moved into place: its old notebook is removed, then come its figures, and the notebook last, so an output is
complete when its notebook is there.
"""

import contextlib
import hashlib
import io
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from loadcurve.batch import execution, grid
from loadcurve.batch.execution import Finished, OpenFolder, Outcome, outcome_of, run_here
from loadcurve.batch.grid import Job
from loadcurve.errors import LoadcurveError, named_as
from loadcurve.files import paths
from loadcurve.files.atomic import (
    alone,
    is_stream,
    real_path,
    replace,
    sha256_of,
    temporary_folder,
    write_sums,
    write_text,
)
from loadcurve.files.paths import local_path
from loadcurve.files.remote import RemoteFolder, files_below
from loadcurve.runtime.cluster import library
from loadcurve.runtime.signals import deferred
from loadcurve.runtime.workers import processors

STAMP = "loadcurve"
"""Key of an executed notebook's metadata that holds what it was made from (`loadcurve.batch.runner`)."""


def run_notebook(
    notebook: Path,
    output: Path,
    parameters: Mapping[str, object] | None = None,
    *,
    publish: bool = False,
    report: Callable[[str], object] = lambda line: None,
    kernels: execution.Kernels | None = None,
) -> Path:
    """Execute `notebook` and write the result to `output`; a lock serialises processes with the same output.

    A published run writes its figures to `build/figures`, and next to `output` the list of files that the notebook read
    (suffix ``.d``) and the SHA-256 of all files that it wrote (suffix ``.sha256``).  Any other run writes its figures
    to a folder next to `output`, with suffix ``.figures``.

    Parameters
    ----------
    publish : bool
        Whether to replace the figures in the handbook; they are replaced only if every cell succeeds.
    report : callable
        Called with one line if another process is writing the same output.
    kernels : Kernels, optional
        To which the kernel is added while it runs.

    Raises
    ------
    LoadcurveError
        Before the kernel starts, for an unknown parameter, one of the wrong type, or one out of its range.
    NotebookError
        With the last line of the traceback, when a cell raises an error; the notebook is kept as far as it was
        executed (`partial_of`).
    """
    values = grid.check_parameters(notebook, parameters or {})
    if publish and not paths.NOTEBOOK_NAME.fullmatch(notebook.stem):
        raise LoadcurveError(f"notebook must be named with lower case letters, digits and _, got {notebook.name!r}")
    if is_stream(output):
        raise LoadcurveError(f"{output}: expected a file, because its figures are written beside it: name an .ipynb")
    output = real_path(output) if output.is_symlink() else output.absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    # The site shows each notebook in the folder of a published one.
    partial = partial_of(paths.build() / "draft" / output.name if publish else output)
    with alone(f"notebook {paths.shown(output)}", report), work_folder(output) as work:
        try:
            execution.execute(
                notebook, work, output.name, values, notebook.absolute().parent, kernels or execution.Kernels()
            )
        except execution.NotebookError as error:
            raise keep_partial(error, work / output.name, partial, f"{notebook}: ") from None
        partial.unlink(missing_ok=True)
        if publish:
            _publish(notebook.stem, output, work)
        else:
            finish(output, work)
    return output


def partial_of(output: Path) -> Path:
    """Return the path of a notebook that failed: ``answer.failed.ipynb`` for ``answer.ipynb``."""
    return output.with_suffix(f".failed{output.suffix}")


def keep_partial(
    error: execution.NotebookError, draft: Path, partial: Path, label: str = ""
) -> execution.NotebookError:
    """Keep a notebook as far as it was executed; return the error with a label and the path of what was kept."""
    labelled = execution.NotebookError(f"{label}{error}", error.cell)
    if draft.is_file():
        partial.parent.mkdir(parents=True, exist_ok=True)
        replace(draft, partial)
        labelled.partial = partial
    return labelled


def finish(output: Path, work: Path, stamp: Mapping[str, object] | None = None) -> None:
    """Move what a run wrote to its place, the notebook last: an output is complete when the notebook is there."""
    draft = work / output.name
    if stamp is not None:
        content = json.loads(draft.read_text("utf-8"))
        content["metadata"][STAMP] = dict(stamp)
        write_text(draft, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    figures = output.with_suffix(".figures")
    if any((work / "figures").iterdir()):
        _swap(work / "figures", figures, work)
    else:
        shutil.rmtree(figures, ignore_errors=True)
    replace(draft, output)


def _publish(name: str, output: Path, work: Path) -> None:
    """Move the files of a run to their final place; the list of sums comes last, so that a killed run is repeated."""
    published, rule = paths.build() / "figures" / name, output.with_suffix(".d")
    depends = dependencies(output, files_read(work))
    _swap(work / "figures", published, work)
    write_text(rule, depends)
    replace(work / output.name, output)
    write_sums(output.with_suffix(".sha256"), [output, rule, *sorted(published.iterdir())])


def files_read(work: Path) -> list[str]:
    """Return the files that the notebook read which was executed in a folder, each once, in order."""
    return sorted({*(work / "reads").read_text("utf-8", "surrogateescape").split("\0")} - {""})


@contextlib.contextmanager
def work_folder(output: Path) -> Iterator[Path]:
    """Yield an empty folder for the files of an unfinished run; files left by a killed run are removed first."""
    work = output.with_name(f".{output.name}.run")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        with named_as(output, work):
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _swap(fresh: Path, published: Path, work: Path) -> None:
    """Replace a published folder by a fresh one with two renames; the path does not exist only between the two."""
    published.parent.mkdir(parents=True, exist_ok=True)
    if published.exists():
        published.replace(work / "old")
    fresh.replace(published)


def dependencies(output: Path, read: Iterable[str]) -> str:
    """Return a make rule, like a compiler's ``.d`` file: `output` depends on the files that a notebook read.

    Each file also gets an empty rule, so that make does not stop when a file has been removed.
    """
    names = sorted(set(read) - {""})
    for name in names:
        if not paths.is_plain(name):
            raise LoadcurveError(f"{name!r} was read, but make cannot hold its name: use letters, digits and _ . + -")
    return f"{paths.shown(output)}: " + " \\\n  ".join(names) + "\n\n" + "".join(f"{name}:\n" for name in names)


def quiet() -> None:
    """Keep the unused debugger of each kernel, and papermill where a kernel ends, from printing what we report."""
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)


def stamp_of(job: Job) -> dict[str, Any]:
    """Return what an output of a job is made from, except for the files that the notebook reads."""
    parameters = json.loads(json.dumps(job.parameters, default=str))
    return {"notebook": sha256_of(job.notebook), "parameters": parameters, "library": library()}


def files_state(read: Sequence[str]) -> str:
    """Return a digest of the names, sizes and times of files."""
    digest = hashlib.sha256()
    for name in read:
        path = paths.build().parent / name
        try:
            state = path.stat()
            digest.update(f"{name}\0{state.st_size}\0{state.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        except OSError:
            digest.update(f"{name}\0missing\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def why_not_complete(output: Path, stamp: Mapping[str, Any]) -> str:
    """Return why an output has to be made: ``missing``, or what changed since it was made; empty if it is complete."""
    made = read_stamp(output)
    if made is None:
        return "missing"
    if made.get("notebook") != stamp["notebook"]:
        return "the notebook changed"
    before, now = made.get("parameters", {}), stamp["parameters"]
    for name in dict.fromkeys((*before, *now)):
        if name not in before or name not in now or before[name] != now[name]:
            was, is_ = (json.dumps(one[name]) if name in one else "the default" for one in (before, now))
            return f"parameter {name} was {was}, and is {is_} now"
    if made.get("library") != stamp["library"]:
        was, is_ = made.get("library", "unknown").split("+")[0], stamp["library"].split("+")[0]
        return f"it was made by loadcurve {was}, this is {is_}" if was != is_ else "the code of loadcurve changed"
    if made.get("state") != files_state(made.get("read", [])):
        return "a file that the notebook read changed"
    figures = output.with_suffix(".figures")
    lost = next((name for name in made.get("figures", []) if not (figures / name).is_file()), "")
    return f"{figures.name}/{lost} is missing" if lost else ""


def read_stamp(output: Path) -> dict[str, Any] | None:
    """Return what an output was made from; None without an output, {} for a file that no batch wrote."""
    try:
        found = json.loads(output.read_text("utf-8"))["metadata"].get(STAMP, {})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Mirror:
    """A local copy of a remote folder."""

    remote: RemoteFolder
    folder: Path

    def shown(self, path: Path) -> str:
        """Return the URL of a file, for messages."""
        return f"{self.remote.url}/{path.name}"

    def send(self, paths: Iterable[Path]) -> None:
        """Send files."""
        self.remote.send(self.folder, [self._name(path) for path in paths])

    def send_output(self, output: Path) -> None:
        """Send an executed notebook and its figures, or the notebook that failed; remove what they replace."""
        partial, figures = partial_of(output), output.with_suffix(".figures")
        if not output.is_file():
            self.send([partial] if partial.is_file() else [])
            return
        sent = [self._name(path) for path in files_below(figures)]
        old = [f"{figures.name}/{name}" for name in RemoteFolder(self.shown(figures)).names()]
        self.remote.remove([output.name])
        self.remote.send(self.folder, sent)
        self.remote.remove([*(name for name in old if name not in sent), partial.name])
        self.remote.send(self.folder, [output.name])

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


@contextlib.contextmanager
def mirrored(url: str, outputs: Iterable[str]) -> Iterator[Mirror]:
    """Yield a temporary copy of those outputs that are in a remote folder."""
    remote = RemoteFolder(url)
    remote.check_writable()
    wanted = {f"{name}.{suffix}" for name in outputs for suffix in ("ipynb", "figures")}
    with temporary_folder() as place:
        folder = place / remote.name
        folder.mkdir()
        remote.fetch([name for name in remote.names() if name.partition("/")[0] in wanted], folder)
        yield Mirror(remote, folder)


Report = Callable[[str], object]


def run_batch(
    jobs: Sequence[Job],
    folder: Path | str,
    *,
    at_once: int = 0,
    scheduler: str = "",
    report: Report = lambda line: None,
) -> list[Outcome]:
    """Run jobs whose output is missing or stale; write `index.html` and `values.parquet` about all, in their order.

    A failed notebook does not stop the others.  SIGINT, SIGTERM and SIGHUP end all kernels; the next call with the same
    jobs runs what is missing.

    Parameters
    ----------
    folder : pathlib.Path or str
        Folder for the outputs, or its URL (`loadcurve.files.remote`); it is created.
    at_once : int
        Number of notebooks that run at the same time; 0 for the number of processors.
    scheduler : str
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``; ``local`` for a Dask cluster on this machine;
        empty for threads of this process.
    report : callable
        Called with a line about each job.
    """
    run = partial(_run_batch, jobs, at_once=at_once or processors(), scheduler=scheduler, report=report)
    if (local := local_path(folder)) is not None:
        local.mkdir(parents=True, exist_ok=True)
        with alone(f"batch {paths.shown(local)}", report), deferred():
            return run(local.absolute(), paths.shown, lambda output: None)
    from loadcurve.batch.index import INDEX, VALUES

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
    """Call `run_notebook` in a thread, with its errors; SIGINT, SIGTERM and SIGHUP end its kernel."""

    def make(job: Job, kernels: execution.Kernels) -> None:
        run_notebook(notebook, output, parameters, publish=publish, report=report, kernels=kernels)

    with deferred():
        for _, _, error in run_here([Job(notebook)], 1, make):
            if error is not None:
                raise error
    return output


def _output(folder: Path, job: Job) -> Path:
    return folder / f"{job.name}.ipynb"


def _run(pending: Sequence[Job], places: Mapping[str, OpenFolder], at_once: int, scheduler: str) -> Iterator[Finished]:
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
