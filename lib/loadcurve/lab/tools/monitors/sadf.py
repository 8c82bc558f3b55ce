"""Convert binary recordings of sysstat to JSON with this machine's sadf."""

import subprocess
from pathlib import Path

from loadcurve.errors import LabError
from loadcurve.files.atomic import temporary_folder
from loadcurve.lab.hosts.tools import environment, which

_PATIENCE_S = 300.0  # a day of a machine with hundreds of processors takes half a minute


def text_of(path: str | Path) -> str:
    """Return everything in a binary `sa` file as the JSON of ``sadf -j FILE -- -A``, times in UTC.

    A recording of an older format is converted first (``sadf -c``, sysstat 11.1.6 or later), as sadf advises.  A
    truncated recording gives the intervals before its end, in JSON that is not closed.  Raises LabError, one line with
    sadf's message, when sadf is not installed or cannot read the file.
    """
    sadf = which("sadf")
    if sadf is None:
        raise LabError(f"{path}: a binary recording of sysstat needs its sadf: apt-get install sysstat")
    printed, words = _run([sadf, "-j", str(path), "--", "-A"], path)
    if "Try to convert" in words:
        with temporary_folder() as folder:
            converted = folder / "converted.sa"
            raw, problem = _run([sadf, "-c", str(path)], path)
            if not raw:
                raise LabError(f"{path}: sadf cannot convert this recording: {_line(problem)}")
            converted.write_bytes(raw)
            printed, words = _run([sadf, "-j", str(converted), "--", "-A"], path)
    text = printed.decode("utf-8", "replace")
    if '"timestamp"' not in text and '"restarts"' not in text:
        raise LabError(f"{path}: sadf cannot read this recording: {_line(words)}")
    return text


def _run(argv: list[str], path: str | Path) -> tuple[bytes, str]:
    """Standard output and standard error of sadf."""
    env = environment({"TZ": "UTC", "S_TIME_FORMAT": ""})
    try:
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise LabError(f"{path}: sadf was not done after {_PATIENCE_S:g} s") from None
    except OSError as error:
        raise LabError(f"{path}: sadf cannot be started: {error.strerror}") from None
    return done.stdout, done.stderr.decode("utf-8", "replace")


def _line(words: str) -> str:
    """The first lines of a message, joined."""
    return "; ".join(line.strip() for line in words.split("\n") if line.strip())[:300] or "it printed no message"
