"""Identities of a report: held by what two tools printed, broken where a test asked for what it did not get."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadcurve.audit import summarise_identities
from loadcurve.reading import read_published_raw


def identities(source, raw):
    runs = read_published_raw(source, raw).tables["runs"].assign(run_id=raw)
    return summarise_identities(runs).set_index("identity")["off_ratio"]


def test_what_two_tools_printed_of_their_rates():
    for source, raw in [
        ("rt_qps_threads", "c0001.wrk.txt"), ("rt_qps_threads", "c8000.wrk.txt"), ("rt_qps_threads", "c30000.wrk.txt"),
        ("lvs_acceptance", "rules_none.ab.txt"), ("lvs_acceptance", "rules_10000.ab.txt"),
    ]:  # fmt: skip
        off = identities(source, raw)
        assert abs(off["throughput"]) < 1e-3  # wrk prints its time with two decimals
        assert abs(off["transfer rate"]) < 5e-3  # and a rate with three digits


def test_connections_that_were_not_there_break_littles_law():
    assert abs(identities("rt_qps_threads", "c0001.wrk.txt")["connections"]) < 1e-3
    assert identities("rt_qps_threads", "c8000.wrk.txt")["connections"] == pytest.approx(1011.8 / 8000 - 1, rel=1e-3)
    assert "connections" not in identities("lvs_acceptance", "rules_none.ab.txt")  # no mean is quoted


@given(st.integers(1, 10**6), st.floats(0.1, 1e4), st.integers(1, 10**4), st.floats(1, 1e9))
def test_a_run_that_is_one_run_breaks_none(requests, duration, connections, size):
    rate = requests / duration
    run = {"run_id": "a", "requests": requests, "duration_s": duration, "throughput_rps": rate}
    run |= {"received_bytes": size, "received_bytes_per_s": size / duration, "connections": connections}
    found = summarise_identities(pd.DataFrame([run | {"latency_mean_s": connections / rate}]))
    assert (found["off_ratio"].abs() < 1e-9).all()
    assert len(found) == 3


def test_runs_without_a_request_or_without_time():
    run = {"run_id": "a", "requests": 0, "duration_s": 10.0, "throughput_rps": 0.0, "received_bytes": 500}
    run |= {"received_bytes_per_s": 0.0, "connections": 4, "latency_mean_s": float("nan")}
    off = summarise_identities(pd.DataFrame([run])).set_index("identity")["off_ratio"]
    assert off.to_dict() == {"throughput": 0.0, "transfer rate": float("inf")}  # 0 = 0 / 10; 50 bytes/s are not 0
    assert summarise_identities(pd.DataFrame([run | {"duration_s": 0.0}])).empty
