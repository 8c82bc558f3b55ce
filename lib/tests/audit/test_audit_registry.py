from pathlib import Path

import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.audit import RULES, audit
from loadcurve.errors import LoadcurveError

PAGES = Path(__file__).resolve().parents[3] / "handbook" / "rules"


def runs(*status):
    rows = [{"study": "s", "run_id": f"r{i}", "status": each} for i, each in enumerate(status)]
    return {"runs": tables.check("runs", pd.DataFrame(rows))}


def test_every_rule_has_a_page():
    assert [name for name in RULES if not (PAGES / f"{name}.md").read_text().startswith(f"# {name}\n")] == []


def test_every_rule_speaks_of_every_finished_run():
    found = audit(runs("finished", "failed", "finished"))
    assert set(found["rule"]) == set(RULES)
    for rule in RULES:
        assert {"r0", "r2"} <= set(found.loc[found["rule"] == rule, "run_id"])


def test_severities_are_the_three():
    assert set(audit(runs("finished", "running"))["severity"]) <= {"ok", "warning", "error"}


def test_nothing_to_audit_is_no_finding():
    assert audit({"runs": tables.empty("runs")}).empty


def test_runs_are_required():
    with pytest.raises(LoadcurveError, match="tables must be with 'runs', got 'cpu'"):
        audit({"cpu": tables.empty("cpu")})
