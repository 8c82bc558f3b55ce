"""The rules of the audit, and the run of all of them.

A rule is a module with its name (`RULE`) and one function: the tables in, the table ``findings`` out, one finding for
each row it looked at, the good ones too.  A verdict comes only from a check that ran.
"""

from collections.abc import Callable

import pandas as pd

from loadcurve import tables as schemas
from loadcurve.audit import effective_concurrency, unfinished_run
from loadcurve.errors import LoadcurveError

RULES: dict[str, Callable[[dict[str, pd.DataFrame]], pd.DataFrame]] = {
    unfinished_run.RULE: unfinished_run.audit_unfinished_run,
    effective_concurrency.RULE: effective_concurrency.audit_effective_concurrency,
}


def audit(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what every rule finds.

    Parameters
    ----------
    tables : dict of str to pandas.DataFrame
        Tables by name, in their declared columns; ``runs`` is required.

    Returns
    -------
    pandas.DataFrame
        The table ``findings``: rule after rule, rows in the order of the table the rule reads.

    Raises
    ------
    LoadcurveError
        When the table ``runs`` is not given, or a table breaks its schema.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": ["demo"], "run_id": ["c0001-r1"], "status": ["finished"], "connections": [1],
    ...                      "throughput_rps": [22.23], "latency_mean_s": [0.045]})
    >>> audit({"runs": runs})[["rule", "severity"]].values.tolist()
    [['unfinished-run', 'ok'], ['effective-concurrency', 'ok']]
    """
    if "runs" not in tables:
        raise LoadcurveError(f"tables must be with 'runs', got {', '.join(map(repr, tables)) or 'none'}")
    checked = {name: schemas.check(name, frame) for name, frame in tables.items()}
    found = [rule(checked) for rule in RULES.values()]
    return schemas.check("findings", pd.concat(found, ignore_index=True))
