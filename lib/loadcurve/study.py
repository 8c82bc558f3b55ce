"""Study, Run and Command: what `study.yml` and `run.json` say, as frozen dataclasses.

A study is a question with the factor levels, repeats and topology that answer it.  A run is one point of it, once.
The laboratory writes run folders and ingestion reads them; the two meet only here, in the folder's two files::

    data/studies/<study>/study.yml
    data/studies/<study>/<run_id>/run.json
    data/studies/<study>/<run_id>/<host>.<tool>[.<variant>].<ext>      verbatim output
"""

import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ConfigDict, with_config

from loadcurve.errors import ValueRuleError

_NAME = re.compile(r"[A-Za-z0-9_-]+")  # of studies and variants: they become names of folders
_PATH = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z][A-Za-z0-9_.]*)?")
SECTIONS = ("topology", "hosts", "links", "server", "balancer", "load", "monitors", "fault")
"""Parts of a study that say what is run; a factor is a place in one of them."""

MONITORS = {"sar": 1, "ss_summary": 1, "ss_connections": 2}
"""Monitors of a study that names none, each with its interval in s."""

# A word such as 5 is no number, and a key that nobody knows is a slip of the pen.
STRICT = ConfigDict(extra="forbid", strict=True)

Mapping = dict[str, Any]


