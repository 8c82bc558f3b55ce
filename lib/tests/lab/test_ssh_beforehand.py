"""What is seen on a machine by ssh before anything of a run is started there."""

import subprocess
import sys

import pytest
from test_ssh_runs import machines, statuses  # noqa: F401 - a fixture

from loadcurve.records import read_run, run_folders, write_study

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools")]

FOREIGN = """
import http.server, sys
server = http.server.ThreadingHTTPServer((sys.argv[1], 8080), http.server.SimpleHTTPRequestHandler)
print("ready", flush=True)
server.serve_forever()
"""


def test_a_port_that_is_taken_there(machines, tmp_path):  # noqa: F811
    folder, host = tmp_path / "machines", machines.far.host
    write_study(machines.study(), folder)
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
