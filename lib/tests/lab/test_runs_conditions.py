"""What hosts and links are set to, by real launches: it is in run.json, and the tables are bound by it."""

import os

import pandas as pd
import pytest
from launched_runs import DELAYS, SITE, launched, tool_argv

pytestmark = pytest.mark.lab

LAST = max(os.sched_getaffinity(0))


def card(made, host):
    return made.run.machine["hosts"][host]["interfaces"]["eth0"]


def test_a_delay_adds_to_the_response_time(tmp_path):
    """10 ms in the server, 2 × 5 ms on its link, 2 × 10 ms on the client's: 40 ms, and 8 of them at once."""
    made = launched(
        tmp_path / "s", **SITE, server=DELAYS, links={"S1": {"delay_s": 0.005}, "C1": {"delay_s": 0.010}},
        load={"connections": 8},
    )  # fmt: skip
    assert 0.040 <= made.row["latency_mean_s"] <= 0.080
    assert 8 / 0.080 <= made.row["throughput_rps"] <= 8 / 0.040


def test_a_rate_limits_the_throughput(tmp_path):
    """8 Mbit/s are 1 MB/s with the headers of Ethernet, IP and TCP: 66 of each 1514 bytes."""
    made = launched(
        tmp_path / "s", **SITE, server={"nginx": {"response": {"files": {"sizes_bytes": [10_000]}}}},
        links={"S1": {"rate_bps": 8e6}}, load={"connections": 2}, monitors={"sar": 1},
    )  # fmt: skip
    most = 1e6 * 1448 / 1514
    # A bucket of tokens may be full at the beginning: a few frames.
    assert 0.7 * most <= made.row["received_bytes_per_s"] <= 1.05 * most
    assert any("tbf" in queue for queue in card(made, "S1")["qdiscs"])


def test_packets_and_offloads(tmp_path):
    made = launched(
        tmp_path / "s", **SITE,
        links={"C1": {"mtu": 900}, "S1": {"mtu": 900, "offloads": {"tso": False, "gso": False}}},
        load={"connections": 2}, monitors={"nstat": 0.2},
    )  # fmt: skip
    assert card(made, "S1")["mtu"] == 900
    assert card(made, "S1")["offloads"]["tso"] is False and card(made, "S1")["offloads"]["gso"] is False


def test_settings_of_the_kernel(tmp_path):
    made = launched(
        tmp_path / "s", **SITE, load={"connections": 2},
        hosts={
            "S": {"sysctls": {"net.core.somaxconn": "77"}},
            "C1": {"sysctls": {"net.ipv4.ip_local_port_range": "50000 50100"}},
        },
        monitors={"ss_connections": 0.2},
    )  # fmt: skip
    assert made.run.machine["hosts"]["S1"]["sysctls"]["net.core.somaxconn"] == "77", "by the role"
    assert made.run.machine["hosts"]["C1"]["sysctls"]["net.ipv4.ip_local_port_range"] == "50000 50100"
    sockets = made.of("connections", "S1")
    assert set(sockets.loc[sockets["state"] == "LISTEN", "send_queue"]) == {77}
    ports = sockets.loc[sockets["state"] == "ESTAB", "peer_port"].astype(int)
    assert len(ports) and ports.between(50_000, 50_100).all()


def test_processors(tmp_path):
    made = launched(tmp_path / "s", **SITE, hosts={"S1": {"cpus": [LAST]}, "C": {"cpus": [0]}}, load={"connections": 2})
    for role, cpu in (("server", LAST), ("generator", 0)):
        (command,) = made.commands(role)
        assert command.argv[command.argv.index("taskset") + 1 :][:2] == ("-c", str(cpu))
    assert (made.run.factors["server_cpu"], made.run.factors["generator_cpu"]) == (LAST, 0)
    assert (made.row["server_cpu"], made.row["generator_cpu"]) == (LAST, 0)


def test_open_files(tmp_path):
    """30 files leave wrk fewer than 28 connections; the server has its own limit."""
    made = launched(
        tmp_path / "s", **SITE, hosts={"C1": {"open_files": 30}, "S1": {"open_files": 5000}}, load={"connections": 50},
        monitors={"ss_summary": 0.2},
    )  # fmt: skip
    (generator,), (server,) = made.commands("generator"), made.commands("server")
    assert "--nofile=30:30" in generator.argv and "--nofile=5000:5000" in server.argv
    assert "wrk" in tool_argv(generator) and tool_argv(server)[0] == "nginx"
    assert 22 < made.row["errors_connect"] < 50 and made.row["requests"] > 0
    assert not [c for c in made.commands("collector") if "prlimit" in c.argv], "monitors are not limited"


def test_a_share_of_the_processors(tmp_path):
    made = launched(
        tmp_path / "s", **SITE, hosts={"S1": {"cpu_quota": 0.1}}, load={"connections": 8}, monitors={"ss_summary": 0.5},
        server={"nginx": {"response": {"burn": {"steps": 500}}}},
    )  # fmt: skip
    facts = made.run.machine["hosts"]["S1"]["throttling"]
    assert 0 < facts["throttled"] <= facts["periods"] and facts["throttled_s"] > 0
    assert "throttling" not in made.run.machine["hosts"]["C1"] or not made.run.machine["hosts"]["C1"]["throttling"]
    counted = made.tables["counters"].query("counter == 'nr_throttled'")
    assert counted[["host", "value"]].to_numpy().tolist() == [["S1", 0.0], ["S1", facts["throttled"]]]
    # In each 100 ms the server works 10 ms, so that some requests wait for the other 90.
    assert made.row["latency_max_s"] > 0.05


def test_limits_on_loopback(tmp_path):
    made = launched(tmp_path / "s", hosts={"local": {"open_files": 500, "cpu_quota": 0.5}}, load={"connections": 4})
    assert all("--nofile=500:500" in c.argv for c in made.run.commands)
    assert made.run.machine["hosts"]["local"]["throttling"]["periods"] > 0


def test_a_warm_up_is_kept_and_not_counted(tmp_path):
    made = launched(tmp_path / "s", **SITE, warm_up_s=1.0, load={"connections": 4, "processes": 2}, server=DELAYS)
    warm, sending = made.commands("warm_up"), made.commands("generator")
    assert [c.stdout for c in warm] == ["C1-1-warm-up.wrk.txt", "C1-2-warm-up.wrk.txt"]
    assert all((made.folder / "r1" / c.stdout).stat().st_size for c in warm) and all(c.exit_code == 0 for c in warm)
    assert {c.stdout for c in warm} <= set(made.run.files)
    assert max(c.ended_at for c in warm) <= min(c.started_at for c in sending)
    assert made.tables["runs"]["source"].tolist() == [c.stdout for c in sending]
    for table in ("latency", "histogram"):
        assert not made.tables[table]["source"].str.contains("warm").any()


def test_a_rest_between_runs(tmp_path):
    made = launched(tmp_path / "s", rest_s=1.0, repeats=3, load={"tool": "ab", "requests": 10, "connections": 1})
    ended = pd.Series({r.factors["order"]: max(c.ended_at for c in r.commands) for r in made.runs.values()})
    begun = pd.Series({r.factors["order"]: min(c.started_at for c in r.commands) for r in made.runs.values()})
    pauses = pd.to_datetime(begun).iloc[1:].to_numpy() - pd.to_datetime(ended).iloc[:-1].to_numpy()
    assert (pauses >= pd.Timedelta("1s")).all()
