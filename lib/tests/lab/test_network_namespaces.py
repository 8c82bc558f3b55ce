"""Topologies for real: namespaces, links, what conditions do to packets."""

import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from events import HANG_S, wait_until

from loadcurve.errors import LabError
from loadcurve.lab.hosts.host import LOCAL
from loadcurve.lab.hosts.network import (
    TOPOLOGIES,
    HostSettings,
    LinkConditions,
    Resource,
    build,
    clean,
    has_netem,
    namespaces,
    network_facts,
    unused_block,
)
from loadcurve.lab.hosts.network.conditions import tc_lines
from loadcurve.lab.hosts.network.ledger import NAMESPACES
from loadcurve.lab.hosts.network.topology import (
    client_l4_servers,
    client_proxy_servers,
    client_server,
    loopback,
    several_clients,
)
from loadcurve.lab.hosts.process import guarded

pytestmark = pytest.mark.lab

# Answers every connection with who asked, and is ready when it says so.
SERVER = """
import http.server
class Who(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(self.client_address[0].encode())
    def log_message(self, *_): pass
server = http.server.HTTPServer(("0.0.0.0", 8080), Who)
print("ready", flush=True)
server.serve_forever()
"""
CLIENT = "import sys, urllib.request as u; print(u.urlopen(f'http://{sys.argv[1]}:8080/', timeout=60).read().decode())"
# Sends as fast as it may; the other end counts what comes between 0.5 s and 2.5 s.
SENDER = """
import socket
server = socket.create_server(("0.0.0.0", 8080)); print("ready", flush=True)
peer, _ = server.accept()
while True: peer.sendall(bytes(65536))
"""
RECEIVER = """
import socket, sys, time
peer = socket.create_connection((sys.argv[1], 8080)); begun, counted, first = time.monotonic(), 0, None
while time.monotonic() - begun < 2.5:
    got = len(peer.recv(1 << 20)); now = time.monotonic()
    if now - begun > 0.5:
        if first is None: first = now
        else: counted += got
        last = now
print(counted * 8 / (last - first))
"""


