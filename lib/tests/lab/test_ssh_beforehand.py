"""What is seen on a machine by ssh before anything of a run is started there."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from launched_runs import DELAYS
from test_ssh_runs import statuses, two_machines

from loadcurve.errors import LabError
from loadcurve.lab import list_obstacles
from loadcurve.lab.hosts import capabilities
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.run import obstacles
from loadcurve.study import Study
from loadcurve.study.records import read_run, run_folders, write_run, write_study

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools")]

FOREIGN = """
import http.server, sys
server = http.server.ThreadingHTTPServer((sys.argv[1], 8080), http.server.SimpleHTTPRequestHandler)
print("ready", flush=True)
server.serve_forever()
"""


@pytest.fixture
def modules():
    """The folder with the module of nginx that waits."""
    try:
        return Path(capabilities.here().module(capabilities.Programs.ECHO)).parent
    except LabError as error:
        pytest.skip(str(error))


def test_a_port_that_is_taken_there(ledger, tmp_path):
    folder = tmp_path / "machines"
    with two_machines(ledger, tmp_path) as machines:
        write_study(machines.study(), folder)
        host = machines.far.host
        argv = host.argv((sys.executable, "-c", FOREIGN, host.address))
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as foreign:
            try:
                assert foreign.stdout.readline() == "ready\n"
                said = machines.launch(folder)
            finally:
                foreign.kill()
    taken = f"{host.address}:8080 is taken: another program listens there already"
    assert taken in said
    run = read_run(run_folders(folder)[0])
    assert (run.status, run.reason) == ("failed", taken)
    assert not run.commands, "it would have been loaded itself"


def test_a_launcher_without_the_server_asks_the_machine_that_has_it(ledger, tmp_path, modules):
    folder = tmp_path / "machines"
    with two_machines(ledger, tmp_path, launcher_lacks=(modules, which("nginx"))) as machines:
        write_study(machines.study(server=DELAYS), folder)
        assert machines.launch(folder) == ""
    assert statuses(folder) == ["finished"]


def test_what_the_machine_lacks_is_told_before_anything_is_started(ledger, tmp_path, modules):
    folder = tmp_path / "machines"
    with two_machines(ledger, tmp_path, server_lacks=(modules,)) as machines:
        write_study(machines.study(server=DELAYS), folder)
        said = machines.launch(folder)
        url = machines.far.url
    assert said == (
        f"{url}: nginx has no ngx_http_echo_module.so, which waits without using the processor: "
        "apt-get install libnginx-mod-http-echo"
    )
    assert run_folders(folder) == []


def test_what_the_launcher_lacks_for_its_own_part_is_an_obstacle(monkeypatch):
    machines = {"C1": {"ssh": "", "address": "10.0.0.1"}, "S1": {"ssh": "ssh://u@10.0.0.2", "address": "10.0.0.2"}}
    monkeypatch.setattr(obstacles, "which", lambda tool: None if tool in ("wrk", "nginx", "mpstat") else tool)
    study = Study("s", "?", topology={"machines": machines}, monitors={"mpstat": 1}, server=DELAYS)
    assert list_obstacles(study)["obstacle"].tolist() == ["mpstat is not installed", "wrk is not installed"]
    study = replace(study, topology={"machines": {"C1": machines["S1"], "S1": machines["S1"]}})
    assert list_obstacles(study).empty, "what runs elsewhere is asked for there"


def test_runs_of_a_machine_that_was_another_one_are_not_mixed_in(ledger, tmp_path):
    folder = tmp_path / "machines"
    with two_machines(ledger, tmp_path) as machines:
        write_study(machines.study(), folder)
        assert machines.launch(folder) == ""
        assert machines.launch(folder) == "", "it is the same one"
        (path,) = run_folders(folder)
        run = read_run(path)
        hosts = {"S1": {**run.machine["hosts"]["S1"], "cpu_model": "another one"}}
        write_run(replace(run, machine={**run.machine, "hosts": hosts}), path)
        said = machines.launch(folder)
    assert "was recorded on another machine (S1: cpu_model another one there, " in said
    assert said.endswith(": launch under another name")
