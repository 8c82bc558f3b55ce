"""The laboratory for real: nginx, wrk, sar and ss on loopback, one second at a time."""

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest
from events import HANG_S, wait_until
from private_services import listens

from loadcurve.errors import LabError, LoadcurveError
from loadcurve.ingest.folder import read_runs
from loadcurve.lab import find_obstacles, launch, measure_here, monitors
from loadcurve.lab.deployment import host_slot, loads
from loadcurve.lab.generators import GeneratorCommand
from loadcurve.lab.hosts import capabilities
from loadcurve.lab.monitors import Monitor
from loadcurve.lab.preflight import obstacles
from loadcurve.lab.run import launch as launch_module
from loadcurve.study import Study
from loadcurve.study.records import read_run, write_run, write_study

pytestmark = pytest.mark.real

TOOLS = {"nginx", "wrk", "sar", "sadc", "ss", "timeout", "setpriv"}


@pytest.fixture(autouse=True)
def tools(small_study):
    missing = find_obstacles(small_study)
    if not missing.empty:
        pytest.skip("; ".join(missing["obstacle"]))


def alone(study):
    """One point: the server that answers at once, one connection."""
    return replace(study, variants={"cpu": {}}, factors={"connections": (1,)})


def lasting(study, seconds):
    return replace(study, load={**study.load, "duration_s": seconds})


def waiting_ms(delay_ms):
    return {"server.nginx.response": {"delay": {"delay_ms": delay_ms}}}


def left_behind(folder) -> list[str]:
    """Processes that still work in a study's folder: zombies wait for their parent only."""
    found = []
    for process in psutil.process_iter(["name", "cwd", "status", "cmdline"]):
        facts = process.info
        if facts["cwd"] and facts["cwd"].startswith(str(folder)) and facts["status"] != psutil.STATUS_ZOMBIE:
            found.append(" ".join(facts["cmdline"] or [facts["name"]]))
    return found


@pytest.fixture
def launcher(tmp_path, small_study):
    """A launch in a process of its own, which a test may end as it likes."""
    folder = tmp_path / small_study.study
    write_study(lasting(small_study, 5), folder)
    # A test run in the background of a shell inherits an ignored SIGINT; a person's Ctrl-C meets Python's own handler.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from pathlib import Path; from loadcurve.lab import launch; "
        "from loadcurve.study.records import read_study; f = Path(sys.argv[1]); launch(read_study(f), f)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(folder)], stderr=subprocess.PIPE, text=True)
    yield process, folder
    if process.poll() is None:
        process.kill()
    process.communicate()


def running_run(folder):
    return next((p.parent for p in folder.glob("*/run.json") if read_run(p).status == "running"), None)


def wrk_of(folder):
    for process in psutil.process_iter(["name", "cwd"]):
        if process.info["name"] == "wrk" and (process.info["cwd"] or "").startswith(str(folder)):
            return process
    return None


def test_a_study_runs_and_its_tables_are_whole(tmp_path, small_study):
    folder = tmp_path / "small"
    made = launch(small_study, folder)
    assert [p.name for p in made] == ["cpu-c0001-r1", "cpu-c0004-r1", "delay-c0001-r1", "delay-c0004-r1"]
    assert left_behind(folder) == []
    ingested = read_runs(folder)
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


def test_what_ran_is_recorded_as_it_ran(tmp_path, small_study):
    folder = launch(replace(small_study, variants={"cpu": {}}, factors={"connections": (2,)}), tmp_path / "small")[0]
    run = read_run(folder)
    assert [c.role for c in run.commands] == ["server", "collector", "collector", "collector", "generator"]
    for command in run.commands:
        assert command.argv[:4] == ("setpriv", "--pdeathsig", "TERM", "timeout"), "an outer time limit"
        assert command.version
        assert command.started_at < command.ended_at
    assert set(run.files) == {p.name for p in folder.iterdir()} - {"run.json"}
    assert run.machine["tcp_congestion_control"] != "not known"
    if run.factors["server_cpu"] is not None:
        assert run.factors["server_cpu"] != run.factors["generator_cpu"]
        pins = {c.tool: c.argv[c.argv.index("-c") + 1] for c in run.commands if "taskset" in c.argv}
        assert pins == {"nginx": str(run.factors["server_cpu"]), "wrk": str(run.factors["generator_cpu"])}
    assert str(tmp_path) not in (folder / "run.json").read_text(), "nothing of this machine's paths is in the record"


