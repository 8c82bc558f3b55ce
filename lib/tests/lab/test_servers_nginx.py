"""Private nginx servers, started for real: each setting shows what it does."""

import contextlib
import os
import time
from pathlib import Path

import pytest
from events import wait_until
from private_services import ask, free_endpoint, listeners, need, running, worker_cpu_s

from loadcurve.errors import LabError
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.capabilities import here as here_programs
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.tools.servers import Burn, Delay, Files, Nginx, Process, Serving, Status, Text, nginx_service

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def programs():
    need("nginx", "curl", "setpriv", "timeout")


def here_masters(folder):
    """Process ids of the programs that run in a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").resolve() == folder and (process / "comm").read_text() == "nginx\n":
                yield process.name


@pytest.fixture
def here():
    endpoint = free_endpoint()
    yield endpoint
    assert listeners(endpoint) == [], "the port must be free again"


@pytest.mark.parametrize("size", [0, 616, 3000, 3001, 100_000])
def test_a_text_from_memory(tmp_path, here, size):
    """Also without a body, and longer than a directive of nginx can be."""
    service = nginx_service(Nginx("S1", (here,), Text(size)))
    with running(tmp_path, service):
        answer = ask(here.url)
    assert (answer.status, answer.headers["content-length"], len(answer.body)) == (200, str(size), size)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["S1.conf", "S1.out"], "its work folder went with it"
    assert (tmp_path / "S1.out").read_text() == ""


@pytest.mark.parametrize("serving", [Serving(sendfile=False), Serving(sendfile=True, tcp_nopush=True)])
def test_files_of_given_sizes(tmp_path, here, serving):
    sizes = (0, 1232, 2590, 10240, 102400)
    with running(tmp_path, nginx_service(Nginx("S1", (here,), Files(sizes), serving=serving))):
        for size in sizes:
            answer = ask(f"{here.url}{size}.bin")
            assert (answer.status, len(answer.body)) == (200, size)
            assert answer.headers["content-length"] == str(size)
        assert ask(here.url).body == b"", "the root is the first of them"
        assert ask(f"{here.url}nginx.pid").status == 404, "nothing else of its folder is served"
        assert ask(f"{here.url}../S1.conf", "--path-as-is").status in (400, 404)


def test_access_log_off_on_and_buffered(tmp_path, here):
    lines = {}
    for log in ("off", "on", "buffered"):
        folder = tmp_path / log
        with running(folder, nginx_service(Nginx("S1", (here,), serving=Serving(access_log=log)))):
            for _ in range(3):
                ask(f"{here.url}?{log}")
            file = folder / "S1.access.log"
            during = file.read_text().count(f"/?{log} ") if file.exists() else -1
        lines[log] = (during, file.read_text().count(f"/?{log} ") if file.exists() else -1)
    assert lines == {"off": (-1, -1), "on": (3, 3), "buffered": (0, 3)}


@pytest.mark.parametrize(("requests", "said"), [(1, "close"), (2, "keep-alive")])
def test_a_connection_is_closed_after_its_requests(tmp_path, here, requests, said):
    with running(tmp_path, nginx_service(Nginx("S1", (here,), serving=Serving(keepalive_requests=requests)))):
        assert ask(here.url).headers["connection"] == said


@pytest.mark.parametrize("place", ["work", "memory"])
def test_a_log_that_is_not_kept(tmp_path, here, place):
    """On the disk of the run, or in a tmpfs of the server alone; in both cases it is gone after the run."""
    if place == "memory" and not here_programs().is_root:
        pytest.skip("only root can mount a tmpfs")
    serving = Serving(access_log="buffered", log_buffer_kib=1, log_in=place)
    with running(tmp_path, nginx_service(Nginx("S1", (here,), serving=serving))):
        logged = [ask(f"{here.url}?{'x' * 600}").status for _ in range(3)]
        assert logged == [200] * 3
        outside = (tmp_path / "S1.work/access.log").exists()
        master = next(p for p in here_masters(tmp_path))
        inside = Path(f"/proc/{master}/root{tmp_path}/S1.work/access.log").read_text().count("/?x")
    assert outside == (place == "work"), "a tmpfs is visible to its server alone"
    assert inside >= 1, "a buffer of 1 KiB is written after two of these lines"
    assert not list(tmp_path.rglob("access.log"))


def test_gzip_for_those_who_ask(tmp_path, here):
    files = Files((10240,))
    with running(tmp_path, nginx_service(Nginx("S1", (here,), files, serving=Serving(gzip=True)))):
        packed, plain = ask(here.url, "-H", "Accept-Encoding: gzip"), ask(here.url)
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < 1024
    assert "content-encoding" not in plain.headers and len(plain.body) == 10240


def test_files_past_the_page_cache(tmp_path, here):
    service = nginx_service(Nginx("S1", (here,), Files((10240,)), serving=Serving(direct_io=True)))
    assert "directio 512;" in service.files["S1.conf"]
    with running(tmp_path, service):
        assert len(ask(here.url).body) == 10240


def test_a_delay_waits_on_a_timer(tmp_path, here):
    try:
        module = here_programs().module(Programs.ECHO)
    except LabError as error:
        pytest.skip(str(error))
    with running(tmp_path, nginx_service(Nginx("S1", (here,), Delay(50, 100), Process(modules=(module,))))):
        before = time.monotonic()
        answer = ask(here.url)
        waited_s = time.monotonic() - before
        used_s = worker_cpu_s(tmp_path)
    assert (answer.status, len(answer.body)) == (200, 100)
    assert waited_s >= 0.05 and used_s < 0.05


def test_work_grows_with_its_steps(tmp_path, here):
    used_s = {}
    for steps in (100, 3000):
        folder = tmp_path / str(steps)
        with running(folder, nginx_service(Nginx("S1", (here,), Burn(steps, 10)))):
            before = worker_cpu_s(folder)
            assert [ask(here.url).status for _ in range(10)] == [200] * 10, (folder / "S1.out").read_text()
            used_s[steps] = worker_cpu_s(folder) - before
    # 900 times as many tries; 4.5 million of them cannot be had in less than a tick each.
    assert used_s[3000] > used_s[100]


def test_status_page(tmp_path, here):
    with running(tmp_path, nginx_service(Nginx("S1", (here,), Status()))):
        assert ask(here.url).body.startswith(b"Active connections: 1 ")


def test_workers_are_pinned(tmp_path, here):
    cpus = tuple(sorted(os.sched_getaffinity(0))[:2])
    with running(tmp_path, nginx_service(Nginx("S1", (here,), process=Process(workers=len(cpus), cpus=cpus)))):
        master = int((tmp_path / "S1.work/nginx.pid").read_text())
        workers = Path(f"/proc/{master}/task/{master}/children").read_text().split()

        def pins():
            return sorted(next(iter(os.sched_getaffinity(int(pid)))) for pid in workers)

        # Each worker pins itself, a moment after it was started.
        wait_until(lambda: pins() == list(cpus), pins)
        assert all(len(os.sched_getaffinity(int(pid))) == 1 for pid in workers)


def test_a_compatible_program_by_its_path(tmp_path, here):
    program = tmp_path / "openresty"
    program.symlink_to(which("nginx"))
    with running(tmp_path / "run", nginx_service(Nginx("S1", (here,), process=Process(program=str(program))))):
        assert ask(here.url).status == 200
