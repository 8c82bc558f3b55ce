"""Warn about runs in which other processes or the hypervisor used the processors of the run."""

import math
from collections.abc import Sequence
from typing import Any

from loadcurve.study import BUSY_RATIO, background_ratios


def warnings_of_run(recorded: dict[str, dict[str, Any]]) -> list[str]:
    """Return a warning for each machine on which other processes or steal used more than `BUSY_RATIO` of the CPUs."""
    found = []
    for machine, (other, steal) in background_ratios(recorded).items():
        on = "" if machine == "local" else f" of {machine}"
        if other > BUSY_RATIO:
            found.append(
                f"processes outside the run took {other:.1%} of the run's processors{on}: stop them and repeat the run"
            )
        if steal > BUSY_RATIO:
            found.append(
                f"the hypervisor took {steal:.1%} of the run's processors{on} (steal): repeat the run, or use another "
                "machine"
            )
    return found


def warning_of_runs(ratios: Sequence[tuple[float, float]]) -> str:
    """Return a warning with the number of runs in which other processes or steal used too much CPU; empty for none.

    `ratios` are, for each run, the shares of its processors used by other processes and by the hypervisor; NaN if
    unknown.

    Examples
    --------
    >>> warning_of_runs([(0.001, 0.0), (0.074, 0.0), (float("nan"), 0.031)])
    'others took more than 2% of the processors in 2 of 3 runs (other processes up to 7.4%, steal up to 3.1%)'
    """
    busy = [pair for pair in ratios if max(map(_known, pair)) > BUSY_RATIO]
    if not busy:
        return ""
    other, steal = (max(_known(pair[i]) for pair in busy) for i in (0, 1))
    return (
        f"others took more than {BUSY_RATIO:.0%} of the processors in {len(busy)} of {len(ratios)} runs "
        f"(other processes up to {other:.1%}, steal up to {steal:.1%})"
    )


def _known(ratio: float) -> float:
    return 0.0 if math.isnan(ratio) else ratio
