"""Private servers, started for real, each in a folder of its own: what every one does, and each setting of nginx."""

import contextlib
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from events import HANG_S, wait_until
from private_services import ask, free_endpoint, listeners, need, running, worker_cpu_s

from loadcurve.errors import LabError
from loadcurve.lab.hosts import capabilities
from loadcurve.lab.hosts.network import build, unused_block
from loadcurve.lab.hosts.network.topology import client_server
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.tools.servers.nginx import Nginx, Process, Serving, nginx_service
from loadcurve.lab.tools.servers.php import (
    MariaDb,
    Page,
    PhpFpm,
    mariadb_service,
    php_front_service,
    php_service,
    wordpress_page,
)
from loadcurve.lab.tools.servers.responses import Burn, Delay, Files, Status, Text
from loadcurve.lab.tools.servers.settings import Endpoint
from loadcurve.lab.tools.servers.web import WebSection, WebServer, apache_service, caddy_service, lighttpd_service

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def programs():
    need("nginx", "curl", "setpriv", "timeout")


@pytest.fixture
def here():
    endpoint = free_endpoint()
    yield endpoint
    assert listeners(endpoint) == [], "the port must be free again"


def web_server(make):
    """Service of a web server from what it sends, whether it logs, and whether it compresses."""

    def service(here, files, log=False, gzip=False):
        return make(WebServer("S1", here, WebSection(files, access_log=log, gzip=gzip)))

    return service


def nginx(here, files, log=False, gzip=False, **serving):
    return nginx_service(Nginx("S1", (here,), files, serving=Serving("on" if log else "off", gzip=gzip, **serving)))


MAKERS = {
    "nginx": nginx,
    "apache2": web_server(lambda server: apache_service(server, launcher_is_root=os.geteuid() == 0)),
    "lighttpd": web_server(lighttpd_service),
    "caddy": web_server(caddy_service),
}
EACH = pytest.mark.parametrize(
    "tool", [pytest.param(tool, marks=[] if tool == "nginx" else pytest.mark.lab) for tool in MAKERS]
)
SIZES = (1232, 0, 2590, 102400)


@EACH
def test_files_of_given_sizes(tool, tmp_path, here):
    need(tool)
    with running(tmp_path, MAKERS[tool](here, Files(SIZES))):
        for size in SIZES:
            answer = ask(f"{here.url}{size}.bin")
            assert (answer.status, len(answer.body), answer.headers["content-length"]) == (200, size, str(size))
        assert len(ask(here.url).body) == SIZES[0], "the root is the first of them"
        for name in ("S1.conf", "nginx.pid"):
            assert ask(f"{here.url}{name}").status == 404, "nothing else of its folder is served"
        assert ask(f"{here.url}../S1.conf", "--path-as-is").status in (400, 403, 404)
    assert len(list(tmp_path.iterdir())) == 2, "its configuration and what it said"


def test_files_are_whole_however_nginx_sends_them(tmp_path, here):
    for how in ({"sendfile": False}, {"tcp_nopush": True}, {"direct_io": True}):
        service = nginx(here, Files(SIZES), **how)
        assert ("directio 512;" in service.files["S1.conf"]) == ("direct_io" in how), "past the page cache"
        with running(tmp_path / next(iter(how)), service):
            assert [len(ask(f"{here.url}{size}.bin").body) for size in SIZES] == list(SIZES)


@EACH
def test_gzip_for_those_who_ask(tool, tmp_path, here):
    need(tool)
    if tool == "lighttpd" and not Path("/usr/lib/lighttpd/mod_deflate.so").exists():
        pytest.skip("lighttpd has no mod_deflate here (sh lib/loadcurve/lab/system.sh install lab-test)")
    with running(tmp_path, MAKERS[tool](here, Files((10240,)), gzip=True)):
        packed, plain = ask(here.url, "-H", "Accept-Encoding: gzip"), ask(here.url)
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < 1024
    assert "content-encoding" not in plain.headers and len(plain.body) == 10240


@EACH
def test_an_access_log_has_a_line_for_each_request(tool, tmp_path, here):
    need(tool)
    lines = {}
    for log in (False, True):
        folder = tmp_path / str(log)
        with running(folder, MAKERS[tool](here, Files(SIZES), log=log)):
            for _ in range(3):
                ask(f"{here.url}1232.bin")
        file = folder / "S1.access.log"
        lines[log] = len(re.findall('GET /1232.bin|1232.bin",', file.read_text())) if file.exists() else -1
    assert lines == {False: -1, True: 3}


def test_nginx_writes_a_log_at_once_or_at_its_end(tmp_path, here):
    lines = {}
    for log in ("on", "buffered"):
        with running(tmp_path / log, nginx_service(Nginx("S1", (here,), serving=Serving(access_log=log)))):
            for _ in range(3):
                ask(f"{here.url}?{log}")
            file = tmp_path / log / "S1.access.log"
            during = file.read_text().count(f"/?{log} ")
        lines[log] = (during, file.read_text().count(f"/?{log} "))
    assert lines == {"on": (3, 3), "buffered": (0, 3)}


@pytest.mark.parametrize("size", [0, 616, 3000, 3001, 100_000])
def test_a_text_from_memory(tmp_path, here, size):
    """Also without a body, and longer than a directive of nginx can be."""
    service = nginx_service(Nginx("S1", (here,), Text(size)))
    with running(tmp_path, service):
        answer = ask(here.url)
    assert (answer.status, answer.headers["content-length"], len(answer.body)) == (200, str(size), size)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["S1.conf", "S1.out"], "its work folder went with it"
    assert (tmp_path / "S1.out").read_text() == ""