def test_finished_runs_are_kept_and_others_done_again(tmp_path, small_study):
    folder = tmp_path / "small"
    launch(small_study, folder)
    kept = {p.name: (p / "run.json").read_bytes() for p in folder.iterdir() if p.is_dir()}
    again = folder / "delay-c0004-r1"
    write_run(replace(read_run(again), status="interrupted"), again)
    launch(small_study, folder)
    now = {p.name: (p / "run.json").read_bytes() for p in folder.iterdir() if p.is_dir()}
    assert now.pop(again.name) != kept.pop(again.name)
    assert now == kept
    assert read_run(again).status == "finished"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, "interrupted"), (signal.SIGKILL, "running")])
def test_an_ended_launcher_leaves_finished_runs_whole_and_no_process(launcher, small_study, number, status):
    process, folder = launcher
    wait_until(lambda: len(list(folder.glob("*/run.json"))) == 2 and wrk_of(folder))
    process.send_signal(number)
    process.wait(timeout=HANG_S)
    states = {read_run(p).status for p in folder.glob("*/run.json")}
    assert states == {"finished", status}
    wait_until(lambda: left_behind(folder) == [])
    first = next(p for p in folder.glob("*/run.json") if read_run(p).status == "finished")
    before = first.read_bytes()
    launch(lasting(small_study, 5), folder)
    assert {read_run(p).status for p in folder.glob("*/run.json")} == {"finished"}
    assert first.read_bytes() == before


def test_a_killed_wrk_is_a_failed_run_and_the_others_go_on(launcher):
    process, folder = launcher
    wait_until(lambda: wrk_of(folder) is not None)
    victim = running_run(folder)
    wrk_of(folder).kill()
    _, said = process.communicate(timeout=HANG_S)
    assert process.returncode != 0
    assert "1 of 4 runs failed" in said and "launch again to repeat them" in said
    run = read_run(victim)
    assert run.status == "failed"
    assert "wrk ended with exit code" in run.reason
    assert [read_run(p).status for p in folder.glob("*/run.json")].count("finished") == 3
    assert left_behind(folder) == []
    unfinished = read_runs(folder).tables["runs"].query("status != 'finished'")
    assert unfinished["throughput_rps"].isna().all()


def test_a_tool_that_hangs_is_ended_at_its_limit(tmp_path, small_study, monkeypatch):
    hang = ("sh", "-c", "sleep 600")
    monkeypatch.setattr(loads, "command_of", lambda load, stem: GeneratorCommand(hang, tool="wrk", limit_s=1.5))
    with pytest.raises(LabError, match="wrk was ended at its limit of 1.5 s"):
        launch(alone(small_study), tmp_path / "small")
    assert left_behind(tmp_path) == []


def test_another_study_or_machine_is_not_mixed_in(tmp_path, small_study, monkeypatch):
    one = alone(small_study)
    launch(one, tmp_path / "small")
    with pytest.raises(LabError, match="holds this study with other load"):
        launch(lasting(one, 2), tmp_path / "small")
    with pytest.raises(LabError, match="must bear the study's name 'small', got 'other'"):
        launch(one, tmp_path / "other")
    facts = launch_module.facts.facts()
    monkeypatch.setattr(launch_module.facts, "facts", lambda: facts | {"cpu_model": "another one"})
    with pytest.raises(LabError, match="recorded on another machine .*another one here"):
        launch(one, tmp_path / "small")


def test_two_launches_do_not_share_a_folder(launcher, small_study):
    _, folder = launcher
    wait_until(lambda: running_run(folder) is not None)
    with pytest.raises(LabError, match="is being written by another launch"):
        launch(lasting(small_study, 5), folder)


