"""A study file as the laboratory reads it: every section by its rules, every point checked before any is run."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from loadcurve.errors import ParseError
from loadcurve.lab.network.conditions import LinkConditions
from loadcurve.lab.sections.adaptive import FaultSection, ObjectiveSection, SearchSection, StopSection
from loadcurve.lab.sections.balancers import BalancerSection
from loadcurve.lab.sections.hosts import HostSection, TopologySection
from loadcurve.lab.sections.load import LoadSection
from loadcurve.lab.sections.section import strict
from loadcurve.lab.sections.servers import MonitorsSection, NginxSection, ServerSection
from loadcurve.lab.sections.together import check_together
from loadcurve.records import built, refuse
from loadcurve.study import MONITORS, Study, place_of, settled
from loadcurve.yaml_file import Document, Place, read_yaml


@strict
@dataclass(frozen=True)
class StudyFile(Study):
    """A study, or one point of it, with its sections checked; see `Study` for what they mean."""

    topology: TopologySection = field(default_factory=TopologySection)
    hosts: dict[str, HostSection] = field(default_factory=dict)
    links: dict[str, LinkConditions] = field(default_factory=dict)
    server: ServerSection = field(default_factory=lambda: ServerSection(nginx=NginxSection()))
    balancer: BalancerSection = field(default_factory=BalancerSection)
    load: LoadSection = field(default_factory=LoadSection)
    monitors: MonitorsSection = field(default_factory=lambda: MonitorsSection(**MONITORS))
    fault: FaultSection = field(default_factory=FaultSection)
    objective: ObjectiveSection = field(default_factory=ObjectiveSection)
    search: SearchSection | None = None
    stop: StopSection | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_together(self)


def read_checked(path: Path) -> Study:
    """Read a `study.yml`, or that of a folder, and check every section and every point of it.

    Raises
    ------
    ParseError
        When the file is not YAML, or there is one fault in it.
    LoadcurveError
        When there are several faults: a line for each.
    """
    document = read_yaml(path / "study.yml" if path.is_dir() else path)
    _, faults = built(StudyFile, document)
    study, _ = built(Study, document)
    faults = faults or list(_level_faults(study, document))
    if study is not None and study.study != document.path.parent.name:
        faults.append(
            ParseError(document.line(("study",)), f"the folder's name {document.path.parent.name}", study.study)
        )
    refuse(sorted(faults, key=lambda fault: fault.line), document.path)
    return study


def check_study(study: Study) -> None:
    """Check a study that was made rather than read.

    Raises
    ------
    LoadcurveError
        With a line for each fault.
    """
    values = {name: value for name, value in asdict(study).items() if value or name not in ("search", "stop")}
    document = Document(json.loads(json.dumps(values)), {}, Path(study.study) / "study.yml")
    _, faults = built(StudyFile, document)
    refuse(faults or list(_level_faults(study, document)), document.path)


def settings_of(study: Study, *changes: dict[str, Any]) -> StudyFile:
    """Sections of one point, checked: those of the study with the point's changes.

    Raises
    ------
    LoadcurveError
        When together they break a rule.
    """
    document = _document(study, *changes)
    settings, faults = built(StudyFile, document)
    refuse(faults, Path(study.study) / "study.yml")
    return settings


def settings_of_point(study: Study, sections: dict[str, Any]) -> StudyFile:
    """Sections of a point that has them all, checked; see `settings_of`."""
    return settings_of(replace(study, **sections))


def schema() -> dict[str, Any]:
    """JSON schema of study files, by which an editor completes them."""
    made = TypeAdapter(StudyFile).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "loadcurve study"}


def _document(study: Study, *changes: dict[str, Any]) -> Document:
    head = {"study": study.study, "question": study.question, "objective": study.objective}
    adaptive = {name: value for name in ("search", "stop") if (value := getattr(study, name))}
    return Document(head | adaptive | settled(study.sections(), *changes), {}, Path("study.yml"))


def _level_faults(study: Study | None, document: Document) -> Iterator[ParseError]:
    """What is wrong with each variant, level and point, by itself and then with the others, each named where it is."""
    if study is None:
        return
    first = {name: levels[0] for name, levels in study.factors.items()}
    alone: list[tuple[Place, tuple[dict[str, Any], ...]]] = []
    for name, changes in study.variants.items():
        alone.append((("variants", name), (first, changes)))
    for factor, levels in study.factors.items():
        alone += [(("factors", factor, at), (first, {factor: level})) for at, level in enumerate(levels)]
    alone += [(("points", at), (point,)) for at, point in enumerate(study.points)]
    found = [fault for place, changes in alone for fault in _faults_of(study, document, place, *changes)]
    yield from found
    if found or study.design != "grid":
        return
    for name, levels in itertools.product(study.variants, itertools.product(*study.factors.values())):
        point = dict(zip(study.factors, levels, strict=True))
        together = list(_faults_of(study, document, ("variants", name), point, study.variants[name]))
        yield from together
        if together:
            return


def _faults_of(study: Study, document: Document, place: Place, *changes: dict[str, Any]) -> Iterator[ParseError]:
    _, faults = built(StudyFile, _document(study, *changes))
    where = ".".join(map(str, place))
    for fault in faults:
        # The change that put the fault there, where one of its places leads to it.
        named = next((n for n in changes[-1] if fault.expected.startswith(".".join(place_of(n)))), "")
        line = document.line((*place, named) if named else place)
        yield ParseError(line, f"in {where}: {fault.expected}", fault.got)
