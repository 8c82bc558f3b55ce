"""apache, lighttpd and caddy send files, each in a folder of its own."""

import os
import re
from pathlib import Path

import pytest
from private_services import ask, free_endpoint, listeners, need, running

from loadcurve.lab.tools.servers import Files, WebSection, WebServer, apache_service, caddy_service, lighttpd_service

MAKERS = {
    "apache2": lambda server: apache_service(server, launcher_is_root=os.geteuid() == 0),
    "lighttpd": lighttpd_service,
    "caddy": caddy_service,
}
SIZES = (1232, 0, 102400)


@pytest.fixture
def here():
    endpoint = free_endpoint()
    yield endpoint
    assert listeners(endpoint) == []


@pytest.mark.lab
@pytest.mark.parametrize("tool", MAKERS)
def test_files_of_given_sizes(tool, tmp_path, here):
    need(tool, "curl")
    with running(tmp_path, MAKERS[tool](WebServer("S1", here, WebSection(Files(SIZES))))):
        for size in SIZES:
            answer = ask(f"{here.url}{size}.bin")
            assert (answer.status, len(answer.body), answer.headers["content-length"]) == (200, size, str(size))
        assert len(ask(here.url).body) == SIZES[0]
        assert ask(f"{here.url}S1.conf").status == 404
        assert ask(f"{here.url}../S1.conf", "--path-as-is").status in (400, 403, 404)
    assert len(list(tmp_path.iterdir())) == 2, "its configuration and what it said"


@pytest.mark.lab
@pytest.mark.parametrize("tool", MAKERS)
def test_gzip_for_those_who_ask(tool, tmp_path, here):
    need(tool, "curl")
    if tool == "lighttpd" and not Path("/usr/lib/lighttpd/mod_deflate.so").exists():
        pytest.skip("lighttpd has no mod_deflate here (sh lib/system.sh install lab-test)")
    with running(tmp_path, MAKERS[tool](WebServer("S1", here, WebSection(Files((10240,)), gzip=True)))):
        packed, plain = ask(here.url, "-H", "Accept-Encoding: gzip"), ask(here.url)
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < 1024
    assert "content-encoding" not in plain.headers and len(plain.body) == 10240


@pytest.mark.lab
@pytest.mark.parametrize("tool", MAKERS)
def test_an_access_log_has_a_line_for_each_request(tool, tmp_path, here):
    need(tool, "curl")
    lines = {}
    for log in (False, True):
        folder = tmp_path / str(log)
        with running(folder, MAKERS[tool](WebServer("S1", here, WebSection(Files(SIZES), access_log=log)))):
            for _ in range(3):
                ask(f"{here.url}1232.bin")
        file = folder / "S1.access.log"
        lines[log] = len(re.findall('GET /1232.bin|1232.bin",', file.read_text())) if file.exists() else -1
    assert lines == {False: -1, True: 3}


@pytest.mark.lab
def test_apache_has_as_many_workers_as_it_is_told(tmp_path, here):
    need("apache2", "curl")
    root = os.geteuid() == 0
    server = WebServer("S1", here, WebSection(Files(SIZES), workers=6))
    with running(tmp_path, apache_service(server, launcher_is_root=root)) as (process,):
        assert ask(here.url).status == 200
        tasks = _tasks_below(process.pid)
    # One process whose six threads work, beside those that listen and supervise.
    assert len(tasks) == 2
    assert max(tasks) in (7, 8)


def _tasks_below(pid):
    """Threads of apache's own processes, below the command that guards them."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if Path(f"/proc/{child}/comm").read_text().strip() == "apache2":
            found.append(len(list(Path(f"/proc/{child}/task").iterdir())))
        found += _tasks_below(child)
    return found
