"""Study, Run and Command: what `study.yml` and `run.json` say, as frozen dataclasses.

A study is a question with the factor levels, repeats and topology that answer it.  A run is one point of it, once.
The laboratory writes run folders and ingestion reads them; the two meet only here, in the folder's two files::

    data/studies/<study>/study.yml
    data/studies/<study>/<run_id>/run.json
    data/studies/<study>/<run_id>/<host>.<tool>[.<variant>].<ext>      verbatim output
"""

import copy
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from loadcurve.errors import ValueRuleError
from loadcurve.section import Range, Section

# Name of the only variant of a study without variants.
ONLY_VARIANT = "only"
# Of studies and variants: they become names of folders, and a leading - would become an option.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
# A point takes at least half a second, besides its load: more points are a typing error.
_MAX_POINTS = 10_000
_NAMES: dict[str, JsonValue] = {"pattern": f"^{NAME.pattern}$"}
PLACE = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z][A-Za-z0-9_.]*)?")
_NAME_RULE = "letters, digits, _ and -, at most 64 and no - at the begin"
SECTIONS = ("topology", "hosts", "links", "server", "balancer", "load", "monitors", "fault")
"""Parts of a study that say what is run; a factor is a place in one of them."""

MONITORS = {"sar": 1, "ss_summary": 1, "ss_connections": 2}
"""Monitors of a study that names none, each with its interval in s."""

BUSY_RATIO = 0.02
"""Part of a run's processors above which what others took is warned of.

Repeats of a quiet processor-bound server scatter by 5 to 8 % (coefficient of variation), so 2 % hides in one run, and
shifts the mean of a study.
"""

Mapping = dict[str, Any]


@dataclass(frozen=True)
class StudyKeys(Section):
    """The keys of a study that are not sections."""

    study: Annotated[str, Field(json_schema_extra=_NAMES)]
    """Name of the study and of its folder: 1–64 letters, digits, ``_`` and ``-``, as in the variants' names."""

    question: str
    """What the study asks, in one sentence."""

    variants: Annotated[
        dict[str, dict[str, Any]], Field(json_schema_extra={"propertyNames": _NAMES, "minProperties": 1})
    ] = field(default_factory=lambda: {ONLY_VARIANT: {}})
    """Name of each variant → the settings in which it differs: place → value."""

    factors: Annotated[
        dict[str, tuple[Any, ...]], Field(json_schema_extra={"propertyNames": {"pattern": f"^{PLACE.pattern}$"}})
    ] = field(default_factory=dict)
    """Place of each factor → its levels, each stated once. A place is ``section.key.key``, or the name of a key of
    `load`: ``connections`` is ``load.connections``."""

    points: tuple[dict[str, Any], ...] = ()
    """Places and values of each point, listed one by one instead of `factors`."""

    design: Literal["grid", "one_at_a_time"] = "grid"
    """``grid``: every level with every other; ``one_at_a_time``: each factor's levels with the first ones of the
    others."""

    repeats: Annotated[int, Range(1, 10_000)] = 3
    """How often each point is run: the number of blocks, each with every point once in random order."""

    seed: int = 0
    """Seed of that order."""

    warm_up_s: Annotated[float, Range(0, 86_400, unit="s", multiple_of=1)] = 0.0
    """Duration of a load before each run that is not counted; 0 for none. The run begins when the servers have handled
    all of its requests."""

    rest_s: Annotated[float, Range(0, 86_400, unit="s")] = 0.0
    """Pause between runs."""

    limit_s: Annotated[float, Range(0, 86_400, unit="s")] = 0.0
    """Outer time limit of a generator; 0 for a limit that follows from the load."""

    allow_targets: tuple[str, ...] = ()
    """Hosts, addresses and networks beyond loopback and the laboratory's own that this study may load; each entry is
    a decision of its author."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not NAME.fullmatch(self.study):
            yield ValueRuleError("study", f"a name of {_NAME_RULE}", self.study)
        if not self.variants:
            yield ValueRuleError("variants", "at least one name with its settings", self.variants)
        for name in self.variants:
            if not NAME.fullmatch(name):
                yield ValueRuleError("variants", f"named with {_NAME_RULE}", name)
        if self.factors and self.points:
            yield ValueRuleError("points", "left out where there are factors", list(self.points))
        if lone := [name for name, levels in self.factors.items() if not isinstance(levels, tuple | list)]:
            # Only in a study made by code: for a file the types are checked before.
            yield ValueRuleError("factors", f"lists of levels, also of {lone[0]}", self.factors[lone[0]])
            return
        for name, levels in self.factors.items():
            if not levels:
                yield ValueRuleError("factors", f"one or more levels of {name}", list(levels))
            distinct = [level if isinstance(level, str | int | float) else repr(level) for level in levels]
            if len(set(distinct)) < len(distinct):
                yield ValueRuleError("factors", f"levels of {name} that are each stated once", list(levels))
        if len(set(map(repr, self.points))) < len(self.points):
            yield ValueRuleError("points", "each stated once", list(self.points))
        for owner, settings in self._settings():
            for place in settings:
                if not is_place(place):
                    yield ValueRuleError(owner, f"places such as load.connections, in {', '.join(SECTIONS)}", place)
        points = len(self.points) or math.prod(len(levels) for levels in self.factors.values())
        if points * len(self.variants) > _MAX_POINTS:
            rule = f"of at most {_MAX_POINTS} points in all"
            yield ValueRuleError("points" if self.points else "factors", rule, points * len(self.variants))

    def _settings(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Every mapping whose keys are places, with the key of the study it stands under."""
        yield "factors", self.factors
        for name, mappings in (("variants", self.variants.values()), ("points", self.points)):
            for mapping in mappings:
                yield name, mapping


