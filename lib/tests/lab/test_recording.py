"""What a run's record says of its own weaknesses: snapshots that failed, generators that began apart, a clock set."""

import time

import pytest

from loadcurve.lab.hosts.capabilities import ASSUMED
from loadcurve.lab.hosts.host import both_clocks, clock_step
from loadcurve.lab.run.deployment import HostSlot, deploy
from loadcurve.lab.run.record import Record, finish, missing_reports
from loadcurve.lab.study_file import settings_of
from loadcurve.study import Command, Run, Study
from loadcurve.study.records import read_run

TIMES = {"started_at": "2026-11-21T00:23:46.919828Z", "ended_at": "2026-11-21T00:23:52.950040Z", "exit_code": 0}


def record_of(folder, *commands):
    run = Run("s", folder.name, "failed", {"seconds": 1.0}, {"cpus": 2})
    return finish(run, Record(commands=[(i, command) for i, command in enumerate(commands)]), folder)


def test_snapshots_that_failed_are_told_once_for_each_file(tmp_path):
    """Lines as the sampler writes them; what the tools themselves say there is not ours."""
    (tmp_path / "S1.sampler.err").write_text(
        "cannot open cgroup2 mount\n"
        "S1.nstat.txt: 2026-11-21T00:23:47.000001Z: exit code 1\n"
        "S1.nstat.txt: 2026-11-21T00:23:48.000001Z: exit code 1\n"
        "S1.proc.txt: 2026-11-21T00:23:48.000001Z: [Errno 2] No such file or directory: '/proc/x'\n"
    )
    (tmp_path / "S1.nstat.txt").write_text("x")
    watching = Command("collector", "nstat", ("python3",), "S1.nstat.txt", "S1.sampler.err", 10, host="S1", **TIMES)
    assert record_of(tmp_path, watching, watching).warnings == (
        "S1.nstat.txt lacks 2 snapshots, the first one for: exit code 1",
        "S1.proc.txt lacks 1 snapshots, the first one for: [Errno 2] No such file or directory: '/proc/x'",
    )


@pytest.mark.parametrize(("late_ns", "warned"), [(2_000_000, False), (200_000_000, True)])
def test_generators_that_began_apart(tmp_path, late_ns, warned):
    """Instants of two machines differ; how late each was does not."""
    (tmp_path / "C1.at.json").write_text('{"instant_ns": 1000, "begun_ns": 1000}\n')
    (tmp_path / "C2.at.json").write_text(f'{{"instant_ns": 77000, "begun_ns": {77000 + late_ns}}}\n')
    (tmp_path / "C2-warm-up.at.json").write_text('{"instant_ns": 0, "begun_ns": 9000000000}\n')
    warnings = record_of(tmp_path).warnings
    assert [w.startswith("generators began 0.200 s apart") for w in warnings] == [True] * warned


def test_what_does_not_say_when_its_generator_began(tmp_path):
    """Empty where a disk was full, cut where the generator was ended while it wrote."""
    (tmp_path / "C1.at.json").write_text("")
    (tmp_path / "C2.at.json").write_text('{"instant_ns": 1000, "beg')
    (tmp_path / "C3.at.json").write_text("1\n")
    (tmp_path / "C4.at.json").write_bytes(b"\xff")
    (tmp_path / "C5.at.json").write_text('{"instant_ns": 1000, "begun_ns": 1000}\n')
    expected = [f"C{n}.at.json is cut: it does not say when its generator began" for n in (1, 2, 3, 4)]
    assert list(record_of(tmp_path).warnings) == expected


def test_reports_that_are_empty(tmp_path):
    """As where a disk was full for a while only: the generators themselves ended with exit code 0."""
    settings = settings_of(Study("s", "?", load={"duration_s": 1}))
    deployment = deploy(settings, {"local": HostSlot("local", ("127.0.0.1",), lambda: 8080)}, ASSUMED)
    command = Command("generator", "wrk", ("wrk",), "local.wrk.txt", "local.wrk.err", 10, **TIMES)
    record = Record(commands=[(1, command)])
    (tmp_path / "local.wrk.txt").write_text("")
    said = "the generators ended well, but nothing is in local.wrk.txt, local.wrk.json"
    assert missing_reports(deployment, record, tmp_path) == said
    (tmp_path / "local.wrk.json").write_text("{}")
    assert missing_reports(deployment, record, tmp_path) == said.partition(", local.wrk.json")[0]
    assert record_of(tmp_path, command).warnings == ("wrk wrote nothing",)
    (tmp_path / "local.wrk.txt").write_text("Running 1s test")
    assert missing_reports(deployment, record, tmp_path) == ""


def test_a_clock_that_was_set_is_told():
    before = (time.time() - 3.0, time.monotonic())
    assert clock_step(before, both_clocks()).startswith("the clock was set by +3.0")
    assert clock_step((time.time(), time.monotonic()), both_clocks()) == ""


def test_commands_are_in_the_order_of_their_start_whatever_the_clock_said(tmp_path):
    first = Command("server", "nginx", ("nginx",), "", "", 10, **{**TIMES, "started_at": "2026-11-21T00:23:50Z"})
    second = Command("generator", "wrk", ("wrk",), "", "", 10, **TIMES)
    run = Run("s", tmp_path.name, "failed", {"seconds": 1.0}, {})
    finish(run, Record(commands=[(2, second), (1, first)]), tmp_path)
    assert [command.tool for command in read_run(tmp_path).commands] == ["nginx", "wrk"]
