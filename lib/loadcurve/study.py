"""Study, Run and Command: what `study.yml` and `run.json` say, as frozen dataclasses.

A study is a question with the factor levels, repeats and topology that answer it.  A run is one point of it, once.
The laboratory writes run folders and ingestion reads them; the two meet only here, in the folder's two files::

    data/studies/<study>/study.yml
    data/studies/<study>/<run_id>/run.json
    data/studies/<study>/<run_id>/<host>.<tool>[.<variant>].<ext>      verbatim output
"""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from loadcurve.errors import ValueRuleError

_NAME = re.compile(r"[A-Za-z0-9_-]+")  # of studies and variants: they become names of folders


@dataclass(frozen=True)
class Study:
    """A question and what answers it.

    Attributes
    ----------
    study : str
        Name; the same as the folder's.  Letters, digits, ``_`` and ``-``, as in the variants' names.
    question : str
        What the study asks, in one sentence.
    variants : dict[str, str]
        Name of each variant of the system under test → its recipe: ``cpu`` or ``delay 10ms`` for a private nginx of
        the laboratory, or the ``http://`` URL of a server that runs already.
    connections : tuple of int
        Levels of the factor connections (N), each at least 1 and stated once.
    repeats : int
        How often each point is run, at least 1.
    seconds : float
        How long the generator runs at each point, in s; at least 1, since the collectors sample once a second, and
        whole, since wrk takes whole seconds.
    seed : int
        Of the random order of the points within each block.
    threads : int
        Threads of the load generator.
    response_bytes : int
        Body of each response.
    allow_targets : tuple of str
        Hosts beyond loopback that this study may load; each one is a decision of its author.
    """

    study: str
    question: str
    variants: dict[str, str]
    connections: tuple[int, ...]
    repeats: int = 3
    seconds: float = 5.0
    seed: int = 0
    threads: int = 1
    response_bytes: int = 616
    allow_targets: tuple[str, ...] = ()

    def __post_init__(self):
        if not _NAME.fullmatch(self.study):
            raise ValueRuleError("study", "a name of letters, digits, _ and -", self.study)
        if not self.variants:
            raise ValueRuleError("variants", "at least one name with its recipe", self.variants)
        if wrong := [name for name in self.variants if not _NAME.fullmatch(name)]:
            raise ValueRuleError("variants", "named with letters, digits, _ and -", wrong[0])
        if wrong := [recipe for recipe in self.variants.values() if "://" in recipe and not _is_http(recipe)]:
            raise ValueRuleError("variants", "recipes, or http:// with a host and a valid port", wrong[0])
        if not self.connections or min(self.connections) < 1:
            raise ValueRuleError("connections", "one or more levels of at least 1", list(self.connections))
        if len(set(self.connections)) < len(self.connections):
            raise ValueRuleError("connections", "levels that are each stated once", list(self.connections))
        if self.repeats < 1:
            raise ValueRuleError("repeats", "at least 1", self.repeats)
        if self.seconds < 1:
            raise ValueRuleError("seconds", "at least 1", self.seconds)
        if self.seconds % 1:  # also for nan and inf
            raise ValueRuleError("seconds", "a whole number, as wrk takes them", self.seconds)
        if self.threads < 1:
            raise ValueRuleError("threads", "at least 1", self.threads)


@dataclass(frozen=True)
class Command:
    """One tool as it ran: a reader can repeat it by hand.

    Attributes
    ----------
    role : str
        ``server``, ``collector`` or ``generator``.
    tool, variant, version : str
        Which parser reads its output (`variant` tells apart several outputs of one tool), and the tool's version.
    host : str
        ``local`` until there are others.
    argv : tuple of str
        The command, run in the run's folder.
    env : dict[str, str]
        What was set beyond the caller's environment.
    limit_s : float
        Outer time limit in s, enforced by ``timeout`` in `argv`.
    stdout, stderr : str
        Files of the run's folder with the two streams, verbatim.
    started_at, ended_at : str
        UTC, ISO 8601; both empty for a command that never started.
    exit_code : int or None
        None while running, or when it was ended by the laboratory.
    """

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


@dataclass(frozen=True)
class Run:
    """What `run.json` says of a run.

    Attributes
    ----------
    study, run_id, status : str
        `status` is one of ``running finished failed interrupted``; anything but finished is done again on resumption.
    factors : dict
        ``variant connections repeat order``, and ``threads seconds url``.
    machine : dict
        Facts of the machine that decide what the numbers mean.
    commands : tuple of Command
        What ran, in order of start.
    files : dict[str, dict]
        Size in bytes and SHA-256 of each raw file: recorded data are verbatim and never edited.
    warnings : tuple of str
        What weakens the run, such as processors that could not be kept apart.
    reason : str
        Why it did not finish.
    seal : str
        SHA-256 over the file's other values, so that a changed record is found out.  `write_run` computes it.
    """

    study: str
    run_id: str
    status: str
    factors: dict[str, Any]
    machine: dict[str, Any]
    commands: tuple[Command, ...] = ()
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    reason: str = ""
    seal: str = ""


def _is_http(url: str) -> bool:
    """Whether wrk can be sent there: ``http://``, a host, and a port that exists where one is named."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return parts.scheme == "http" and bool(parts.hostname) and port != 0 and not re.search(r"\s", url)
