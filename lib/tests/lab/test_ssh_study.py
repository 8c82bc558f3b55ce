"""A whole study on two machines by OpenSSH: launched here, run there, nothing left there."""

from functools import partial

import pytest
from launched_runs import runnable
from ssh_hosts import have_ssh, serving

from loadcurve.ingest.folder import read_runs
from loadcurve.lab import launch
from loadcurve.lab.hosts import ssh
from loadcurve.lab.hosts.network import TOPOLOGIES, build
from loadcurve.study.records import read_run, read_study, run_folders

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools")]

STUDY = """
study: machines
question: Does a study run on machines?
topology:
  machines:
    C1: {{ssh: "{client_url}", address: {client}}}
    S1: {{ssh: "{server_url}", address: {server}}}
server: {{nginx: {{response: {{text: {{body_bytes: 100}}}}}}}}
load:
  {{tool: wrk, threads: 1, connections: 4, duration_s: 1, path: "/?a=${{KEY}}", method: POST, body: '"${{KEY}}"'}}
monitors: {{sar: 1, ss_summary: 1}}
repeats: 1
allow_targets: [{server}]
"""


def test_a_study_on_two_machines(ledger, tmp_path, monkeypatch):
    have_ssh()
    monkeypatch.setenv("KEY", "s3cret-of-tests")
    with (
        build(TOPOLOGIES["client_server"](), ledger) as hosts,
        serving(hosts["C1"], tmp_path / "C1") as near,
        serving(hosts["S1"], tmp_path / "S1") as far,
    ):
        logins = {
            each.url: partial(ssh.connected, options=each.options, prefix=hosts["C1"].prefix) for each in (near, far)
        }
        monkeypatch.setattr("loadcurve.lab.run.environment.ssh.connected", lambda url: logins[url](url))
        (folder := tmp_path / "machines").mkdir()
        (folder / "study.yml").write_text(
            STUDY.format(client_url=near.url, client=near.host.address, server_url=far.url, server=far.host.address)
        )
        launch(runnable(read_study(folder)), folder)
        assert near.comes_to_rest() and far.comes_to_rest(), (near.processes, near.left, far.processes, far.left)
    (path,) = run_folders(folder)
    run = read_run(path)
    assert run.status == "finished", run.reason
    ran = {(command.host, command.tool) for command in run.commands}
    assert {("S1", "nginx"), ("C1", "wrk"), ("C1", "sar"), ("S1", "sar")} <= ran
    for command in run.commands:
        assert not {"ssh", str(tmp_path)} & set(command.argv)
    assert r'wrk.body = "\034${KEY}\034"' in (path / "C1.wrk.lua").read_text("utf-8")
    assert "?a=${KEY}" in (path / "C1.wrk.txt").read_text("utf-8") and "C1.wrk.txt" in run.warnings[-1]
    assert not [file for file in path.iterdir() if b"s3cret-of-tests" in file.read_bytes()]
    (row,) = read_runs(folder).tables["runs"].to_dict("records")
    assert row["requests"] > 0
