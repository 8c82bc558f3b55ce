"""Execute notebooks by papermill, each in a kernel of its own, in threads of this process; what became of each job.

A failed notebook is kept as far as it was executed.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Literal

from jupyter_client.kernelspec import NoSuchKernel
from jupyter_client.manager import AsyncKernelManager
from traitlets.config import Config

from loadcurve.batch.grid import Job
from loadcurve.batch.libraries import DeadKernelError, PapermillExecutionError, nbformat, pm
from loadcurve.errors import LoadcurveError, in_one_line, named_as, printable
from loadcurve.files.atomic import temporary_folder
from loadcurve.notebooks.source import fill_captions
from loadcurve.runtime.jupyter import NOTEBOOK_VARIABLE
from loadcurve.runtime.signals import pause

START_S = 1800
"""Time limit for the start of a kernel; 60 s, as papermill has it, are too short for a busy machine."""

_PRINTED = 5  # last lines of a failed cell's output that a message shows


class NotebookError(LoadcurveError):
    """A cell of a notebook raised an error, or its kernel ended: what happened, in one line."""

    def __init__(self, line: str, cell: str = "") -> None:
        super().__init__(line)
        self.cell = cell  # Its source, and the last lines that it printed
        self.partial: Path | None = None  # The notebook as far as it was executed, where it was kept


class Interrupted(Exception):
    """The kernel was ended together with all others of its batch."""


class Kernels:
    """The kernels that one process runs for a batch, so that all can be ended together.

    Each kernel leads a process group; whatever its notebook started is ended with it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: set[Any] = set()  # subprocess.Popen
        self.ended = False  # Whether the kernels have been ended

    def add(self, kernel: Any) -> None:
        """Add a kernel; it is ended at once if the others have been ended."""
        with self._lock:
            self._started.add(kernel)
            if self.ended:
                _kill(kernel)

    def remove(self, kernel: Any) -> None:
        """Remove a kernel that has ended."""
        with self._lock:
            self._started.discard(kernel)

    def end(self) -> None:
        """End all kernels, and each that is added later."""
        with self._lock:
            self.ended = True
            for kernel in self._started:
                _kill(kernel)


def _kill(kernel: Any) -> None:
    if kernel.poll() is None:  # otherwise its number may belong to another process by now
        with contextlib.suppress(ProcessLookupError):
            os.killpg(kernel.pid, signal.SIGKILL)


def execute(notebook: Path, work: Path, name: str, given: Mapping[str, object], folder: Path, kernels: Kernels) -> None:
    """Execute a notebook; write the executed copy `name`, the folder `figures` and the list `reads` to a folder.

    Only the kernel gets further environment variables and a working folder, so that threads of one process can run
    notebooks side by side: papermill's `cwd` changes the working folder of this process.
    """
    ledger, figures, draft = work / "reads", work / "figures", work / name
    ledger.touch()
    figures.mkdir()
    variables = {"LOADCURVE_READS": str(ledger), "LOADCURVE_PUBLISH": str(figures)}
    variables[NOTEBOOK_VARIABLE] = str(notebook.absolute())
    # Each kernel uses Unix sockets in a separate folder: no port is opened, and concurrent kernels do not interfere.
    with temporary_folder() as sockets, named_as(draft), _one_line_errors(draft, kernels):
        pm.execute_notebook(
            notebook,
            draft,
            dict(given),
            progress_bar=False,
            config=Config(
                {"KernelManager": {"transport": "ipc", "ip": f"{sockets}/k", "connection_file": f"{sockets}/c"}}
            ),
            kernel_manager_class=_kernel_manager(variables, folder, kernels),
            log_output=False,
            start_timeout=START_S,
        )
    fill_captions(draft, figures)


