"""Each topology by a real launch: who is there, who loads whom, and whose rows are in the tables."""

import json

import pytest
from launched_runs import DELAYS, launched, read_folder, short_study
from private_services import free_endpoint

from loadcurve.lab import launch
from loadcurve.lab.tools.generators.generator import start_delay_s

pytestmark = pytest.mark.lab

SOCKETS = {"ss_summary": 0.3, "ss_connections": 0.3}


def established(made, host):
    """Peers of a host's connections."""
    rows = made.of("connections", host)
    return set(rows.loc[rows["state"] == "ESTAB", "peer_address"])


def address(made, host):
    """First address of a host in its networks."""
    cards = made.run.machine["hosts"][host]["interfaces"]
    return next(cards[card]["addresses"][0].partition("/")[0] for card in ("eth0",) if card in cards)


def test_a_client_and_a_server(tmp_path):
    made = launched(tmp_path / "s", topology={"recipe": "client_server"}, monitors=SOCKETS)
    assert {c.host for c in made.run.commands} == {"C1", "S1"} == set(made.run.machine["hosts"])
    assert made.run.factors["url"] == f"http://{address(made, 'S1')}:8080/"
    assert established(made, "S1") == {address(made, "C1")}
    assert established(made, "C1") == {address(made, "S1")}
    for host in ("C1", "S1"):
        assert made.run.machine["hosts"][host]["sysctls"]["net.ipv4.tcp_congestion_control"] == "reno"
        assert made.of("sockets", host)["established"].max() == 4, "of its own namespace alone"


def test_several_clients_with_two_processes_each(tmp_path):
    made = launched(
        tmp_path / "s", topology={"recipe": "several_clients"}, server=DELAYS, monitors=SOCKETS,
        load={"connections": 10, "processes": 2},
    )  # fmt: skip
    runs = made.tables["runs"].set_index("source")["connections"]
    assert runs.to_dict() == {"C1-1.wrk.txt": 3, "C1-2.wrk.txt": 3, "C2-1.wrk.txt": 2, "C2-2.wrk.txt": 2}
    assert established(made, "S1") == {address(made, "C1"), address(made, "C2")}
    assert made.of("sockets", "S1")["established"].max() == 10
    # They had one instant, and none began before it.
    notes = [(made.folder / "r1" / f"{stem}.at.json").read_text() for stem in ("C1-1", "C1-2", "C2-1", "C2-2")]
    assert min(map(start_delay_s, notes)) >= 0
    # A histogram and quantiles of each.
    for table in ("latency", "histogram"):
        assert set(made.tables[table]["generator"]) == {0, 1, 2, 3}
    # N/R: none is faster than the delay, all together do no more than 10 connections can.
    assert (made.tables["runs"]["latency_mean_s"] >= 0.010).all()
    assert 0 < made.tables["runs"]["throughput_rps"].sum() <= 10 / 0.010


def test_several_servers_are_loaded_alike(tmp_path):
    made = launched(
        tmp_path / "s", topology={"recipe": "several_clients", "clients": 2, "servers": 2},
        monitors={"stub_status": 0.3}, load={"connections": 4, "tool": "h2load", "requests": 400},
    )  # fmt: skip
    assert made.run.factors["url"].split() == [f"http://{address(made, host)}:8080/" for host in ("S1", "S2")]
    assert made.tables["runs"]["requests"].tolist() == [200, 200]
    assert [c.argv[-1] for c in made.commands("generator")] == made.run.factors["url"].split()


def test_a_proxy_before_servers(tmp_path):
    made = launched(
        tmp_path / "s", topology={"recipe": "client_proxy_servers", "servers": 3}, balancer={"nginx_l7": {}},
        monitors=SOCKETS, load={"connections": 12},
    )  # fmt: skip
    assert [c.host for c in made.commands("server")] == ["S1", "S2", "S3"]
    assert made.run.factors["url"] == f"http://{address(made, 'LB')}:8080/"
    assert established(made, "C1") == {address(made, "LB")}, "the client talks to the proxy"
    for host in ("S1", "S2", "S3"):
        assert established(made, host) == {address(made, "LB")}, "and the proxy to each server"


def test_a_balancer_of_packets_between_networks(tmp_path):
    made = launched(
        tmp_path / "s", topology={"recipe": "client_l4_servers", "clients": 2, "servers": 2}, balancer={"nft": {}},
        monitors=SOCKETS, load={"connections": 8},
    )  # fmt: skip
    for host in ("S1", "S2"):
        assert established(made, host) == {address(made, "C1"), address(made, "C2")}, "servers see the clients"
    assert established(made, "C1") == established(made, "C2") == {address(made, "LB")}
    assert made.of("sockets", "LB")["established"].max() == 0, "it passes on packets, and has no connection itself"
    assert made.run.machine["hosts"]["LB"]["sysctls"]["net.ipv4.ip_forward"] == "1"


def test_machines_that_are_there(tmp_path):
    """Both are this machine, so no login is needed: a client, and a server of its own port."""
    here, port = {"ssh": "", "address": "127.0.0.1"}, free_endpoint().port
    folder = tmp_path / "s"
    sections = {
        "topology": {"machines": {"C1": here, "S1": here}}, "monitors": {"ss_connections": 0.3},
        "server": {"nginx": {}, "port": port},
    }  # fmt: skip
    launch(short_study("s", **sections), folder)
    made = read_folder(folder)
    assert made.run.status == "finished" and made.row["host"] == "C1" and made.row["requests"] > 0
    assert {c.host for c in made.run.commands} == {"C1", "S1"}
    assert json.loads((folder / "r1" / "run.json").read_text())["factors"]["url"] == f"http://127.0.0.1:{port}/"
    assert made.warnings == ()


def test_a_variant_with_a_network_beside_one_without(tmp_path):
    made = launched(tmp_path / "s", variants={"lo": {}, "net": {"topology.recipe": "client_server"}})
    hosts = {run_id: {command.host for command in run.commands} for run_id, run in made.runs.items()}
    assert hosts == {"lo-r1": {"local"}, "net-r1": {"C1", "S1"}}
