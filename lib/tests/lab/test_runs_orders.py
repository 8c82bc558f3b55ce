"""Which runs are made, by real launches: designs, points, blocks, searches and stops, and how each goes on."""

import contextlib
import json
import os
import re
import shutil
import signal
import threading
import time
from dataclasses import replace

import pytest
from events import HANG_S
from launched_runs import DELAYS, check_whole, launched, left_behind, read_folder, runnable, short_study

from loadcurve.lab import read_checked
from loadcurve.lab.run import launch as launching
from loadcurve.lab.run import resume
from loadcurve.lab.schedule.feedback import read_answers
from loadcurve.launching import launch
from loadcurve.study.records import read_run, run_folders

pytestmark = pytest.mark.lab

# A fraction of a second for each run: ten requests end it.
BRIEF = {"tool": "ab", "requests": 10, "connections": 1}


def levels(made):
    """Levels of each run in the order in which they were run."""
    ordered = sorted(made.runs.values(), key=lambda run: run.factors["order"])
    assert [run.factors["order"] for run in ordered] == list(range(len(ordered)))
    begun = [min(c.started_at for c in run.commands) for run in ordered]
    assert begun == sorted(begun), "they ran in this order"
    return [(run.factors["variant"], *run.factors["levels"].values(), run.factors["repeat"]) for run in ordered]


def test_finished_runs_that_were_disturbed_are_measured_again_on_request(tmp_path, monkeypatch):
    sections = {"load": BRIEF, "factors": {"connections": (1, 2)}}
    first = launched(tmp_path / "s", **sections)
    for module in (launching, resume):
        monkeypatch.setattr(module, "disturbance", lambda recorded: "others" if recorded == disturbed else "")
    again, other = sorted(first.runs)
    disturbed = first.runs[again].background
    for _ in range(2):  # the second time nothing is left to do
        launch(short_study("s", **sections), tmp_path / "s", again=True)
        second = read_folder(tmp_path / "s")
        check_whole(second)
        assert second.runs[other].seal == first.runs[other].seal and second.runs[again].seal != first.runs[again].seal
        replaced = json.loads((tmp_path / "s" / "runs.json").read_text("utf-8"))["replaced"]
        assert [(one["run_id"], one["why"]) for one in replaced] == [(again, "others")]


def test_a_finished_measurement_outlives_the_interruption_of_the_one_that_replaces_it(tmp_path, monkeypatch):
    folder, sections = tmp_path / "s", {"load": {"duration_s": 2}}
    first = launched(folder, **sections)
    (run_id,) = first.runs
    monkeypatch.setattr(launching, "disturbance", lambda recorded: "others")
    thread = interrupt_after(folder, 0)
    with interruptible(), pytest.raises(KeyboardInterrupt):
        launch(short_study("s", **sections), folder, again=True)
    thread.join(HANG_S)
    second = read_folder(folder)
    check_whole(second)
    assert second.runs[run_id].seal == first.runs[run_id].seal
    assert sorted(path.name for path in folder.iterdir()) == [run_id, "runs.json", "study.yml"]
    assert "replaced" not in json.loads((folder / "runs.json").read_text("utf-8"))


