"""The declarations as schemas of pandera, which converts the values of a table and names those that break a rule.

pandera takes half a millisecond for each column, whatever the number of rows, and its import takes as long as half of
pandas.  So it is loaded only for a table that `loadcurve.tables.declared` does not accept as it is.
"""

from functools import cache
from math import isinf
from typing import TYPE_CHECKING

import pandas as pd

from loadcurve.errors import LoadcurveError
from loadcurve.tables.schemas import SCHEMAS, Column

if TYPE_CHECKING:
    import pandera.pandas as pa


def validated(table: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return `frame` as the declared table."""
    from pandera.errors import SchemaErrors

    schema = _schema(table)
    try:
        return schema.validate(frame.reindex(columns=list(schema.columns)), lazy=True).reset_index(drop=True)
    except SchemaErrors as error:
        faults = error.failure_cases.groupby(["column", "check"], dropna=False)["failure_case"].first()
        text = "; ".join(f"{column} must be {rule}, got {case!r}" for (column, rule), case in faults.items())
        raise LoadcurveError(f"table {table}: {text}") from None


@cache
def _schema(table: str) -> "pa.DataFrameSchema":
    import pandera.pandas as pa

    return pa.DataFrameSchema(
        {
            name: pa.Column(column.dtype, _checks(column), nullable=not column.required, coerce=True)
            for name, column in SCHEMAS[table].columns.items()
        }
    )


def _checks(column: Column) -> "list[pa.Check]":
    import pandera.pandas as pa

    if isinf(column.most):
        return [] if isinf(column.least) else [pa.Check.ge(column.least)]
    return [pa.Check.in_range(column.least, column.most)]
