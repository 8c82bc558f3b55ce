"""Each monitor on every host by a real launch, and that what they saw is the load that was there."""

import time

import pytest
from launched_runs import DELAYS, launched

pytestmark = pytest.mark.lab

EVERY = {
    "sar": 1.0, "mpstat": 1.0, "ss_summary": 0.2, "ss_connections": 0.2, "ss_details": 0.2, "nstat": 0.2, "proc": 0.2,
}  # fmt: skip


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """Every monitor on three hosts, once for all tests of this file."""
    return launched(
        tmp_path_factory.mktemp("watched") / "s", topology={"recipe": "client_proxy_servers", "servers": 1},
        balancer={"haproxy": {}}, server=DELAYS, load={"connections": 8, "duration_s": 2.0},
        monitors={**EVERY, "stub_status": 0.2, "counters": 0.2},
    )  # fmt: skip


@pytest.mark.parametrize("host", ["C1", "LB", "S1"])
def test_every_monitor_is_on_every_host(watched, host):
    seen = {(c.tool, c.variant) for c in watched.commands("collector", host)}
    assert seen >= {
        ("sar", ""), ("mpstat", ""), ("ss", "summary"), ("ss", "connections"), ("nstat", ""), ("proc", ""),
    }  # fmt: skip
    assert (("nginx", "stub_status") in seen) == (host == "S1")
    assert (("haproxy", "") in seen) == (host == "LB")
    tools = {
        "cpu": {"sar", "mpstat", "proc"}, "network": {"sar", "proc"}, "tcp": {"sar"}, "sockets": {"sar", "ss", "proc"},
        "counters": {"nstat", "proc"},
    }  # fmt: skip
    for table, wanted in tools.items():
        rows = watched.of(table, host)
        assert wanted <= set(rows["tool"]) | {"proc"}, table
        assert (rows["elapsed_s"].dropna() > -5).all() and (rows["elapsed_s"].dropna() < 10).all()
    # The processes that watch are each recorded once for every text they write, and none of them was limited.
    samplers = [c for c in watched.commands("collector", host) if f"{host}.sampler.py" in c.argv]
    assert len({c.argv for c in samplers}) == 1 and len({c.stdout for c in samplers}) == len(samplers)


def test_what_was_watched_is_the_load(watched):
    """Eight connections of a client, whose requests all monitors count alike."""
    requests = watched.row["requests"]
    sockets = watched.of("sockets", "C1")
    assert sockets.loc[sockets["tool"] == "ss", "established"].max() == 8
    listed = watched.of("connections", "C1")
    of_load = listed[listed["state"] == "ESTAB"]
    assert of_load.groupby(["source", "time"]).size().max() == 8
    assert set(of_load["peer_port"].astype(str)) == {"8080"}
    # nginx counted every request that arrived by then, its own page's and the readiness beside.
    status = watched.of("server", "S1").sort_values("time")
    assert 0 < status["requests"].iloc[-1] <= requests + len(status) + 60
    assert status["requests"].is_monotonic_increasing
    # A delay of 10 ms: the connections of the load are kept by the proxy, each busy with one request at most.
    balancer = watched.of("balancer", "LB").query("kind == 'server'")
    assert balancer["requests"].max() <= requests + 60 and balancer["errors_response"].max() == 0
    opened = watched.of("counters", "C1").query("tool == 'nstat' and counter == 'TcpActiveOpens'")["value"]
    assert opened.max() >= 8


def test_snapshots_are_as_often_as_the_study_says(watched):
    """0.2 s for at least two seconds: ten snapshots, however late the busy machine takes each one."""
    times = watched.of("sockets", "S1").query("tool == 'ss'")["time"].drop_duplicates().sort_values()
    assert len(times) >= 5
    # They lie on a grid from the first one on: none is earlier than its own time.
    steps = (times - times.iloc[0]).dt.total_seconds()
    assert (steps.diff().dropna() > 0.05).all()


def test_times_are_of_one_clock(watched):
    """UTC, between the start of the launch and now, for every host and tool."""
    begun = min(c.started_at for c in watched.run.commands)
    for table in ("sockets", "counters", "server", "balancer"):
        assert (watched.tables[table]["time"].astype(str).str[:10] >= begun[:10]).all()
        assert (watched.tables[table]["time"].astype("int64") / 1e6 < time.time() * 1e6).any()