@pytest.fixture
def up(ledger, request):
    """Builds a topology for the length of a test, and runs commands on its hosts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        yield lambda topology, **how: build(topology, ledger, **how)


def ask(host, *command: str) -> str:
    return subprocess.run(
        guarded(host.argv(command), HANG_S), capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    ).stdout


def python(host, code: str, *args: str) -> str:
    return ask(host, sys.executable, "-I", "-S", "-c", code, *args)


class Serving:
    """A program on a host, from its `ready` to the end of the block."""

    def __init__(self, host, code):
        self.argv = guarded(host.argv((sys.executable, "-I", "-S", "-c", code)), 20)

    def __enter__(self):
        self.process = subprocess.Popen(self.argv, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert self.process.stdout.readline() == "ready\n"

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=HANG_S)


def round_trips_s(host, address: str, count: int = 20) -> list[float]:
    said = ask(host, "ping", "-c", str(count), "-i", "0.05", address)
    # The first one also asks for the address of the network card, on the same slow way.
    return [float(ms) / 1000 for ms in re.findall(r"time=([0-9.]+) ms", said)][1:]


@pytest.mark.parametrize("recipe", [client_server, client_proxy_servers, several_clients, client_l4_servers])
def test_clients_reach_servers_and_servers_see_clients(up, recipe):
    topology = recipe()
    with up(topology) as hosts:
        assert set(hosts) == {node.name for node in topology.nodes}
        with Serving(hosts["S1"], SERVER):
            for client in topology.with_role("C"):
                assert python(hosts[client.name], CLIENT, hosts["S1"].address).strip() == client.addresses[0]


def test_a_balancer_of_packets_rewrites_only_where_they_go(up):
    with up(client_l4_servers()) as hosts:
        rules = (
            "table ip balance { chain in { type nat hook prerouting priority dstnat; "
            f"tcp dport 8080 dnat to {hosts['S2'].address}; }}\n}}\n"
        )
        subprocess.run(hosts["LB"].argv(("nft", "-f", "-")), input=rules, text=True, check=True)
        with Serving(hosts["S2"], SERVER):
            assert python(hosts["C1"], CLIENT, hosts["LB"].address).strip() == hosts["C1"].address


def test_every_address_of_a_server_answers(up):
    topology = client_server(addresses=3)
    with up(topology) as hosts, Serving(hosts["S1"], SERVER):
        for address in topology.node("S1").addresses:
            assert python(hosts["C1"], CLIENT, address).strip() == hosts["C1"].address


def test_nothing_is_made_in_the_machines_own_namespace_and_nothing_leaves_a_topology(up):
    def links():
        return [link["ifname"] for link in json.loads(ask(LOCAL, "ip", "-j", "link", "show"))]

    before = links(), ask(LOCAL, "ip", "route", "show", "table", "all"), ask(LOCAL, "sysctl", "net.ipv4.ip_forward")
    with up(client_l4_servers()) as hosts:
        during = links(), ask(LOCAL, "ip", "route", "show", "table", "all"), ask(LOCAL, "sysctl", "net.ipv4.ip_forward")
        assert during == before
        for host in hosts.values():
            devices = {i["ifname"] for i in json.loads(ask(host, "ip", "-j", "link", "show"))}
            assert devices <= {"lo", "eth0", "eth1"}


@pytest.mark.parametrize("wait_s", [0, 0.001, 0.003, 0.1])
def test_nothing_is_left_of_a_topology(up, ledger, wait_s):
    with up(client_server()) as hosts:
        names = [host.prefix[-1] for host in hosts.values()] + [f"{ledger.tag}-net"]
        sleeper = subprocess.Popen(hosts["S1"].argv(("sleep", "30")), start_new_session=True)
        assert all((NAMESPACES / name).exists() for name in names)
        time.sleep(wait_s)
    assert not any((NAMESPACES / name).exists() for name in names)
    assert sleeper.wait(HANG_S) in (-9, 1), "what runs in a topology ends with it; what comes too late finds none"
    with up(client_server()):
        pass  # the same names can be used again at once


@pytest.mark.parametrize("error", [KeyboardInterrupt, LabError("x"), SystemExit])
def test_nothing_is_left_of_a_topology_that_was_interrupted(up, ledger, error, monkeypatch):
    def interrupted(*_):
        raise error

    monkeypatch.setattr(namespaces, "run_together", interrupted)
    with pytest.raises(BaseException), up(client_server()):  # noqa: B017
        raise AssertionError("it is not built")
    assert not [p for p in NAMESPACES.iterdir() if p.name.startswith(ledger.tag)]


def test_a_namespace_of_somebody_else_stays(up, ledger):
    foreign = f"{ledger.tag}-C1x"
    subprocess.run(["ip", "netns", "add", foreign], check=True)
    try:
        with up(client_server()):
            assert clean() is not None
        assert (NAMESPACES / foreign).exists()
        ledger.record(Resource("namespace", f"{ledger.tag}-other"))
        with pytest.raises(LabError, match="namespace .* exists already"):
            ledger.record(Resource("namespace", foreign))
    finally:
        subprocess.run(["ip", "netns", "del", foreign], check=True)


def test_largest_packets_are_those_of_the_link(up):
    with up(client_server(), links={"lan": LinkConditions(mtu=9000)}) as hosts:
        server = hosts["S1"].address
        # Payload = MTU - 20 (IPv4) - 8 (ICMP).
        ask(hosts["C1"], "ping", "-c1", "-M", "do", "-s", "8972", server)
        with pytest.raises(subprocess.CalledProcessError):
            ask(hosts["C1"], "ping", "-c1", "-M", "do", "-s", "8973", server)
        assert network_facts(hosts)["S1"]["interfaces"]["eth0"]["mtu"] == 9000


def test_a_rate_limits_what_comes_through(up):
    with up(client_server(), links={"S1": LinkConditions(rate_bps=100e6)}) as hosts, Serving(hosts["S1"], SENDER):
        payload_bps = float(python(hosts["C1"], RECEIVER, hosts["S1"].address))
        # A frame of 1514 bytes carries 1448: Ethernet 14, IPv4 20, TCP 20 and its time stamps 12.
        # No faster than the link by 5 %, its burst; a busy machine may be slower.
        assert 20e6 < payload_bps * 1514 / 1448 < 105e6
        assert any(
            q.startswith("tbf rate 12500000 ") for q in network_facts(hosts)["S1"]["interfaces"]["eth0"]["qdiscs"]
        )


@pytest.mark.parametrize("how", ["netem", "delay line"])
def test_a_delay_is_added_in_each_direction(up, how, monkeypatch):
    if how == "netem" and not has_netem():
        pytest.skip("no netem in this kernel")
    monkeypatch.setattr(namespaces, "has_netem", lambda: how == "netem")
    with up(client_server(), links={"S1": LinkConditions(delay_s=0.025)}) as hosts:
        # The shortest of them had no other delay, however busy the machine is.
        assert 0.050 <= min(round_trips_s(hosts["C1"], hosts["S1"].address)) <= 0.055
        queues = network_facts(hosts)["S1"]["interfaces"]["eth0"]["qdiscs"]
        assert ("netem" in " ".join(queues)) == (how == "netem")
        with Serving(hosts["S1"], SERVER):
            assert python(hosts["C1"], CLIENT, hosts["S1"].address).strip() == hosts["C1"].address


def test_tc_understands_the_lines_of_netem(network_tools):
    """Also where the kernel has no netem: then that is all it says."""
    lines = tc_lines("lo", LinkConditions(delay_s=0.01), netem=True)
    argv = ("unshare", "--net", "tc", "-batch", "-")
    said = subprocess.run(argv, input=lines, capture_output=True, text=True, check=False).stderr
    assert said == "" or said.startswith("Error: Specified qdisc kind is unknown.\nCommand failed -:1")


def test_delay_rate_and_loss_go_together_through_a_delay_line(up, monkeypatch):
    monkeypatch.setattr(namespaces, "has_netem", lambda: False)
    slow = LinkConditions(delay_s=0.005, rate_bps=50e6, mtu=1400, loss_ratio=0.0001)
    with (
        up(client_l4_servers(servers=1), links={"S1": slow, "LB.back": LinkConditions(mtu=1400)}) as hosts,
        Serving(hosts["S1"], SENDER),
    ):
        payload_bps = float(python(hosts["C1"], RECEIVER, hosts["S1"].address))
        assert 20e6 < payload_bps * 1414 / 1348 < 52.5e6
        assert statistics.median(round_trips_s(hosts["C1"], hosts["S1"].address, 10)) >= 0.010


def test_a_delay_line_ends_with_its_topology(up, monkeypatch, ledger):
    monkeypatch.setattr(namespaces, "has_netem", lambda: False)
    with up(client_server(), links={"S1": LinkConditions(delay_s=0.001), "C1": LinkConditions(delay_s=0.001)}):
        lines = [argv for argv in argvs() if "delay_line.py" in argv and ledger.tag in argv]
        assert len(lines) >= 4, "one for each direction of each link"
    assert [argv for argv in argvs() if ledger.tag in argv] == []


def test_a_link_that_is_cut_is_an_error_at_the_end(up, monkeypatch, ledger):
    monkeypatch.setattr(namespaces, "has_netem", lambda: False)
    with (
        pytest.raises(LabError, match="a delay line ended by itself, exit code .*: its link was cut"),
        up(client_server(), links={"S1": LinkConditions(delay_s=0.001)}),
    ):
        lines = [p for p in psutil.process_iter(["cmdline"]) if is_line(p.info["cmdline"] or [""], ledger.tag)]
        # Each line is two processes, one below the other; the upper one is guarded by a child of this one.
        guards = [guard for process in lines if (guard := process.parent()).ppid() == os.getpid()]
        for process in lines:
            process.kill()
        wait_until(lambda: all(guard.status() == psutil.STATUS_ZOMBIE for guard in guards))
    assert not [p for p in NAMESPACES.iterdir() if p.name.startswith(ledger.tag)]


def is_line(words: list[str], tag: str) -> bool:
    """Whether a command is the delay line of S1."""
    return f"{tag}-S1" in words and words[0] == sys.executable


def argvs() -> list[str]:
    return [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]


def test_a_delay_line_that_does_not_start_says_why(up, monkeypatch, tmp_path):
    monkeypatch.setattr(namespaces, "has_netem", lambda: False)
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no /dev/net/tun here')")
    monkeypatch.setattr(namespaces.delay_line, "__file__", str(broken))
    with pytest.raises(LabError, match="a delay line did not start: no /dev/net/tun here"):
        up(client_server(), links={"S1": LinkConditions(delay_s=0.001)}).__enter__()


def test_loss_happens_in_each_direction(up):
    with up(client_server(), links={"S1": LinkConditions(loss_ratio=0.1)}) as hosts:
        said = ask(hosts["C1"], "ping", "-q", "-c", "1000", "-i", "0.001", "-W", "2", hosts["S1"].address)
        lost = 1 - int(re.search(r"(\d+) received", said)[1]) / 1000
        # 1 - 0.9² = 0.19 of the round trips; its standard deviation is √(0.19·0.81/1000) = 0.0124, five of them.
        assert lost == pytest.approx(0.19, abs=0.062)


def test_a_link_with_loss_loses_segments_and_not_bursts(up):
    with up(client_server(), links={"S1": LinkConditions(loss_ratio=0.001)}) as hosts:
        offloads = network_facts(hosts)["S1"]["interfaces"]["eth0"]["offloads"]
        assert not offloads["tso"]
        assert not offloads["gso"]


def test_offloads_are_switched_at_both_ends(up, ledger):
    with up(client_server(), links={"S1": LinkConditions(offloads={"gro": False, "tso": False})}) as hosts:
        switch = hosts["S1"].__class__("net", "", ("ip", "netns", "exec", f"{ledger.tag}-net"))
        for said in (ask(hosts["S1"], "ethtool", "-k", "eth0"), ask(switch, "ethtool", "-k", "S1-lan")):
            assert "tcp-segmentation-offload: off" in said
            assert "generic-receive-offload: off" in said
        assert "tcp-segmentation-offload: on" in ask(hosts["C1"], "ethtool", "-k", "eth0")


USED = """
import socket, sys
peer = socket.create_connection((sys.argv[1], 8080))
print(peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1)).decode())
"""


def test_congestion_control_is_reno_unless_asked_otherwise(up):
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text("ascii").split()
    with up(client_server()) as hosts, Serving(hosts["S1"], SERVER):
        assert python(hosts["C1"], USED, hosts["S1"].address).strip() == "reno"
        assert network_facts(hosts)["C1"]["sysctls"]["net.ipv4.tcp_congestion_control"] == "reno"
    if "cubic" not in available:
        pytest.skip("no cubic in this kernel")
    with up(client_server(), hosts={"C1": HostSettings("cubic")}) as hosts, Serving(hosts["S1"], SERVER):
        assert python(hosts["C1"], USED, hosts["S1"].address).strip() == "cubic"
        facts = network_facts(hosts)
        assert any("congctl cubic" in route for route in facts["C1"]["routes"])
        assert not any("congctl" in route for route in facts["S1"]["routes"])


def test_a_congestion_control_that_the_kernel_lacks_is_an_error_and_leaves_nothing(up, ledger):
    what = r"ip -n lc[0-9a-f]{6}-C1 -batch -: .* \(route change 10.99.0.0/18 .* congctl nosuch\)"
    with pytest.raises(LabError, match=what), up(client_server(), hosts={"C1": HostSettings("nosuch")}):
        pass
    assert not [p for p in NAMESPACES.iterdir() if p.name.startswith(ledger.tag)]


def test_settings_are_of_one_host_alone(up):
    def own():
        return ask(LOCAL, "sysctl", "net.core.somaxconn", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_fin_timeout")

    narrow = {"net.ipv4.ip_local_port_range": "40000 40009", "net.core.somaxconn": "7", "net.ipv4.tcp_fin_timeout": "9"}
    before = own()
    with up(client_server(), hosts={"C1": HostSettings(sysctls=narrow)}) as hosts:
        facts = network_facts(hosts)
        assert {name: facts["C1"]["sysctls"][name] for name in narrow} == narrow
        assert all(facts["S1"]["sysctls"][name] != value for name, value in narrow.items())
        assert own() == before


def test_facts_are_those_of_the_kernel(up):
    topology = client_server(addresses=2)
    with up(topology) as hosts:
        facts = network_facts(hosts)
        assert json.loads(json.dumps(facts)) == facts, "they go to run.json"
        assert facts["S1"]["interfaces"]["eth0"]["addresses"] == ["10.99.2.1/18", "10.99.2.2/18"]
        assert facts["C1"]["routes"] == ["10.99.0.0/18 dev eth0 proto kernel scope link src 10.99.1.1"]
        assert facts["C1"]["interfaces"]["eth0"]["mtu"] == 1500
        offloads = facts["C1"]["interfaces"]["eth0"]["offloads"]
        assert set(offloads) == {"tso", "gso", "gro", "lro"}
        assert offloads["tso"], "veth leaves segmentation to the receiver unless it is told otherwise"
        port_range = ask(hosts["C1"], "cat", "/proc/sys/net/ipv4/ip_local_port_range").split()
        assert facts["C1"]["sysctls"]["net.ipv4.ip_local_port_range"].split() == port_range
    assert "lo" in network_facts({"local": LOCAL})["local"]["interfaces"]


def test_loopback_makes_nothing(up, ledger):
    with up(loopback()) as hosts:
        assert hosts == {"local": LOCAL}
        assert not [p for p in NAMESPACES.iterdir() if p.name.startswith(ledger.tag)]
    with pytest.raises(LabError, match="loopback has no host 'S1'"), up(loopback(), links={"S1": LinkConditions()}):
        pass


def test_addresses_that_the_machine_routes_are_refused(up, monkeypatch):
    monkeypatch.setattr(namespaces, "_routes", lambda: ["10.96.0.0/12"])
    with pytest.raises(LabError, match="this machine has a route to 10.99.0.0/18"), up(client_server()):
        pass
    with up(client_server(block=unused_block())) as hosts:
        assert hosts["S1"].address == "10.240.2.1"


def test_without_root_it_says_so(up, monkeypatch):
    said = pytest.raises(LabError, match="network namespaces, and those need root; or use loopback")
    with monkeypatch.context() as patched, said:
        patched.setattr(os, "geteuid", lambda: 1000)
        with up(client_server()):
            pass


def test_every_recipe_builds(up):
    for recipe in TOPOLOGIES.values():
        with up(recipe()):
            pass
