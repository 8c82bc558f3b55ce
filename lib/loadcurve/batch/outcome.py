"""What became of each job of a batch."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loadcurve.batch.execution import NotebookError
from loadcurve.batch.grid import Job
from loadcurve.errors import LoadcurveError, in_one_line, printable


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