def _kernel_manager(variables: Mapping[str, str], folder: Path, kernels: Kernels) -> type[AsyncKernelManager]:
    """Return the class of a kernel that has further environment variables, works in a folder, and is one of several."""

    class Kernel(AsyncKernelManager):
        # jupyter_client declares these methods of the synchronous parent class.
        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            # jupyter_client interrupts each kernel before it ends it, and an idle kernel logs that as an error.
            options["extra_arguments"] = [*options.get("extra_arguments", ()), "--log-level=CRITICAL"]
            await super().start_kernel(**options, env={**os.environ, **variables}, cwd=str(folder))
            self._own = getattr(self.provisioner, "process", None)
            if self._own is not None:
                kernels.add(self._own)

        async def cleanup_resources(self, restart: bool = False) -> None:  # type: ignore[override]
            await super().cleanup_resources(restart)
            kernels.remove(self._own)

    return Kernel


@contextlib.contextmanager
def _one_line_errors(draft: Path, kernels: Kernels) -> Iterator[None]:
    """Raise `NotebookError` for what papermill raises, or `Interrupted` where the kernels were ended."""
    try:
        yield
    except PapermillExecutionError as error:
        line = f"cell {error.exec_count}: {error.ename}: {error.evalue}"
        raise NotebookError(" ".join(line.split()), _last_cell(draft)) from None
    except DeadKernelError:
        if kernels.ended:
            raise Interrupted from None
        reason = "its kernel was ended; the system may have run out of memory"
        raise NotebookError(reason, _last_cell(draft)) from None
    except (NoSuchKernel, RuntimeError) as error:  # no such kernel is installed, or it does not start
        if kernels.ended:
            raise Interrupted from None
        raise NotebookError(" ".join(f"{type(error).__name__}: {error}".split())) from None


def _last_cell(draft: Path) -> str:
    """Return the source of the cell that failed or was running, and the last lines that it printed."""
    if not draft.is_file():
        return ""
    cells = [cell for cell in nbformat.read(draft, as_version=4).cells if cell.cell_type == "code"]
    failed = [cell for cell in cells if any(output.output_type == "error" for output in cell.outputs)]
    started = [cell for cell in cells if cell.metadata.get("papermill", {}).get("start_time")]
    if not failed and not started:
        return ""
    last = (failed or started[-1:])[0]
    printed = "".join(output.text for output in last.outputs if output.output_type == "stream").splitlines()
    return "\n".join([*last.source.splitlines(), *printed[-_PRINTED:]])


Finished = tuple[Job, float, Exception | None]
"""A job, how many seconds it took, and why it failed."""

OpenFolder = Callable[[], contextlib.AbstractContextManager[Path]]
"""Opens the folder in which the files of a job are written."""

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


@dataclass(frozen=True)
class Outcome:
    """What became of a job."""

    job: Job
    # Whether this batch made the output, it was complete before, or its notebook failed.
    state: Literal["made", "kept", "failed"]
    reason: str = ""  # Why it failed, in one line
    cell: str = ""  # The cell that failed, and the last lines that it printed
    partial: str = ""  # Path or URL of the notebook as far as it was executed; empty where it was not kept

    def __str__(self) -> str:
        if self.state != "failed":
            return f"{self.state}: {self.job.name}"
        return f"failed: {self.job.name}: {failure_text(self.reason, self.cell, self.partial)}"


def failure_text(reason: str, cell: str, partial: str) -> str:
    """Return why a notebook failed, the cell that failed, and the path of what was executed, in several lines."""
    lines = [printable(reason), *(f"    {printable(line)}" for line in cell.splitlines())]
    if partial:
        lines.append(f"  partial notebook: {printable(partial)}")
    return "\n".join(lines)


def outcome_of(job: Job, error: Exception | None, shown: Callable[[Path], str]) -> Outcome:
    """Return what became of a job that ran, given the error that ended it; `shown` returns the name of a file."""
    if error is None:
        return Outcome(job, "made")
    if isinstance(error, NotebookError):
        return Outcome(job, "failed", str(error), error.cell, shown(error.partial) if error.partial else "")
    reason = str(error) if isinstance(error, LoadcurveError) else f"{type(error).__name__}: {error}"
    reason = in_one_line(error) if isinstance(error, OSError) else reason
    return Outcome(job, "failed", " ".join(reason.split()))
