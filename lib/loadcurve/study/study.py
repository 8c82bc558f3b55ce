"""Study: the content of a `study.yml`, as a frozen dataclass."""

import copy
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from loadcurve.blocks import Grid, Paragraph, to_display
from loadcurve.errors import ValueRuleError
from loadcurve.study.section import Range, Section

SECTIONS = ("topology", "hosts", "links", "server", "balancer", "load", "monitors", "fault", "functions")
"""Sections of a study that define what is run; a factor is a place in one of them."""

PLACE = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z][A-Za-z0-9_.]*)?")
"""Form of a place: ``section.key.key``, or the name of a key of `load`."""

Mapping = dict[str, Any]


def is_place(name: str) -> bool:
    """Return whether a name has the form of a place, so that it can be a factor.

    Examples
    --------
    >>> is_place("connections"), is_place("server.nginx.layout"), is_place("serve.nginx"), is_place("../x")
    (True, True, False, False)
    """
    return bool(PLACE.fullmatch(name)) and len(name) <= 100 and ("." not in name or name.partition(".")[0] in SECTIONS)


def place_of(name: str) -> tuple[str, ...]:
    """Return the path of a place in the sections.

    Examples
    --------
    >>> place_of("connections"), place_of("server.nginx.process.workers"), place_of("balancer")
    (('load', 'connections'), ('server', 'nginx', 'process', 'workers'), ('balancer',))
    """
    words = tuple(name.split("."))
    return words if words[0] in SECTIONS else ("load", *words)


def settled(sections: Mapping, *changes: Mapping) -> Mapping:
    """Return sections with changes applied in order; the arguments stay unchanged.

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
    """Return settings as runs recorded them before studies had sections: the server as one word, and the load.

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


