"""Ctrl-C, heard where a launch waits: real signals to real processes, at every moment."""

import os
import random
import signal
import subprocess
import sys
import threading

import pytest
from events import HANG_S

from loadcurve.lab.hosts.process import ends
from loadcurve.runtime import signals

pytestmark = pytest.mark.usefixtures("default_signals")


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def press_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, press)
    timer.start()
    return timer


def test_nothing_is_heard_between_two_waits():
    done = []
    with pytest.raises(KeyboardInterrupt), signals.deferred():
        press()
        done.append("held a lock")
        signals.pause(10)
    assert done == ["held a lock"]


@pytest.mark.parametrize("wait", [signals.pause, lambda s: ends(subprocess.Popen(["sleep", str(s)]), s)])
def test_a_wait_hears_at_once(wait):
    timer = press_after(0.2)
    with pytest.raises(KeyboardInterrupt), signals.deferred():
        wait(600)  # heard at the end of the wait, the test would hang
    timer.join()


def test_once_heard_the_cleaning_is_not_disturbed():
    done = []
    with pytest.raises(KeyboardInterrupt), signals.deferred():
        try:
            press()
            signals.pause(10)
        finally:
            press()
            done.append("cleaned")
    assert done == ["cleaned"]
    signals.pause(0)
    with signals.deferred():
        signals.pause(0)  # nothing of it is left for the next launch


@pytest.mark.parametrize("error", [None, ValueError])
def test_what_was_noted_is_raised_at_the_end(error):
    with pytest.raises(KeyboardInterrupt), signals.deferred():
        press()
        if error:
            raise error


def test_an_error_of_cleaning_up_takes_no_one_s_place():
    with pytest.raises(KeyboardInterrupt), signals.deferred():
        assert not signals.interrupted()
        try:
            press()
            signals.pause(10)
        finally:
            assert signals.interrupted()
            raise OSError("connection lost")
    with pytest.raises(OSError, match="another launch"), signals.deferred():
        assert not signals.interrupted()
        raise OSError("another launch")


def test_one_within_another_is_one():
    with pytest.raises(KeyboardInterrupt), signals.deferred():
        with signals.deferred():
            press()
        signals.pause(10)


def test_who_ignores_it_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals.deferred():
            press()
            signals.pause(0.01)
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_signals_alone():
    seen = []

    def work():
        with signals.deferred():
            seen.append(signal.getsignal(signal.SIGINT))
            signals.pause(0)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_the_wait_of_another_thread_is_none_of_the_main_one():
    """A second launch, in a thread, must not have the first one interrupted between its waits, nor hear for it."""
    waiting, over, done = threading.Event(), threading.Event(), []

    def work():
        with signals.interruptible():
            waiting.set()
            over.wait(HANG_S)
        signals.pause(0)
        done.append("not interrupted")

    thread = threading.Thread(target=work)
    with pytest.raises(KeyboardInterrupt), signals.deferred():
        thread.start()
        waiting.wait(HANG_S)
        press()
        done.append("held a lock")
        over.set()
        thread.join()
        signals.pause(10)
    assert done == ["held a lock", "not interrupted"]


def test_whether_a_process_ends():
    quick, slow = subprocess.Popen(["true"]), subprocess.Popen(["sleep", "60"])
    assert ends(quick, 20) and quick.returncode == 0
    assert ends(quick, 0), "also when asked again"
    assert not ends(slow, 0.01) and slow.returncode is None
    slow.kill()
    assert ends(slow, 20) and slow.returncode == -signal.SIGKILL


# For each line with two times, in s: two signals to its parent, with less between them than a sleep lasts.
PRESSES_TWICE = """
import os, signal, sys, time
for line in sys.stdin:
    first, second = map(float, line.split())
    time.sleep(first)
    os.kill(os.getppid(), signal.SIGINT)
    until = time.perf_counter() + second
    while time.perf_counter() < until:
        pass
    os.kill(os.getppid(), signal.SIGINT)
    print(flush=True)
"""


@pytest.mark.slow
def test_two_signals_at_once_leave_no_lock_taken():
    """The second one comes while the first is dealt with: after `Popen.wait` alone, 3 of 400 locks stayed taken."""
    moments, heard = random.Random(20261121), 0
    argv = [sys.executable, "-I", "-S", "-c", PRESSES_TWICE]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as presser:
        for _ in range(400):
            tool = subprocess.Popen(["sleep", "60"])
            try:
                with signals.deferred():
                    between = moments.choice((0.0, moments.uniform(0, 0.0002)))
                    print(moments.uniform(0, 0.02), between, file=presser.stdin, flush=True)
                    try:
                        ends(tool, 30)
                    finally:
                        tool.kill()
                        tool.wait()
                        presser.stdout.readline()  # both were sent
            except KeyboardInterrupt:
                heard += 1
            assert tool.returncode == -signal.SIGKILL
    assert heard == 400
