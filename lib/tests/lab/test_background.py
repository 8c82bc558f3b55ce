"""What a run did not get of its processors: told apart by process, and put in relation to the processors it used."""

import os
import subprocess
import sys

import pytest

from loadcurve.lab.hosts.background import ancestors, between, sample
from loadcurve.lab.schedule import background_warnings
from loadcurve.study import background_ratios

# Takes half a second of a processor, however long that lasts here, says so, and waits.
BURN_S = 0.5
BURNER = f"""\
import sys, time
while time.process_time() < {BURN_S}: pass
print("done", flush=True)
sys.stdin.read()
"""
# Times of processes are in hundredths of a second: some of them for each of the times that are summed up.
TICKS_S = 0.08


def burning(folder):
    argv = [sys.executable, "-I", "-S", "-c", BURNER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(argv, cwd=folder, start_new_session=True, **pipes)


@pytest.mark.slow
def test_processes_of_the_run_and_others_are_told_apart(tmp_path):
    """One works in the run's folder, one elsewhere; the launcher is a third, that only sleeps."""
    (run := tmp_path / "run").mkdir()
    with subprocess.Popen(["sleep", "600"]) as launcher:
        before = sample(str(run), [launcher.pid], below=True)
        with burning(run) as ours, burning(tmp_path) as other:
            for process in (ours, other):
                assert process.stdout.readline() == b"done\n"
            after = sample(str(run), [launcher.pid], below=True)
        launcher.kill()
    assert after["run_s"] - before["run_s"] == pytest.approx(BURN_S, abs=TICKS_S)
    assert after["other_s"] - before["other_s"] >= BURN_S - TICKS_S
    found = between(before, after)
    assert len(found["cpus"]) == os.cpu_count()
    assert BURN_S - TICKS_S <= found["other_cpu_s"] <= found["seconds"] * len(found["cpus"]) + 0.001


def test_what_a_launcher_started_belongs_to_its_run(tmp_path):
    before = sample(str(tmp_path / "none"), [os.getpid()], below=True)
    with burning(tmp_path) as child:
        assert child.stdout.readline() == b"done\n"
        after = sample(str(tmp_path / "none"), [os.getpid()], below=True)
    assert after["run_s"] - before["run_s"] >= BURN_S - TICKS_S
    assert ancestors(os.getpid())[:2] == [os.getpid(), os.getppid()]


def test_ratios_are_of_the_processors_used():
    def at(seconds, other_s, run_s, busy, steal=(0.0, 0.0, 0.0, 0.0)):
        cpus = {str(n): [busy[n], steal[n]] for n in range(4)}
        return {"at_s": seconds, "other_s": other_s, "run_s": run_s, "cpus": cpus}

    before = at(100.0, 50.0, 20.0, [10.0] * 4)
    # Five seconds: the run took 8 s of the processors 0 and 1, others 4 s in all, of which 1 s can be there.
    after = at(105.0, 54.0, 28.0, [14.0, 15.0, 11.0, 12.0], [0.2, 0.1, 1.0, 1.0])
    part, whole = between(before, after, [1, 0]), between(before, after)
    assert part == {"cpus": [0, 1], "seconds": 5.0, "other_cpu_s": 1.0, "steal_s": 0.3}
    assert whole == {"cpus": [0, 1, 2, 3], "seconds": 5.0, "other_cpu_s": 4.0, "steal_s": 2.3}
    ratios = background_ratios({"local": part, "S1": {"cpus": [0], "seconds": 5.0, "steal_s": 1.0}})
    assert background_ratios({"local": {"cpus": [0], "seconds": 5.172, "other_cpu_s": 5.173, "steal_s": 0}}) == {
        "local": (1.0, 0.0)
    }, "rounded"
    assert ratios["local"] == pytest.approx((0.1, 0.03))
    assert ratios["S1"] == pytest.approx((float("nan"), 0.2), nan_ok=True)


def test_more_than_two_per_cent_is_warned_of(monkeypatch):
    monkeypatch.setattr(background_warnings, "BUSY_RATIO", 0.02)
    quiet = {"cpus": [0, 1], "seconds": 5.0, "other_cpu_s": 0.2, "steal_s": 0.0}
    assert background_warnings.warnings_of_run({"local": quiet}) == []
    busy = {"local": quiet | {"other_cpu_s": 0.74}, "S1": quiet | {"steal_s": 0.31}}
    assert background_warnings.warnings_of_run(busy) == [
        "processes outside the run took 7.4% of the run's processors: stop them and repeat the run",
        "the hypervisor took 3.1% of the run's processors of S1 (steal): repeat the run, or use another machine",
    ]
