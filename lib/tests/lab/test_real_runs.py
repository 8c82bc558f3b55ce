"""The laboratory for real: nginx, wrk, sar and ss on loopback, one second at a time."""

import math
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from events import wait_until
from launched_runs import left_behind, runnable
from private_services import listens

from loadcurve.errors import LabError, LoadcurveError
from loadcurve.ingest.folder import read_runs
from loadcurve.lab import launch, list_obstacles, measure_here
from loadcurve.lab.hosts import capabilities
from loadcurve.lab.run import deployment as host_slot
from loadcurve.lab.run import deployment as loads
from loadcurve.lab.run import launch as launch_module
from loadcurve.lab.run import obstacles
from loadcurve.lab.tools import monitors
from loadcurve.lab.tools.generators.generator import GeneratorCommand
from loadcurve.lab.tools.monitors.monitor import Monitor
from loadcurve.study import Study
from loadcurve.study.records import read_run, run_folders, write_run, write_study

pytestmark = pytest.mark.real


@pytest.fixture(scope="module", autouse=True)
def tools(small_study):
    runnable(small_study)


@pytest.fixture(scope="module")
def proxy():
    """A proxy of the environment that nobody serves, and that nobody must ask."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("http_proxy", "http://127.0.0.1:9")
        yield


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, small_study, proxy):
    """The folder of a finished study; a test that changes it takes a copy."""
    folder = tmp_path_factory.mktemp("recorded") / small_study.study
    launch(small_study, folder)
    return folder


@pytest.fixture
def copied(recorded, tmp_path):
    return Path(shutil.copytree(recorded, tmp_path / recorded.name))


def single(study):
    """One point: the server that waits, one connection."""
    return replace(study, variants={"delay": study.variants["delay"]}, factors={"connections": (1,)})


def test_a_study_runs_and_its_tables_are_whole(recorded):
    assert [p.name for p in run_folders(recorded)] == [
        "cpu-c0001-r1", "cpu-c0004-r1", "delay-c0001-r1", "delay-c0004-r1",
    ]  # fmt: skip
    assert left_behind(recorded) == []
    ingested = read_runs(recorded)
    runs = ingested.tables["runs"].set_index("run_id")
    assert (runs["status"] == "finished").all()
    assert (runs["requests"] > 0).all()
    # The server waits 10 ms before each response; bounds on one side only, as a busy machine adds to both clocks.
    waiting = runs[runs["variant"] == "delay"]
    assert (waiting["latency_mean_s"] >= 0.010).all()
    assert (waiting["throughput_rps"] <= waiting["connections"] / 0.010).all()
    assert runs[["cpu_other_ratio", "cpu_steal_ratio"]].apply(lambda ratio: ratio.between(0, 1)).all(axis=None)
    # How often monitors sample in a second is up to the machine; each of them has sampled, wrk reports once a run.
    assert set(ingested.tables["latency"]["run_id"]) == set(runs.index)
    for name in ("cpu", "network", "tcp", "sockets", "connections"):
        assert len(ingested.tables[name]), name
    assert set(ingested.tables["sockets"]["tool"]) == {"ss", "sar"}


@pytest.mark.parametrize("name", ["cpu-c0001-r1", "delay-c0004-r1"])
def test_what_ran_is_recorded_as_it_ran(recorded, name):
    folder = recorded / name
    run = read_run(folder)
    assert [c.role for c in run.commands] == ["server", "collector", "collector", "collector", "generator"]
    for command in run.commands:
        assert command.argv[:4] == ("setpriv", "--pdeathsig", "TERM", "timeout"), "an outer time limit"
        assert command.version
        assert command.started_at < command.ended_at
    assert set(run.files) == {p.name for p in folder.iterdir()} - {"run.json"}
    assert run.machine["tcp_congestion_control"] != "not known"
    assert run.machine["open_files_limit"] == os.sysconf("SC_OPEN_MAX")
    if run.factors["server_cpu"] is not None:
        assert run.factors["server_cpu"] != run.factors["generator_cpu"]
        pins = {c.tool: c.argv[c.argv.index("-c") + 1] for c in run.commands if "taskset" in c.argv}
        assert pins == {"nginx": str(run.factors["server_cpu"]), "wrk": str(run.factors["generator_cpu"])}
    assert str(recorded.parent) not in (folder / "run.json").read_text(), "no path of this machine"


def test_finished_runs_are_kept_and_others_done_again(copied, small_study):
    folder = copied
    kept = {p.name: (p / "run.json").read_bytes() for p in folder.iterdir() if p.is_dir()}
    again = folder / "delay-c0004-r1"
    write_run(replace(read_run(again), status="interrupted"), again)
    launch(small_study, folder)
    now = {p.name: (p / "run.json").read_bytes() for p in folder.iterdir() if p.is_dir()}
    assert now.pop(again.name) != kept.pop(again.name)
    assert now == kept
    assert read_run(again).status == "finished"


def test_another_study_is_not_mixed_in(recorded, small_study):
    with pytest.raises(LabError, match="holds this study with other load"):
        launch(replace(small_study, load={"duration_s": 2}), recorded)
    with pytest.raises(LabError, match="must bear the study's name 'small', got 'other'"):
        launch(small_study, recorded.with_name("other"))


def test_runs_of_another_machine_are_not_mixed_in(recorded, small_study, monkeypatch):
    facts = launch_module.facts.facts()
    monkeypatch.setattr(launch_module.facts, "facts", lambda: facts | {"cpu_model": "another one"})
    with pytest.raises(LabError, match="recorded on another machine .*another one here"):
        launch(small_study, recorded)


def test_runs_of_other_settings_are_not_mixed_in(copied, small_study):
    slower = {"server.nginx.response": {"delay": {"delay_ms": 20}}}
    other = replace(small_study, variants={**small_study.variants, "delay": slower})
    write_study(other, copied)
    with pytest.raises(LabError, match="was run with server.nginx.response.delay.delay_ms 10"):
        launch(other, copied)


def test_a_tool_that_hangs_is_ended_at_its_limit(tmp_path, small_study, monkeypatch):
    hang = ("sh", "-c", "sleep 600")
    monkeypatch.setattr(loads, "command_of", lambda load, stem: GeneratorCommand(hang, tool="wrk", limit_s=1.5))
    with pytest.raises(LabError, match="wrk was ended at its limit of 1.5 s"):
        launch(single(small_study), tmp_path / "small")
    assert left_behind(tmp_path / "small") == []


def test_a_missing_tool_is_named_with_its_package(small_study, monkeypatch, checkout):
    monkeypatch.setattr(obstacles, "which", lambda tool: None if tool in ("wrk", "sar") else f"/usr/bin/{tool}")
    monkeypatch.setattr(capabilities, "which", lambda tool: None)
    capabilities._module.cache_clear()
    found = list_obstacles(small_study)
    assert found["remedy"].tolist() == [
        "apt-get install sysstat", "apt-get install wrk", "apt-get install libnginx-mod-http-echo",
    ]  # fmt: skip
    capabilities._module.cache_clear()
    monkeypatch.setattr(launch_module, "list_obstacles", lambda study: found)
    write_study(small_study, checkout / "data" / "studies" / "small")
    here = measure_here("small", name="here", seconds=1, repeats=1)
    assert here.finished == 0
    assert "wrk is not installed: apt-get install wrk" in here.reason


def test_a_study_that_is_wrong_is_not_called_unmeasured(checkout):
    with pytest.raises(LoadcurveError, match="study must be one of"):
        measure_here("nowhere", name="here", seconds=1, repeats=1)


def test_a_server_that_runs_already_can_be_the_target(tmp_path):
    """Any loopback URL: here Python's own server stands for the one a user runs."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("hello")
    port = host_slot.free_port()
    argv = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    with subprocess.Popen(argv, cwd=site, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: listens(port))
            own = {"url": f"http://127.0.0.1:{port}/"}
            study = Study("s", "?", server=own, load={"duration_s": 1, "connections": 2}, repeats=1)
            folder = launch(study, tmp_path / "s")[0]
        finally:
            server.terminate()
    assert [c.tool for c in read_run(folder).commands] == ["sar", "ss", "ss", "wrk"]
    row = read_runs(tmp_path / "s").tables["runs"].iloc[0]
    assert row["requests"] > 0
    # Its server is a process like all others.
    assert math.isnan(row["cpu_other_ratio"]) and 0 <= row["cpu_steal_ratio"] <= 1


