"""SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal) end a launch only where it waits.

Python raises KeyboardInterrupt between any two of its instructions.  Where `subprocess` has just taken the lock of a
process and not yet noted that it did (CPython 3.11, ``Popen._wait``), nobody gives that lock back, and whoever waits
for the process next waits for ever: one launch in thirty that received Ctrl-C twice at once.  Half-started processes
and half-made hosts are lost in the same way.  By default SIGTERM and SIGHUP are worse: they end the launcher without
any cleaning up.  A launch that notes each of the three, and raises KeyboardInterrupt where it waits anyway, holds
nothing then; all that it does in between is bounded in time.
"""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals by which a person, a service manager or a closed terminal ends a launch."""


@dataclass
class _Ear:
    """Signals are of the process, not of a launch: there is one.

    Attributes
    ----------
    hears : bool
        Whether the main thread waits where it may be interrupted.
    noted : int
        Signal that came and was not raised yet, 0 for none.
    raised : int
        Signal that was raised, 0 for none.
    """

    hears: bool = False
    noted: int = 0
    raised: int = 0


_EAR = _Ear()


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Note a signal, and raise KeyboardInterrupt where something is `heard`, at the latest at the end of the context.

    There it is also raised in place of an error that came after it.  Its argument is the number of the signal, see
    `signal_of`.

    Nothing is changed outside the main thread, which alone handles signals; a signal that is ignored (``nohup``) stays
    ignored, and within another `deferred` nothing is changed.
    """
    before = {number: signal.getsignal(number) for number in ENDING} if _handles_signals() else {}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None, _note)}
    if not before:
        yield
        return
    _EAR.hears, _EAR.noted, _EAR.raised = False, 0, 0
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
        first = _EAR.raised or _EAR.noted
        _EAR.noted, _EAR.raised = 0, 0
        if first and not due:
            raise KeyboardInterrupt(first)


def signal_of(interrupt: KeyboardInterrupt) -> int:
    """Return the number of the signal that an interrupt stands for; SIGINT where Python raised it by itself."""
    return interrupt.args[0] if interrupt.args else signal.SIGINT


def pause(seconds: float) -> None:
    """Sleep, unless a signal was or is received."""
    with heard():
        time.sleep(seconds)


def ends(process: subprocess.Popen, limit_s: float) -> bool:
    """Whether a process ends within a time; not longer, where a signal was or is received."""
    if process.returncode is not None:
        return True
    descriptor = os.pidfd_open(process.pid)
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        with heard():
            ended.poll(limit_s * 1000)
    finally:
        os.close(descriptor)
    return process.poll() is not None


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Raise KeyboardInterrupt within the context: for a wait that holds no lock and no half-made resource."""
    if not _handles_signals():
        yield
        return
    _EAR.hears = True
    try:
        if _EAR.noted:
            _EAR.noted, _EAR.raised = 0, _EAR.noted
            raise KeyboardInterrupt(_EAR.raised)
        yield
    finally:
        _EAR.hears = False


def interrupted() -> int:
    """Return the signal for which KeyboardInterrupt was raised in this launch, 0 for none.

    An error of cleaning up may have taken the place of the KeyboardInterrupt since.
    """
    return _EAR.raised if _handles_signals() else 0


def _handles_signals() -> bool:
    return threading.current_thread() is threading.main_thread()


def _note(number: int, *_: object) -> None:
    if _EAR.hears:
        _EAR.hears, _EAR.raised = False, number  # what comes now is cleaning up
        raise KeyboardInterrupt(number)
    _EAR.noted = _EAR.noted or number