@dataclass(frozen=True)
class Study(StudyKeys):
    """A question and what answers it.

    The sections are plain mappings here; `loadcurve.lab.study_file` defines what they may hold.
    """

    topology: Mapping = field(default_factory=dict)
    hosts: Mapping = field(default_factory=dict)
    links: Mapping = field(default_factory=dict)
    server: Mapping = field(default_factory=lambda: {"nginx": {}})
    balancer: Mapping = field(default_factory=dict)
    load: Mapping = field(default_factory=dict)
    monitors: Mapping = field(default_factory=lambda: dict(MONITORS))
    fault: Mapping = field(default_factory=dict)
    objective: Mapping = field(default_factory=dict)
    search: Mapping | None = None
    stop: Mapping | None = None

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
        What was done to the run on purpose while it lasted, and how long the servers took to work off its warm-up; each
        ``at`` (UTC), ``host`` and ``what``.
    background : dict[str, dict]
        What else used the processors while the load lasted: machine (``local``, or a host by ssh) → ``cpus`` (those
        that the run used), ``seconds``, ``other_cpu_s`` (time of processes outside the run) and ``steal_s`` (time that
        the hypervisor kept).  Empty for runs recorded before this was measured.
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
    background: dict[str, dict[str, Any]] = field(default_factory=dict)
    seal: str = ""


def background_ratios(background: Mapping) -> dict[str, tuple[float, float]]:
    """Return what others and the hypervisor took of the processors that a run used, of each machine; NaN for not known.

    Parameters
    ----------
    background : dict
        As `Run` has it.

    Examples
    --------
    >>> background_ratios({"local": {"cpus": [0, 1], "seconds": 5.0, "other_cpu_s": 0.3, "steal_s": 0.0}})
    {'local': (0.03, 0.0)}
    """
    found = {}
    for machine, used in background.items():
        whole_s = len(used["cpus"]) * used["seconds"]
        taken = (used.get(name, math.nan) / whole_s for name in ("other_cpu_s", "steal_s"))
        found[machine] = tuple(min(ratio, 1.0) for ratio in taken)  # times are rounded
    return found


def is_place(name: str) -> bool:
    """Whether a name may be that of a factor.

    Examples
    --------
    >>> is_place("connections"), is_place("server.nginx.layout"), is_place("serve.nginx"), is_place("../x")
    (True, True, False, False)
    """
    return bool(PLACE.fullmatch(name)) and len(name) <= 100 and ("." not in name or name.partition(".")[0] in SECTIONS)


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


def differences(held: Any, wanted: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each place at which two settings differ, and both values; None where one has none.

    Examples
    --------
    >>> list(differences({"load": {"threads": 1}}, {"load": {"threads": 2}}))
    [('load.threads', 1, 2)]
    """
    if isinstance(held, dict) and isinstance(wanted, dict):
        for key in dict.fromkeys((*held, *wanted)):
            yield from differences(held.get(key), wanted.get(key), f"{place}.{key}".removeprefix("."))
    elif held != wanted:
        yield place, held, wanted