def test_a_collector_that_fails_leaves_a_warning(tmp_path, small_study, monkeypatch):
    odd = Monitor("sar", "sar", argv=("sar", "--no-such-option"), repeats=True, stop="INT")
    monkeypatch.setitem(monitors.MONITORS, "sar", replace(monitors.MONITORS["sar"], on_host=lambda *_: odd))
    folder = launch(single(small_study), tmp_path / "small")[0]
    run = read_run(folder)
    assert run.status == "finished"
    assert any(w.startswith("sar ended before the load did") for w in run.warnings)
    assert any("sar ended before" in w for w in read_runs(tmp_path / "small").warnings)


def test_a_short_copy_with_other_settings_is_kept_unless_it_may_start_afresh(checkout, small_study):
    write_study(single(small_study), checkout / "data" / "studies" / "small")
    assert measure_here("small", name="here", seconds=1, repeats=1).finished == 1
    with pytest.raises(LoadcurveError, match="build/studies/here holds another study, or one with other seconds"):
        measure_here("small", name="here", seconds=2, repeats=1)
    again = measure_here("small", name="here", seconds=2, repeats=1, afresh=True)
    assert (again.finished, again.reason) == (1, "")
    assert read_run(again.folder / "delay-c0001-r1").factors["seconds"] == 2


def test_a_short_copy_that_cannot_be_read_starts_afresh(checkout, small_study):
    one = single(small_study)
    write_study(one, checkout / "data" / "studies" / "small")
    here = measure_here("small", name="here", seconds=1, repeats=1)
    record = here.folder / "delay-c0001-r1" / "run.json"
    record.write_text(record.read_text().replace('"connections": 1', '"connections": 2'))
    assert measure_here("small", name="here", seconds=1, repeats=1, afresh=True).finished == 1
    for damage in (type(record).unlink, lambda file: file.write_bytes(b"")):
        damage(here.folder / "delay-c0001-r1" / "local.wrk.txt")
        assert measure_here("small", name="here", seconds=1, repeats=1, afresh=True).finished == 1
        assert len(read_runs(here.folder).tables["runs"]) == 1
