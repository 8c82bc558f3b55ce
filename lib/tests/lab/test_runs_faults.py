"""Each fault by a real launch: what was done is in run.json, and what it did is in the tables."""

import contextlib
import os

import psutil
import pytest
from launched_runs import DELAYS, SITE, failed, launched, left_behind, read_folder, short_study

from loadcurve.errors import LabError
from loadcurve.lab import launch, list_obstacles

pytestmark = pytest.mark.lab

ERRORS = ["errors_connect", "errors_read", "errors_write", "errors_timeout", "errors_status"]


def events(made):
    """What was done, in words without the numbers of processes; the same in the tables."""
    told = [event["what"] for event in made.run.events]
    listed = made.tables["events"]
    listed = listed[listed["tool"] == "loadcurve"] if len(listed) else listed
    assert sorted(listed["text"].tolist() if len(listed) else []) == sorted(told)
    begun, ended = (getattr(made.commands("generator")[0], name) for name in ("started_at", "ended_at"))
    assert all(begun[:10] <= event["at"][:10] <= ended[:10] for event in made.run.events)
    return told


def counter(made, host, name):
    """Growth of a counter of nstat on a host."""
    values = made.of("counters", host).query("tool == 'nstat' and counter == @name").sort_values("time")["value"]
    return values.iloc[-1] - values.iloc[0]


def test_without_a_fault_nothing_fails(tmp_path):
    made = launched(tmp_path / "s", **SITE, load={"connections": 20}, monitors={"nstat": 0.2})
    assert events(made) == [] and made.row[ERRORS].fillna(0).eq(0).all()
    assert counter(made, "S1", "TcpExtListenOverflows") == 0


def test_narrow_ports(tmp_path):
    made = launched(tmp_path / "s", **SITE, fault={"narrow_ports": 10}, load={"connections": 30})
    # wrk asks once before the load, which may keep a port.
    assert made.row["errors_connect"] in (20, 21) and made.row["connections"] == 30 and made.row["requests"] > 0
    assert events(made) == [
        "net.ipv4.ip_local_port_range = 40000 40009", "net.ipv4.ip_local_port_range = 32768 60999",
    ]  # fmt: skip


def test_few_descriptors(tmp_path):
    made = launched(tmp_path / "s", **SITE, fault={"few_descriptors": 64}, load={"connections": 100})
    (command,) = made.commands("generator")
    assert command.argv[command.argv.index("prlimit") + 1] == "--nofile=64:64"
    # Three streams and a few files of its own: never more than 61 connections.
    assert 39 <= made.row["errors_connect"] <= 55 and made.row["throughput_rps"] > 0
    assert made.row["connections"] == 100, "the heading still says so"


@pytest.mark.parametrize(
    ("role", "host", "sections"),
    [
        ("server", "S1", SITE),
        ("balancer", "LB", {"topology": {"recipe": "client_proxy_servers"}, "balancer": {"nginx_l7": {}}}),
    ],
)
def test_few_descriptors_of_another_host_than_the_clients(tmp_path, role, host, sections):
    fault = {"few_descriptors": 32, "host": host}
    made = launched(tmp_path / "s", **sections, fault=fault, load={"connections": 60})
    (command,) = made.commands(role)
    assert "--nofile=32:32" in command.argv
    assert not [c for c in made.run.commands if "prlimit" in c.argv and c.role != role]
    assert "Too many open files" in (made.folder / "r1" / command.stderr).read_text()


def test_dropped_syn(tmp_path):
    """Wrk lasts far longer than it was told; the outer limit ends it."""
    made = failed(tmp_path / "s", **SITE, fault={"drop_syn": True}, limit_s=2.0)
    assert made.run.reason == "wrk on C1 was ended at its limit of 2 s"
    first, last = (event["what"] for event in made.run.events)
    assert first == "table fault_syn loaded"
    assert last.startswith("table fault_syn removed; tcp dport 8080") and "packets 0" not in last


def test_dropped_fin(tmp_path):
    made = launched(
        tmp_path / "s", **SITE, fault={"drop_fin": True}, monitors={"ss_connections": 0.2},
        load={"connections": 4, "keep_alive": False},
    )  # fmt: skip
    told = events(made)
    assert told[0] == "table fault_fin loaded" and "packets 0" not in told[1]
    states = made.of("connections", "S1")["state"]
    assert (states == "FIN-WAIT-1").any() or (states == "LAST-ACK").any(), "what the server says last is not heard"


