import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.audit.rules.unfinished_run import RULE


@pytest.mark.parametrize(
    ("status", "severity"), [("finished", "ok"), ("failed", "error"), ("interrupted", "error"), ("running", "error")]
)
def test_only_finished_is_ok(status, severity):
    runs = tables.check("runs", pd.DataFrame([{"study": "s", "run_id": "r", "status": status}]))
    found = RULE.audit({"runs": runs}).iloc[0]
    assert found["severity"] == severity
    assert (status in found["evidence"]) and bool(found["advice"]) == (severity == "error")


@pytest.mark.parametrize("status", ["failed", "interrupted", None])
def test_a_file_without_a_record_is_not_sent_to_one(status):
    runs = tables.check("runs", pd.DataFrame([{"source": "brought.txt", "status": status}]))
    found = RULE.audit({"runs": runs}).iloc[0]
    assert found["severity"] == "error" and found["advice"]
    for word in ("run.json", "resume", "study", "nan"):
        assert word not in f"{found['evidence']} {found['advice']}"
