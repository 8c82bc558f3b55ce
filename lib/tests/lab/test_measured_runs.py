"""What a search or a stop sees of a run, against what the server itself counted; generators for real, on loopback."""

import contextlib
import itertools
import math
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from launched_runs import short_study
from private_services import need

from loadcurve import lab, read_table
from loadcurve.errors import LabError
from loadcurve.files.paths import shown
from loadcurve.launching import launch, measure
from loadcurve.study.records import read_run, run_folders

pytestmark = pytest.mark.real

_ANSWERS = {
    "good": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
    "missing": b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
}


@dataclass
class Flawed:
    """A server that gives each connection the next answer of a cycle, and counts them."""

    cycle: Iterator[str]
    port: int
    given: Counter = field(default_factory=Counter)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def bad(self) -> float:
        """Share of the answers that were none, or one of an error status, or late."""
        return 1 - self.given["good"] / self.given.total()


@contextlib.contextmanager
def flawed(*cycle, ever=()):
    """Serve these again and again, or once and then others: ``good``, ``missing`` (404), ``reset`` in place of a
    response, ``late`` by 1.4 s, ``silent``.
    """
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    server = Flawed(itertools.chain(cycle if ever else (), itertools.cycle(ever or cycle)), listening.getsockname()[1])
    turn = threading.Lock()

    def answer(connection):
        with connection, contextlib.suppress(OSError):
            asked, kind = connection.recv(65536), "good"
            if asked and b"accept-encoding: identity" not in asked.lower():  # not wrk or Python, which look first
                with turn:
                    kind = next(server.cycle)
                    server.given[kind] += 1
            if kind == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            time.sleep({"late": 1.4, "silent": 4}.get(kind, 0.002))  # waiting, this process leaves the processors alone
            connection.sendall(_ANSWERS["missing" if kind == "missing" else "good"])
            connection.shutdown(socket.SHUT_WR)
            connection.recv(65536)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield server
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        accepting.join()


def measured(folder, server, **load):
    """What a run against a server showed."""
    need(load["tool"])
    load = {"timeout_s": 1.0, **load}
    study = short_study(folder.name, server={"url": server.url}, load=load)
    lab.launch(study, folder)  # which does not judge what came of it
    (run,) = run_folders(folder)
    return measure(run, 0.5)


BOUND = {"wrk": {"duration_s": 1.0}, "ab": {"requests": 400}, "h2load": {"requests": 400}, "hey": {"requests": 400}}


@pytest.mark.parametrize("tool", BOUND)
def test_a_response_of_an_error_status_is_one_failed_request(tool, tmp_path):
    with flawed("good", "missing", "good", "good") as server:
        seen = measured(tmp_path / "s", server, tool=tool, **BOUND[tool])
        assert seen.failed_ratio == pytest.approx(server.bad, abs=0.02) == pytest.approx(0.25, abs=0.01)
    with flawed("missing") as server:
        assert measured(tmp_path / "t", server, tool=tool, **BOUND[tool]).failed_ratio == 1.0


@pytest.mark.parametrize("tool", ["wrk", "ab", "hey"])  # h2load gives up the connection and does not say so
def test_a_connection_that_is_reset_is_one_failed_request(tool, tmp_path):
    with flawed("good", "reset", "good", "missing") as server:
        seen = measured(tmp_path / "s", server, tool=tool, **BOUND[tool])
        assert seen.failed_ratio == pytest.approx(server.bad, abs=0.02) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("tool", ["wrk", "hey"])
def test_a_late_response_is_one_failed_request(tool, tmp_path):
    with flawed("late") as server:
        assert measured(tmp_path / "s", server, tool=tool, duration_s=3.0).failed_ratio == 1.0


def test_the_latency_is_as_hey_printed_it_and_not_the_end_of_a_class_of_its_histogram(tmp_path):
    with flawed("late", ever=("good",)) as server:
        seen = measured(tmp_path / "s", server, tool="hey", requests=400, timeout_s=3.0)
    (printed,) = read_table("latency", tmp_path / "s").query("quantile == 0.5")["latency_s"]
    assert seen.latency_s == printed < 0.1