def differences(held: Any, declared: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each place at which two settings differ, with both values; None for a missing value.

    Examples
    --------
    >>> list(differences({"load": {"threads": 1}}, {"load": {"threads": 2}}))
    [('load.threads', 1, 2)]
    """
    if isinstance(held, dict) and isinstance(declared, dict):
        for key in dict.fromkeys((*held, *declared)):
            yield from differences(held.get(key), declared.get(key), f"{place}.{key}".removeprefix("."))
    elif held != declared:
        yield place, held, declared


ONLY_VARIANT = "only"
"""Name of the single variant in a study that declares no variants."""

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
"""Form of the names of studies and variants: they become folder names, and a leading - would be read as an option."""

# A point takes at least 0.5 s in addition to its load, so a larger number of points is a typing error.
_MAX_POINTS = 10_000
_NAMES: dict[str, JsonValue] = {"pattern": f"^{NAME.pattern}$"}
_NAME_RULE = "letters, digits, _ and -, at most 64, not beginning with -"

MONITORS = {"sar": 1, "ss_summary": 1, "ss_connections": 2}
"""Default monitors of a study, each with its interval in s."""

BUSY_RATIO = 0.02
"""Share of a run's CPU time used by other processes above which the run gets a warning.

Repeats of a quiet CPU-bound server scatter by 5 to 8 % (coefficient of variation): 2 % is invisible in one run, and
shifts the mean of a study.
"""


@dataclass(frozen=True)
class StudyKeys(Section):
    """Keys of a study that are not sections."""

    study: Annotated[str, Field(json_schema_extra=_NAMES)]
    """Name of the study and of its folder: 1–64 letters, digits, ``_`` and ``-``, as in the variants' names."""

    question: str
    """Question that the study answers, in one sentence."""

    variants: Annotated[
        dict[str, dict[str, Any]], Field(json_schema_extra={"propertyNames": _NAMES, "minProperties": 1})
    ] = field(default_factory=lambda: {ONLY_VARIANT: {}})
    """Name of each variant → the settings that it changes: place → value."""

    factors: Annotated[
        dict[str, tuple[Any, ...]], Field(json_schema_extra={"propertyNames": {"pattern": f"^{PLACE.pattern}$"}})
    ] = field(default_factory=dict)
    """Place of each factor → its levels, without duplicates. A place is ``section.key.key``, or the name of a key of
    `load`: ``connections`` is ``load.connections``."""

    points: tuple[dict[str, Any], ...] = ()
    """Places and values of each point, listed individually instead of `factors`."""

    design: Literal["grid", "one_at_a_time"] = "grid"
    """``grid``: all combinations of levels; ``one_at_a_time``: the levels of each factor, with the first level of every
    other factor."""

    repeats: Annotated[int, Range(1, 10_000)] = 3
    """Number of runs of each point: the study has this many blocks, each with every point once in random order."""

    seed: int = 0
    """Seed of that order."""

    fault_on_purpose: bool = False
    """Whether the study plants a fault that the audit should find. Such studies are listed apart."""

    warm_up_s: Annotated[float, Range(0, 86_400, unit="s", multiple_of=1)] = 0.0
    """Duration of the warm-up load before each run, which is not counted; 0 for none. The run begins when the servers
    have handled all requests of the warm-up."""

    rest_s: Annotated[float, Range(0, 86_400, unit="s")] = 0.0
    """Pause between runs."""

    limit_s: Annotated[float, Range(0, 86_400, unit="s")] = 0.0
    """Outer time limit of a generator; 0 for a limit computed from the load."""

    allow_targets: tuple[str, ...] = ()
    """Hosts, addresses and networks that this study may load besides loopback and the laboratory's own networks. List
    only targets that you are allowed to load."""

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
            # Occurs only in a study built in Python: for a file, the types have been checked before.
            yield ValueRuleError("factors", f"lists of levels, also of {lone[0]}", self.factors[lone[0]])
            return
        for name, levels in self.factors.items():
            if not levels:
                yield ValueRuleError("factors", f"one or more levels of {name}", list(levels))
            distinct = [level if isinstance(level, str | int | float) else repr(level) for level in levels]
            if len(set(distinct)) < len(distinct):
                yield ValueRuleError("factors", f"levels of {name} without repetition", list(levels))
        if len(set(map(repr, self.points))) < len(self.points):
            yield ValueRuleError("points", "without repetition", list(self.points))
        for owner, settings in self._settings():
            for place in settings:
                if not is_place(place):
                    yield ValueRuleError(owner, f"places such as load.connections, in {', '.join(SECTIONS)}", place)
        points = len(self.points) or math.prod(len(levels) for levels in self.factors.values())
        if points * len(self.variants) > _MAX_POINTS:
            rule = f"of at most {_MAX_POINTS} points in all"
            yield ValueRuleError("points" if self.points else "factors", rule, points * len(self.variants))

    def _settings(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield every mapping whose keys are places, with its key in the study."""
        yield "factors", self.factors
        for name, mappings in (("variants", self.variants.values()), ("points", self.points)):
            for mapping in mappings:
                yield name, mapping


@dataclass(frozen=True)
class Study(StudyKeys):
    """A question, and the factor levels, repeats and topology of the runs that answer it.

    The sections are plain mappings here; `loadcurve.lab.study_file` defines their keys.

    Examples
    --------
    >>> study = Study("threads", "How many threads?", factors={"server.nginx.process.workers": (1, 2)}, repeats=5)
    >>> study.load, study.sections()["server"]
    ({}, {'nginx': {}})
    """

    topology: Mapping = field(default_factory=dict)
    hosts: Mapping = field(default_factory=dict)
    links: Mapping = field(default_factory=dict)
    server: Mapping = field(default_factory=lambda: {"nginx": {}})
    balancer: Mapping = field(default_factory=dict)
    load: Mapping = field(default_factory=dict)
    monitors: Mapping = field(default_factory=lambda: dict(MONITORS))
    fault: Mapping = field(default_factory=dict)
    functions: Mapping = field(default_factory=dict)
    objective: Mapping = field(default_factory=dict)
    search: Mapping | None = None
    stop: Mapping | None = None
    audit: Mapping = field(default_factory=dict)

    def _repr_html_(self) -> str:
        rows = [["variants", ", ".join(self.variants)]]
        rows += [[place, ", ".join(map(str, levels))] for place, levels in self.factors.items()]
        rows += [["points", str(len(self.points))]] if self.points else []
        rows += [["repeats", str(self.repeats)]]
        return to_display([Paragraph(self.study, self.question), Grid(["factor", "levels"], rows, "Factors", left=2)])

    def sections(self) -> Mapping:
        """Return the settings that all points share: section → its settings."""
        return {name: getattr(self, name) for name in SECTIONS}
