"""Tables: plain DataFrames in long form with SI units, declared in `loadcurve.tables.schemas`.

``declared`` checks, describes and labels a table, ``stored`` writes units and meanings into files and reads them, and
``curves`` names the curves of the runs, with one row for all generators of a run.
"""

from loadcurve.tables.curves import check_points, merge_generators, name_curves
from loadcurve.tables.declared import axis_label, check, empty, heading, select
from loadcurve.tables.schemas import SCHEMAS
from loadcurve.tables.stored import columns

__all__ = [
    "SCHEMAS",
    "axis_label",
    "check",
    "check_points",
    "columns",
    "empty",
    "heading",
    "merge_generators",
    "name_curves",
    "select",
]
