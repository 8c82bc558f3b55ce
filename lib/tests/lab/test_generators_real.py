"""Every generator for real, alone and several at one instant, against a private nginx that logs each request."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter

import pandas as pd
import psutil
import pytest
from events import HANG_S, wait_until
from private_services import listens, need

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.clean import clean
from loadcurve.ingest.load.wrk_json import parse_wrk_json
from loadcurve.ingest.registry import form_of
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import SEARCH_PATH, which
from loadcurve.lab.known_tools import TOOLS
from loadcurve.lab.run.deployment import free_port
from loadcurve.lab.tools.generators import GENERATORS, command_of
from loadcurve.lab.tools.generators.generator import (
    GeneratorCommand,
    Load,
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
    log_format facts '$http_x_case $request_method $connection $status $request_uri $content_length';
    access_log requests.log facts buffer=64k flush=50ms;
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        location / {{ return 200 "{body}"; }}
        location /gone {{ return 404 "gone"; }}
    }}
}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A private nginx: its URL, and what it logged of a case."""
    need("nginx", "setpriv", "timeout")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    (folder / "tmp").mkdir()
    (folder / "nginx.conf").write_text(_CONFIG.format(port=port, body="x" * 100))
    argv = guarded(("nginx", "-p", ".", "-c", "nginx.conf", "-e", "stderr"), 120)
    with subprocess.Popen(argv, cwd=folder, env={"PATH": SEARCH_PATH}, stderr=subprocess.DEVNULL) as nginx:
        wait_until(lambda: listens(port))

        def logged(case):
            time.sleep(0.2)  # nginx writes its buffer after 50 ms
            lines = (folder / "requests.log").read_text().splitlines()
            return [line.split()[1:] for line in lines if line.startswith(f"{case} ")]

        yield f"http://127.0.0.1:{port}/", logged
        nginx.terminate()


def run(load, folder, edit=lambda text: text):
    """Make a load; the tables of its report and of its further outputs, by variant."""
    if shutil.which(load.tool, path=SEARCH_PATH) is None:
        pytest.skip(f"{load.tool} is not installed: {TOOLS[load.tool].remedy}")
    made = command_of(load)
    for name, text in made.files.items():
        (folder / name).write_text(edit(text))
    argv, env = guarded(made.argv, made.limit_s), {"PATH": SEARCH_PATH}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    texts = {"": done.stdout} | {variant: (folder / name).read_text() for variant, name in made.outputs.items()}
    return {variant: form_of(load.tool, variant).parse(clean(text)).tables for variant, text in texts.items()}


def bounded(tool, n=1000):
    return {"requests": n} if "requests" in GENERATORS[tool].bounds else {"duration_s": 1}


@pytest.mark.parametrize("tool", ["wrk", "ab", "h2load", "hey", "weighttp"])
def test_what_the_tool_reports_is_what_the_server_counted(tool, server, tmp_path):
    url, logged = server
    load = Load(tool, url, 8, headers={"X-Case": f"{tool}-plain"}, **bounded(tool))
    row = run(load, tmp_path)[""]["runs"].iloc[0]
    seen = logged(f"{tool}-plain")
    assert row["status"] == "finished"
    assert tool == "hey" or row["connections"] == 8, "hey does not say how many"
    # A request whose response was still on its way at the end is in the server's count alone.
    flying = 8 if load.duration_s else 0
    assert row["requests"] <= len(seen) <= row["requests"] + flying
    assert load.duration_s or row["requests"] == 1000
    connections = len({connection for _, connection, *_ in seen})
    # Go's client may send a worker's next request before the connection of the last one is idle again: it dials another
    # meanwhile, and uses whichever is ready first (net/http, Transport.getConn).
    assert connections == 8 or (tool == "hey" and 8 < connections <= 16), "each connection was kept"
    assert Counter(method for method, *_ in seen) == {"GET": len(seen)}


@pytest.mark.parametrize("tool", ["ab", "h2load", "hey", "oha", "k6"])
def test_a_duration_ends_it(tool, server, tmp_path):
    url, logged = server
    row = run(Load(tool, url, 4, duration_s=1, headers={"X-Case": f"{tool}-time"}), tmp_path)[""]["runs"].iloc[0]
    seen = logged(f"{tool}-time")
    assert row["requests"] > 1000
    assert row["requests"] <= len(seen) <= row["requests"] + 4
    assert 0.5 < row["requests"] / row["throughput_rps"] < 3


@pytest.mark.parametrize("tool", ["wrk", "ab", "hey", "weighttp"])
def test_without_keep_alive_each_request_has_its_connection(tool, server, tmp_path):
    url, logged = server
    case = f"{tool}-close"
    run(Load(tool, url, 4, keep_alive=False, headers={"X-Case": case}, **bounded(tool, 400)), tmp_path)
    seen = logged(case)
    assert len(seen) >= 400
    assert len({connection for _, connection, *_ in seen}) == len(seen)


