"""Run and Command: the content of a `run.json`."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

FUNCTIONS = "functions"
"""Role of the command that tests functions."""

_STRICT = {"extra": "forbid"}  # for pydantic, by which `records` checks a record


@dataclass(frozen=True)
class Command:
    """One tool as it was run, with everything needed to repeat the command by hand.

    Examples
    --------
    >>> argv = ("wrk", "-d1s", "http://127.0.0.1:8080/")
    >>> Command("generator", "wrk", argv, stdout="local.wrk.txt", stderr="local.wrk.err", limit_s=5.0).host
    'local'
    """

    __pydantic_config__: ClassVar = _STRICT

    role: str  # server, balancer, collector, warm_up, generator; functions: a functional test, whose run has no load
    tool: str  # Selects the parser of the output, with the variant
    argv: tuple[str, ...]  # The command, run in the run's folder
    # `stdout` and `stderr`: files in the run's folder with the verbatim output of the two streams.
    stdout: str
    stderr: str
    limit_s: float  # Outer time limit in s, enforced by ``timeout`` in `argv`
    variant: str = ""  # Distinguishes outputs of one tool
    version: str = ""
    host: str = "local"  # Or a name of the topology, such as ``C1``
    # Variables that were set; PATH, HOME, LOGNAME, USER, TERM and TMPDIR were as on the host, and there were no others.
    # Where the generators have no ``LC_ALL``, the run is older: its commands had the launcher's whole environment.
    env: dict[str, str] = field(default_factory=dict)
    # `started_at` and `ended_at`: UTC, ISO 8601; both empty for a command that never started.
    started_at: str = ""
    ended_at: str = ""
    exit_code: int | None = None  # None while the command runs, or when the laboratory ended it
    folders: tuple[str, ...] = ()  # Created empty before the start, and removed with their contents at the end
    # In the run's folder, empty for none: archive that was unpacked before the start, and file with standard input.
    unpacked: str = ""
    stdin: str = ""


@dataclass(frozen=True)
class Run:
    """The content of a run's `run.json`.

    Examples
    --------
    >>> Run("scale_out", "c0064-r2", "finished", factors={"connections": 64}, machine={"cpus": 2}).commands
    ()
    """

    __pydantic_config__: ClassVar = _STRICT

    study: str
    run_id: str
    status: str  # running, finished, failed or interrupted; a resumed launch repeats all runs but the finished ones
    # ``variant connections repeat order threads seconds url``, ``levels`` (place of each factor → its level), and
    # ``settings``: the sections of the study as they applied to this run.  Runs recorded before studies had sections
    # have ``recipe`` instead.
    factors: dict[str, Any]
    machine: dict[str, Any]  # Facts of the machine that the numbers depend on
    commands: tuple[Command, ...] = ()  # In the order of their start
    # Size in bytes and SHA-256 of each raw file; recorded data are verbatim and never edited.
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # Weaknesses of the run, such as CPUs that server and generator shared
    reason: str = ""  # Why the run did not finish
    # Faults injected during the run, and how long the servers took to finish the warm-up; each ``at`` (UTC), ``host``
    # and ``what``.
    events: tuple[dict[str, str], ...] = ()
    # Other use of the CPUs during the load: machine (``local``, or a host by ssh) → ``cpus`` (used by the run),
    # ``seconds``, ``other_cpu_s`` (CPU time of processes outside the run) and ``steal_s`` (CPU time taken by the
    # hypervisor).  Empty for runs recorded before this was measured.
    background: dict[str, dict[str, Any]] = field(default_factory=dict)
    seal: str = ""  # SHA-256 over the other values of the file, which reveals a changed record, by `write_run`

    @property
    def is_functional(self) -> bool:
        """Whether the run tested functions and sent no load, so that no table has rows of it."""
        return any(command.role == FUNCTIONS for command in self.commands)


def background_ratios(background: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return, for each machine, the shares of the run's CPU time taken by other processes and by the hypervisor.

    Both are ratios in 0–1, and NaN if unknown; `background` is as in `Run`.

    Examples
    --------
    >>> background_ratios({"local": {"cpus": [0, 1], "seconds": 5.0, "other_cpu_s": 0.3, "steal_s": 0.0}})
    {'local': (0.03, 0.0)}
    """
    found = {}
    for machine, used in background.items():
        whole_s = len(used["cpus"]) * used["seconds"]
        taken = (used.get(name, math.nan) / whole_s for name in ("other_cpu_s", "steal_s"))
        found[machine] = tuple(min(ratio, 1.0) for ratio in taken)  # rounded times may give slightly more than 1
    return found
