"""Run every rule of the audit over tables."""

import pandas as pd

from loadcurve import tables as schemas
from loadcurve.audit import rules
from loadcurve.audit.rule import Rule, Tables
from loadcurve.discovery import registered
from loadcurve.errors import LoadcurveError


def all_rules() -> dict[str, Rule]:
    """Return the registered rules by name, in the order of their modules.

    Raises
    ------
    LoadcurveError
        When two rules have one name.

    Examples
    --------
    >>> all_rules()["unfinished-run"].question
    'Did the run end as planned?'
    """
    found: dict[str, Rule] = {}
    for rule in registered(rules, Rule):
        if rule.name in found:
            raise LoadcurveError(f"a rule's name must be unique, got {rule.name!r} twice")
        found[rule.name] = rule
    return found


def audit(tables: Tables) -> pd.DataFrame:
    """Return what every rule finds.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
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
    [['effective-concurrency', 'ok'], ['unfinished-run', 'ok']]
    """
    if "runs" not in tables:
        raise LoadcurveError(f"tables must include 'runs', got {', '.join(map(repr, tables)) or 'none'}")
    checked = {name: schemas.check(name, frame) for name, frame in tables.items()}
    found = [rule.audit(checked) for rule in all_rules().values()]
    return schemas.check("findings", pd.concat(found, ignore_index=True))
