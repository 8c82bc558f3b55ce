"""What an audit rule is, and what it finds."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from loadcurve import tables as schemas

Severity = Literal["ok", "warning", "error"]
Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Finding:
    """What a rule reports about one run.

    Attributes
    ----------
    run : row
        Row of a table that names the run: `study`, `run_id` and `source` are its attributes.
    severity : {"ok", "warning", "error"}
        ``ok`` only where the check ran.
    evidence : str
        The numbers, in a sentence.
    advice : str
        What to do next; empty where nothing is wrong.
    observed, expected : float
        What the rule measured and what it should be, in the rule's own unit; NaN where there is no number.

    Examples
    --------
    >>> run = pd.Series({"study": "demo", "run_id": "c0001-r1", "source": None})
    >>> Finding(run, "ok", "The run finished.").severity
    'ok'
    """

    run: Any
    severity: Severity
    evidence: str
    advice: str = ""
    observed: float = np.nan
    expected: float = np.nan


@dataclass(frozen=True)
class Rule:
    """A check of measured data; a module in `loadcurve.audit.rules` registers it with one constant.

    Attributes
    ----------
    name : str
        In lower case with hyphens.  ``handbook/rules/<name>.md`` is its page; without that file, the page is made of
        the module's docstring.
    question : str
        The question that the rule answers for each run.
    find : callable
        Declared tables by name, ``runs`` among them -> findings, one for each row examined, the good ones too.
    severities : mapping of str to str
        Severity -> when the rule reports it, for its page.

    Examples
    --------
    >>> def find_short(tables):
    ...     for run in tables["runs"].itertuples():
    ...         yield Finding(run, "warning", f"The run took {run.duration_s:g} s.", "Measure for 10 s.")
    >>> rule = Rule("short-run", "Was the run long enough?", find_short, {"warning": "below 10 s"})
    >>> runs = schemas.check("runs", pd.DataFrame({"study": ["demo"], "run_id": ["r1"], "duration_s": [2.0]}))
    >>> rule.audit({"runs": runs})[["rule", "severity", "evidence"]].values.tolist()
    [['short-run', 'warning', 'The run took 2 s.']]
    """

    name: str
    question: str
    find: Callable[[Tables], Iterable[Finding]]
    severities: Mapping[Severity, str] = field(default_factory=dict)

    def audit(self, tables: Tables) -> pd.DataFrame:
        """Return the findings in declared tables, as the table ``findings``."""
        rows = [
            {
                "study": found.run.study,
                "run_id": found.run.run_id,
                "source": found.run.source,
                "rule": self.name,
                "severity": found.severity,
                "observed": found.observed,
                "expected": found.expected,
                "evidence": found.evidence,
                "advice": found.advice,
            }
            for found in self.find(tables)
        ]
        return schemas.check("findings", pd.DataFrame(rows))
