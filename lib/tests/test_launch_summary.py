"""What a launch shows and ends with, over recorded runs: expected numbers are from the audit, or were put there."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from conftest import copy_runs

from loadcurve import audit, read, read_table
from loadcurve.analysis import analyse
from loadcurve.errors import LoadcurveError
from loadcurve.files.paths import shown
from loadcurve.lab import Feedback, list_obstacles
from loadcurve.lab.run.launch import LaunchProgress
from loadcurve.lab.schedule.points import plan
from loadcurve.launching import interruption, launch
from loadcurve.launching.launcher import describe, describe_launch
from loadcurve.report import text_report
from loadcurve.study import Study
from loadcurve.study.archive import unpack
from loadcurve.study.records import read_run, run_folders, write_run, write_study
from loadcurve.units import format_quantity

STUDY = "connections_on_loopback"


@pytest.fixture
def recorded(tmp_path):
    """Two recorded runs and one that failed, with warnings; the names of the two."""
    names = ["cpu-c0512-r2", "delay-c0008-r1", "delay-c0008-r2"]
    folder = copy_runs(tmp_path / STUDY, *names)
    for number, name in enumerate(names[:2]):
        run = read_run(folder / name)
        late = f"wrk ended after {1.5 + number} s of a load of 6 s"
        background = {"local": {"cpus": [0, 1], "seconds": 6.0, "other_cpu_s": 0.12 + number, "steal_s": 0.0}}
        warnings = (late, *(["S1 was odd"] if number else []))
        write_run(replace(run, warnings=warnings, background=background), folder / name)
    write_run(
        replace(read_run(folder / names[2]), status="failed", reason="wrk ended with exit code 1"), folder / names[2]
    )
    return folder


@pytest.mark.slow
def test_every_fact_and_every_distinct_warning_is_told(recorded):
    runs = read_table("runs", STUDY).set_index("run_id")
    head, failed, share, other, steal, *warnings = describe_launch(recorded)
    assert head == f"{shown(recorded)}: 3 runs, 2 finished, 1 failed"
    assert failed == "  failed: delay-c0008-r2: wrk ended with exit code 1"
    requests = runs.loc[["cpu-c0512-r2", "delay-c0008-r1"], "requests"].sum()
    assert share == f"  failed requests: none of {requests:,}"
    # 0.12 s and 1.12 s of the 12 s of two processors.
    disturbed = "  other processes: up to 9.3% of a run's processors (delay-c0008-r1), over 2% in 1 of 2 runs"
    assert other == f"{disturbed}: launch with --again to measure them again, unless a search chose them"
    assert steal.startswith("  steal by the hypervisor: up to 0.0% ") and steal.endswith("over 2% in 0 of 2 runs")
    assert warnings[:3] == [
        "  warning in 2 runs: wrk ended after 1.5 s of a load of 6 s (and 1 with other numbers)",
        "  warning in 1 run: S1 was odd",
        "  audit: do not use: unfinished-run in 1 of 3 runs",
    ]
    assert "    do not use: unfinished-run (delay-c0008-r2)" in warnings
    assert any("effective-concurrency" in line and line.endswith("(cpu-c0512-r2)") for line in warnings)
    assert warnings[-1] == f"    each finding, and what to do: loadcurve audit {shown(recorded)}"


@pytest.mark.slow
def test_a_study_says_which_rules_judge_its_runs(recorded, monkeypatch):
    """A study's section counts in its audit, its launch and its analysis, and before the loadcurve.toml."""
    file = recorded / "study.yml"
    file.write_text(file.read_text("utf-8") + "audit: {ignore: {unfinished-run: it was stopped}}\n", "utf-8")
    monkeypatch.chdir(recorded)
    (recorded.parent / "loadcurve.toml").write_text(
        "[audit.ignore]\nunfinished-run = 'x'\nfew-repeats = 'y'\n", "utf-8"
    )
    monkeypatch.chdir(recorded.parent)
    found = audit(recorded)
    ignored = found[found["severity"] == "ignored"].set_index("rule")["advice"]
    assert ignored["unfinished-run"] == "it was stopped" and ignored.get("few-repeats", "y") == "y"
    assert (analyse(recorded).findings["severity"] == found["severity"]).all()
    of_run = audit(recorded / "delay-c0008-r2")
    assert of_run.set_index("rule").loc["unfinished-run", "severity"] == "ignored"
    assert next(line for line in describe_launch(recorded) if "audit:" in line) == f"  audit: {found.verdict}"
    assert found.verdict.severity == "warning"


def test_a_wrong_rule_stops_a_launch_before_its_first_run(tmp_path):
    study = Study("s", "?", audit={"select": ["speed"]})
    with pytest.raises(LoadcurveError, match="s/study.yml audit: expected a rule that .* lists, got 'speed'"):
        launch(study, tmp_path / "s")
    assert not list(tmp_path.iterdir())


def test_response_times_that_the_audit_rejects_are_those_that_cannot_be_used():
    runs = read_table("runs", STUDY)
    found = audit({"runs": runs}).query("rule == 'effective-concurrency'").set_index("run_id")["severity"]
    usable = runs.set_index("run_id")["latency_usable"]
    assert usable.notna().all() and not usable.all()
    assert (usable == found[usable.index].eq("ok")).all()


