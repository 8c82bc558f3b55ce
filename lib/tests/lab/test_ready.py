"""Ready is what answers and is the laboratory's own: not what ended meanwhile, and not before the study's own delay."""

import subprocess

import pytest
from launched_runs import launched
from private_services import answering

from loadcurve.errors import LabError
from loadcurve.lab.hosts.executor import LocalExecutor
from loadcurve.lab.hosts.host import LOCAL
from loadcurve.lab.hosts.process import Started
from loadcurve.lab.run.readiness import wait_until_ready
from loadcurve.study import Command


def test_what_ended_while_another_one_answered_is_not_ready(tmp_path):
    """The server that answers is another program; the one that was started ends before the answer is there."""
    with subprocess.Popen(["sleep", "60"]) as ours:

        def answer(request):
            ours.kill()
            ours.wait()
            request.send_response(200)
            request.end_headers()

        with answering(answer) as server:
            url = f"http://127.0.0.1:{server.server_port}/"
            started = Started(Command("server", "nginx", ("nginx",), "out.txt", "err.txt", 1.0), ours)
            with pytest.raises(LabError, match=r"the private nginx did not respond \(it ended\)"):
                wait_until_ready(LocalExecutor(LOCAL, tmp_path), started, url, "")


@pytest.mark.lab
@pytest.mark.parametrize("recipe", ["loopback", "client_server"])
def test_a_server_that_waits_longer_than_anybody_would_for_a_start(tmp_path, recipe):
    delay = {"nginx": {"response": {"delay": {"delay_ms": 5300}}}}
    made = launched(tmp_path / "s", topology={"recipe": recipe}, server=delay)
    assert made.run.status == "finished"


@pytest.mark.lab
def test_servers_live_as_long_as_their_own_delays_take(tmp_path):
    """Each is waited for in turn, and what is up first must not be ended by its limit before the load is over."""
    sections = {"topology": {"recipe": "client_proxy_servers"}, "balancer": {"haproxy": {}}}
    limits = []
    for delay_ms in (10, 1010):
        delay = {"nginx": {"response": {"delay": {"delay_ms": delay_ms}}}}
        made = launched(tmp_path / f"s{delay_ms}", **sections, server=delay)
        limits.append(made.commands("server", "S1")[0].limit_s)
    assert limits[1] - limits[0] == pytest.approx(3 * 1.0), "two servers, and what stands before them"
