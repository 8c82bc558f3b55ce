"""From monitors to the processes that run them: one that takes all snapshots of a host, and one for each other tool."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loadcurve.errors import ValueRuleError
from loadcurve.lab.monitors.monitor import Monitor

SAMPLER = Path(__file__).with_name("sampler.py")
"""The program that takes the snapshots."""

# Times with their date, and one clock for all.
ENV = {"S_TIME_FORMAT": "ISO", "TZ": "UTC"}


@dataclass(frozen=True)
class Watcher:
    """A process to start in a run's folder before the load, and to stop after it."""

    tool: str  # `sampler`, or the tool that samples by itself
    argv: tuple[str, ...]  # The command; never a shell
    outputs: Mapping[str, str]  # Name of each monitor it runs → file of the run's folder in which its text is found
    stdout: str  # File to which the standard output goes; empty where the process writes its files itself
    stderr: str  # File for its error messages
    # Name of each file in the run's folder → its text, written before the start.
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=lambda: dict(ENV))  # Set beyond `tools.environment`
    stop: str = "TERM"  # Signal on which it ends with a complete line


def watchers(monitors: Iterable[Monitor], host: str = "local", python: str = "python3") -> tuple[Watcher, ...]:
    """Return the processes that run some monitors on a host.

    Parameters
    ----------
    monitors : iterable of Monitor
        Each name once.
    host : str
        Name of the host; the files begin with it.
    python : str
        Python of the host, 3.9 or later; it needs no package, so any will do, and a record names none of one machine.

    Raises
    ------
    ValueRuleError
        When two monitors have one name.

    Examples
    --------
    >>> from loadcurve.lab.monitors import nstat, sar, ss_summary
    >>> for watcher in watchers([sar(), ss_summary(), nstat()], "S1"):
    ...     print(" ".join(watcher.argv), dict(watcher.outputs))
    sar -u ALL -P ALL -n DEV -n EDEV -n TCP -n ETCP -n SOCK 1 {'sar': 'S1.sar.txt'}
    python3 -I -S S1.sampler.py S1.sampler.json {'ss-summary': 'S1.ss.summary.txt', 'nstat': 'S1.nstat.txt'}
    """
    chosen = tuple(monitors)
    for name, times in Counter(monitor.name for monitor in chosen).items():
        if times > 1:
            raise ValueRuleError("monitors", "each once", name)
    alone = tuple(_alone(monitor, host) for monitor in chosen if monitor.repeats)
    sampled = [monitor for monitor in chosen if not monitor.repeats]
    return (*alone, _sampler(sampled, host, python)) if sampled else alone


def _alone(monitor: Monitor, host: str) -> Watcher:
    file = monitor.file(host)
    error = f"{file.removesuffix('.txt')}.err"
    return Watcher(monitor.tool, monitor.argv, {monitor.name: file}, file, error, stop=monitor.stop)


def _sampler(monitors: list[Monitor], host: str, python: str) -> Watcher:
    program, plan = f"{host}.sampler.py", f"{host}.sampler.json"
    text = json.dumps([_series(monitor, host) for monitor in monitors], indent=1)
    return Watcher(
        "sampler",
        (python, "-I", "-S", program, plan),
        {monitor.name: monitor.file(host) for monitor in monitors},
        "",
        f"{host}.sampler.err",
        files={program: SAMPLER.read_text("utf-8"), plan: f"{text}\n"},
    )


def _series(monitor: Monitor, host: str) -> dict:
    series = {"file": monitor.file(host), "interval_s": monitor.interval_s}
    if monitor.page is not None:
        endpoint, path = monitor.page
        return series | {"url": [endpoint.address, endpoint.port, path]}
    return series | ({"argv": list(monitor.argv)} if monitor.argv else {"paths": list(monitor.paths)})
