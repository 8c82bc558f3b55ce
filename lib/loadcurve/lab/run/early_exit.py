"""Which generators ended before the time of their load was over, though they ended well."""

from collections.abc import Iterable
from datetime import datetime

from loadcurve.lab.generators import others
from loadcurve.lab.run.record import named
from loadcurve.study import Command

# A twentieth of the time: the tools look at their clocks after each response, and begin a moment after their process.
_LEAST_RATIO = 0.95


def ended_early(generators: Iterable[Command], seconds: float) -> list[str]:
    """Say which generators made their load for less than the time that was asked for.

    Parameters
    ----------
    generators : iterable of Command
        As they ended.
    seconds : float
        How long each was to last, in s; 0 where requests end them.
    """
    found = []
    for command in generators:
        begun, ended = (datetime.fromisoformat(at) for at in (command.started_at, command.ended_at))
        lasted_s = (ended - begun).total_seconds()
        if command.exit_code == 0 and lasted_s < _LEAST_RATIO * seconds:
            why = f": it makes {others.MOST_OF_AB:,} requests at most" if command.tool == "ab" else ""
            found.append(f"{named(command)} ended after {lasted_s:.1f} s of a load of {seconds:g} s{why}")
    return found