@pytest.mark.parametrize(
    ("tool", "method"),
    [
        ("wrk", "POST"), ("wrk", "PUT"), ("ab", "POST"), ("ab", "PUT"), ("ab", "HEAD"), ("ab", "DELETE"),
        ("hey", "POST"), ("hey", "HEAD"), ("h2load", "POST"),
    ],
)  # fmt: skip
def test_the_method_and_the_body_arrive(tool, method, server, tmp_path):
    url, logged = server
    size = 123 if method in ("POST", "PUT") else 0
    case = f"{tool}-{method}"
    run(Load(tool, url, 2, method=method, body_bytes=size, headers={"X-Case": case}, **bounded(tool, 50)), tmp_path)
    seen = logged(case)
    assert len(seen) >= 50
    assert {m for m, *_ in seen} == {method}
    assert {length for *_, length in seen} == {str(size) if size else "-"}


@pytest.mark.parametrize("tool", ["wrk", "ab", "hey", "h2load", "oha", "k6"])
def test_the_text_of_a_body_arrives(tool, server, tmp_path):
    url, logged = server
    text, case = 'id=ä&name="a\\b"\n', f"{tool}-text"
    run(Load(tool, url, 2, method="POST", body=text, headers={"X-Case": case}, **bounded(tool, 50)), tmp_path)
    assert {length for *_, length in logged(case)} == {str(len(text.encode()))}


@pytest.mark.parametrize("tool", ["wrk", "k6"])
def test_a_mix_requests_each_path_by_its_weight(tool, server, tmp_path):
    url, logged = server
    case, mix = f"{tool}-mix", {"/": 5, "/a?q=1": 2, "/b": 1}
    row = run(Load(tool, url, 4, duration_s=1, mix=mix, headers={"X-Case": case}), tmp_path)[""]["runs"].iloc[0]
    seen = Counter(path for *_, path, _ in logged(case))
    assert row["requests"] > 1000 and set(seen) == set(mix)
    for path, weight in mix.items():
        assert seen[path] == pytest.approx(seen.total() * weight / 8, abs=8), seen


def test_a_script_of_the_study_runs_beside_the_reporter(server, tmp_path):
    url, logged = server
    script = """
    function setup(thread) thread.addr = wrk.lookup("127.0.0.1", "1")[1] end
    local number = 0
    function request() number = number + 1; return wrk.format("GET", "/" .. number % 3) end
    function done(summary) io.write("own done: ", summary.requests, "\\n") end
    """
    tables = run(Load("wrk", url, 2, duration_s=1, script=script, headers={"X-Case": "script"}), tmp_path)
    assert set(Counter(path for *_, path, _ in logged("script"))) == {"/0", "/1", "/2"}
    assert tables[""]["runs"]["requests"].item() == tables["json"]["runs"]["requests"].item()


FFI = 'pcall(require, "ffi")'


@pytest.fixture(scope="module", params=[FFI, "false"])
def reported(request, server, tmp_path_factory):
    """Tables of a run of wrk against a missing page, and what nginx logged of it.

    With the second parameter wrk's Lua cannot look into wrk's memory, and asks for one counter after the other.
    """
    url, logged = server
    case = f"reported-{request.param == FFI}"
    load = Load("wrk", f"{url}gone", 6, threads=3, duration_s=1, headers={"X-Case": case})
    tables = run(load, tmp_path_factory.mktemp("reported"), lambda text: text.replace(FFI, request.param))
    return tables, logged(case)


def test_threads_of_wrk_share_the_connections(reported):
    tables, seen = reported
    row = tables[""]["runs"].iloc[0]
    assert (row["threads"], row["connections"]) == (3, 6)
    assert len({connection for _, connection, *_ in seen}) == 6


def test_error_responses_are_counted_as_such(reported):
    tables, seen = reported
    row = tables[""]["runs"].iloc[0]
    assert row["errors_status"] == row["requests"] > 0
    assert {status for *_, status, _, _ in seen} == {"404"}


def test_the_reporter_tells_what_wrk_counted(reported):
    tables, _ = reported
    text, report = tables[""]["runs"].iloc[0], tables["json"]["runs"].iloc[0]
    for name in ("requests", "threads", "connections", "url", "errors_status", "errors_read"):
        assert text[name] == report[name]
    for name in ("duration_s", "throughput_rps", "latency_mean_s", "latency_max_s", "received_bytes"):
        assert report[name] == pytest.approx(text[name], rel=0.006), "two decimals in the text"
    histogram = tables["json"]["histogram"]
    assert histogram[~histogram["corrected"]]["responses"].sum() == report["requests"]
    printed = tables[""]["latency"].set_index("quantile")["latency_s"]
    for quantile, latency in tables["json"]["latency"].set_index("quantile")["latency_s"].items():
        assert quantile not in printed or printed[quantile] == pytest.approx(latency, rel=0.006)


