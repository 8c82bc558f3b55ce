"""Several processes that start at one instant, and their results as one: for real, on loopback."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest
from events import HANG_S, wait_until
from private_services import listens

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.load.wrk_json import parse_wrk_json
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import SEARCH_PATH, which
from loadcurve.lab.run.deployment import free_port
from loadcurve.lab.tools.generators import (
    GeneratorCommand,
    Load,
    command_of,
    common_instant_ns,
    split,
    start_at,
    start_delay_s,
)
from loadcurve.stats import summarise_merged

pytestmark = pytest.mark.real

_CONFIG = """\
daemon off;
user root;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
    client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
    keepalive_requests 1000000000;
    log_format facts '$connection';
    access_log requests.log facts buffer=64k flush=50ms;
    server {{ listen 127.0.0.1:{port} backlog=1024; location / {{ return 200 "hello"; }} }}
}}
"""


def prepared(made, instant_ns, stem, folder):
    """The generator with its files written, and its argv under its limit."""
    waiting = start_at(made, instant_ns, stem)
    for name, text in waiting.files.items():
        (folder / name).write_text(text)
    return guarded(waiting.argv, waiting.limit_s)


@pytest.fixture
def tools():
    if missing := [tool for tool in ("setpriv", "timeout") if which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")


def test_a_command_waits_for_its_instant(tools, tmp_path):
    """What it becomes says when: Python itself, on the same clock."""
    code = "import time; print(time.monotonic_ns())"
    made = GeneratorCommand((sys.executable, "-c", code), tool="wrk", limit_s=20.0)
    instant = common_instant_ns(3)
    stems = ["C1-1", "C1-2", "C2-1"]
    argvs = [prepared(made, instant, stem, tmp_path) for stem in stems]
    running = [subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for argv in argvs]
    said = [int(process.communicate(timeout=HANG_S)[0]) for process in running]
    reports = [(tmp_path / f"{stem}.at.json").read_text() for stem in stems]
    assert min(said) >= instant
    assert all(0 <= start_delay_s(report) <= (max(said) - instant) / 1e9 for report in reports)


def test_an_instant_that_is_over_is_told(tools, tmp_path):
    made = GeneratorCommand(("true",), tool="wrk", limit_s=20.0)
    argv = prepared(made, time.monotonic_ns() - 10**9, "C1", tmp_path)
    assert subprocess.run(argv, cwd=tmp_path, check=False).returncode == 0
    assert start_delay_s((tmp_path / "C1.at.json").read_text()) > 1


def test_one_that_waits_ends_with_its_limit_and_with_its_launcher(tools, tmp_path):
    made = GeneratorCommand(("sleep", "60"), tool="wrk", limit_s=1.0)
    argv = prepared(made, time.monotonic_ns() + 60 * 10**9, "C1", tmp_path)
    assert subprocess.run(argv, cwd=tmp_path, check=False).returncode == 124
    code = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    argv = [word if word != "1" else "50" for word in argv]
    launcher = subprocess.Popen([sys.executable, "-c", code, *argv], cwd=tmp_path)
    # timeout, and below it the process that waits for the instant, which has asked to end with its parent by then.
    wait_until(lambda: len(psutil.Process(launcher.pid).children(recursive=True)) >= 2)
    waiting = psutil.Process(launcher.pid).children(recursive=True)
    os.kill(launcher.pid, signal.SIGKILL)
    launcher.wait()
    assert waiting and psutil.wait_procs(waiting, timeout=HANG_S)[1] == []


@pytest.mark.parametrize(("instant", "stem"), [(-1, "C1"), (1.5, "C1"), ("5; reboot", "C1"), (5, "../C1"), (5, "-c")])
def test_what_is_no_instant_or_name_is_refused(instant, stem):
    with pytest.raises(ValueRuleError):
        start_at(GeneratorCommand(("true",), tool="wrk", limit_s=1.0), instant, stem)


def test_three_processes_of_wrk_make_one_load(tools, tmp_path):
    """Requests and connections of all agree with the server's log; the quantiles are of all responses."""
    if missing := [tool for tool in ("wrk", "nginx") if which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    port = free_port()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "nginx.conf").write_text(_CONFIG.format(port=port))
    loads = split(Load("wrk", f"http://127.0.0.1:{port}/", 10, duration_s=1, processes=3))
    assert [load.connections for load in loads] == [4, 3, 3]
    stems = ["C1-1", "C1-2", "C1-3"]
    server = guarded(("nginx", "-p", ".", "-c", "nginx.conf", "-e", "stderr"), 60)
    env = {"PATH": SEARCH_PATH}
    with subprocess.Popen(server, cwd=tmp_path, env=env, stderr=subprocess.DEVNULL) as nginx:
        wait_until(lambda: listens(port))
        instant = common_instant_ns(3)
        argvs = [prepared(command_of(load, s), instant, s, tmp_path) for load, s in zip(loads, stems, strict=True)]
        running = [subprocess.Popen(a, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL) for a in argvs]
        assert [process.wait(timeout=HANG_S) for process in running] == [0, 0, 0]
        nginx.terminate()  # which makes it write what it has buffered
    logged = (tmp_path / "requests.log").read_text().split()
    parsed = [parse_wrk_json((tmp_path / f"{stem}.wrk.json").read_text()).tables for stem in stems]
    number = {
        name: [tables[name].assign(run_id="a", generator=g) for g, tables in enumerate(parsed)] for name in parsed[0]
    }
    runs, histogram = pd.concat(number["runs"]), pd.concat(number["histogram"])
    row = summarise_merged(runs, histogram[~histogram["corrected"]], [0.5, 0.99], by="run_id").iloc[0]
    assert row["generators"] == 3
    assert row["requests"] <= len(logged) <= row["requests"] + 10
    assert len(set(logged)) == 10
    assert row["throughput_lower_rps"] <= row["throughput_upper_rps"] * (1 + 1e-9)
    assert row["latency_p50_lower_s"] < row["latency_p99_upper_s"]
    assert row["all_s"] > 0, "all of them ran together for a while"
    assert all(start_delay_s((tmp_path / f"{stem}.at.json").read_text()) >= 0 for stem in stems)
