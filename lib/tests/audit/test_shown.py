"""The numbers of a fault's figure: which rows, which axis, which limit, and what is known of the load."""

import pandas as pd
import pytest

from loadcurve.audit.atlas import Shows, summarise_shown

CPU = pd.DataFrame(
    {"elapsed_s": [1.0, 1.0, 2.0, 2.0], "cpu": ["0", "all", "0", "all"], "cpu_steal_ratio": [0.1, 0.2, 0.3, 0.4]}
)


def values(shown, *columns):
    return shown[list(columns)].to_numpy().tolist()


def test_a_table_with_times_is_a_timeline_of_the_rows_that_are_asked_for():
    shows = Shows("cpu", ("cpu_steal_ratio",), where={"cpu": "all"}, limit="stolen-processors.warning")
    shown = summarise_shown(shows, {"cpu": CPU})
    assert values(shown, "axis", "x", "value", "limit") == [["time", 1.0, 0.2, 0.02], ["time", 2.0, 0.4, 0.02]]
    assert set(shown["panel"]) == {"CPU steal [ratio]"}


def test_each_value_of_a_column_is_a_series():
    shown = summarise_shown(Shows("cpu", ("cpu_steal_ratio",), by="cpu"), {"cpu": CPU})
    assert shown.groupby("series")["value"].apply(list).to_dict() == {"cpu 0": [0.1, 0.3], "cpu all": [0.2, 0.4]}


def test_segments_sent_stand_for_the_load_where_no_request_was_timed():
    tcp = pd.DataFrame({"elapsed_s": [1.0, 2.0], "segments_sent_pps": [500.0, 100.0]})
    shown = summarise_shown(Shows("cpu", ("cpu_steal_ratio",), where={"cpu": "0"}), {"cpu": CPU, "tcp": tcp})
    assert values(shown, "panel", "value")[:2] == [["Segments sent [1/s]", 500.0], ["Segments sent [1/s]", 100.0]]


def test_single_requests_show_the_load_of_each_second():
    """Two responses end in the first second, one in the second, none in the third, and one in the fourth."""
    requests = pd.DataFrame({"offset_s": [0.0, 0.1, 0.9, 0.7], "latency_s": [0.2, 0.4, 0.3, 2.4]})
    shown = summarise_shown(Shows("cpu", ("cpu_steal_ratio",), by="cpu"), {"cpu": CPU, "requests": requests})
    of = dict(list(shown.groupby("panel")))
    assert values(of["Throughput [requests/s]"], "x", "value") == [[0.5, 2.0], [1.5, 1.0], [2.5, 0.0], [3.5, 1.0]]
    times = of["Response time [s]"].query("series == 'p50'")["value"]
    assert times.tolist() == pytest.approx([0.3, 0.3, float("nan"), 2.4], nan_ok=True)


def test_a_series_of_a_count_names_what_is_counted():
    runs = pd.DataFrame({"connections": [8, 8, 16], "server_units": [1, 2, 2], "throughput_rps": [1.0, 2.0, 4.0]})
    shown = summarise_shown(Shows("runs", ("throughput_rps",), by="server_units"), {"runs": runs})
    assert set(shown["series"]) == {"server units 1", "server units 2"}


def test_runs_of_several_loads_are_a_curve_and_one_run_is_bars():
    runs = pd.DataFrame({"connections": [1, 8], "throughput_rps": [100.0, 400.0], "errors_connect": [0, 2]})
    curve = summarise_shown(Shows("runs", ("throughput_rps",)), {"runs": runs})
    assert values(curve, "axis", "x", "value") == [["connections", 1.0, 100.0], ["connections", 8.0, 400.0]]
    bars = summarise_shown(Shows("runs", ("connections", "errors_connect")), {"runs": runs.tail(1)})
    assert values(bars, "axis", "name", "value") == [["name", "Connections", 8.0], ["name", "Errors connect", 2.0]]


def test_repeats_of_one_load_are_shown_in_the_order_of_their_start():
    started = pd.to_datetime(["2026-01-01 10:02", "2026-01-01 10:00", "2026-01-01 10:01"], utc=True)
    runs = pd.DataFrame({"connections": 8, "throughput_rps": [300.0, 100.0, 200.0], "started_at": started})
    shown = summarise_shown(Shows("runs", ("throughput_rps",)), {"runs": runs.assign(run_id=["a", "b", "c"])})
    assert values(shown, "axis", "x", "value") == [["run", 3.0, 300.0], ["run", 1.0, 100.0], ["run", 2.0, 200.0]]


def test_a_distribution_has_the_share_of_each_class():
    requests = pd.DataFrame({"latency_s": [0.001] * 3 + [1.0]})
    shown = summarise_shown(Shows("requests", ("latency_s",)), {"requests": requests})
    assert shown["value"].iloc[[0, -1]].tolist() == [0.75, 0.25] and shown["value"].sum() == 1
    assert (set(shown["axis"]), len(shown)) == ({"class"}, 40)
    assert shown["x"].iloc[0] * shown["x"].iloc[-1] == pytest.approx(0.001)  # of their ends: 1 ms and 1 s


def test_corrected_quantiles_count_what_a_stall_left_out():
    """By hand: one connection sends each second; while it waits 4 s, it leaves out requests of 3 s and of 2 s."""
    runs = pd.DataFrame({"connections": [1], "duration_s": [10.0], "requests": [10]})
    latency = pd.DataFrame({"quantile": [0.75, 1.0], "latency_s": [1.0, 4.0], "corrected": False})
    requests = pd.DataFrame({"latency_s": [1.0] * 6 + [4.0]})
    tables = {"runs": runs, "latency": latency, "requests": requests}
    shown = summarise_shown(Shows("latency", ("latency_s",), by="corrected"), tables)
    by_series = shown.groupby("series")["value"].apply(list).to_dict()
    assert by_series == {"corrected": [2.0, 4.0], "reported": [1.0, 4.0]}


def test_every_axis_has_a_unit_and_a_column_may_be_a_quotient():
    runs = pd.DataFrame({"connections": [8], "requests": [4], "received_bytes": [20.0]})
    for columns, label in {("requests",): "Requests [count]", ("connections", "requests"): "Value [count]"}.items():
        assert set(summarise_shown(Shows("runs", columns), {"runs": runs})["panel"]) == {label}
    shows = Shows("runs", ("received_bytes / requests",), label="Bytes of a response [bytes]")
    assert summarise_shown(shows, {"runs": runs})["value"].tolist() == [5.0]


def test_the_clean_run_is_marked():
    shows = Shows("cpu", ("cpu_steal_ratio",), where={"cpu": "0"})
    shown = summarise_shown(shows, {"cpu": CPU}, {"cpu": CPU.assign(cpu_steal_ratio=0.0)})
    assert shown.groupby("clean")["value"].apply(list).to_dict() == {False: [0.1, 0.3], True: [0.0, 0.0]}
