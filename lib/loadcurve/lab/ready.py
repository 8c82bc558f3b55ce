"""Wait until services answer, asked from their own host, and until monitors watch."""

import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from loadcurve.errors import LabError
from loadcurve.lab.interrupts import pause
from loadcurve.lab.places import Place
from loadcurve.lab.process import Started

# A private server answers within a few ms of its start, a database after a second or two, WordPress writes its tables
# first; the rest is room for a busy machine.
START_LIMIT_S = 30.0
_PAUSE_S = 0.02
# sar and mpstat do not say when they have begun.  A tool takes 20 ms here to start, the sampler's Python 30 to 220 ms;
# over ssh a session comes before, and samples are not here to be seen.
LEAD_S, LEAD_AFAR_S = 0.1, 0.3
_LATEST_SAMPLE_S = 2.0
_PROBE_S = 2.0
# Straight to the server: a proxy of the environment would take the request elsewhere.
_PROBE = """\
import sys, urllib.error, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    print(opener.open(sys.argv[1], timeout=5).status)
except urllib.error.HTTPError as error:
    print(error.code)
except OSError as error:
    print(0, error)
"""


def check_nobody_listens(place: Place, url: str) -> None:
    """See that a port of this machine is free: whoever listens there would be asked instead, and be loaded.

    Raises
    ------
    LabError
        When somebody does.
    """
    if not place.is_here or "netns" in place.host.prefix:
        return  # nobody else is there
    parts = urlsplit(url)
    with socket.socket() as probe:
        probe.settimeout(_PROBE_S)
        if probe.connect_ex((parts.hostname, parts.port)) == 0:
            raise LabError(f"{parts.netloc} is taken: another program listens there already")


def wait_until_it_answers(place: Place, started: Started, url: str, words: str) -> None:
    """Ask a server until it answers, be it with an error of the client's: a proxy's 502 and PHP's 503 are not ready.

    Parameters
    ----------
    place : Place
        Its host.
    started : Started
        Its process, which must not end meanwhile.
    url : str
        What to ask.
    words : str
        File of the run's folder with its complaints.

    Raises
    ------
    LabError
        When it ended, or did not answer in time; with its last words.
    """
    deadline, said = time.monotonic() + START_LIMIT_S, ""
    while time.monotonic() < deadline and started.process.poll() is None:
        status, said = _asked(place, url)
        if 0 < status < 500:
            return
        pause(_PAUSE_S)
    last = last_words(place, words)
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


def last_words(place: Place, name: str) -> str:
    """The last line of a file of the run's folder, after a colon; empty where there is none."""
    file = place.folder / name
    lines = file.read_text("utf-8", "replace").strip().splitlines() if name and file.is_file() else []
    return f": {lines[-1]}" if lines else ""


def _asked(place: Place, url: str) -> tuple[int, str]:
    """Status and complaint; 0 where nobody answers."""
    if place.is_here and not place.host.prefix:
        return _asked_here(url)
    try:
        status, _, said = place.check_output(("python3", "-I", "-S", "-c", _PROBE, url), 10.0).strip().partition(" ")
        return int(status), said or f"status {status}"
    except LabError as error:
        return 0, str(error)


def _asked_here(url: str) -> tuple[int, str]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, str(error)
    except OSError as error:
        return 0, str(error)
