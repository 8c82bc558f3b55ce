"""Wait until services answer, asked from their own host, and until monitors watch."""

import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from loadcurve.errors import LabError
from loadcurve.lab.hosts.executor import Executor
from loadcurve.lab.hosts.process import Started
from loadcurve.lab.hosts.signals import heard, pause

# A private server answers within a few ms of its start, a database after a second or two, WordPress writes its tables
# first; the rest is room for a busy machine.  What the study has a server do for each answer comes on top.
START_LIMIT_S = 30.0
_ANSWER_S = 5.0
_PAUSE_S = 0.02
# sar and mpstat do not say when they have begun.  A tool takes 20 ms here to start, the sampler's Python 30 to 220 ms;
# over ssh a session comes before, and samples are not here to be seen.
LEAD_S, LEAD_REMOTE_S = 0.1, 0.3
_LATEST_SAMPLE_S = 2.0
_PROBE_S = 2.0
# For the start of a Python on a busy machine, be it in a session of ssh.
_ASKING_S = 5.0
# Straight to the server: a proxy of the environment would take the request elsewhere.
_PROBE = """\
import sys, urllib.error, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    print(opener.open(sys.argv[1], timeout=float(sys.argv[2])).status)
except urllib.error.HTTPError as error:
    print(error.code)
except OSError as error:
    print(0, error)
"""
_CONNECT = """\
import socket, sys
with socket.socket() as probe:
    probe.settimeout(float(sys.argv[3]))
    print(probe.connect_ex((sys.argv[1], int(sys.argv[2]))))
"""


def check_nobody_listens(executor: Executor, url: str) -> None:
    """See that a port of a machine is free: whoever listens there would be asked instead, and be loaded.

    Raises
    ------
    LabError
        When somebody does, or the machine cannot be asked.
    """
    if "netns" in executor.host.prefix:
        return  # nobody else is there
    parts = urlsplit(url)
    if executor.is_here:
        with socket.socket() as probe:
            probe.settimeout(_PROBE_S)
            code = probe.connect_ex((parts.hostname, parts.port))
    else:
        argv = ("python3", "-I", "-S", "-c", _CONNECT, parts.hostname, str(parts.port), f"{_PROBE_S:g}")
        code = int(executor.check_output(argv, _ASKING_S + _PROBE_S))
    if code == 0:
        raise LabError(f"{parts.netloc} is taken: another program listens there already")


def wait_until_it_answers(executor: Executor, started: Started, url: str, words: str, work_s: float = 0.0) -> None:
    """Ask a server until it answers, be it with an error of the client's: a proxy's 502 and PHP's 503 are not ready.

    Parameters
    ----------
    executor : Executor
        Its host.
    started : Started
        Its process, which must not end meanwhile.
    url : str
        What to ask.
    words : str
        File of the run's folder with its complaints.
    work_s : float
        What the study has it do for each answer, in s.

    Raises
    ------
    LabError
        When it ended, also where another program answered meanwhile, or did not answer in time; with its last words.
    """
    deadline, said = time.monotonic() + START_LIMIT_S + work_s, ""
    while time.monotonic() < deadline and started.process.poll() is None:
        status, said = asked(executor, url, _ANSWER_S + work_s)
        if 0 < status < 500:
            if started.process.poll() is None:
                return
            said = ""
        pause(_PAUSE_S)
    last = last_words(executor, words)
    raise LabError(f"the private {started.command.tool} did not answer ({said or 'it ended'}){last}")


def wait_for_samples(files: Iterable[Path], least_s: float) -> None:
    """Wait until each file of snapshots has its first one, so that it stands before the load's first second.

    Parameters
    ----------
    files : iterable of pathlib.Path
        Files of the sampler on this machine.
    least_s : float
        How long to wait anyway, for the tools of which no file tells.
    """
    latest = time.monotonic() + _LATEST_SAMPLE_S
    pause(least_s)
    for file in files:
        while time.monotonic() < latest and not (file.is_file() and file.stat().st_size):
            pause(_PAUSE_S / 4)


def last_words(executor: Executor, name: str) -> str:
    """The last line of a file of the run's folder, after a colon; empty where there is none."""
    file = executor.folder / name
    lines = file.read_text("utf-8", "replace").strip().splitlines() if name and file.is_file() else []
    return f": {lines[-1]}" if lines else ""


def asked(executor: Executor, url: str, patience_s: float) -> tuple[int, str]:
    """Ask a URL from a host; return status and complaint, the status 0 where nobody answers within `patience_s`."""
    if executor.is_here and not executor.host.prefix:
        return _asked_here(url, patience_s)
    argv = ("python3", "-I", "-S", "-c", _PROBE, url, f"{patience_s:g}")
    try:
        status, _, said = executor.check_output(argv, _ASKING_S + patience_s).strip().partition(" ")
        return int(status), said or f"status {status}"
    except LabError as error:
        return 0, str(error)


def _asked_here(url: str, patience_s: float) -> tuple[int, str]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with heard(), opener.open(url, timeout=patience_s) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, str(error)
    except OSError as error:
        return 0, str(error)