@with_config(STRICT)
@dataclass(frozen=True)
class Study:
    """A question and what answers it.

    The sections are plain mappings here; `loadcurve.lab.sections` knows what may stand in them.

    Attributes
    ----------
    study : str
        Name; the same as the folder's.  Letters, digits, ``_`` and ``-``, as in the variants' names.
    question : str
        What the study asks, in one sentence.
    topology : dict
        A recipe of hosts and networks with its numbers, or machines that are there; everything on this machine by
        loopback where there is none.
    hosts, links : dict
        What hosts and links are set to, by their names.
    server, balancer : dict
        What runs on each server host, and before the servers.
    load : dict
        What the generator does at each point.
    monitors : dict
        What watches each host, each with its interval in s.
    fault : dict
        What goes wrong on purpose during each run.
    variants : dict[str, dict]
        Name of each variant → the settings in which it differs: place → value.
    factors : dict[str, tuple]
        Place of each factor → its levels, each stated once.  A place is ``section.key.key``, or the name of a key of
        `load`: ``connections`` is ``load.connections``.
    points : tuple of dict
        Places and values of each point, where they are listed one by one instead of by `factors`.
    design : str
        ``grid``: every level with every other; ``one_at_a_time``: each factor's levels with the first ones of the
        others.
    repeats : int
        How often each point is run, at least 1: so many blocks, each with every point once, in random order.
    seed : int
        Of that order.
    warm_up_s : float
        Load before each run that is not counted, whole seconds; 0 for none.
    rest_s : float
        Pause between runs, in s.
    limit_s : float
        Outer time limit of a generator; 0 for one that follows from the load.
    allow_targets : tuple of str
        Hosts, addresses and networks beyond loopback and the laboratory's own that this study may load; each one is a
        decision of its author.
    objective : dict
        What a run must keep: a latency at a quantile, a share of failed requests.
    search : dict
        Instead of levels for one factor: search the level at which the objective breaks.
    stop : dict
        Instead of a number of repeats: repeat until the mean is known well enough.
    """

    study: str
    question: str
    topology: Mapping = field(default_factory=dict)
    hosts: Mapping = field(default_factory=dict)
    links: Mapping = field(default_factory=dict)
    server: Mapping = field(default_factory=lambda: {"nginx": {}})
    balancer: Mapping = field(default_factory=dict)
    load: Mapping = field(default_factory=dict)
    monitors: Mapping = field(default_factory=lambda: dict(MONITORS))
    fault: Mapping = field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = field(default_factory=lambda: {"only": {}})
    factors: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    points: tuple[dict[str, Any], ...] = ()
    design: Literal["grid", "one_at_a_time"] = "grid"
    repeats: int = 3
    seed: int = 0
    warm_up_s: float = 0.0
    rest_s: float = 0.0
    limit_s: float = 0.0
    allow_targets: tuple[str, ...] = ()
    objective: Mapping = field(default_factory=dict)
    search: Mapping = field(default_factory=dict)
    stop: Mapping = field(default_factory=dict)

    def __post_init__(self):
        if broken := tuple(self._broken_rules()):
            broken[0].others = broken[1:]
            raise broken[0]

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        """Every rule that no type can state and that does not hold."""
        if not _NAME.fullmatch(self.study):
            yield ValueRuleError("study", "a name of letters, digits, _ and -", self.study)
        if not self.variants:
            yield ValueRuleError("variants", "at least one name with its settings", self.variants)
        for name in self.variants:
            if not _NAME.fullmatch(name):
                yield ValueRuleError("variants", "named with letters, digits, _ and -", name)
        if self.factors and self.points:
            yield ValueRuleError("points", "left out where there are factors", list(self.points))
        for name, levels in self.factors.items():
            if not levels:
                yield ValueRuleError("factors", f"one or more levels of {name}", list(levels))
            if any(level in levels[:at] for at, level in enumerate(levels)):
                yield ValueRuleError("factors", f"levels of {name} that are each stated once", list(levels))
        for owner, settings in self._settings():
            for place in settings:
                if not _PATH.fullmatch(place) or ("." in place and place.partition(".")[0] not in SECTIONS):
                    yield ValueRuleError(owner, f"places such as load.connections, in {', '.join(SECTIONS)}", place)
        if self.repeats < 1:
            yield ValueRuleError("repeats", "at least 1", self.repeats)
        for name in ("warm_up_s", "rest_s", "limit_s"):
            if not 0 <= getattr(self, name) <= 86_400:
                yield ValueRuleError(name, "0 to 86400 s", getattr(self, name))
        if self.warm_up_s % 1:
            yield ValueRuleError("warm_up_s", "whole seconds", self.warm_up_s)

    def _settings(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Every mapping whose keys are places, with the key of the study it stands under."""
        yield "factors", self.factors
        for name, mappings in (("variants", self.variants.values()), ("points", self.points)):
            for mapping in mappings:
                yield name, mapping

    def sections(self) -> Mapping:
        """What the study says of all its points: section → its settings."""
        return {name: getattr(self, name) for name in SECTIONS}


@dataclass(frozen=True)
class Command:
    """One tool as it ran: a reader can repeat it by hand.

    Attributes
    ----------
    role : str
        ``server``, ``balancer``, ``collector``, ``warm_up`` or ``generator``.
    tool, variant, version : str
        Which parser reads its output (`variant` tells apart several outputs of one tool), and the tool's version.
    host : str
        ``local``, or a name of the topology, such as ``C1``.
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
    folders : tuple of str
        Made empty in the run's folder before the start, and removed at the end with all that was in them.
    unpacked : str
        Archive of the run's folder that was unpacked before the start; empty for none.
    stdin : str
        File of the run's folder with its standard input; empty for none.
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
    folders: tuple[str, ...] = ()
    unpacked: str = ""
    stdin: str = ""


@dataclass(frozen=True)
class Run:
    """What `run.json` says of a run.

    Attributes
    ----------
    study, run_id, status : str
        `status` is one of ``running finished failed interrupted``; anything but finished is done again on resumption.
    factors : dict
        ``variant connections repeat order threads seconds url``, ``levels`` (place of each factor → its level),
        and ``settings``: the sections of the study as they held for this run.  Runs recorded before there were
        sections have ``recipe`` instead.
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
    events : tuple of dict
        What was done to the run on purpose while it lasted, each ``at`` (UTC) and ``what``.
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
    events: tuple[dict[str, str], ...] = ()
    seal: str = ""


def place_of(name: str) -> tuple[str, ...]:
    """Path of a factor's name in the sections.

    Examples
    --------
    >>> place_of("connections"), place_of("server.nginx.process.workers"), place_of("balancer")
    (('load', 'connections'), ('server', 'nginx', 'process', 'workers'), ('balancer',))
    """
    words = tuple(name.split("."))
    return words if words[0] in SECTIONS else ("load", *words)


def settled(sections: Mapping, *changes: Mapping) -> Mapping:
    """Sections with changes put in their places, later ones over earlier ones; nothing given is changed itself.

    Examples
    --------
    >>> settled({"load": {"connections": 1}}, {"connections": 8, "server.nginx.process.workers": 2})
    {'load': {'connections': 8}, 'server': {'nginx': {'process': {'workers': 2}}}}
    """
    result = copy.deepcopy(sections)
    for name, value in (item for change in changes for item in change.items()):
        *path, last = place_of(name)
        inner = result
        for word in path:
            if not isinstance(inner.get(word), dict):
                inner[word] = {}
            inner = inner[word]
        inner[last] = copy.deepcopy(value)
    return result


def in_one_word(sections: Mapping) -> Mapping:
    """Settings as runs recorded them before there were sections: the server a recipe in one word, the load beside it.

    Examples
    --------
    >>> server = {"nginx": {"response": {"delay": {"delay_ms": 10}}}}
    >>> in_one_word({"server": server, "load": {"connections": 8, "duration_s": 6}})
    {'recipe': 'delay 10ms', 'connections': 8, 'threads': 1, 'seconds': 6}
    """
    server, load = sections.get("server", {}), sections.get("load", {})
    delay = server.get("nginx", {}).get("response", {}).get("delay")
    return {
        "recipe": server.get("url") or (f"delay {delay['delay_ms']}ms" if delay else "cpu"),
        "connections": load.get("connections", 1),
        "threads": load.get("threads", 1),
        "seconds": load.get("duration_s", 0),
    }
