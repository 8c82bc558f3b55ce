"""Connections as the collectors saw them, on tables small enough to count by hand."""

import pandas as pd
import pytest

from loadcurve import tables
from loadcurve.audit import summarise_established, summarise_sockets

RUN = {"study": "s", "status": "finished", "variant": "cpu", "duration_s": 5.0, "server_cpu": 0, "generator_cpu": 1}
START = pd.Timestamp("2026-11-20T23:40:00Z")


def table_of_runs(*runs):
    return tables.check("runs", pd.DataFrame([RUN | run for run in runs]))


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
