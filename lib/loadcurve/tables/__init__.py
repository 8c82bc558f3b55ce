"""Tables: plain DataFrames in long form with SI units, declared in `loadcurve.tables.schemas`.

``declared`` checks, describes and labels a table, ``stored`` writes units and meanings into files and reads them,
``curves`` names the curves of the runs, and ``whole_runs`` merges the generators of a run.
"""

from loadcurve.tables.curves import check_points, name_curves
from loadcurve.tables.declared import axis_label, check, empty, heading, select
from loadcurve.tables.schemas import SCHEMAS
from loadcurve.tables.stored import columns
from loadcurve.tables.whole_runs import merge_generators

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
