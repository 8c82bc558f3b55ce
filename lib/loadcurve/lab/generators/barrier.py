"""Start several generators at one instant, on one host or on several network namespaces of one machine."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from loadcurve.errors import ValueRuleError
from loadcurve.lab.generators.generator import GeneratorCommand
from loadcurve.lab.hosts.names import check_stem

_AT = Path(__file__).with_name("at.py").read_text("utf-8")
# A process of the laboratory (setpriv, timeout, python) waits for the instant after some 20 ms; a busy machine needs
# longer.
_LEAD_S = 0.2
_LEAD_EACH_S = 0.03


def common_instant_ns(processes: int) -> int:
    """Return an instant of the monotonic clock by which so many processes will have started."""
    return time.monotonic_ns() + round((_LEAD_S + _LEAD_EACH_S * processes) * 1e9)


def start_at(command: GeneratorCommand, instant_ns: int, stem: str, python: str = sys.executable) -> GeneratorCommand:
    """Return a command that waits until an instant before it becomes the generator.

    Namespaces of one machine share its monotonic clock; other machines have their own.

    Parameters
    ----------
    command : GeneratorCommand
        What to start.
    instant_ns : int
        When, by the monotonic clock in ns, see `common_instant_ns`.
    stem : str
        What its files begin with, as in `Generator.command`: ``STEM.at.py``, and ``STEM.at.json`` for `start_delay_s`.
    python : str
        Interpreter on its host.

    Examples
    --------
    >>> waiting = start_at(GeneratorCommand(("hey", "http://127.0.0.1/"), tool="hey"), 5, "C1", "python3")
    >>> " ".join(waiting.argv)
    'python3 -I -S C1.at.py 5 C1.at.json hey http://127.0.0.1/'
    """
    check_stem(stem)
    if not isinstance(instant_ns, int) or instant_ns < 0:
        raise ValueRuleError("instant_ns", "a whole number of at least 0", instant_ns)
    argv = (python, "-I", "-S", f"{stem}.at.py", str(instant_ns), f"{stem}.at.json", *command.argv)
    return replace(command, argv=argv, files={**command.files, f"{stem}.at.py": _AT})


def start_delay_s(report: str) -> float:
    """Return the time in s from the common instant to the start of a generator, from its ``STEM.at.json``.

    Examples
    --------
    >>> start_delay_s('{"instant_ns": 1000000, "begun_ns": 1200000}')
    0.0002
    """
    noted = json.loads(report)
    return (noted["begun_ns"] - noted["instant_ns"]) / 1e9
