"""What the record of a run adds: columns of its files' tables, settings of its hosts, limits of its processes."""

import pandas as pd
import pytest

from loadcurve.ingest.run_columns import complete, recorded_settings
from loadcurve.study import Command, Run

# ------------------------------------------------------------------ columns
START = pd.Timestamp("2026-11-23T00:00:00Z")
SAMPLES = pd.DataFrame(
    {
        "interface": ["eth0", "lo"],
        "received_bytes_per_s": [1e6, 5e6],
        "transmitted_bytes_per_s": [12e6, 5e6],
        "utilisation_ratio": [0.0096, 0.004],
    }
)


@pytest.mark.parametrize(
    ("queues", "ratio"),
    [
        (["tbf rate 12500000 burst 15000 lat 50000"], 0.96),  # 12 MB/s of 100 Mbit/s
        (["netem delay 0.01", "tbf rate 125000000 burst 150000"], 0.096),
        (["noqueue"], 0.0096),  # as sar printed it, of the nominal 10 Gbit/s
        (["tbf rate 0"], 0.0096),
        ([], 0.0096),
    ],
)
def test_a_link_is_used_by_the_share_of_its_rate_limit(queues, ratio):
    assert share(queues, "") == pytest.approx([ratio, 0.004])


def test_a_veth_without_a_limit_has_no_speed():
    assert share(["noqueue"], "veth") == pytest.approx([float("nan"), 0.004], nan_ok=True)
    assert share(["tbf rate 12500000"], "veth") == pytest.approx([0.96, 0.004])


def share(queues, kind):
    machine = {"hosts": {"S1": {"interfaces": {"eth0": {"qdiscs": queues, "kind": kind}, "lo": {}}}}}
    run = Run("s", "r1", "finished", {}, machine)
    sar = Command("collector", "sar", ("sar", "1"), "S1.sar.txt", "", 9.0, host="S1")
    found = complete("network", SAMPLES, run, sar, "S1.sar.txt", START, None)
    return found["utilisation_ratio"].tolist()


@pytest.mark.parametrize(("shares", "units"), [({}, None), ({"S1": 1.0}, 1), ({"S1": 0.5, "S2": 0.5}, 2)])
def test_servers_behind_a_balancer_are_units(shares, units):
    run = Run("s", "r1", "finished", {"expected_shares": shares} if shares else {}, {})
    wrk = Command("generator", "wrk", ("wrk",), "C1.wrk.txt", "", 9.0, host="C1", started_at=str(START))
    rows = complete("runs", pd.DataFrame({"throughput_rps": [100.0]}), run, wrk, "C1.wrk.txt", START, 0)
    assert rows.get("server_units", pd.Series([None])).tolist() == [units]


# ------------------------------------------------------------------ recorded_settings
MACHINE = {
    "tcp_max_orphans": "131072",
    "ip_local_port_range": "32768 60999",
    "somaxconn": "not known",
    "open_files_limit": 20000,
}


def settings(machine, *commands):
    run = Run("s", "r", "finished", {}, machine, tuple(commands))
    return [(row["host"], row.get("process"), row["setting"], row["value"]) for row in recorded_settings(run)]


def command(role, host, *argv):
    return Command(role=role, tool=argv[-1], argv=argv, stdout="", stderr="", limit_s=1.0, host=host)


def test_the_launchers_machine():
    found = settings(MACHINE, command("generator", "local", "taskset", "-c", "1", "wrk"))
    assert found == [
        ("local", None, "net.ipv4.ip_local_port_range", "32768 60999"),
        ("local", None, "net.ipv4.tcp_max_orphans", "131072"),
        ("local", "generator", "Max open files", "20000"),
    ]


def test_hosts_have_their_own_settings_and_commands_their_own_limits():
    hosts = {"C1": {"sysctls": {"net.ipv4.ip_local_port_range": "40000 40199"}}, "S1": {"sysctls": {}}}
    wrk = command("generator", "C1", "ip", "netns", "exec", "x", "prlimit", "--nofile=256:256", "wrk")
    nginx = command("server", "S1", "ip", "netns", "exec", "y", "nginx")
    found = settings(MACHINE | {"hosts": hosts}, nginx, wrk)
    assert found == [
        ("S1", None, "net.ipv4.tcp_max_orphans", "131072"),
        ("C1", None, "net.ipv4.ip_local_port_range", "40000 40199"),
        ("C1", None, "net.ipv4.tcp_max_orphans", "131072"),
        ("C1", "generator", "Max open files", "256"),
    ]


@pytest.mark.parametrize(
    ("routes", "used"),
    [
        (["10.99.0.0/18 dev eth0 scope link congctl bbr"], "bbr"),
        (["10.99.0.0/18 dev eth0 congctl bbr", "default via 10.99.0.1 congctl bbr proto static"], "bbr"),
        (["10.99.0.0/18 dev eth0 congctl bbr", "default via 10.99.0.1"], "reno"),
        ([], "reno"),
    ],
)
def test_routes_replace_the_congestion_control(routes, used):
    host = {"sysctls": {"net.ipv4.tcp_congestion_control": "reno"}, "routes": routes}
    assert settings({"hosts": {"S1": host}}) == [("S1", None, "net.ipv4.tcp_congestion_control", used)]


def test_the_limit_nearest_to_the_command_is_its_own():
    wrk = command("generator", "C1", "prlimit", "--nofile=20000:20000", "ip", "prlimit", "--nofile=1024:1024", "wrk")
    assert settings({}, wrk) == [("C1", "generator", "Max open files", "1024")]


@pytest.mark.parametrize("machine", [{}, {"hosts": {"C1": {}}}])
def test_what_is_not_known_has_no_row(machine):
    assert settings(machine, command("generator", "C1", "wrk"), command("collector", "local", "sar")) == []


def test_processors_and_virtual_links_of_the_hosts():
    """Namespaces share the processors of the launcher's machine; a remote host has its own."""
    cards = {"eth0": {"kind": "veth", "qdiscs": ["noqueue"], "addresses": ["10.0.0.1/24", "10.0.0.2/24"]}}
    cards |= {"eno1": {"kind": "", "qdiscs": ["mq"]}, "lo": {"addresses": ["127.0.0.1/8"]}}
    hosts = {"S1": {"interfaces": cards}, "C1": {"ssh": "ssh://x", "cpu_governor": "powersave"}}
    machine = {"cpu_governor": "performance", "cpu_mitigations": "not known", "hosts": hosts}
    assert settings(machine) == [
        ("S1", None, "scaling_governor", "performance"),
        ("S1", None, "link eth0", "veth noqueue"),
        ("S1", None, "addresses", "10.0.0.1 10.0.0.2"),
        ("C1", None, "scaling_governor", "powersave"),
    ]
