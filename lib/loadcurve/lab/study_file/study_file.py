"""A study file as the laboratory reads it: every section and every point is checked before any run."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from loadcurve.errors import LoadcurveError, ParseError, ValueRuleError, refuse
from loadcurve.files.document import Document, PlacedError, built
from loadcurve.files.paths import check_own_file
from loadcurve.files.yaml_document import read_yaml
from loadcurve.lab.schedule.points import level_sets, named_level
from loadcurve.lab.study_file.cross_checks import broken_together, point_faults
from loadcurve.lab.study_file.sections import Sections
from loadcurve.study import Study, place_of, settled

# File systems of Linux take names of 255 bytes; the number of the repeat and the level of a search need some of them.
_MAX_NAME = 200


@dataclass(frozen=True)
class StudyFile(Sections):
    """A study, or one point of it, with its sections checked, also against each other."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        own = list(super()._broken_rules())
        yield from own or broken_together(self)


def read_checked(path: Path) -> Study:
    """Read a `study.yml`, or that of a folder, and check every section and every point of it.

    Raises
    ------
    ParseError
        When the file is not YAML, or there is one fault in it.
    LoadcurveError
        When there are several faults: a line for each.

    Examples
    --------
    >>> from loadcurve.files import paths
    >>> read_checked(paths.designs() / "scale_out").study
    'scale_out'
    """
    document = read_yaml(check_own_file(path / "study.yml" if path.is_dir() else path))
    study, faults = _faults(document)
    refuse(faults, document.path)
    assert study is not None  # without faults there is one
    return study


def check_study(study: Study) -> None:
    """Check a study that was made by code.

    Raises LoadcurveError with a line for each fault.
    """
    path = Path(study.study) / "study.yml"
    try:
        values = json.loads(json.dumps(asdict(study)))
    except (TypeError, ValueError) as error:  # NumPy's numbers, objects, a mapping that holds itself
        raise LoadcurveError(f"{path}: expected texts, numbers, lists and mappings, got {error}") from None
    document = Document(values, {}, path)
    refuse(_faults(document)[1], document.path)


def settings_of(study: Study, *changes: dict[str, Any]) -> StudyFile:
    """Sections of one point, checked: those of the study with the point's changes; of its first point without any.

    Raises LoadcurveError when together they break a rule.
    """
    document = _document(study, *(changes or _first(study)))
    settings: StudyFile
    settings, faults = built(StudyFile, document)
    refuse(faults, Path(study.study) / "study.yml")
    return settings


def settings_of_point(study: Study, sections: dict[str, Any]) -> StudyFile:
    """Sections of a point that has them all, checked; see `settings_of`."""
    return settings_of(replace(study, **sections), {})


def _first(study: Study) -> tuple[dict[str, Any], dict[str, Any]]:
    """Changes of the first point."""
    return next(iter(study.variants.values())), next(level_sets(study))


def _document(study: Study, *changes: dict[str, Any]) -> Document:
    head = {name: getattr(study, name) for name in ("study", "question", "objective", "audit", "warm_up_s", "limit_s")}
    head["factors"] = {name: [0] for name in study.factors}  # only their names matter to a search
    head |= {"search": study.search, "stop": study.stop}
    return Document(head | settled(study.sections(), *changes), {}, Path("study.yml"))


def _faults(document: Document) -> tuple[Study | None, list[ParseError]]:
    """A study and its faults: those of its sections, of its own keys, of its points."""
    if not isinstance(document.values, dict):
        return None, list(built(Study, document)[1])
    settings, faults = built(StudyFile, document)
    study, own = built(Study, document)
    # A fault in a section hides the broken rules of the study itself, so they are checked again here.
    seen = {(fault.line, fault.expected) for fault in faults}
    faults += [fault for fault in own if (fault.line, fault.expected) not in seen]
    found: list[ParseError] = list(faults)
    if study is not None:
        searched = _searched(settings or built(StudyFile, _document(study, *_first(study)))[0])
        of_points, kept = point_faults(study, document, partial(_point_faults, study), faults, searched)
        # A value that every point overrides need not be right in the study by itself.
        found = [fault for fault in faults if not fault.is_rule or fault in kept] + of_points
        found += _long_names(study, document)
        if study.study != (folder := document.path.absolute().parent.name):
            found.append(ParseError(document.line(("study",)), f"the folder's name {folder}", study.study))
    return study, sorted(found, key=lambda fault: fault.line)


def _point_faults(study: Study, *changes: dict[str, Any]) -> list[PlacedError]:
    return built(StudyFile, _document(study, *changes))[1]


def _long_names(study: Study, document: Document) -> Iterator[ParseError]:
    """Yield a fault where the names of run folders are too long for a file system."""
    parts = [max(map(len, study.variants))]
    for name, levels in study.factors.items():
        parts.append(max(len(named_level(place_of(name), level, at)) for at, level in enumerate(levels)))
    if (longest := sum(parts) + len(parts)) > _MAX_NAME:
        rule = f"factors whose runs have names of at most {_MAX_NAME} characters"
        yield ParseError(document.line(("factors",)), rule, f"{longest} characters")


def _searched(settings: StudyFile | None) -> list[dict[str, Any]]:
    """Changes that a search makes to a point, for its lowest and its highest load."""
    if settings is None or settings.search is None:
        return []
    goal, factor = settings.search.goal, settings.search.factor
    ends = (int(end) if float(end).is_integer() else end for end in (goal.lowest, goal.highest))
    return [{factor: end, "load.duration_s": float(goal.final_s)} for end in ends]