@pytest.mark.parametrize(("requests", "said"), [(1, "close"), (2, "keep-alive")])
def test_a_connection_is_closed_after_its_requests(tmp_path, here, requests, said):
    with running(tmp_path, nginx_service(Nginx("S1", (here,), serving=Serving(keepalive_requests=requests)))):
        assert ask(here.url).headers["connection"] == said


def here_masters(folder):
    """Process ids of the programs that run in a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").resolve() == folder and (process / "comm").read_text() == "nginx\n":
                yield process.name


@pytest.mark.parametrize("place", ["work", "memory"])
def test_a_log_that_is_not_kept(tmp_path, here, place):
    """On the disk of the run, or in a tmpfs of the server alone; in both cases it is gone after the run."""
    if place == "memory" and not capabilities.here().is_root:
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


def test_a_delay_waits_on_a_timer(tmp_path, here):
    try:
        module = capabilities.here().module(capabilities.Programs.ECHO)
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


@pytest.mark.lab
def test_apache_has_as_many_workers_as_it_is_told(tmp_path, here):
    need("apache2")
    server = WebServer("S1", here, WebSection(Files(SIZES), workers=6))
    service = apache_service(server, launcher_is_root=os.geteuid() == 0)
    with running(tmp_path, service) as (process,):
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


@pytest.mark.lab
def test_header_and_file_in_one_segment(tmp_path, ledger):
    """tcp_nopush: of a small file, the server sends one segment for each response instead of two."""
    topology = client_server(block=unused_block())
    here, sent = Endpoint(topology.node("S1").addresses[0], 8080), {}
    with build(topology, ledger) as hosts:
        for nopush in (False, True):
            serving = Serving(sendfile=True, tcp_nopush=nopush)
            service = nginx_service(Nginx("S1", (here,), Files((1000,)), serving=serving))
            with running(tmp_path / str(nopush), service, host=hosts["S1"]):
                before = _segments_sent(hosts["S1"])
                ask(f"{here.url}?[1-20]", "-o", "/dev/null", host=hosts["C1"])
                sent[nopush] = _segments_sent(hosts["S1"]) - before
    assert 18 <= sent[False] - sent[True] <= 22, sent


def _segments_sent(host):
    text = subprocess.run(
        host.argv(("cat", "/proc/net/snmp")), capture_output=True, text=True, check=True, timeout=HANG_S
    ).stdout
    names, values = (line.split() for line in text.splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("OutSegs")])


@pytest.fixture
def php():
    """Settings of the PHP-FPM of this machine, whose version is in its name."""
    need("mariadbd")
    programs = sorted(Path("/usr/sbin").glob("php-fpm*"))
    extensions = sorted(Path("/usr/lib/php").glob("*/mysqli.so"))
    if not programs or not extensions:
        pytest.skip("not installed: php-fpm, php-mysql (sh lib/loadcurve/lab/system.sh install lab-test)")
    return lambda children: PhpFpm("PHP", children, str(programs[-1]), str(extensions[-1].parent))


def services(php, here, page, database):
    front = php_front_service("S1", here, php, Process(), Serving(), ["page"])
    return mariadb_service(database), php_service(php, {"page": page.text(database)}), front


@pytest.mark.lab
@pytest.mark.parametrize("by_tcp", [False, True])
def test_a_page_asks_the_database(php, here, tmp_path, by_tcp):
    database = MariaDb("DB", rows=50, listen=free_endpoint() if by_tcp else None)
    with running(tmp_path, *services(php(2), here, Page(queries=7, body_bytes=1000), database)):
        answer = ask(here.url)
        assert ask(f"{here.url}page.php").status == 200
        assert ask(f"{here.url}other.php").status == 404
        asked = ("mariadb", "--no-defaults", "-NB", "-S", database.socket, "-e", "SELECT COUNT(*) FROM lab.items")
        counted = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=HANG_S).stdout
    assert (answer.status, len(answer.body), answer.headers["x-row"]) == (200, 1000, "item 7")
    assert counted == "50\n"
    kept = {file.name for file in tmp_path.iterdir() if file.suffix != ".out"}
    assert kept == {"DB.sql", "PHP.conf", "PHP.ini", "S1.conf"}


@pytest.mark.lab
def test_wordpress(php, here, tmp_path):
    if not Path("/usr/share/wordpress/wp-content/themes/twentytwentyone").exists():
        pytest.skip("not installed: wordpress (sh lib/loadcurve/lab/system.sh install lab-test)")
    manager, database = php(2), MariaDb("DB", rows=1)
    front = php_front_service("S1", here, manager, Process(), Serving(), ["index"])
    pages = {"index": wordpress_page(database, here, wait_ms=300)}
    with running(tmp_path, mariadb_service(database), php_service(manager, pages), front):
        before = time.monotonic()
        answer = ask(here.url)
        assert time.monotonic() - before >= 0.3, "the database sleeps in each request"
    assert answer.status == 200, (tmp_path / "PHP.out").read_text()
    assert b"<title>Laboratory" in answer.body and b"Hello world!" in answer.body
    assert len(answer.body) > 10_000 and b"</html>" in answer.body
