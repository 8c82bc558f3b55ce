"""Every generator for real, against a private nginx that logs each request: a second or two on loopback."""

import shutil
import socket
import subprocess
import time
import urllib.request
from collections import Counter

import pytest
from events import HANG_S

from loadcurve.ingest.clean import clean
from loadcurve.ingest.registry import form_of
from loadcurve.lab.hosts.process import guarded
from loadcurve.lab.hosts.tools import SEARCH_PATH, which
from loadcurve.lab.known_tools import TOOLS
from loadcurve.lab.run.deployment import free_port
from loadcurve.lab.tools.generators import GENERATORS, Load, command_of

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
    log_format facts '$http_x_case $request_method $connection $status $content_length';
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
    if missing := [tool for tool in ("nginx", "setpriv", "timeout") if which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    (folder / "tmp").mkdir()
    (folder / "nginx.conf").write_text(_CONFIG.format(port=port, body="x" * 100))
    argv = guarded(("nginx", "-p", ".", "-c", "nginx.conf", "-e", "stderr"), 120)
    with subprocess.Popen(argv, cwd=folder, env={"PATH": SEARCH_PATH}, stderr=subprocess.DEVNULL) as nginx:
        url = f"http://127.0.0.1:{port}/"
        for _ in range(100):
            try:
                urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url).close()
                break
            except OSError:
                time.sleep(0.05)

        def logged(case):
            time.sleep(0.2)  # nginx writes its buffer after 50 ms
            lines = (folder / "requests.log").read_text().splitlines()
            return [line.split()[1:] for line in lines if line.startswith(f"{case} ")]

        yield url, logged
        nginx.terminate()


def run(load, folder, edit=lambda text: text):
    """Make a load; the tables of its report and of its further outputs, by variant."""
    if shutil.which(load.tool, path=SEARCH_PATH) is None:
        pytest.skip(f"{load.tool} is not installed: {TOOLS[load.tool].remedy}")
    made = command_of(load)
    for name, text in made.files.items():
        (folder / name).write_text(edit(text))
    done = subprocess.run(
        guarded(made.argv, made.limit_s),
        cwd=folder,
        env={"PATH": SEARCH_PATH},
        capture_output=True,
        text=True,
        check=False,
    )
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
    assert {status for *_, status, _ in seen} == {"404"}


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
