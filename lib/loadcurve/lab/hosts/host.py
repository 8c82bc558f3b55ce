"""A host, the names that may begin its files, and its clock."""

import re
import time
from dataclasses import dataclass

from loadcurve.errors import ValueRuleError


def pinned(cpus: tuple[int, ...]) -> tuple[str, ...]:
    """Return the prefix of a command that runs on some processors; empty for all."""
    return ("taskset", "-c", ",".join(map(str, cpus))) if cpus else ()


@dataclass(frozen=True)
class Host:
    """A host: its name, its address, and the prefix of every command that runs on it.

    Examples
    --------
    >>> Host("S1", "10.99.0.2", ("ip", "netns", "exec", "lc1-S1"), (0,)).argv(("nginx", "-v"))
    ('ip', 'netns', 'exec', 'lc1-S1', 'taskset', '-c', '0', 'nginx', '-v')
    """

    name: str  # As the study calls it: `local`, or a role with a number such as `C1`, `LB` and `S2`
    address: str  # Where the other hosts reach it
    prefix: tuple[str, ...] = ()  # Before every command, such as `ip netns exec NAME`
    cpus: tuple[int, ...] = ()  # Processors to which commands are pinned; empty for all

    def argv(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command as it is run from here."""
        return (*self.prefix, *pinned(self.cpus), *command)


LOCAL = Host("local", "127.0.0.1")
"""This machine, by its loopback address."""


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,31}")


def check_name(field: str, value: str) -> str:
    """Return the name that the files of a service, a generator or a limit begin with."""
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise ValueRuleError(field, "a letter, then up to 31 letters, digits and '-'", value)


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
