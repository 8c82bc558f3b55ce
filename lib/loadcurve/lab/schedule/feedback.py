"""What a launch learns from the runs that ended: their measurements, and whether they count."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from loadcurve.study import Run


@dataclass(frozen=True)
class Measured:
    """Measurements of a finished run.

    Attributes
    ----------
    throughput_rps, latency_mean_s, received_bytes_per_s : float
        Totals over all generators (the latency: mean over all responses); NaN if unknown.
    failed_ratio : float
        Share of failed requests.
    latency_s : float
        Response time at the objective's quantile, in s; NaN if the tool does not report it or there was no response.
    frame_bytes_per_s : float
        Bytes of the frames that carry the responses, as a link with a rate counts them; NaN if unknown.
    cpu_other_ratio, cpu_steal_ratio : float
        Share of the run's processors used by processes outside the run, and by the hypervisor; NaN if unknown.

    Examples
    --------
    >>> measured = Measured(1000.0, 0.008, 2e6, 0.0, latency_s=0.02, cpu_other_ratio=0.01, cpu_steal_ratio=0.0)
    >>> measured.background
    (0.01, 0.0)
    """

    throughput_rps: float
    latency_mean_s: float
    received_bytes_per_s: float
    failed_ratio: float
    latency_s: float
    frame_bytes_per_s: float = math.nan
    cpu_other_ratio: float = math.nan
    cpu_steal_ratio: float = math.nan

    @property
    def background(self) -> tuple[float, float]:
        """Shares of the processors used by other processes and by the hypervisor."""
        return self.cpu_other_ratio, self.cpu_steal_ratio


@dataclass(frozen=True)
class Feedback:
    """Functions about the output of runs; passed by the caller, as the laboratory must not import ingest or stats.

    Attributes
    ----------
    measure : callable
        Folder of a run, and a quantile → measurements of the run, or None if it did not finish.
    rule : callable
        Stopping rule, see `NarrowMean`.
    report : callable
        CallableAudit with each sentence for the user: what a run measured, and the result of a search or a stop.
    judge : callable
        Record of a run without failed tools, its folder, and whether the study overloads the server on purpose → the
        reason why the run still counts as failed (empty if it does not), and warnings.
    describe : callable
        Record of a run that ended, and its folder → what it measured, in words with units.

    Examples
    --------
    >>> feedback = Feedback(measure=lambda folder, quantile: None, rule=lambda **known: None, report=print)
    >>> feedback.report("the search ends at 64 connections")
    the search ends at 64 connections
    """

    measure: Callable[[Path, float], Measured | None]
    rule: Callable[..., pd.DataFrame]
    report: Callable[[str], None]
    judge: Callable[[Run, Path, bool], tuple[str, tuple[str, ...]]] = lambda run, folder, meant: ("", ())
    describe: Callable[[Run, Path], str] = lambda run, folder: run.status
