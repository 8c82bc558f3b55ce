"""A setting of nginx whose effect only a namespace of its own shows: segments that a server sends."""

import subprocess

import pytest
from events import HANG_S
from private_services import ask, need, running

from loadcurve.lab.hosts.network import build, unused_block
from loadcurve.lab.hosts.network.topology import client_server
from loadcurve.lab.tools.servers import Endpoint, Files, Nginx, Serving, nginx_service

pytestmark = [pytest.mark.real, pytest.mark.lab]


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
