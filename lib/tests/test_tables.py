import pandas as pd
import pytest
from one_test import in_one_test

from loadcurve import tables
from loadcurve.errors import LoadcurveError
from loadcurve.tables.declared import ARROW_TEXT, check, check_given
from loadcurve.tables.stored import to_arrow


@in_one_test("name", tables.SCHEMAS)
def test_every_column_says_what_it_is(name):
    declared = tables.columns(name)
    assert declared["meaning"].str.endswith(".").all()
    assert not declared["column"].duplicated().any()


@in_one_test("name", tables.SCHEMAS)
def test_units_and_suffixes_agree(name):
    suffixes = {"s": "_s", "ratio": "_ratio", "rps": "_rps", "pps": "_pps", "bytes": "_bytes",
                "bps": "_bps", "bytes_per_s": "_bytes_per_s", "per_s": "_per_s"}  # fmt: skip
    for column, declared in tables.SCHEMAS[name].columns.items():
        if declared.unit in suffixes:
            assert column.endswith(suffixes[declared.unit]) or column == "quantile"


@in_one_test("name", tables.SCHEMAS)
def test_an_empty_table_has_its_columns_and_survives_parquet(name, tmp_path):
    empty = tables.empty(name)
    assert list(empty.columns) == list(tables.SCHEMAS[name].columns)
    empty.to_parquet(tmp_path / "t.parquet")
    assert list(tables.check(name, pd.read_parquet(tmp_path / "t.parquet")).columns) == list(empty.columns)


def test_missing_stays_missing():
    checked = tables.check("latency", pd.DataFrame({"study": ["s"], "run_id": ["r"], "latency_s": [float("nan")]}))
    assert checked["latency_s"].isna().all()
    assert checked["generator"].isna().all()


@pytest.mark.parametrize(
    ("usable", "row"),
    [
        (True, {"connections": 100, "throughput_rps": 1000.0, "latency_mean_s": 0.1}),  # 1000 · 0.1 = 100
        (False, {"connections": 64, "throughput_rps": 20000.0, "latency_mean_s": 0.0704}),  # 1408 of 64
        (False, {"connections": 8000, "throughput_rps": 20260.6, "latency_mean_s": 0.04994}),  # 1012 of 8000
        # At a fixed rate connections may be idle, but no more than there are can be busy.
        (True, {"connections": 100, "throughput_rps": 100.0, "latency_mean_s": 0.01, "target_rate_rps": 100.0}),
        (False, {"connections": 100, "throughput_rps": 100.0, "latency_mean_s": 2.0, "target_rate_rps": 100.0}),
        (pd.NA, {"connections": 4, "throughput_rps": 100.0, "latency_mean_s": 0.04, "latency_origin": "derived (N/X)"}),
        (pd.NA, {"connections": 4, "throughput_rps": 100.0, "latency_mean_s": 0.0}),  # wrk without a response
        (pd.NA, {"throughput_rps": 100.0, "latency_mean_s": 0.04}),
    ],
)
def test_response_times_that_connections_cannot_have_are_marked(usable, row):
    (found,) = tables.check("runs", pd.DataFrame([row]))["latency_usable"]
    assert pd.isna(found) if usable is pd.NA else found == usable


def test_all_faults_are_named_in_one_line():
    wrong = pd.DataFrame({"study": ["s"], "responses": [-1], "quantile": [99.0], "latency_s": [-1.0]})
    with pytest.raises(LoadcurveError) as caught:
        tables.check("latency", wrong)
    text = str(caught.value)
    expected = "responses must be >= 0, got -1", "quantile must be from 0 to 1, got 99.0", "latency_s must be >= 0"
    assert all(fault in text for fault in expected)
    assert "\n" not in text


def test_an_unknown_column_is_an_error():
    with pytest.raises(LoadcurveError, match="'cpu_percent'"):
        tables.check("cpu", pd.DataFrame({"cpu_percent": [99.0]}))


def test_an_unknown_table_is_an_error():
    with pytest.raises(LoadcurveError, match="table must be one of runs, .*got 'run'"):
        tables.columns("run")


@pytest.mark.parametrize(
    ("name", "frame", "text"),
    [
        ("latency", {"responses": [1, 2.5, 3, "x"]}, "responses must be of type integer, got 2.5"),
        ("latency", {"latency_s": ["1", "2 ms"]}, "latency_s must be of type number, got '2 ms'"),
        ("latency", {"corrected": [True, "x", "y"]}, "corrected must be of type yes/no, got 'x'"),
        ("load", {"time": ["2020-01-01", "noon"]}, "time must be of type time, got 'noon'"),
        ("findings", {"severity": ["ok"], "rule": [None]}, "rule must be known, got None"),
        ("findings", {"severity": ["ok"]}, "column 'rule' is required"),
    ],
)
def test_a_fault_names_the_value(name, frame, text):
    with pytest.raises(LoadcurveError, match=f"^table {name}: .*{text}"):
        tables.check(name, pd.DataFrame(frame))


def test_a_column_that_is_there_twice_is_an_error():
    with pytest.raises(LoadcurveError, match="expected each column once, got 'run_id' twice"):
        tables.check("latency", pd.DataFrame([["a", "b"]], columns=["run_id", "run_id"]))


ODD = [
    *([one] for one in [float("nan"), 0, -1, 1, 1.5, True, "x", "2", None, pd.NA, float("inf")]),
    [pd.Timestamp("2020-01-01")], [10**40], [1, None], [0.5, float("nan")], ["a", None], [None, -1],
    pd.Categorical(["b", None, "a"]),
]  # fmt: skip
TEXT_NUMBER, NO_NUMBER = {7}, {6, 11, 15, 17}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.filterwarnings("ignore:Could not infer format")
@in_one_test(
    ("name", "column", "refused"),
    [  # the places in ODD of what a column of this type and rule may not hold
        ("latency", "run_id", set()),
        ("latency", "responses", {2, 4, 10, 12, 14, 16} | NO_NUMBER),
        ("latency", "corrected", {2, 4, 10, 12, 14, 16} | TEXT_NUMBER | NO_NUMBER),
        ("latency", "latency_s", {2, 9, 16} | NO_NUMBER),
        ("latency", "quantile", {2, 4, 9, 10, 12, 16} | TEXT_NUMBER | NO_NUMBER),
        ("load", "time", {5, 6, 7, 12, 15, 17}),
        ("findings", "rule", {0, 8, 9, 13, 14, 15, 16, 17}),
    ],
)
def test_a_column_refuses_or_converts_each_kind_of_value(name, column, refused):
    for at, values in enumerate(ODD):
        frame = pd.DataFrame({column: values}, index=[7] * len(values))
        if name == "findings":
            frame["severity"] = "warning"
        if at in refused:
            with pytest.raises(LoadcurveError, match=f"{column} must be "):
                check(name, frame)
            continue
        found = check(name, frame)
        declared = tables.SCHEMAS[name].columns
        assert {each: found[each].dtype for each in declared} == {each: one.dtype for each, one in declared.items()}
        if column != "time":  # an infinite one is missing
            assert found[column].isna().tolist() == pd.isna(pd.Series(values)).tolist()
        assert found.index.tolist() == list(range(len(values)))
        given = check_given(name, frame)
        pd.testing.assert_frame_equal(given, found[[each for each in found if each in frame]])
        written = to_arrow(name, check(name, frame, text=ARROW_TEXT))
        assert written.equals(to_arrow(name, found), check_metadata=True), (column, values)
