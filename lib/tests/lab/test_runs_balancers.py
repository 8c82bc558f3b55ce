"""Each balancer by a real launch: requests pass through it, both servers answer, and its counters are in the tables."""

import pytest
from launched_runs import launched, read_folder, runnable, short_study

from loadcurve.lab import describe, list_obstacles
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.run import launch as launch_module
from loadcurve.lab.tools.balancers import balancer as balancer_module
from loadcurve.lab.tools.balancers.kernel import has_ipvs
from loadcurve.launching import launch

pytestmark = pytest.mark.lab

PROXIES = {
    "nginx_l7": {"nginx_l7": {}},
    "nginx_l7_without_keepalive": {"nginx_l7": {"keepalive": False, "scheduler": "lc"}},
    "nginx_l7_with_domains": {"nginx_l7": {"domains": {"count": 20}, "lookup": "map"}},
    "nginx_stream": {"nginx_stream": {}},
    "haproxy_http": {"haproxy": {"mode": "http"}},
    "haproxy_tcp": {"haproxy": {"mode": "tcp"}},
}
RULES = {"map": {"nft": {"services": 100}}, "rules": {"nft": {"services": 100, "lookup": "rules"}}}


def servers_of(made):
    """Connections that the balancer counted last, and how far the count went up, for each server."""
    rows = made.of("balancer", "LB").query("kind == 'server'").sort_values("time")
    return rows.groupby("server_address" if rows["server"].isna().all() else "server")["connections"].agg(
        ["first", "last"]
    )


@pytest.mark.parametrize("name", PROXIES)
def test_a_program(tmp_path, name):
    counts = {"counters": 0.3} if "haproxy" in name else {}
    made = launched(
        tmp_path / "s", topology={"recipe": "client_proxy_servers"}, balancer=PROXIES[name],
        monitors={"ss_connections": 0.3, "nstat": 0.3, **counts}, load={"connections": 8},
    )  # fmt: skip
    (balancer,) = made.commands("balancer")
    assert balancer.host == "LB" and balancer.tool == name.partition("_")[0]
    assert made.row["requests"] > 0 and made.row["errors_status"] == 0
    for host in ("S1", "S2"):
        # Its own readiness apart, which is asked from the host itself, only the balancer comes to a server.
        counted = made.of("counters", host).query("counter == 'TcpPassiveOpens'")["value"]
        assert counted.max() > 1, "both servers had connections of the load"
    if counts:
        servers = servers_of(made)
        assert sorted(servers.index) == ["s1", "s2"]
        assert (servers["last"] >= 4).all(), "half of the 8 connections each, as they go round"


@pytest.mark.parametrize("lookup", RULES)
def test_rules_of_the_kernel_with_100_services(tmp_path, lookup):
    made = launched(
        tmp_path / "s", topology={"recipe": "client_l4_servers", "servers": 3}, balancer=RULES[lookup],
        monitors={"counters": 0.3}, load={"connections": 12},
    )  # fmt: skip
    (loaded,) = made.commands("balancer")
    assert (loaded.tool, loaded.host) == ("nft", "LB")
    # A hundred services side by side; the load goes to the last one.
    assert made.run.factors["url"].endswith(":20099/")
    text = (made.folder / "r1" / "LB.nft").read_text()
    for port in (20000, 20099):
        assert f" {port}" in text
    # Round robin by connection: 12 of wrk and one with which it asks before the load, over three servers.
    servers = servers_of(made)
    assert len(servers) == 3 and servers["last"].sum() == 13
    assert servers["last"].max() - servers["last"].min() == 1


def test_ipvs(tmp_path):
    """Here as everywhere: it runs, or one sentence says why not."""
    sections = {
        "topology": {"recipe": "client_l4_servers"}, "balancer": {"ipvs": {}}, "monitors": {"counters": 0.3},
    }  # fmt: skip
    if which("ipvsadm") and not has_ipvs():
        lacks = list_obstacles(short_study("s", **sections))
        assert lacks.values.tolist() == [["this kernel has no IPVS", "choose the balancer nft, or a kernel with ip_vs"]]
        pytest.skip("this kernel has no IPVS")
    made = launched(tmp_path / "s", **sections)
    assert made.row["requests"] > 0 and len(made.of("balancer", "LB"))


@pytest.mark.parametrize("clients", [2, 3])
def test_servers_get_what_a_hash_is_expected_to_give_them(tmp_path, clients):
    """Each client keeps to one server.  The shares of the plan are those that the kernel's counters show."""
    sections = {
        "topology": {"recipe": "client_l4_servers", "clients": clients, "servers": 2},
        "balancer": {"nft": {"scheduler": "hash"}}, "monitors": {"counters": 0.3}, "load": {"connections": 6 * clients},
    }  # fmt: skip
    (plan,) = (line.split()[3::2] for line in describe(short_study("s", **sections)) if " shares " in line)
    launch(runnable(short_study("s", **sections)), tmp_path / "s")
    made = read_folder(tmp_path / "s")
    expected = list(made.run.factors["expected_shares"].values())
    assert sorted(expected) == ([0.5, 0.5] if clients == 2 else pytest.approx([1 / 3, 2 / 3]))
    planned = sorted(float(word.strip("%,")) / 100 for word in plan)
    assert planned == pytest.approx(sorted(expected), abs=0.0005)
    # wrk asks once before the load: 6 connections of each client, and one more.
    rows = made.of("balancer", "LB").query("kind == 'server'").sort_values("time").groupby("server_address")
    counts = rows["connections"].last()
    assert counts.tolist() == pytest.approx([share * 7 * clients for share in expected])
    assert rows["expected_share_ratio"].last().tolist() == pytest.approx(expected)
    assert not [warning for warning in made.run.warnings if "balancer" in warning]


def test_other_shares_than_expected_are_warned_of(tmp_path, monkeypatch):
    """With the seed that every run once had, both clients of the usual addresses went to the same server."""
    monkeypatch.setattr(balancer_module, "seed_of_shares", lambda *_: 0x10ADC0DE)
    monkeypatch.setattr(balancer_module, "expected_shares", lambda *_: (0.5, 0.5))
    monkeypatch.setattr(launch_module, "unused_block", lambda: "10.99.0.0/16")
    sections = {
        "topology": {"recipe": "client_l4_servers", "clients": 2}, "balancer": {"nft": {"scheduler": "hash"}},
        "monitors": {"counters": 0.3}, "load": {"connections": 12},
    }  # fmt: skip
    launch(runnable(short_study("s", **sections)), tmp_path / "s", report=lambda line: None)
    (warning,) = (each for each in read_folder(tmp_path / "s").run.warnings if "balancer" in each)
    assert warning.startswith("the balancer gave its servers 0%, 100% of 14 connections, expected 50%, 50%: ")
