"""Processors and connections as the collectors saw them, on tables small enough to count by hand."""

import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.audit import summarise_busy, summarise_established, summarise_sockets

RUN = {"study": "s", "status": "finished", "variant": "cpu", "duration_s": 5.0, "server_cpu": 0, "generator_cpu": 1}
START = pd.Timestamp("2026-11-20T23:40:00Z")


def table_of_runs(*runs):
    return tables.check("runs", pd.DataFrame([RUN | run for run in runs]))


def cpu(*samples, run_id="a"):
    """Samples (elapsed_s, cpu, idle, iowait)."""
    frame = pd.DataFrame(samples, columns=["elapsed_s", "cpu", "cpu_idle_ratio", "cpu_iowait_ratio"])
    return tables.check("cpu", frame.assign(study="s", run_id=run_id))


def connections(*sockets, run_id="a"):
    """Sockets (second of the snapshot, state, local port, peer port)."""
    frame = pd.DataFrame(sockets, columns=["time", "state", "local_port", "peer_port"])
    frame["time"] = START + pd.to_timedelta(frame["time"], unit="s")
    return tables.check("connections", frame.assign(study="s", run_id=run_id))


LISTEN = (0, "LISTEN", "8080", "*")


def both_ends(second, count):
    """`count` connections as one snapshot on one machine shows them: a row for each end."""
    return [
        row
        for port in range(40001, 40001 + count)
        for row in ((second, "ESTAB", "8080", str(port)), (second, "ESTAB", str(port), "8080"))
    ]


# Processors


def test_busy_is_all_that_is_neither_idle_nor_waiting_for_disks():
    busy = summarise_busy(
        cpu((2, "0", 0.25, 0.25), (3, "0", 0.0, 0.1)), table_of_runs({"run_id": "a", "connections": 8})
    )
    assert list(busy.columns) == ["study", "run_id", "variant", "connections", "cpu", "role", "busy_ratio"]
    assert busy.iloc[0, :6].tolist() == ["s", "a", "cpu", 8, "0", "server"]
    assert busy["busy_ratio"].tolist() == [pytest.approx((0.5 + 0.9) / 2)]


def test_samples_that_reach_out_of_the_load_are_left_out():
    # A load of 5 s: a sample of the second before t, printed up to 1 s late, lies within from t = 1 to t = 4.
    busy = summarise_busy(
        cpu(*((t, "0", 1.0, 0.0) for t in (-1, 0, 0.99)), (1, "0", 0.4, 0), (4, "0", 0.2, 0), (4.01, "0", 1, 0)),
        table_of_runs({"run_id": "a", "connections": 1}),
    )
    assert busy["busy_ratio"].tolist() == [pytest.approx((0.6 + 0.8) / 2)]


def test_roles_are_told_by_the_processors_that_were_pinned():
    samples = cpu((2, "0", 0.9, 0), (2, "1", 0.8, 0), (2, "2", 0.7, 0), (2, "all", 0.8, 0))
    busy = summarise_busy(
        samples, table_of_runs({"run_id": "a", "connections": 1, "server_cpu": 1, "generator_cpu": 2})
    )
    assert dict(zip(busy["cpu"], busy["role"], strict=True)) == {"0": "", "1": "server", "2": "generator"}
    assert busy["busy_ratio"].tolist() == pytest.approx([0.1, 0.2, 0.3])


def test_a_processor_is_named_whole():
    samples = cpu((2, "1", 0.9, 0), (2, "11", 0.8, 0))
    busy = summarise_busy(samples, table_of_runs({"run_id": "a", "connections": 1, "server_cpu": 11}))
    assert dict(zip(busy["cpu"], busy["role"], strict=True)) == {"1": "generator", "11": "server"}


def test_without_pins_no_processor_has_a_role():
    runs = table_of_runs({"run_id": "a", "connections": 1, "server_cpu": pd.NA, "generator_cpu": pd.NA})
    busy = summarise_busy(cpu((2, "0", 0.5, 0), (2, "1", 0.5, 0)), runs)
    assert busy["role"].tolist() == ["", ""]


def test_a_run_with_a_pin_and_one_without():
    runs = table_of_runs(
        {"run_id": "a", "connections": 1},
        {"run_id": "b", "connections": 1, "server_cpu": pd.NA, "generator_cpu": pd.NA},
    )
    busy = summarise_busy(pd.concat([cpu((2, "0", 0.5, 0)), cpu((2, "0", 0.5, 0), run_id="b")]), runs)
    assert dict(zip(busy["run_id"], busy["role"], strict=True)) == {"a": "server", "b": ""}


