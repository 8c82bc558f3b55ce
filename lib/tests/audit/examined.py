"""What the tests of rules share: findings about runs and rows of tables, and cases of a table with what is expected."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from loadcurve.audit import all_rules
from loadcurve.tables import check

NAMES = {"study": "s", "run_id": "r0"}


def examiner(**run):
    """Return a function that audits runs, of which each differs from one run, with rows of other tables."""

    def audited(rule, *runs, **others):
        rows = [NAMES | {"run_id": f"r{i}", "status": "finished"} | run | own for i, own in enumerate(runs or [{}])]
        tables = {name: check(name, named(of), extra=True) for name, of in others.items()}
        return all_rules()[rule].audit({"runs": check("runs", pd.DataFrame(rows)), **tables})

    return audited


def named(rows):
    """Return rows as those of the first run, unless they name another."""
    return rows.assign(**NAMES) if isinstance(rows, pd.DataFrame) else pd.DataFrame([NAMES | row for row in rows])


@dataclass
class Case:
    """A rule, what it examines, and what it must find: severities of all findings, words and number of the last."""

    rule: str
    severities: str
    runs: tuple
    tables: dict
    says: str
    observed: Any

    def __str__(self):
        return f"{self.rule} {self.severities or 'nothing'}"

    def check(self, audited):
        found = audited(self.rule, *self.runs, **self.tables)
        assert " ".join(found["severity"]) == self.severities
        if not self.severities:
            return
        last = found.iloc[-1]
        assert self.says in f"{last['evidence']} {last['advice']}" and "nan" not in last["evidence"]
        assert bool(last["advice"]) == (last["severity"] != "ok")
        assert self.observed is None or last["observed"] == self.observed


def case(rule, severities, *runs, says="", observed=None, **tables):
    return Case(rule, severities, runs, tables, says, observed)
