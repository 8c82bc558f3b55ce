"""Ctrl-C, heard where a launch waits and nowhere else.

Python raises KeyboardInterrupt between any two of its instructions.  Where `subprocess` has just taken the lock of a
process and not yet noted that it did (CPython 3.11, ``Popen._wait``), nobody gives that lock back, and whoever waits
for the process next waits for ever: one launch in thirty that heard Ctrl-C twice at once.  Half-started processes and
half-made hosts are lost in the same way.  A launch that notes the signal, and raises it where it waits anyway, holds
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


@dataclass
class _Ear:
    """Signals are of the process, not of a launch: there is one."""

    hears: bool = False
    noted: bool = False
    raised: bool = False


_EAR = _Ear()


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Note Ctrl-C, and raise KeyboardInterrupt where something is `heard`, at the latest at the end of the context.

    There it is also raised in place of an error that came after it.

    Nothing is changed outside the main thread, which alone hears signals, and where Ctrl-C is ignored or already noted.
    """
    before = signal.getsignal(signal.SIGINT)
    if not _hears_signals() or not callable(before) or before is _note:
        yield
        return
    _EAR.hears = _EAR.noted = _EAR.raised = False
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    except KeyboardInterrupt:
        _EAR.noted = _EAR.raised = False  # one is enough
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        due, _EAR.noted, _EAR.raised = _EAR.noted or _EAR.raised, False, False
        if due:
            raise KeyboardInterrupt


def pause(seconds: float) -> None:
    """Sleep, unless Ctrl-C was or is heard."""
    with heard():
        time.sleep(seconds)


def ends(process: subprocess.Popen, limit_s: float) -> bool:
    """Whether a process ends within a time; not longer, where Ctrl-C was or is heard."""
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
    """Raise KeyboardInterrupt within the context: for a wait that holds no lock and no half-made thing."""
    if not _hears_signals():
        yield
        return
    _EAR.hears = True
    try:
        if _EAR.noted:
            _EAR.noted, _EAR.raised = False, True
            raise KeyboardInterrupt
        yield
    finally:
        _EAR.hears = False


def interrupted() -> bool:
    """Whether KeyboardInterrupt was raised in this launch: an error of cleaning up may have taken its place since."""
    return _EAR.raised and _hears_signals()


def _hears_signals() -> bool:
    return threading.current_thread() is threading.main_thread()


def _note(*_: object) -> None:
    if _EAR.hears:
        _EAR.hears, _EAR.raised = False, True  # what comes now is cleaning up
        raise KeyboardInterrupt
    _EAR.noted = True
