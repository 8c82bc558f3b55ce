import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.audit.unfinished_run import audit_unfinished_run


@pytest.mark.parametrize(
    ("status", "severity"), [("finished", "ok"), ("failed", "error"), ("interrupted", "error"), ("running", "error")]
)
def test_only_finished_is_ok(status, severity):
    runs = tables.check("runs", pd.DataFrame([{"study": "s", "run_id": "r", "status": status}]))
    found = audit_unfinished_run({"runs": runs}).iloc[0]
    assert found["severity"] == severity
    assert (status in found["evidence"]) and bool(found["advice"]) == (severity == "error")
