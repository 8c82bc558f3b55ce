"""A published table as CSV: one run in each row, checked cell by cell."""

import pandas as pd
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
    assert loadcurve.read(file).warnings == ()
    assert set(loadcurve.read(file).tables["factors"]["factor"]) == {"note"}, "what differs is no repeat"


WRONG = [
    ("connections,throughput_rps\n1,2,3\n", r":2: expected 2 cells, got '1,2,3'"),
    ("connections,throughput_rps\n1.5,2\n", r":2: expected a whole number as connections, got '1.5'"),
    ("connections,throughput_rps\n1,nan\n", r":2: expected a number as throughput_rps, got 'nan'"),
    ("throughput_rps,throughput_rps\n1,2\n", r":1: expected each column once, got 'throughput_rps'"),
    ("throughput_rps\n", r":1: expected a row for each run, got 'none'"),
    ("run_id,throughput_rps\na,1\na,2\n", r"expected another run_id for each row, got 'a'"),
    ("throughput_rps,latency_corrected\n1,perhaps\n", r":2: expected true or false as latency_corrected"),
    ("connections,throughput_rps\n1,2\n-3,2\n", r":3: expected a whole number from 0 as connections, got '-3'"),
    ("throughput_rps,latency_mean_ms\n1,-2\n", r":2: expected a number from 0 as latency_mean_ms, got '-2'"),
    ("throughput_rps,cpu_steal_ratio\n1,50\n", r":2: expected a ratio from 0 to 1 as cpu_steal_ratio, got '50'"),
    ("throughput_rps,latency_mean_ms,latency_mean_s\n1,2,3\n", r":1: expected each column once, got 'latency_mean_s'"),
    (
        "threads,rps,rt_ms\n1,2,3\n",
        r":1: expected a table of runs, with a column throughput_rps; write throughput_rps for "
        r"'rps', latency_mean_ms for 'rt_ms', got 'threads,rps,rt_ms'",
    ),
    ("throughput_rps,started_at\n1,soon\n", r":2: expected a time as started_at, got 'soon'"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_a_wrong_cell_is_one_line_with_its_place(tmp_path, text, words):
    file = tmp_path / "a.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(LoadcurveError, match=words):
        loadcurve.read(file)


def test_response_times_in_milliseconds_are_suggested_and_read(tmp_path):
    """100 × 0.2 s is 20 in flight; 100 × 200 s is 20,000, a thousand times the connections."""
    file = tmp_path / "a.csv"
    severities = []
    for name in ("latency_mean_s", "latency_mean_ms"):
        file.write_text(f"connections,throughput_rps,{name}\n20,100,200\n", "utf-8")
        found = loadcurve.audit(file).set_index("rule").loc["effective-concurrency"]
        severities.append(found["severity"])
        if len(severities) == 1:
            assert "1,000 × N, as if response times were in milliseconds" in found["evidence"]
            assert "Name the column latency_mean_ms" in found["advice"]
    assert severities == ["error", "ok"]
    assert loadcurve.read(file).tables["runs"]["latency_mean_s"].tolist() == [0.2]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("throughput_rps,rt_ms,Conections", "'rt_ms' (write latency_mean_ms?), 'Conections' (write connections?)"),
        ("throughput_rps,threads,kernel", "no column connections: if threads counts requests in flight"),
    ],
)
def test_a_column_that_is_nearly_right_gets_a_hint(tmp_path, header, words):
    file = tmp_path / "a.csv"
    file.write_text(f"{header}\n1,2,3\n", "utf-8")
    assert any(words in warning for warning in loadcurve.read(file).warnings)


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


def test_a_table_of_ones_own_needs_no_file_and_words_in_it_are_never_pooled(tmp_path):
    """Two servers as a script collects them: two curves of finished runs, from a DataFrame and from a CSV file."""
    rows = [(server, n, 100.0 * n**0.9) for server in ("nginx", "caddy") for n in (1, 2, 4)]
    runs = pd.DataFrame(rows, columns=["server", "connections", "throughput_rps"], index=[0, 1, 2] * 2)
    runs.to_csv(tmp_path / "runs.csv", index=False)
    for given in (runs, {"runs": runs}, tmp_path / "runs.csv"):
        found = loadcurve.analyse(given)
        assert [curve.variant for curve in found.curves] == ["server=caddy", "server=nginx"]
        assert found.verdict.severity == "warning" and loadcurve.audit(given).verdict == found.verdict
    assert "file" not in str(loadcurve.analyse(runs))


@pytest.mark.parametrize(
    ("columns", "lacks"),
    [
        (
            {"c": [1], "rps": [2.0]},
            r"throughput_rps and connections or target_rate_rps, got 'c' \(write connections\?\)",
        ),
        ({"connections": [1]}, "the columns throughput_rps, got 'connections'$"),
        ({"connections": [], "throughput_rps": []}, "a row for each run, got none"),
    ],
)
def test_a_column_that_is_missing_is_named(columns, lacks):
    with pytest.raises(LoadcurveError, match=f"^runs must have .*{lacks}"):
        loadcurve.analyse(pd.DataFrame(columns))
