"""Several generators, on one host or on many of one machine, that start at one instant."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from loadcurve.errors import ValueRuleError
from loadcurve.lab.generators.generator import Generator
from loadcurve.lab.hosts.names import check_stem

_AT = Path(__file__).with_name("at.py").read_text("utf-8")
# A process of the laboratory (setpriv, timeout, python) stands and waits after some 20 ms; a busy machine takes longer.
_LEAD_S = 0.2
_LEAD_EACH_S = 0.03


def common_instant_ns(processes: int) -> int:
    """An instant of the monotonic clock, far enough ahead for so many processes to be waiting by then."""
    return time.monotonic_ns() + round((_LEAD_S + _LEAD_EACH_S * processes) * 1e9)


def start_at(generator: Generator, instant_ns: int, stem: str, python: str = sys.executable) -> Generator:
    """Return the generator, started beforehand and waiting until an instant before it becomes the tool.

    Namespaces of one machine share its monotonic clock; other machines have their own.

    Parameters
    ----------
    generator : Generator
        What to start.
    instant_ns : int
        When, by the monotonic clock in ns, see `common_instant_ns`.
    stem : str
        What its files begin with, as in `generator`: ``STEM.at.py``, and ``STEM.at.json`` for `begun_late_s`.
    python : str
        Interpreter on its host.

    Examples
    --------
    >>> waiting = start_at(Generator("hey", "closed", ("hey", "http://127.0.0.1/"), 20.0), 5, "C1", "python3")
    >>> " ".join(waiting.argv)
    'python3 -I -S C1.at.py 5 C1.at.json hey http://127.0.0.1/'
    """
    check_stem(stem)
    if not isinstance(instant_ns, int) or instant_ns < 0:
        raise ValueRuleError("instant_ns", "a whole number of at least 0", instant_ns)
    argv = (python, "-I", "-S", f"{stem}.at.py", str(instant_ns), f"{stem}.at.json", *generator.argv)
    return replace(generator, argv=argv, files={**generator.files, f"{stem}.at.py": _AT})


def begun_late_s(report: str) -> float:
    """Time in s from the common instant to the start of a generator, from its ``STEM.at.json``.

    Examples
    --------
    >>> begun_late_s('{"instant_ns": 1000000, "begun_ns": 1200000}')
    0.0002
    """
    noted = json.loads(report)
    return (noted["begun_ns"] - noted["instant_ns"]) / 1e9
