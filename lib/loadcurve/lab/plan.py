"""Which points a study has, and in which order they are run."""

import itertools
import random
from dataclasses import dataclass

from loadcurve.study import Study


@dataclass(frozen=True)
class Point:
    """One point of a study in the order it is run: block by block, in random order within a block.

    A block holds each point once, so slow drift of the machine falls on every level alike.
    """

    run_id: str
    variant: str
    connections: int
    repeat: int
    order: int


def plan(study: Study) -> list[Point]:
    """Points of the study in the order they are run: seeded random order within each block of repeats.

    Examples
    --------
    >>> s = Study("s", "?", {"cpu": "cpu"}, (1, 8), repeats=2, seed=1)
    >>> [p.run_id for p in plan(s)]
    ['cpu-c0008-r1', 'cpu-c0001-r1', 'cpu-c0008-r2', 'cpu-c0001-r2']
    """
    order, points = random.Random(study.seed), []
    for repeat in range(1, study.repeats + 1):
        block = list(itertools.product(study.variants, study.connections))
        order.shuffle(block)
        points += [
            Point(f"{variant}-c{n:04d}-r{repeat}", variant, n, repeat, len(points) + i)
            for i, (variant, n) in enumerate(block)
        ]
    return points
