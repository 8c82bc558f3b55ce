"""Ranges of a notebook's parameters, which are part of their comments in the cell tagged ``parameters``::

    enough: float = 0.9  # ratio, 0 < enough ≤ 1: share of the best mean throughput that is enough

papermill keeps a comment as the help of its parameter, but it cannot read a line with a second ``=``; so a range
contains ``≤`` and ``≥``.
"""

import re
from typing import Any

from loadcurve.errors import LoadcurveError
from loadcurve.section import Range

_NUMBER = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"
_LOW = {"<": "gt", "≤": "ge"}  # LOW < NAME
_HIGH = {"<": "lt", "≤": "le", ">": "gt", "≥": "ge"}  # NAME < HIGH, NAME > LOW


def range_of(name: str, comment: str) -> Range | None:
    """Return the range that the comment of a parameter declares, before its first colon; None where it declares none.

    Parameters
    ----------
    name : str
        Name of the parameter.
    comment : str
        ``UNIT, RANGE: MEANING``.  The range is ``0 < NAME ≤ 1``, with ``<`` or ``≤`` at each end, or has one end:
        ``NAME ≥ 1``, ``NAME < 10``.

    Raises
    ------
    LoadcurveError
        When there is a sign of comparison, but no range of this parameter.

    Examples
    --------
    >>> range_of("enough", "ratio, 0 < enough ≤ 1: share that is enough").rule("enough")
    '0 < enough <= 1'
    >>> range_of("repeats", "count, repeats ≥ 1: repeats of each point").rule("repeats", whole=True)
    'a whole number >= 1'
    >>> range_of("study", "name of a study, or folder of raw files")
    """
    head = comment.partition(":")[0]
    if not re.search(" [<≤>≥] ", head):
        return None
    found = re.fullmatch(
        rf"(?:.*, )?(?:(?P<low>{_NUMBER}) (?P<above>[<≤]) )?{re.escape(name)}(?: (?P<sign>[<≤>≥]) (?P<end>{_NUMBER}))?",
        head.strip(),
    )
    if found is None or not (found["low"] or found["end"]) or (found["low"] and found["sign"] in (">", "≥")):
        raise LoadcurveError(f"range of {name} must be such as '0 < {name} ≤ 1' or '{name} ≥ 1', got {head!r}")
    ends: dict[str, Any] = {_LOW[found["above"]]: float(found["low"])} if found["low"] else {}
    if found["end"]:
        ends[_HIGH[found["sign"]]] = float(found["end"])
    return Range(**ends)
