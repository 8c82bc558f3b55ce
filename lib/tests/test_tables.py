import pandas as pd
import pytest
from one_test import in_one_test

from loadcurve import tables
from loadcurve.errors import LoadcurveError
from loadcurve.tables.by_pandera import validated
from loadcurve.tables.declared import ARROW_TEXT, _typed, check, check_given
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
    assert all(name in text for name in ("responses", "quantile", "latency_s"))
    assert "\n" not in text


def test_an_unknown_column_is_an_error():
    with pytest.raises(LoadcurveError, match="'cpu_percent'"):
        tables.check("cpu", pd.DataFrame({"cpu_percent": [99.0]}))


def test_an_unknown_table_is_an_error():
    with pytest.raises(LoadcurveError, match="table must be one of runs, .*got 'run'"):
        tables.columns("run")


ODD = [float("nan"), 0, -1, 1, 1.5, True, "x", "2", None, pd.NA, float("inf"), pd.Timestamp("2020-01-01"), 10**40]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.filterwarnings("ignore:Could not infer format")
def test_a_table_is_what_pandera_makes_of_it():
    """Each kind of value in a column of each type and rule: the same column, or pandera names the fault."""
    for name, column in (
        ("latency", "run_id"), ("latency", "responses"), ("latency", "corrected"), ("latency", "latency_s"),
        ("latency", "quantile"), ("load", "time"), ("findings", "rule"),
    ):  # fmt: skip
        several = [[1, None], [0.5, float("nan")], ["a", None], [None, -1], pd.Categorical(["b", None, "a"])]
        for values in [*([odd] for odd in ODD), *several]:
            frame = pd.DataFrame({column: values}, index=[7] * len(values))
            if name == "findings":
                frame["severity"] = "warning"
            found = _typed(name, frame, None)
            try:
                expected = validated(name, frame)
            except (LoadcurveError, OverflowError):
                assert found is None, (name, column, values)
                continue
            assert found is not None, (name, column, values)
            pd.testing.assert_frame_equal(found, expected, obj=f"{name}.{column} of {values}")
            given = check_given(name, frame)
            pd.testing.assert_frame_equal(given, expected[[each for each in expected if each in frame]])
            written = to_arrow(name, check(name, frame, text=ARROW_TEXT))
            assert written.equals(to_arrow(name, check(name, frame)), check_metadata=True), (name, column, values)
