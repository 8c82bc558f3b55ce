"""What a launch shows while it lasts: a bar with the current run, and a line for each run that ended."""

from pathlib import Path
from types import TracebackType

from tqdm import tqdm  # a line of text: `tqdm.auto` warns in every notebook that has no ipywidgets

from loadcurve.lab.schedule.feedback import Feedback
from loadcurve.runtime.jupyter import progress_stream
from loadcurve.study import Run

_FORM = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"


class LaunchProgress:
    """Number of runs so far, with the time left, on a terminal or in a notebook; elsewhere only a line for each run."""

    def __init__(self, name: str, runs: int, adaptive: bool, feedback: Feedback | None) -> None:
        self._feedback, self._longest = feedback, 0
        self._most, self._of = runs, "of at most" if adaptive else "of"
        stream = progress_stream()
        self._bar = tqdm(total=runs, desc=name, unit="run", bar_format=_FORM, file=stream, disable=stream is None)
        self._ended = 0

    def __enter__(self) -> "LaunchProgress":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        if kind is None:
            self._bar.total = self._ended
        self._bar.set_postfix_str("")
        self._bar.close()

    def begin(self, run_id: str) -> None:
        """Show which run has begun."""
        self._bar.set_postfix_str(run_id)

    def end(self, run: Run, folder: Path) -> None:
        """Count a run that ended, and report what it measured."""
        self._ended += 1
        if self._feedback is not None:
            self._longest = max(self._longest, len(run.run_id))
            number = f"run {self._ended:{len(str(self._most))}} {self._of} {self._most}"
            self._feedback.report(f"{number}  {run.run_id:{self._longest}}  {self._feedback.describe(run, folder)}")
        self._bar.update()
