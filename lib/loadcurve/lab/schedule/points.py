"""Compute the points of a study and the order of their runs."""

import itertools
import random
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loadcurve.study import ONLY_VARIANT, Study, place_of, settled

_SLUG = re.compile(r"[A-Za-z0-9_.]{1,20}")
_CONNECTIONS = ("load", "connections")


@dataclass(frozen=True)
class Point:
    """One run of a point; points run block by block, in random order within a block.

    A block holds each point once, so slow drift of the machine affects all levels equally.
    """

    run_id: str  # Name of the run's folder; it is for sorting and reading, and is never parsed
    variant: str  # Variant of the study
    levels: Mapping[str, Any]  # Place of each factor → its level
    # `repeat` and `order`: number of the block, from 1, and of the run, from 0.
    repeat: int
    order: int
    settings: Mapping[str, Any]  # Sections of the study with the settings of this point


def plan(study: Study) -> list[Point]:
    """Return the points of the study in the order of their runs: seeded random order within each block of repeats.

    Examples
    --------
    >>> s = Study("s", "?", factors={"connections": (1, 8)}, repeats=2, seed=1)
    >>> [p.run_id for p in plan(s)]
    ['c0008-r1', 'c0001-r1', 'c0008-r2', 'c0001-r2']
    """
    order = random.Random(study.seed)
    points: list[Point] = []
    for repeat in range(1, study.repeats + 1):
        points += block(study, repeat, order, len(points))
    return points


def block(study: Study, repeat: int, order: random.Random, begun: int) -> list[Point]:
    """Return every point of a study once, in random order; `begun` is the number of earlier runs.

    A functional test that has been repeated often enough (`functions.repeats`) is left out.
    """
    every = itertools.product(study.variants, level_sets(study))
    pairs = [(variant, levels) for variant, levels in every if repeat <= repeats_of(study, variant, levels)]
    order.shuffle(pairs)
    return [
        Point(
            "-".join((*_names(study, variant, levels), f"r{repeat}")),
            variant,
            levels,
            repeat,
            begun + i,
            settings_of_point(study, variant, levels),
        )
        for i, (variant, levels) in enumerate(pairs)
    ]


def repeats_of(study: Study, variant: str, levels: dict[str, Any]) -> int:
    """Return how often a point is run at most: a functional test may set it, a load has no limit of its own."""
    return settings_of_point(study, variant, levels)["functions"].get("repeats") or sys.maxsize


def level_sets(study: Study) -> Iterator[dict[str, Any]]:
    """Yield the levels of each point: all combinations, one factor at a time, or as listed in the study."""
    if study.points:
        yield from study.points
    elif study.design == "grid":
        for levels in itertools.product(*study.factors.values()):
            yield dict(zip(study.factors, levels, strict=True))
    else:
        first = {name: levels[0] for name, levels in study.factors.items()}
        yield first
        for name, levels in study.factors.items():
            yield from ({**first, name: level} for level in levels[1:])


def settings_of_point(study: Study, variant: str, levels: dict[str, Any]) -> dict[str, Any]:
    """Return the sections of a study with a variant's settings and the levels; a level overrides a variant."""
    return settled(study.sections(), study.variants[variant], levels)


def arm(study: Study, variant: str, levels: Mapping[str, Any]) -> str:
    """Return the name of a variant and levels, without the repeat; empty if the study has only one of each."""
    return "-".join(_names(study, variant, levels))


def _names(study: Study, variant: str, levels: Mapping[str, Any]) -> Iterator[str]:
    if tuple(study.variants) != (ONLY_VARIANT,):
        yield variant
    if study.points:
        yield f"p{study.points.index(levels) + 1:02d}"
        return
    for name, level in levels.items():
        place = place_of(name)
        known = study.factors.get(name, ())
        yield named_level(place, level, known.index(level) if level in known else 0)


def named_level(place: tuple[str, ...], level: object, index: int) -> str:
    """Return the part of a folder's name for a level: its value if that is short, else its index.

    Examples
    --------
    >>> named_level(("load", "connections"), 64, 0), named_level(("server", "nginx", "process", "workers"), 2, 0)
    ('c0064', 'workers2')
    """
    if place == _CONNECTIONS and isinstance(level, int):
        return f"c{level:04d}"
    # Two levels must not have the same name, so a level is shortened only if the short form is exact.
    short = isinstance(level, float) and float(f"{level:g}") == level
    text = f"{level:g}" if short else str(level)
    scalar = not isinstance(level, dict | list | tuple)
    return f"{place[-1]}{text}" if scalar and _SLUG.fullmatch(text) else f"{place[-1]}-{index + 1}"
