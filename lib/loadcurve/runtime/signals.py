"""SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal) are handled only at wait points of a launch.

Python raises KeyboardInterrupt between any two instructions.  If that happens when `subprocess` has just acquired the
lock of a process and not yet recorded it (CPython 3.11, ``Popen._wait``), the lock is never released, and the next wait
for that process never ends: this hung one launch in thirty that received Ctrl-C twice.  Processes and hosts that are
only partly created would be lost in the same way.  By default SIGTERM and SIGHUP even end the launcher without any
clean-up.  So a launch records each of the three, and raises KeyboardInterrupt where it waits and holds no lock;
everything between two wait points is bounded in time.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals with which a person, a service manager or a closed terminal ends a launch."""


@dataclass
class _State:
    """State of signal handling; one for the process, since signals go to a process."""

    interruptible: bool = False  # Whether the main thread is at a wait point
    noted: int = 0  # Signal that was received and not raised yet, 0 for none
    raised: int = 0  # Signal for which KeyboardInterrupt was raised, 0 for none


_STATE = _State()


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Record signals, and raise KeyboardInterrupt at the next `interruptible` wait, or at the end of the context.

    At the end it replaces an error that was raised after the signal.  Its argument is the signal number, see
    `signal_of`.

    Outside the main thread, which alone handles signals, and within another `deferred` nothing changes; a signal that
    is ignored (``nohup``) stays ignored.
    """
    before = {number: signal.getsignal(number) for number in ENDING} if _handles_signals() else {}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None, _note)}
    if not before:
        yield
        return
    _STATE.interruptible, _STATE.noted, _STATE.raised = False, 0, 0
    for number in before:
        signal.signal(number, _note)
    due = 0
    try:
        yield
    except KeyboardInterrupt as interrupt:
        due = signal_of(interrupt)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        first = _STATE.raised or _STATE.noted
        _STATE.noted, _STATE.raised = 0, 0
        if first and not due:
            raise KeyboardInterrupt(first)


def signal_of(interrupt: KeyboardInterrupt) -> int:
    """Return the signal number of an interrupt; SIGINT where Python itself raised it."""
    return interrupt.args[0] if interrupt.args else signal.SIGINT


def pause(seconds: float) -> None:
    """Sleep; a signal raises KeyboardInterrupt."""
    with interruptible():
        time.sleep(seconds)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Allow KeyboardInterrupt within the context: for a wait that holds no lock and no partly created resource."""
    if not _handles_signals():
        yield
        return
    _STATE.interruptible = True
    try:
        if _STATE.noted:
            _STATE.noted, _STATE.raised = 0, _STATE.noted
            raise KeyboardInterrupt(_STATE.raised)
        yield
    finally:
        _STATE.interruptible = False


def interrupted() -> int:
    """Return the signal for which KeyboardInterrupt was raised in this launch, 0 for none.

    An error during the clean-up may have replaced the KeyboardInterrupt since.
    """
    return _STATE.raised if _handles_signals() else 0


def _handles_signals() -> bool:
    return threading.current_thread() is threading.main_thread()


def _note(number: int, *_: object) -> None:
    if _STATE.interruptible:
        _STATE.interruptible, _STATE.raised = False, number  # the clean-up follows
        raise KeyboardInterrupt(number)
    _STATE.noted = _STATE.noted or number
