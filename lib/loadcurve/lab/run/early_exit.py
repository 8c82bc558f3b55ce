"""Generators that exited with code 0 before the duration of their load was over."""

from collections.abc import Iterable
from datetime import datetime

from loadcurve.lab.generators import GENERATORS
from loadcurve.lab.run.record import tool_on_host
from loadcurve.study import Command

# Tools check the clock after each response, and start their load shortly after their process starts.
_MIN_RATIO = 0.95


def ended_early(generators: Iterable[Command], seconds: float) -> list[str]:
    """Return a warning for each generator that sent its load for less than the requested duration.

    `seconds` is how long each was to last; 0 where requests end them.
    """
    found = []
    for command in generators:
        begun, ended = (datetime.fromisoformat(at) for at in (command.started_at, command.ended_at))
        lasted_s = (ended - begun).total_seconds()
        if command.exit_code == 0 and lasted_s < _MIN_RATIO * seconds:
            most = GENERATORS[command.tool].max_requests if command.tool in GENERATORS else 0
            why = f": it sends at most {most:,} requests" if most else ""
            found.append(f"{tool_on_host(command)} ended after {lasted_s:.1f} s of a load of {seconds:g} s{why}")
    return found
