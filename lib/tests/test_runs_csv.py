"""A published table as CSV: one run in each row, checked cell by cell."""

import pytest
from conftest import ROOT

import loadcurve
from loadcurve.errors import LoadcurveError

# "Nginx Performance Test": the printed numbers of its three tests, data/published/rt_qps_threads.
PUBLISHED = """\
connections,throughput_rps,latency_mean_s,errors_connect,note
1,22.23,0.045,,one

8000,20260.6,0.04994,6980,
30000,1288.65,0.51529,,
"""


def test_each_row_of_a_published_table_has_its_verdict(tmp_path):
    """1 / 45 ms is 22.2; 20260.6 × 49.94 ms is 1011.8, not 8000; 1288.65 × 515.29 ms is 664, not 30000."""
    file = tmp_path / "published.csv"
    file.write_text(PUBLISHED, "utf-8-sig")
    findings = loadcurve.audit(file)
    found = findings[findings["rule"] == "effective-concurrency"].set_index("run_id")
    assert found["severity"].to_dict() == {"line 2": "ok", "line 4": "error", "line 5": "error"}
    assert found["observed"].round(1).to_dict() == {"line 2": 1.0, "line 4": 1011.8, "line 5": 664.0}
    assert loadcurve.read(file).warnings == ("left out, because no column of runs has this name: 'note'",)


WRONG = [
    ("connections,throughput_rps\n1,2,3\n", r":2: expected 2 cells, got '1,2,3'"),
    ("connections,throughput_rps\n1.5,2\n", r":2: expected a whole number as connections, got '1.5'"),
    ("connections,throughput_rps\n1,nan\n", r":2: expected a number as throughput_rps, got 'nan'"),
    ("throughput_rps,throughput_rps\n1,2\n", r":1: expected each column once, got 'throughput_rps'"),
    ("throughput_rps\n", r":1: expected a row for each run, got 'none'"),
    ("run_id,throughput_rps\na,1\na,2\n", r"expected another run_id for each row, got 'a'"),
    ("throughput_rps,latency_corrected\n1,perhaps\n", r":2: expected true or false as latency_corrected"),
    ("throughput_rps,started_at\n1,soon\n", r":2: expected a time as started_at, got 'soon'"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_a_wrong_cell_is_one_line_with_its_place(tmp_path, text, words):
    file = tmp_path / "a.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(LoadcurveError, match=words):
        loadcurve.read(file)


def test_published_folders_and_other_csv_files_are_not_taken_for_it(tmp_path):
    report = loadcurve.audit(ROOT / "data/published/rt_qps_threads")
    assert report.query("rule == 'effective-concurrency' and severity == 'error'")["run_id"].tolist() == [
        "8000 connections",
        "30000 connections",
    ]
    jmeter = next((ROOT / "lib/tests/data/jmeter").glob("*.csv"), None) or next(
        (ROOT / "lib/tests/data/jmeter").glob("*.txt")
    )
    copy = tmp_path / "a.csv"
    copy.write_bytes(jmeter.read_bytes())
    assert loadcurve.read(copy).tool == "jmeter"
