"""Detect that the wall clock was set during a run, by comparing it with the monotonic clock."""

import time

# NTP slews a clock by at most 500 ppm (RFC 5905, 11.3); a larger difference is a step.
_STEP_S, _SLEW = 0.05, 0.0005
_READINGS = 5


def both_clocks() -> tuple[float, float]:
    """Return wall clock and monotonic clock of this machine now, in s.

    The function returns the fastest of several readings, because a process that is preempted between the two clocks
    reads them at different times.
    """
    readings = [(time.monotonic(), time.time(), time.monotonic()) for _ in range(_READINGS)]
    before, wall, after = min(readings, key=lambda each: each[2] - each[0])
    return wall, (before + after) / 2


def clock_step(before: tuple[float, float], after: tuple[float, float], host: str = "") -> str:
    """Return by how much a wall clock was set between two readings; empty if it was not.

    A reading has wall clock and monotonic clock of one machine, in s; `host` names the machine; it is empty for this
    one.

    Examples
    --------
    >>> clock_step((1000.0, 50.0), (1012.0, 55.0), "S1")
    'the clock of S1 was set by +7.000 s'
    """
    lasted_s = after[1] - before[1]
    step_s = after[0] - before[0] - lasted_s
    whose = f"the clock of {host}" if host else "the clock"
    return "" if abs(step_s) <= _STEP_S + _SLEW * lasted_s else f"{whose} was set by {step_s:+.3f} s"
