"""Wait until other processes leave the processors, and say which runs they disturbed."""

import os
from typing import Any

from loadcurve.errors import LabError
from loadcurve.lab.hosts import background
from loadcurve.runtime.signals import pause
from loadcurve.study import BUSY_RATIO, background_ratios

_SAMPLE_S = 2.0
_SAMPLES = 10
_OF_RUN = 0.75  # of BUSY_RATIO: the audit takes the load alone, where the share is higher than over the whole run


def disturbance(recorded: dict[str, dict[str, Any]]) -> str:
    """Return which share of the processors others took, where it exceeds three quarters of `BUSY_RATIO`; else empty.

    Examples
    --------
    >>> disturbance({"local": {"cpus": [0, 1], "seconds": 10.0, "other_cpu_s": 2.0, "steal_s": 0.0}})
    'other processes took 10.0% of the processors'
    """
    for other, steal in background_ratios(recorded).values():
        for ratio, who in ((other, "other processes"), (steal, "the hypervisor")):
            if ratio > _OF_RUN * BUSY_RATIO:
                return f"{who} took {ratio:.1%} of the processors"
    return ""


def wait_until_quiet() -> None:
    """Return once others use at most `BUSY_RATIO` of the processors for 2 s.

    Raises LabError when they use more in each of ten such samples.
    """
    for _ in range(_SAMPLES):
        before = _sample()
        pause(_SAMPLE_S)
        found = disturbance({"local": background.between(before, _sample(), os.sched_getaffinity(0))})
        if not found:
            return
    raise LabError(
        f"{found} in each of {_SAMPLES} samples of {_SAMPLE_S:g} s: stop them (`top` names them), or launch with "
        "--busy, which marks the runs"
    )


def _sample() -> dict[str, Any]:
    found: dict[str, Any] = background.sample("/nonexistent", background.ancestors(os.getpid()))
    return found
