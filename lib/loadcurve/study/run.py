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

    Attributes
    ----------
    role : str
        ``server``, ``balancer``, ``collector``, ``warm_up``, ``generator``, or ``functions``: a functional test, whose
        run has no load.
    tool, variant, version : str
        Tool and variant select the parser of the output (`variant` distinguishes outputs of one tool); version of the
        tool.
    host : str
        ``local``, or a name of the topology, such as ``C1``.
    argv : tuple of str
        The command, run in the run's folder.
    env : dict[str, str]
        Variables that were set; PATH, HOME, LOGNAME, USER, TERM and TMPDIR were as on the host, and there were no
        others.  Where the generators have no ``LC_ALL``, the run is older: its commands had the launcher's whole
        environment.
    limit_s : float
        Outer time limit in s, enforced by ``timeout`` in `argv`.
    stdout, stderr : str
        Files in the run's folder with the verbatim output of the two streams.
    started_at, ended_at : str
        UTC, ISO 8601; both empty for a command that never started.
    exit_code : int or None
        None while the command runs, or when the laboratory ended it.
    folders : tuple of str
        Created empty in the run's folder before the start, and removed with their contents at the end.
    unpacked : str
        Archive in the run's folder that was unpacked before the start; empty for none.
    stdin : str
        File in the run's folder with its standard input; empty for none.

    Examples
    --------
    >>> argv = ("wrk", "-d1s", "http://127.0.0.1:8080/")
    >>> Command("generator", "wrk", argv, stdout="local.wrk.txt", stderr="local.wrk.err", limit_s=5.0).host
    'local'
    """

    __pydantic_config__: ClassVar = _STRICT

    role: str
    tool: str
    argv: tuple[str, ...]
    stdout: str
    stderr: str
    limit_s: float
    variant: str = ""
    version: str = ""
    host: str = "local"
    env: dict[str, str] = field(default_factory=dict)
    started_at: str = ""
    ended_at: str = ""
    exit_code: int | None = None
    folders: tuple[str, ...] = ()
    unpacked: str = ""
    stdin: str = ""


@dataclass(frozen=True)
class Run:
    """The content of a run's `run.json`.

    Attributes
    ----------
    study, run_id, status : str
        `status` is ``running``, ``finished``, ``failed`` or ``interrupted``; a resumed launch repeats all runs but the
        finished ones.
    factors : dict
        ``variant connections repeat order threads seconds url``, ``levels`` (place of each factor → its level),
        and ``settings``: the sections of the study as they applied to this run.  Runs recorded before studies had
        sections have ``recipe`` instead.
    machine : dict
        Facts of the machine that the numbers depend on.
    commands : tuple of Command
        Commands in the order of their start.
    files : dict[str, dict]
        Size in bytes and SHA-256 of each raw file; recorded data are verbatim and never edited.
    warnings : tuple of str
        Weaknesses of the run, such as CPUs that server and generator shared.
    reason : str
        Why the run did not finish.
    events : tuple of dict
        Faults injected during the run, and how long the servers took to finish the warm-up; each ``at`` (UTC), ``host``
        and ``what``.
    background : dict[str, dict]
        Other use of the CPUs during the load: machine (``local``, or a host by ssh) → ``cpus`` (used by the run),
        ``seconds``, ``other_cpu_s`` (CPU time of processes outside the run) and ``steal_s`` (CPU time taken by the
        hypervisor).  Empty for runs recorded before this was measured.
    seal : str
        SHA-256 over the other values of the file, which reveals a changed record.  `write_run` computes it.

    Examples
    --------
    >>> Run("scale_out", "c0064-r2", "finished", factors={"connections": 64}, machine={"cpus": 2}).commands
    ()
    """

    __pydantic_config__: ClassVar = _STRICT

    study: str
    run_id: str
    status: str
    factors: dict[str, Any]
    machine: dict[str, Any]
    commands: tuple[Command, ...] = ()
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    reason: str = ""
    events: tuple[dict[str, str], ...] = ()
    background: dict[str, dict[str, Any]] = field(default_factory=dict)
    seal: str = ""

    @property
    def is_functional(self) -> bool:
        """Whether the run tested functions and sent no load, so that no table has rows of it."""
        return any(command.role == FUNCTIONS for command in self.commands)


def background_ratios(background: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return, for each machine, the shares of the run's CPU time taken by other processes and by the hypervisor.

    Parameters
    ----------
    background : dict
        As in `Run`.

    Returns
    -------
    dict
        Machine → both ratios in 0–1; NaN if unknown.

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