def test_a_generator_without_a_response_waited_on_each_of_its_connections(tmp_path):
    """Two of wrk with a connection each: one is never answered, the other tells the response times."""
    with flawed("silent", ever=("good",)) as server:
        seen = measured(tmp_path / "s", server, tool="wrk", connections=2, processes=2)
        # One failed request of all; the last response may come when wrk has stopped counting.
        assert -1.5 < 1 / seen.failed_ratio - server.given.total() < 0.5
        assert 0 < seen.latency_mean_s < 1 and 0 < seen.latency_s < 1
    with flawed("silent") as server:
        seen = measured(tmp_path / "t", server, tool="wrk")
        assert seen.failed_ratio == 1.0 and seen.throughput_rps == 0.0
        assert math.isnan(seen.latency_mean_s) and math.isnan(seen.latency_s)


def test_a_load_that_is_never_answered_breaks_a_capacity(tmp_path):
    need("wrk")
    with flawed("silent") as server:
        study = short_study(
            "s", server={"url": server.url}, load={"timeout_s": 1.0},
            objective={"latency_s": 1.0},
            search={"capacity": {"lowest": 1, "highest": 2, "initial_s": 1.0, "final_s": 1.0, "level": 0.6}},
        )  # fmt: skip
        said = []
        launch(study, tmp_path / "s", log=said.append)
    *runs, last = said
    assert len(runs) == len(run_folders(tmp_path / "s")) and all(line.startswith("run ") for line in runs)
    assert "nothing kept: not even the lowest load, 1, keeps the objective" in last
    for run in map(read_run, run_folders(tmp_path / "s")):
        assert run.status == "finished", "that it breaks is what the search asks"
        assert run.warnings == ("no successful response: 0 responses",)


@pytest.mark.parametrize(
    ("kind", "reason"), [("missing", "{0:,} responses, {0:,} with an error status"), ("silent", "0 responses")]
)
def test_a_run_without_a_successful_response_has_failed(kind, reason, tmp_path):
    need("wrk")
    with flawed(kind) as server:
        load = {"timeout_s": 1.0}
        study = short_study("s", server={"url": server.url}, load=load)
        reported = []
        with pytest.raises(LabError, match=r"1 of 1 runs failed: r1 \(no successful response: .*\); launch again"):
            launch(study, tmp_path / "s", report=reported.append)
    run = read_run(tmp_path / "s" / "r1")
    made = int(re.search(r"(\d+) requests in", (tmp_path / "s" / "r1" / "local.wrk.txt").read_text())[1])
    assert (run.status, run.reason) == ("failed", f"no successful response: {reason.format(made)}")
    assert reported[:2] == [f"{shown(tmp_path / 's')}: 1 run, 1 failed", f"  failed: r1: {run.reason}"]


def test_a_stop_whose_server_cannot_start_ends_and_names_its_failures(tmp_path):
    need("nginx", "wrk")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = {"nginx": {}, "port": taken.getsockname()[1]}
        study = short_study("s", server=server, stop={"half_width_ratio": 0.1, "most_repeats": 10})
        said = []
        with pytest.raises(
            LabError, match=r"3 of 3 runs failed: r1 \(.* is taken.*\), r2 \(.*\), r3 \(.*; launch again"
        ):
            launch(study, tmp_path / "s", log=said.append)
    *runs, last = said
    assert [line.partition(" failed: ")[0].split() for line in runs] == [
        f"run {n} of at most 10 r{n}".split() for n in (1, 2, 3)
    ]
    assert last.startswith("the mean throughput is not known; 0 runs; ")
    assert [run.name for run in run_folders(tmp_path / "s")] == ["r1", "r2", "r3"]


def test_a_search_whose_server_cannot_start_ends_and_says_why(tmp_path):
    need("nginx", "wrk")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        study = short_study(
            "s", server={"nginx": {}, "port": taken.getsockname()[1]}, objective={"latency_s": 1.0},
            search={"capacity": {"lowest": 1, "highest": 2, "final_s": 1.0}},
        )  # fmt: skip
        with pytest.raises(LabError, match=r"c0001-t001 failed 3 times \(.* is taken: .*\): the search cannot go on"):
            launch(study, tmp_path / "s")
