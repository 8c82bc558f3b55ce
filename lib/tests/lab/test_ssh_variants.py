"""A variant may name other machines: each point is run on its own ones, over one connection to each."""

import pytest
from ssh_hosts import have_ssh, serving
from test_ssh_runs import CLIENT_CONFIGURATION, Machines

from loadcurve.lab.hosts.network import TOPOLOGIES, build
from loadcurve.study.records import read_run, write_study

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("network_tools")]


@pytest.fixture
def clients(ledger, tmp_path):
    """Three hosts: the launcher's own, which is the server, and two clients behind an sshd each."""
    have_ssh()
    with (
        build(TOPOLOGIES["several_clients"](clients=2), ledger) as hosts,
        serving(hosts["C1"], tmp_path / "C1") as near,
        serving(hosts["C2"], tmp_path / "C2") as far,
    ):
        (settings := tmp_path / "client").mkdir()
        (settings / "ssh_config").write_text(
            "".join(
                CLIENT_CONFIGURATION.format(folder=each.folder).replace("*", each.host.address) for each in (near, far)
            )
        )
        yield Machines(hosts["S1"], near, settings), far
        assert near.comes_to_rest() and far.comes_to_rest()


def test_a_variant_with_another_client(clients, tmp_path):
    launcher, far = clients
    here, near, folder = launcher.client, launcher.far, tmp_path / "machines"
    study = launcher.study(
        topology={"machines": {"C1": {"ssh": "", "address": here.address}, "S1": {"ssh": "", "address": here.address}}},
        variants={
            "here": {},
            "near": {"topology.machines.C1": {"ssh": near.url, "address": near.host.address}},
            "far": {"topology.machines.C1": {"ssh": far.url, "address": far.host.address}},
        },
        monitors={},
        repeats=2,
        allow_targets=(here.address,),
    )
    write_study(study, folder)
    assert launcher.launch(folder) == ""
    ran_on = {}
    for variant in study.variants:
        for repeat in (1, 2):
            run = read_run(folder / f"{variant}-r{repeat}")
            assert run.status == "finished"
            ran_on.setdefault(variant, set()).add(run.machine.get("hosts", {}).get("C1", {}).get("ssh", ""))
    assert ran_on == {"here": {""}, "near": {near.url}, "far": {far.url}}
    for each in (near, far):
        said = (each.folder / "sshd.log").read_text()
        assert said.count("Accepted publickey") == 1, "once for the whole launch"