def test_a_run_too_short_for_a_whole_sample_has_no_row():
    runs = table_of_runs(
        {"run_id": "short", "connections": 1, "duration_s": 1.9},
        {"run_id": "long", "connections": 2, "duration_s": 3.0},
    )
    samples = [cpu(*((t, "0", 0.5, 0) for t in (0, 1, 2, 3)), run_id=run_id) for run_id in ("short", "long")]
    assert summarise_busy(pd.concat(samples), runs)["run_id"].tolist() == ["long"]


def test_runs_that_did_not_finish_and_samples_of_other_runs_have_no_row():
    runs = table_of_runs({"run_id": "a", "connections": 1, "status": "interrupted"})
    busy = summarise_busy(pd.concat([cpu((2, "0", 0.5, 0)), cpu((2, "0", 0.5, 0), run_id="b")]), runs)
    assert len(busy) == 0


# Connections


def test_only_the_side_that_listens_is_counted():
    found = summarise_established(
        connections(LISTEN, *both_ends(1, 3), (1, "TIME-WAIT", "8080", "50001"), (1, "ESTAB", "22", "50002")),
        table_of_runs({"run_id": "a", "connections": 4}),
    )
    assert list(found.columns) == ["study", "run_id", "variant", "connections", "established"]
    assert found.to_numpy().tolist() == [["s", "a", "cpu", 4, 3]]


def test_the_largest_snapshot_counts_and_snapshots_are_not_added_up():
    sockets = connections(LISTEN, *both_ends(1, 1), *both_ends(3, 4), *both_ends(5, 2))
    found = summarise_established(sockets, table_of_runs({"run_id": "a", "connections": 4}))
    assert found["established"].tolist() == [4]


def test_a_port_that_listens_in_every_snapshot_and_on_two_families_counts_once():
    listening = [(second, "LISTEN", "8080", "*") for second in (1, 1, 3, 3)]
    found = summarise_established(
        connections(*listening, *both_ends(1, 2)), table_of_runs({"run_id": "a", "connections": 2})
    )
    assert found["established"].tolist() == [2]


def test_each_run_has_its_own_port():
    other = [(second, state, peer, local) for second, state, local, peer in both_ends(1, 5)]  # 40001 … listen nowhere
    sockets = pd.concat(
        [
            connections((0, "LISTEN", "9090", "*"), *other, run_id="a"),
            connections(LISTEN, *both_ends(1, 5), run_id="b"),
        ]
    )
    runs = table_of_runs({"run_id": "a", "connections": 5}, {"run_id": "b", "connections": 5})
    found = summarise_established(sockets, runs).set_index("run_id")["established"]
    assert found.to_dict() == {"a": 0, "b": 5}


def test_snapshots_without_a_connection_give_0_and_no_snapshots_no_row():
    runs = table_of_runs({"run_id": "a", "connections": 1}, {"run_id": "b", "connections": 1})
    found = summarise_established(connections(LISTEN, (1, "TIME-WAIT", "8080", "50001")), runs)
    assert found[["run_id", "established"]].to_numpy().tolist() == [["a", 0]]


def test_runs_that_did_not_finish_are_left_out():
    runs = table_of_runs({"run_id": "a", "connections": 1, "status": "failed"})
    assert len(summarise_established(connections(LISTEN, *both_ends(1, 1)), runs)) == 0


def test_a_snapshot_without_a_time_is_counted():
    sockets = connections(LISTEN, *both_ends(1, 3)).assign(time=pd.NaT)
    found = summarise_established(
        tables.check("connections", sockets), table_of_runs({"run_id": "a", "connections": 3})
    )
    assert found["established"].tolist() == [3]


# Outputs of ss -s, with the `closed` that ss itself made of them.
@pytest.mark.parametrize(
    ("tcp", "established", "closed", "orphaned", "time_wait", "transport_tcp"),
    [(1103, 28, 1063, 0, 2, 40), (31268, 7959, 1182, 1250, 1, 30086), (11803, 28, 11773, 0, 11737, 30)],
)
def test_sockets_of_the_machine_are_here_or_elsewhere(tcp, established, closed, orphaned, time_wait, transport_tcp):
    row = {"tcp": tcp, "established": established, "orphaned": orphaned, "time_wait": time_wait}
    [found] = summarise_sockets(pd.DataFrame([row | {"transport_tcp": transport_tcp}])).itertuples(index=False)
    assert found.established + found.other_states + found.elsewhere == found.allocated
    assert found.elsewhere + found.time_wait == closed  # what ss itself printed
    assert found.allocated + found.time_wait == tcp
    assert (found.established, found.orphaned) == (established, orphaned)
