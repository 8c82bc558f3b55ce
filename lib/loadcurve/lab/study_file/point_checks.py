"""The faults of a study's points, each reported once, at the line of the change that causes it."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loadcurve.errors import ParseError
from loadcurve.files.checked import PlacedError
from loadcurve.files.document import Document, Place
from loadcurve.lab.schedule.points import level_sets
from loadcurve.study import Study, place_of

Fault = tuple[Place, str, str]
Search = Mapping[str, Any]


@dataclass(frozen=True)
class _Point:
    """A point: its changes; place of each change in the file → place that it changes; the point's name in messages."""

    changes: tuple[Mapping[str, Any], ...]
    owners: Mapping[Place, Place]
    named: str


def point_faults(
    study: Study,
    document: Document,
    check: Callable[..., Iterable[PlacedError]],
    known: Iterable[PlacedError] = (),
    searched: Iterable[Search] = (),
) -> tuple[list[ParseError], list[PlacedError]]:
    """Return the faults that only points of a study have, and the faults of the study itself that its points share.

    A fault of every point with a level (a variant's setting, a listed value) is reported at the line of that level.  A
    fault of a combination of levels names the first point that has it.  `check` returns the faults of a point with some
    changes; `known` are those of the study by itself; `searched` are levels that a search may try.
    """
    points = list(_points(study, tuple(searched) or ({},)))
    having: dict[Fault, dict[int, None]] = {}
    for at, point in enumerate(points):
        for fault in check(*point.changes):
            having.setdefault(fault.key, {})[at] = None
    kept = [fault for fault in known if having.pop(fault.key, None)]
    if not having:
        return [], kept
    of_owner: dict[Place, set[int]] = {}
    for at, point in enumerate(points):
        for owner in point.owners:
            of_owner.setdefault(owner, set()).add(at)
    found = [
        ParseError(line, f"in {where}: {expected}", got)
        for (place, expected, got), failing in having.items()
        for where, line in _causes(place, set(failing), points, of_owner, document)
    ]
    return found, kept


def _points(study: Study, searched: tuple[Search, ...]) -> Iterator[_Point]:
    number = {name: {id(level): at for at, level in enumerate(levels)} for name, levels in study.factors.items()}
    for variant, (index, levels), ends in itertools.product(study.variants, enumerate(level_sets(study)), searched):
        settings = study.variants[variant]
        owners: dict[Place, Place] = {("variants", variant, name): place_of(name) for name in settings}
        for name, level in levels.items():
            place = ("points", index, name) if study.points else ("factors", name, number[name][id(level)])
            owners[place] = place_of(name)
        for name in ends:
            owners["search", "factor"] = place_of(name)
            break  # a trial's duration, which follows, is the search's own
        words = [f"{name} {value}" for name, value in (*levels.items(), *ends.items())]
        head = f"variants.{variant}" if len(study.variants) > 1 else "the point"
        yield _Point((settings, levels, ends), owners, f"{head} with {', '.join(words)}" if words else head)


def _causes(
    place: Place, failing: set[int], points: list[_Point], of_owner: Mapping[Place, set[int]], document: Document
) -> Iterator[tuple[str, int]]:
    """Name and line of each change that alone causes a fault, and of the first combination that does."""
    first = points[min(failing)]
    always = [owner for at in sorted(failing) for owner in points[at].owners if of_owner[owner] <= failing]
    always = list(dict.fromkeys(always))
    path = {owner: points[min(of_owner[owner])].owners[owner] for owner in always}
    # The change nearest to the place of the fault comes first.
    always.sort(key=lambda owner: -_shared(path[owner], place))
    left = set(failing)
    for owner in always:
        if left & of_owner[owner] and (_shared(path[owner], place) == len(path[owner]) or left == failing):
            left -= of_owner[owner]
            yield ".".join(map(str, owner)), document.line(owner)
    if left:
        first = points[min(left)]
        near = max(first.owners, key=lambda owner: _shared(first.owners[owner], place), default=())
        yield first.named, document.line(near)


def _shared(one: Place, other: Place) -> int:
    """Number of words that two places have in common from the left."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