def test_a_grid_in_seeded_blocks(tmp_path):
    sections = {
        "load": BRIEF, "variants": {"a": {}, "b": {"server.nginx.response": {"text": {"body_bytes": 7}}}},
        "factors": {"connections": (1, 2)}, "repeats": 2,
    }  # fmt: skip
    made = launched(tmp_path / "s", **sections, seed=1)
    every = {(variant, n) for variant in "ab" for n in (1, 2)}
    ran = levels(made)
    for repeat, block in ((1, ran[:4]), (2, ran[4:])):
        assert {one[:2] for one in block} == every and {one[2] for one in block} == {repeat}
    repeats = made.tables["runs"].groupby("variant")["repeat"].apply(sorted)
    assert repeats.to_dict() == {"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]}
    held = made.tables["factors"]
    assert set(held["factor"]) == {"load.connections"} and sorted(held["number"]) == [1, 1, 1, 1, 2, 2, 2, 2]


def test_one_factor_at_a_time(tmp_path):
    made = launched(
        tmp_path / "s", load={**BRIEF, "requests": 30}, design="one_at_a_time",
        factors={"connections": (1, 2, 3), "server.nginx.process.workers": (1, 2)},
    )  # fmt: skip
    assert {one[1:3] for one in levels(made)} == {(1, 1), (2, 1), (3, 1), (1, 2)}
    assert sorted(made.runs) == ["c0001-workers1-r1", "c0001-workers2-r1", "c0002-workers1-r1", "c0003-workers1-r1"]
    for run in made.runs.values():
        workers = run.factors["settings"]["server"]["nginx"]["process"]["workers"]
        text = (made.folder / run.run_id / "S1.conf").read_text()
        assert f"worker_processes {workers};" in text


def test_points_that_are_listed(tmp_path):
    made = launched(
        tmp_path / "s", load=BRIEF,
        points=(
            {"connections": 1, "load.headers": {"X-A": "1"}}, {"connections": 3}, {"server.nginx.layout": "reuseport"},
        ),
        server={"nginx": {"serving": {"access_log": "on"}}},
    )  # fmt: skip
    assert sorted(made.runs) == ["p01-r1", "p02-r1", "p03-r1"]
    assert made.runs["p02-r1"].factors["connections"] == 3
    (argv,) = (c.argv for c in made.runs["p01-r1"].commands if c.role == "generator")
    assert "X-A: 1" in argv
    assert "reuseport" in (made.folder / "p03-r1" / "S1.conf").read_text()


# Six ephemeral ports, none of which a closed connection keeps; wrk asks once before the load, which may take one.  So
# four connections to a server are always had, and eight never.  (Of an odd number Linux leaves one out each time.)
SIX_PORTS = {
    "topology": {"recipe": "client_server"},
    "hosts": {"C1": {"sysctls": {"net.ipv4.ip_local_port_range": "40000 40005", "net.ipv4.tcp_max_tw_buckets": "0"}}},
    # However long a response takes: what breaks it is a single failed connection.
    "objective": {"failed_ratio": 0.0},
}


def search(kind, **goal):
    return {kind: {"final_s": 1.0, "initial_s": 1.0, "level": 0.6, "width_ratio": 0.05, **goal}}


def interrupt_after(folder, finished):
    """Interrupt this process when a run begins after so many that finished, as Ctrl-C does."""

    def wait():
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline:
            runs = [read_run(run) for place in (folder, folder / ".again") for run in run_folders(place)]
            if sum(run.status == "finished" for run in runs) >= finished and any(r.status == "running" for r in runs):
                time.sleep(0.3)
                os.kill(os.getpid(), signal.SIGINT)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@contextlib.contextmanager
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def answers(into):
    """A log that keeps what a search or a stop answers, and no line of a run or of a resumed launch."""
    return lambda line: None if line.startswith("run ") or " finished; " in line else into.append(line)


def interrupted_and_resumed(study, folder, finished):
    """Launch, interrupt, launch again; return what was said at the end, and the folder."""
    runnable(study)
    said = []
    thread = interrupt_after(folder, finished)
    with interruptible(), pytest.raises(KeyboardInterrupt):
        launch(study, folder, log=answers(said))
    thread.join(HANG_S)
    assert left_behind(folder) == [] and said == []
    states = [read_run(run).status for run in run_folders(folder)]
    assert sorted(states) == ["finished"] * finished + ["interrupted"]
    assert not any(answer.ended for answer in read_answers(folder)), "what is known so far"
    kept = {p: (p / "run.json").read_bytes() for p in run_folders(folder) if read_run(p).status == "finished"}
    launch(study, folder, log=answers(said))
    assert all((path / "run.json").read_bytes() == was for path, was in kept.items()), "finished, so not repeated"
    assert all(answer.ended for answer in read_answers(folder))
    made = read_folder(folder)
    check_whole(made)
    return said, made


def test_a_search_for_capacity_goes_on_after_an_interruption(tmp_path):
    study = short_study("s", **SIX_PORTS, search=search("capacity", lowest=4, highest=8, resolution=4))
    (said,), made = interrupted_and_resumed(study, tmp_path / "s", finished=2)
    told = r"the objective is met up to 4 connections and missed at 8: [\d,]+ requests/s; \d+ runs, \d+ s of load"
    assert re.match(told, said), said
    (stored,) = json.loads((made.folder / "answers.json").read_text("utf-8"))
    assert (stored["lower"], stored["upper"], stored["factor"]) == (4, 8, "connections")
    assert f"{stored['value']:,.0f} requests/s" in said
    runs = made.tables["runs"].set_index("connections")
    assert set(runs.index) == {4, 8}
    assert (runs.loc[4, "errors_connect"] == 0).all() and (runs.loc[8, "errors_connect"] > 0).all()
    # Nothing is left to do: the same answer from the recorded runs alone, and none of them is touched.
    before, again = {p: (p / "run.json").read_bytes() for p in run_folders(made.folder)}, []
    launch(study, made.folder, log=answers(again))
    assert again == [said] and before == {p: (p / "run.json").read_bytes() for p in run_folders(made.folder)}


def test_a_search_for_the_size_that_fills_a_link(tmp_path):
    """Its rate is known, so no trial measures it: 4 Mbit/s are 500 kB/s of frames.

    8 connections with 20 ms each ask for 400 responses/s: 1500 bytes fill it, 500 do not.
    """
    sizes = search("saturating_size", lowest=500, highest=1500, resolution=1000, tolerance_ratio=0.1)
    study = short_study(
        "s", topology={"recipe": "client_server"}, links={"S1": {"rate_bps": 4e6}}, load={"connections": 8},
        server={"nginx": {"response": {"delay": {"delay_ms": 20}}}},
        search={"factor": "server.nginx.response.delay.body_bytes", **sizes},
    )  # fmt: skip
    said, folder = [], tmp_path / "s"
    launch(runnable(study), folder, log=answers(said))
    assert said[0].startswith("1,500 bytes fill the limit, 500 bytes do not: "), said
    made = read_folder(folder)
    check_whole(made)
    numbers = made.tables["factors"].query("factor == 'server.nginx.response.delay.body_bytes'")["number"]
    assert set(numbers) == {500, 1500}
    (stored,) = json.loads((folder / "answers.json").read_text("utf-8"))
    assert stored["quantity"] == "frame_bytes_per_s" and stored["value"] == pytest.approx(500e3, rel=0.1)


def test_a_stop_repeats_until_the_mean_is_known(tmp_path):
    """A delay of 10 ms gives nearly the same number again and again: the rule's own least of ten repeats is enough."""
    study = short_study(
        "s", server=DELAYS, load={"tool": "ab", "requests": 20, "connections": 2},
        stop={"half_width_ratio": 0.5, "quantity": "latency_mean_s"},
    )  # fmt: skip
    said, folder = [], tmp_path / "s"
    launch(study, folder, log=answers(said))
    made = read_folder(folder)
    check_whole(made)
    assert sorted(made.tables["runs"]["repeat"]) == list(range(1, 11)) and "; 10 runs" in said[0]
    found = re.match(r"the mean response time is ([\d.]+) s, 95 % interval ([\d.]+) s to ([\d.]+) s", said[0])
    mean, lo, hi = map(float, found.groups())
    # No response is faster than the delay; a busy machine only adds to it.
    assert mean >= 0.010 and lo <= mean <= hi and hi - mean <= 0.5 * mean, said


def test_a_stop_leaves_what_scatters_after_its_most_repeats(tmp_path):
    study = short_study(
        "s", load={"tool": "ab", "requests": 10, "connections": 1}, variants={"a": {}, "b": {}},
        stop={"half_width_ratio": 0.0001, "most_repeats": 10},
    )  # fmt: skip
    said, folder = [], tmp_path / "s"
    launch(study, folder, log=answers(said))
    assert set(read_folder(folder).runs) == {f"{v}-r{n}" for v in "ab" for n in range(1, 11)}
    assert len(said) == 2 and all("the most allowed" in one for one in said)
    # One is lost: only that one is made again.
    kept = {p: (p / "run.json").read_bytes() for p in run_folders(folder)}
    shutil.rmtree(folder / "a-r9")
    launch(study, folder, log=answers(said))
    now = {p: (p / "run.json").read_bytes() for p in run_folders(folder)}
    assert now.pop(folder / "a-r9") != kept.pop(folder / "a-r9") and now == kept


def test_a_study_goes_on_with_more_repeats_by_its_own_settings(tmp_path):
    study = short_study("s", load=BRIEF)
    folder = tmp_path / "s"
    launch(study, folder)
    with pytest.raises(Exception, match="holds this study with other repeats: .*`repeats: 2` in its study.yml"):
        launch(replace(study, repeats=2), folder)
    file = folder / "study.yml"
    file.write_text(file.read_text().replace("repeats: 1", "repeats: 2"))
    assert len(launch(read_checked(folder), folder)) == 2
