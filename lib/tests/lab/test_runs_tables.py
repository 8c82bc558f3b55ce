"""What is read of a launched study is what ran: a folder that says otherwise is refused, by PATH:LINE."""

import re
import shutil
from dataclasses import replace

import pytest
from launched_runs import DELAYS, launched, read_folder

from loadcurve.errors import LabError, ParseError
from loadcurve.files.yaml_document import read_yaml, yaml_text
from loadcurve.lab import launch
from loadcurve.launching import measure
from loadcurve.study.records import fingerprint, read_run, read_study, write_run

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Two clients with two processes each at two levels of a factor of the server, made once."""
    return launched(
        tmp_path_factory.mktemp("recorded") / "s", topology={"recipe": "several_clients"}, server=DELAYS,
        load={"connections": 10, "processes": 2}, factors={"server.nginx.response.delay.body_bytes": (100, 200)},
        monitors={"ss_summary": 0.3},
    )  # fmt: skip


@pytest.fixture
def folder(recorded, tmp_path):
    """A copy of it, to spoil."""
    return shutil.copytree(recorded.folder, tmp_path / "s")


def line_of(path, text):
    """Number of the first line with a text."""
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def refused(folder, match, path=None, line=None):
    """See that the folder is refused in these words, and where."""
    with pytest.raises(ParseError, match=match) as raised:
        read_folder(folder)
    if path is not None:
        assert re.search(rf"{re.escape(str(path.relative_to(folder)))}:{line}: ", str(raised.value)), str(raised.value)


RUN = "body_bytes100-r1"


def test_a_row_for_each_generator_and_their_sum(recorded):
    runs = recorded.tables["runs"]
    assert runs.groupby("run_id").size().to_dict() == {RUN: 4, "body_bytes200-r1": 4}
    assert (runs.groupby("run_id")["connections"].sum() == 10).all()
    assert runs.groupby("run_id")["generator"].apply(list).tolist() == [[0, 1, 2, 3]] * 2
    for run_id in recorded.runs:
        together = measure(recorded.folder / run_id, 0.99)
        rows = runs[runs["run_id"] == run_id]
        assert together.throughput_rps == pytest.approx(rows["throughput_rps"].sum())
        assert rows["latency_mean_s"].min() <= together.latency_mean_s <= rows["latency_mean_s"].max()
        assert together.failed_ratio == 0 and together.latency_s >= 0.009
    levels = recorded.tables["factors"]
    assert levels.set_index("run_id")["number"].to_dict() == {RUN: 100, "body_bytes200-r1": 200}


def test_the_response_is_of_the_level(recorded):
    """100 bytes more in each response of the second level, with the header's two digits unchanged."""
    runs = recorded.tables["runs"].groupby("run_id")[["received_bytes", "requests"]].sum()
    sizes = runs["received_bytes"] / runs["requests"]
    assert sizes["body_bytes200-r1"] - sizes[RUN] == pytest.approx(100, abs=2)


def test_a_wrong_sum_is_refused(folder):
    """One generator that had another number of connections than its share."""
    text = folder / RUN / "C1-1.wrk.txt"
    assert "3 connections" in text.read_text()
    text.write_text(text.read_text().replace("3 connections", "5 connections"))
    run = read_run(folder / RUN)
    files = {name: fingerprint(folder / RUN / name) for name in run.files}
    path = write_run(replace(run, files=files), folder / RUN)
    refused(folder, "10 connections of all generators together, got '12'", path, line_of(path, '"factors"'))


def test_a_clock_that_is_off_is_reckoned_with(folder, recorded):
    """A host whose clock is 5 s ahead writes times that are 5 s too late: they are that much nearer to the start."""
    run = read_run(folder / RUN)
    hosts = {**run.machine["hosts"], "S1": {**run.machine["hosts"]["S1"], "clock_offset_s": 5.0}}
    write_run(replace(run, machine={**run.machine, "hosts": hosts}), folder / RUN)
    now, before = (made.tables["sockets"].query("run_id == @RUN") for made in (read_folder(folder), recorded))
    for host, shift_s in (("S1", 5.0), ("C1", 0.0), ("C2", 0.0)):
        was, held = (frame.loc[frame["host"] == host, "elapsed_s"].to_numpy() for frame in (before, now))
        assert was - held == pytest.approx(shift_s)


def test_an_edited_file_is_refused(folder):
    text = folder / RUN / "C2-1.wrk.txt"
    text.write_text(text.read_text().replace("requests in", "requests  in"))
    refused(folder, "the bytes that run.json recorded")


def test_a_study_that_was_edited_afterwards_keeps_its_runs(folder):
    file = folder / "study.yml"
    values = read_yaml(file).values
    values["load"]["connections"] = 12
    file.write_text(yaml_text(values))
    made = read_folder(folder)
    assert set(made.tables["runs"]["run_id"]) == set(made.runs)
    assert any("load.connections 10 then, 12 now" in words for words in made.warnings)
    with pytest.raises(LabError, match="was run with load.connections 10"):
        launch(read_study(folder), folder)


def test_a_run_that_is_not_of_the_study_is_refused(folder):
    shutil.copytree(folder / RUN, folder / "body_bytes300-r1")
    path = folder / "body_bytes300-r1" / "run.json"
    refused(folder, "the run_id 'body_bytes300-r1' of this folder", path, line_of(path, '"run_id"'))


def test_nothing_is_missing_and_nothing_is_too_much(folder):
    (folder / RUN / "C1-2.wrk.txt").rename(folder / RUN / "C9.wrk.txt")
    refused(folder, "the file that run.json names|only the files that run.json lists")
