"""Wait for what a test needs to happen, however long a busy machine takes for it."""

import time
from collections.abc import Callable

# Seconds after which an event that has not happened never will: the bound of a hang, not of a speed.
HANG_S = 120.0


def wait_until(condition: Callable[[], object], said: Callable[[], object] = lambda: "waited in vain") -> None:
    """Return when a condition holds; fail with what `said` returns where it never does."""
    deadline = time.monotonic() + HANG_S
    while not condition():
        assert time.monotonic() < deadline, said()
        time.sleep(0.02)
