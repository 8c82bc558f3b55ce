"""What a launch ends with, over recorded runs: expected numbers are from the audit, or were put there."""

import shutil
from dataclasses import replace

import pytest

from loadcurve import read_table
from loadcurve.audit import audit
from loadcurve.launching.summary import describe_launch
from loadcurve.paths import shown
from loadcurve.study.records import read_run, write_run

STUDY = "connections_on_loopback"


@pytest.fixture
def recorded(root, tmp_path):
    """Two recorded runs and one that failed, with warnings; the names of the two."""
    source, folder = root / "data" / "studies" / STUDY, tmp_path / STUDY
    folder.mkdir()
    shutil.copy(source / "study.yml", folder)
    names = ["cpu-c0512-r2", "delay-c0008-r1", "delay-c0008-r2"]
    for name in names:
        shutil.copytree(source / name, folder / name)
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


def test_every_fact_and_every_distinct_warning_is_told(recorded):
    runs = read_table("runs", STUDY).set_index("run_id")
    ratio = runs["throughput_rps"] * runs["latency_mean_s"] / runs["connections"]
    head, failed, share, little, other, steal, *warnings = describe_launch(recorded)
    assert head == f"{shown(recorded)}: 3 runs, 2 finished, 1 failed"
    assert failed == "  failed: delay-c0008-r2: wrk ended with exit code 1"
    requests = runs.loc[["cpu-c0512-r2", "delay-c0008-r1"], "requests"].sum()
    assert share == f"  failed requests: none of {requests:,}"
    assert little.startswith(
        "  Little's law: in 1 of 2 runs throughput × response time is "
        f"{ratio['cpu-c0512-r2']:.2g} times the connections"
    )
    # 0.12 s and 1.12 s of the 12 s of two processors.
    assert other == "  other processes: up to 9.3% of a run's processors (delay-c0008-r1), over 2% in 1 of 2 runs"
    assert steal.startswith("  steal by the hypervisor: up to 0.0% ") and steal.endswith("over 2% in 0 of 2 runs")
    assert warnings == [
        "  warning in 2 runs: wrk ended after 1.5 s of a load of 6 s (and 1 with other numbers)",
        "  warning in 1 run: S1 was odd",
    ]


def test_response_times_that_the_audit_rejects_are_those_that_cannot_be_used():
    runs = read_table("runs", STUDY)
    found = audit({"runs": runs}).query("rule == 'effective-concurrency'").set_index("run_id")["severity"]
    usable = runs.set_index("run_id")["latency_usable"]
    assert usable.notna().all() and not usable.all()
    assert (usable == found[usable.index].eq("ok")).all()
