"""Check many parsed texts against the declared tables, in one check for each table."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import pandas as pd

from loadcurve import tables
from loadcurve.errors import LoadcurveError


def schema_faults(parsed: Iterable[tuple[str, Mapping[str, pd.DataFrame]]]) -> list[str]:
    """Each table that breaks its schema or loses rows in the check, with the name of its text.

    A check costs the same for one row and for a thousand, so tables of the same columns are checked together.  If that
    fails, each is checked alone to find the text.
    """
    together = defaultdict(list)
    for source, found in parsed:
        for name in found:
            together[name, tuple(found[name].columns)].append((source, found[name]))
    return [fault for (name, _), members in together.items() for fault in _faults(name, members)]


def _faults(name: str, members: list[tuple[str, pd.DataFrame]]) -> list[str]:
    filled = [frame for _, frame in members if len(frame)] or [members[0][1]]
    if len(members) > 1:
        try:
            if len(tables.check(name, pd.concat(filled, ignore_index=True))) == sum(map(len, filled)):
                return []
        except (LoadcurveError, TypeError, ValueError):
            pass
    faults = []
    for source, frame in members:
        try:
            if len(tables.check(name, frame)) != len(frame):
                faults.append(f"{source}: rows of {name} are lost")
        except LoadcurveError as error:
            faults.append(f"{source}: {error}")
    return faults
