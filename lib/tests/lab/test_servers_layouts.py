"""Layouts of listening sockets, in a namespace of their own: half of them listen on every address there is."""

import re
import subprocess

import pytest
from events import HANG_S
from private_services import ask, need, running

from loadcurve.lab.hosts.network import build, unused_block
from loadcurve.lab.hosts.network.named_topologies import client_server
from loadcurve.lab.servers import LAYOUTS, Endpoint, Files, Layout, Nginx, Serving, layout_services, nginx_service

pytestmark = [pytest.mark.real, pytest.mark.lab]

_WORKERS = 3
# Workers (or instances), sockets, and where they are bound: document of the comparison, and socket(7) for reuseport.
_EXPECTED = {
    "A": (1, 1, "one"),
    "B": (1, 1, "all"),
    "C": (1, 1, "one"),
    "D": (1, _WORKERS, "one"),
    "E": (_WORKERS, _WORKERS, "all"),
    "reuseport": (1, _WORKERS, "one"),
}


@pytest.mark.parametrize("letter", LAYOUTS)
def test_a_layout_listens_as_it_says(letter, tmp_path, ledger):
    need("nginx", "curl", "ss")
    topology = client_server(addresses=_WORKERS, block=unused_block())
    node = topology.node("S1")
    layout = Layout("S1", letter, node.addresses, 8080, _WORKERS)
    services = layout_services(layout)
    with build(topology, ledger) as hosts, running(tmp_path / "run", *services, host=hosts["S1"]):
        for endpoint in layout.endpoints:
            assert ask(endpoint.url, host=hosts["C1"]).status == 200, endpoint
        listed = subprocess.run(
            hosts["S1"].argv(("ss", "-Htlnp")), capture_output=True, text=True, check=True, timeout=HANG_S
        ).stdout
        elsewhere = ask(f"http://{node.addresses[-1]}:8080/", host=hosts["C1"]).status
    instances, sockets, where = _EXPECTED[letter]
    assert len(services) == instances
    bound = re.findall(r"^\S+\s+\d+\s+(\d+)\s+(\S+):\d+ ", listed, re.MULTILINE)
    assert len(bound) == sockets and {backlog for backlog, _ in bound} == {"1024"}
    assert {address for _, address in bound} == (
        {"0.0.0.0"} if where == "all" else {endpoint.address for endpoint in layout.endpoints}
    )
    assert elsewhere == (200 if where == "all" or letter == "D" else 0)
    workers = {int(pid) for pid in re.findall(r"pid=(\d+)", listed)}
    masters = instances
    assert len(workers) - masters == (1 if letter == "C" else _WORKERS)


def test_header_and_file_in_one_segment(tmp_path, ledger):
    """tcp_nopush: of a small file, the server sends one segment for each response instead of two."""
    need("nginx", "curl")
    topology = client_server(block=unused_block())
    here, sent = Endpoint(topology.node("S1").addresses[0], 8080), {}
    with build(topology, ledger) as hosts:
        for nopush in (False, True):
            serving = Serving(sendfile=True, tcp_nopush=nopush)
            service = nginx_service(Nginx("S1", (here,), Files((1000,)), serving=serving))
            with running(tmp_path / str(nopush), service, host=hosts["S1"]):
                before = _segments_sent(hosts["S1"])
                ask(f"{here.url}?[1-20]", "-o", "/dev/null", host=hosts["C1"])
                sent[nopush] = _segments_sent(hosts["S1"]) - before
    assert 18 <= sent[False] - sent[True] <= 22, sent


def _segments_sent(host):
    text = subprocess.run(
        host.argv(("cat", "/proc/net/snmp")), capture_output=True, text=True, check=True, timeout=HANG_S
    ).stdout
    names, values = (line.split() for line in text.splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("OutSegs")])