def test_ab_writes_its_percentages_and_each_request(server, tmp_path):
    load = Load("ab", server[0], 4, requests=500, each_request=True)
    tables = run(load, tmp_path)
    assert len(tables["requests"]["requests"]) == 500
    assert len(tables["percentiles"]["latency"]) == 101


def test_h2load_writes_each_request(server, tmp_path):
    tables = run(Load("h2load", server[0], 4, requests=500, each_request=True), tmp_path)
    assert len(tables["requests"]["requests"]) == 500


@pytest.mark.parametrize("tool", ["wrk2", "oha", "k6", "h2load"])
def test_a_rate_is_held(tool, server, tmp_path):
    url, logged = server
    due = GENERATORS[tool].times_from_due
    load = Load(tool, url, 4, duration_s=2, rate_rps=500, from_due=due, headers={"X-Case": f"{tool}-rate"})
    row = run(load, tmp_path)[""]["runs"].iloc[0]
    assert row["requests"] <= len(logged(f"{tool}-rate")) <= row["requests"] + 4
    assert row["throughput_rps"] < 600
    if tool == "k6":  # its heading prints the rate, the others' command has it
        assert (row["target_rate_rps"], row["connections"]) == (500, 4)


def test_a_server_that_never_answers_holds_no_tool_to_its_limit(tmp_path):
    """All at once, since each waits for its timeout; none reports a response."""
    running = []
    tools = [tool for tool in ("wrk", "ab", "h2load", "hey") if which(tool)]
    cases = [(tool, bound) for tool in tools for bound in GENERATORS[tool].bounds]
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        for number, (tool, bound) in enumerate(cases):
            made = command_of(
                Load(tool, url, 2, timeout_s=1, **{bound: 1 if bound == "duration_s" else 4}), f"p{number}"
            )
            for name, text in made.files.items():
                (tmp_path / name).write_text(text)
            argv = guarded(made.argv, made.limit_s)
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            running.append((tool, subprocess.Popen(argv, cwd=tmp_path, env={"PATH": SEARCH_PATH}, **pipes)))
        ended = [(tool, process.communicate(timeout=HANG_S)[0], process.returncode) for tool, process in running]
    for tool, text, code in ended:
        assert code != 124, f"{tool} was ended at its limit"
        for row in form_of(tool, "").parse(clean(text)).tables["runs"].to_dict("records"):
            assert row.get("status") == "failed" or not row.get("requests"), (tool, row)


def prepared(made, instant_ns, stem, folder):
    """The generator with its files written, and its argv under its limit."""
    waiting = start_at(made, instant_ns, stem)
    for name, text in waiting.files.items():
        (folder / name).write_text(text)
    return guarded(waiting.argv, waiting.limit_s)


@pytest.fixture
def tools():
    need("setpriv", "timeout")


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


def test_three_processes_of_wrk_make_one_load(server, tmp_path):
    """Requests and connections of all agree with the server's log; the quantiles are of all responses."""
    need("wrk")
    url, logged = server
    loads = split(Load("wrk", url, 10, duration_s=1, processes=3, headers={"X-Case": "together"}))
    assert [load.connections for load in loads] == [4, 3, 3]
    stems, instant = ["C1-1", "C1-2", "C1-3"], common_instant_ns(3)
    argvs = [prepared(command_of(load, s), instant, s, tmp_path) for load, s in zip(loads, stems, strict=True)]
    how = {"cwd": tmp_path, "env": {"PATH": SEARCH_PATH}, "stdout": subprocess.DEVNULL}
    running = [subprocess.Popen(argv, **how) for argv in argvs]
    assert [process.wait(timeout=HANG_S) for process in running] == [0, 0, 0]
    parsed = [parse_wrk_json((tmp_path / f"{stem}.wrk.json").read_text()).tables for stem in stems]
    number = {
        name: [tables[name].assign(run_id="a", generator=g) for g, tables in enumerate(parsed)] for name in parsed[0]
    }
    runs, histogram = pd.concat(number["runs"]), pd.concat(number["histogram"])
    row = summarise_merged(runs, histogram[~histogram["corrected"]], [0.5, 0.99], by="run_id").iloc[0]
    seen = logged("together")
    assert row["generators"] == 3
    assert row["requests"] <= len(seen) <= row["requests"] + 10
    assert len({connection for _, connection, *_ in seen}) == 10
    assert row["throughput_lower_rps"] <= row["throughput_upper_rps"] * (1 + 1e-9)
    assert row["latency_p50_lower_s"] < row["latency_p99_upper_s"]
    assert row["all_s"] > 0, "all of them ran together for a while"
    assert all(start_delay_s((tmp_path / f"{stem}.at.json").read_text()) >= 0 for stem in stems)