def test_a_missing_tool_is_named_with_its_package(small_study, monkeypatch, checkout):
    monkeypatch.setattr(obstacles, "which", lambda tool: None if tool in ("wrk", "sar") else f"/usr/bin/{tool}")
    monkeypatch.setattr(capabilities, "which", lambda tool: None)
    capabilities._module.cache_clear()
    found = find_obstacles(small_study)
    assert found["remedy"].tolist() == [
        "apt-get install sysstat", "apt-get install wrk", "apt-get install libnginx-mod-http-echo",
    ]  # fmt: skip
    capabilities._module.cache_clear()
    monkeypatch.setattr(launch_module, "find_obstacles", lambda study: found)
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


def test_the_open_files_limit_is_recorded(tmp_path, small_study):
    folder = launch(alone(small_study), tmp_path / "small")[0]
    assert read_run(folder).machine["open_files_limit"] == os.sysconf("SC_OPEN_MAX")


def test_a_server_that_dies_makes_a_failed_run(launcher):
    process, folder = launcher
    wait_until(lambda: wrk_of(folder) is not None)
    victim = running_run(folder)
    for found in psutil.process_iter(["name", "cmdline", "cwd"]):
        if found.info["name"] == "nginx" and (found.info["cwd"] or "").startswith(str(folder)):
            found.kill()
    process.communicate(timeout=HANG_S)
    run = read_run(victim)
    assert run.status == "failed"
    assert run.reason.startswith("nginx ended during the run")


def test_a_collector_that_fails_leaves_a_warning(tmp_path, small_study, monkeypatch):
    odd = Monitor("sar", "sar", argv=("sar", "--no-such-option"), repeats=True, stop="INT")
    monkeypatch.setitem(monitors.MONITORS, "sar", replace(monitors.MONITORS["sar"], on_host=lambda *_: odd))
    folder = launch(alone(small_study), tmp_path / "small")[0]
    run = read_run(folder)
    assert run.status == "finished"
    assert any(w.startswith("sar ended before the load did") for w in run.warnings)
    assert any("sar ended before" in w for w in read_runs(tmp_path / "small").warnings)


def test_a_proxy_of_the_environment_is_not_asked(tmp_path, small_study, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    launch(alone(small_study), tmp_path / "small")


def test_runs_of_other_settings_are_not_mixed_in(tmp_path, small_study):
    one = replace(small_study, variants={"delay": waiting_ms(10)}, factors={"connections": (1,)})
    launch(one, tmp_path / "small")
    other = replace(one, variants={"delay": waiting_ms(20)})
    write_study(other, tmp_path / "small")
    with pytest.raises(LabError, match="was run with server.nginx.response.delay.delay_ms 10"):
        launch(other, tmp_path / "small")


def test_a_short_copy_with_other_settings_is_kept_unless_it_may_start_afresh(checkout, small_study):
    write_study(alone(small_study), checkout / "data" / "studies" / "small")
    assert measure_here("small", name="here", seconds=1, repeats=1).finished == 1
    with pytest.raises(LoadcurveError, match="build/studies/here holds another study, or one with other seconds"):
        measure_here("small", name="here", seconds=2, repeats=1)
    again = measure_here("small", name="here", seconds=2, repeats=1, afresh=True)
    assert (again.finished, again.reason) == (1, "")
    assert read_run(again.folder / "cpu-c0001-r1").factors["seconds"] == 2


def test_a_short_copy_that_cannot_be_read_starts_afresh(checkout, small_study):
    one = alone(small_study)
    write_study(one, checkout / "data" / "studies" / "small")
    here = measure_here("small", name="here", seconds=1, repeats=1)
    record = here.folder / "cpu-c0001-r1" / "run.json"
    record.write_text(record.read_text().replace('"connections": 1', '"connections": 2'))
    assert measure_here("small", name="here", seconds=1, repeats=1, afresh=True).finished == 1
    for damage in (type(record).unlink, lambda file: file.write_bytes(b"")):
        damage(here.folder / "cpu-c0001-r1" / "local.wrk.txt")
        assert measure_here("small", name="here", seconds=1, repeats=1, afresh=True).finished == 1
        assert len(read_runs(here.folder).tables["runs"]) == 1