def test_lost_packets(tmp_path):
    made = launched(
        tmp_path / "s", **SITE, fault={"lose_packets": 0.1}, load={"connections": 10}, monitors={"nstat": 0.2, "sar": 1}
    )
    assert made.row["latency_max_s"] > 0.1, "a lost segment waits for its timer, 200 ms at least"
    assert counter(made, "S1", "TcpRetransSegs") + counter(made, "C1", "TcpRetransSegs") > 0
    assert made.run.factors["settings"]["fault"] == {"lose_packets": 0.1}
    card = made.run.machine["hosts"]["S1"]["interfaces"]["eth0"]
    assert card["offloads"]["tso"] is False, "a burst is not lost as one packet"


def test_delayed_packets(tmp_path):
    made = launched(tmp_path / "s", **SITE, fault={"delay_packets": 0.02}, load={"connections": 5})
    assert made.row["latency_mean_s"] >= 0.04 and made.row["latency_min_s"] >= 0.04, "there and back"
    assert made.row["throughput_rps"] <= 5 / 0.04


def test_a_killed_worker(tmp_path):
    made = launched(tmp_path / "s", **SITE, fault={"kill_worker": True, "after_s": 0.3}, load={"connections": 8})
    (told,) = events(made)
    assert told.startswith("KILL sent to S1: ")
    assert made.row["errors_read"] == 8 and made.row["requests"] > 100, "each connection is reset once"
    (server,) = made.commands("server")
    assert "exited on signal 9" in (made.folder / "r1" / server.stderr).read_text()


@pytest.mark.parametrize("times", [{"after_s": 0.2, "lasts_s": 0.5}, {}])
def test_a_server_that_is_stopped(tmp_path, times):
    """For a while, so that some requests wait for it to go on, or to the end."""
    made = launched(tmp_path / "s", **SITE, server=DELAYS, fault={"stop_server": True, **times})
    assert [told.split(":")[0] for told in events(made)] == ["STOP sent to S1", "CONT sent to S1"]
    if times:
        assert made.row["latency_max_s"] >= 0.4 and made.row["requests"] > 0 and made.row["errors_read"] == 0
    else:
        assert made.row["requests"] == 0 and made.row["throughput_rps"] == 0


def test_a_killed_server(tmp_path):
    """Its end is no failure of the run, because the study asked for it."""
    fault = {"kill_server": True, "after_s": 0.3}
    made = launched(tmp_path / "s", **SITE, server=DELAYS, fault=fault, load={"connections": 8})
    (told,) = events(made)
    assert told.startswith("KILL sent to S1: ")
    assert made.run.status == "finished" and made.row["requests"] > 0 and made.row["errors_read"] >= 8


def test_a_killed_generator(tmp_path):
    made = failed(tmp_path / "s", **SITE, fault={"kill_generator": 0.3})
    assert made.run.reason == "wrk on C1 ended with exit code 137"


def test_a_link_that_is_slow_every_other_time(tmp_path):
    """Each time is recorded with its beginning and its end, and the last one ends with the load."""
    fault = {"slow_link": 1e5, "after_s": 0.1, "lasts_s": 0.2, "every_s": 0.3}
    told = events(launched(tmp_path / "s", **SITE, fault=fault, load={"connections": 8}))
    begun, ended = told[::2], told[1::2]
    assert 2 <= len(begun) == len(ended) <= 4
    assert set(begun) == {"qdisc add dev eth0 root tbf rate 100000bit burst 3028b latency 50ms"}
    assert all(text.startswith("qdisc del dev eth0 root; Sent ") and "dropped" in text for text in ended)


def test_other_processes_beside_the_server(tmp_path):
    made = launched(tmp_path / "s", **SITE, fault={"busy_processors": 2, "after_s": 0.2})
    words = [told.split(": ")[0] for told in events(made)]
    assert words == ["sha256sum /dev/zero started"] * 2 + ["sha256sum /dev/zero ended"] * 2
    assert not [pid for told in events(made) if psutil.pid_exists(pid := int(told.split(": ")[1]))]


def test_other_processes_use_the_processors_of_their_host_alone(tmp_path):
    hosts = {"S1": {"cpus": [0]}, "C1": {"cpus": [os.cpu_count() - 1]}}
    load = {"duration_s": 3}
    made = launched(
        tmp_path / "s", **SITE, hosts=hosts, fault={"busy_processors": 2}, monitors={"pidstat": 1}, load=load
    )
    seen = made.of("processes", "S1").query("command == 'sha256sum'")
    assert len(seen) >= 2 and set(seen["cpu"]) == {"0"}