def test_a_run_is_described_by_its_throughput_and_its_p99(recorded):
    latency = read_table("latency", STUDY).set_index(["run_id", "quantile"])["latency_s"]
    runs = read_table("runs", STUDY).set_index("run_id")["throughput_rps"]
    name = "delay-c0008-r1"
    said = describe(read_run(recorded / name), recorded / name)
    rate, p99 = format_quantity(runs[name], "rps"), format_quantity(latency[name, 0.99], "s")
    assert said.split("  ")[-2:] == [rate, f"p99 {p99}"]
    failed = "delay-c0008-r2"
    assert describe(read_run(recorded / failed), recorded / failed) == "failed: wrk ended with exit code 1"


def test_an_interrupted_launch_says_what_is_finished_and_how_to_go_on(recorded):
    said = interruption(KeyboardInterrupt(signal.SIGTERM), recorded)
    assert said.startswith(f"interrupted by SIGTERM: 2 of 60 runs finished, kept in {shown(recorded)}; ")
    assert "launch again" in said and f"`loadcurve show {shown(recorded)}`" in said


class _Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stream", "bar"), [(_Terminal(), True), (io.StringIO(), False)])
def test_only_a_terminal_shows_a_bar_and_every_run_has_a_line(recorded, monkeypatch, stream, bar):
    monkeypatch.setattr(sys, "stderr", stream)
    lines = []
    told = Feedback(lambda folder, quantile: None, lambda **known: None, lines.append, describe=describe)
    with LaunchProgress("shop", 12, adaptive=False, feedback=told) as progress:
        for name in ("delay-c0008-r1", "delay-c0008-r2"):
            progress.begin(name)
            assert (f", {name}]" in stream.getvalue()) == bar, "the current run is shown beside the bar"
            progress.end(read_run(recorded / name), recorded / name)
    assert ("\r" in stream.getvalue()) == bool(stream.getvalue()) == bar
    assert re.search(r"shop: +8%\|.*1/12 \[\d\d:\d\d<\d\d:\d\d, ", stream.getvalue()) or not bar
    assert re.fullmatch(r"run  1 of 12  delay-c0008-r1 +[\d,]+ requests/s  p99 [\d.]+ .?s", lines[0])
    assert lines[1] == "run  2 of 12  delay-c0008-r2  failed: wrk ended with exit code 1"


@pytest.mark.real
@pytest.mark.slow
def test_a_launch_without_a_terminal_ends_as_analyse_does(checkout):
    """A log of a build: a plain line for each run with what its report says, and the analysis of the folder."""
    folder = checkout / "data" / "studies" / "quick"
    load = {"duration_s": 1}
    factors = {"connections": (1, 4)}
    goal = {"latency_s": 3.0}
    study = Study("quick", "?", load=load, factors=factors, repeats=1, monitors={}, warm_up_s=0, objective=goal)
    if len(obstacles := list_obstacles(study)):
        pytest.skip("; ".join(obstacles["obstacle"]))
    write_study(study, folder)

    argv = (sys.executable, "-m", "loadcurve", "launch", "quick", "--busy")
    environment = {**os.environ, "COLUMNS": "90"}
    done = subprocess.run(argv, cwd=checkout, env=environment, capture_output=True, check=True)
    out = done.stdout.decode()
    assert "\r" not in out and done.stderr == b"data/studies/quick: 1 run packed in runs.tar.xz\n"
    tables = read(folder).tables
    p99 = tables["latency"].query("quantile == 0.99").set_index("run_id")["latency_s"]
    for number, point in enumerate(plan(study), 1):
        (rate,) = tables["runs"].set_index("run_id").loc[[point.run_id], "throughput_rps"]
        words = [f"run {number} of 2", point.run_id, format_quantity(rate, "rps")]
        line = out.splitlines()[number - 1]
        assert re.split(" {2,}", line) == [*words, f"p99 {format_quantity(p99[point.run_id], 's')}"]
    assert out.endswith(
        "\n\n" + text_report(analyse(folder, objectives=["p99=3s", "errors=0"], source="data/studies/quick"), 90)
    )
    assert "Capacity under p99 ≤ 3.00 s and errors ≤ 0 %: at least 4 connections" in " ".join(out.split())

    packed = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    subprocess.run(argv, cwd=checkout, env=environment, capture_output=True, check=True)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == packed, "nothing is left to launch"
    kept, *_, lost = run_folders(folder)
    kept, seal = (folder / kept.name / "run.json").read_bytes(), read_run(lost).seal
    unpack(folder)
    shutil.rmtree(folder / lost.name)
    subprocess.run(argv, cwd=checkout, env=environment, capture_output=True, check=True)
    assert (run_folders(folder)[0] / "run.json").read_bytes() == kept and read_run(run_folders(folder)[1]).seal != seal
    assert sorted(path.name for path in folder.iterdir()) == ["c0001-r1", "runs.json", "runs.tar.xz", "study.yml"]