def test_packets_for_one_processor(tmp_path):
    """The setting holds during the load, and is undone after it."""
    queue = "/sys/class/net/eth0/queues/rx-0/rps_cpus"
    assert events(launched(tmp_path / "s", **SITE, fault={"steer_packets": 1})) == [f"{queue} = 2", f"{queue} = 0"]


def test_a_limit_in_packets_per_second(tmp_path):
    made = launched(
        tmp_path / "s", **SITE, fault={"limit_packets": 1000}, load={"connections": 32}, monitors={"nstat": 0.2}
    )
    first, last = events(made)
    assert first == "table fault_rate loaded"
    assert last.startswith("table fault_rate removed; limit rate over 1000/second") and "packets 0" not in last
    assert counter(made, "C1", "TcpRetransSegs") > 0, "what was dropped is sent again"


def test_another_transfer_beside_the_load(tmp_path):
    """It runs as long as the load: a program that ends before fails the run."""
    files = {"nginx": {"response": {"files": {"sizes_bytes": [1000, 1_000_000]}}}}
    made = launched(
        tmp_path / "s", **SITE, server=files, fault={"other_transfer": 1_000_000}, links={"S1": {"rate_bps": 1e8}},
        load={"connections": 1},
    )  # fmt: skip
    begun, ended = (told.split(": ")[0] for told in events(made))
    assert begun.endswith("/1000000.bin started") and ended.endswith("/1000000.bin ended")


def test_a_full_accept_queue(tmp_path):
    """A server that stands still for half a second accepts nobody; the kernel drops those beyond its queue."""
    made = launched(
        tmp_path / "s", **SITE, fault={"fill_accept_queue": 8, "lasts_s": 0.6}, load={"connections": 50},
        monitors={"ss_connections": 0.1, "nstat": 0.1},
    )  # fmt: skip
    assert [told.split(":")[0] for told in events(made)] == ["STOP sent to S1", "CONT sent to S1"]
    listening = made.of("connections", "S1").query("state == 'LISTEN'")
    assert set(listening["send_queue"]) == {8}, "of a listening socket: the backlog"
    assert listening["receive_queue"].max() == 9, "full is more than the backlog (tcp(7), sk_acceptq_is_full)"
    assert counter(made, "S1", "TcpExtListenOverflows") > 0 and counter(made, "S1", "TcpExtListenDrops") > 0
    assert made.run.machine["hosts"]["S1"]["sysctls"]["net.core.somaxconn"] == "8"


def test_capped_connections(tmp_path):
    sections = {**SITE, "fault": {"cap_connections": 16}, "load": {"connections": 40}, "monitors": {"ss_summary": 0.2}}
    study = short_study("s", **sections, limit_s=3.0)
    folder = tmp_path / "s"
    try:
        launch(study, folder)
    except LabError as error:
        assert "was ended at its limit of 3 s" in str(error), "wrk may wait for connections that never come"
    made = read_folder(folder)
    first, *_, last = (event["what"] for event in made.run.events)
    assert first == "table fault_cap loaded"
    assert last.startswith("table fault_cap removed") and "packets 0" not in last
    if made.run.status == "finished":
        assert 0 < made.of("sockets", "S1")["established"].max() <= 17, "the others are never opened"


def test_a_full_connection_table(tmp_path):
    """Where the kernel gives a namespace no limit of its own, the launch says so before anything is made."""
    sections = {**SITE, "fault": {"fill_conntrack": 16}, "load": {"connections": 40}, "limit_s": 3.0}
    study, folder = short_study("s", **sections), tmp_path / "s"
    if len(obstacles := list_obstacles(study)):
        wanted = "fault fill_conntrack: the kernel gives a namespace no net.netfilter.nf_conntrack_max of its own"
        assert obstacles["obstacle"].tolist() == [wanted]
        with pytest.raises(LabError, match=wanted):
            launch(study, folder)
        assert not folder.exists()
        pytest.skip("the kernel gives a namespace no net.netfilter.nf_conntrack_max of its own")
    with contextlib.suppress(LabError):
        launch(study, folder)
    run = read_folder(folder).run
    assert left_behind(folder) == []
    assert "net.netfilter.nf_conntrack_max = 16" in [event["what"] for event in run.events]
