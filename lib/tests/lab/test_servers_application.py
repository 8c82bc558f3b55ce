"""An application server for real: nginx, PHP-FPM and MariaDB in one folder."""

import subprocess
import time
from pathlib import Path

import pytest
from events import HANG_S
from private_services import ask, free_endpoint, listeners, need, running

from loadcurve.lab.tools.servers import (
    MariaDb,
    Page,
    PhpFpm,
    Process,
    Serving,
    mariadb_service,
    php_front_service,
    php_service,
    wordpress_page,
)


@pytest.fixture
def php():
    """Settings of the PHP-FPM of this machine, whose version is in its name."""
    need("nginx", "curl", "mariadbd")
    programs = sorted(Path("/usr/sbin").glob("php-fpm*"))
    extensions = sorted(Path("/usr/lib/php").glob("*/mysqli.so"))
    if not programs or not extensions:
        pytest.skip("not installed: php-fpm, php-mysql (sh lib/system.sh install lab-test)")
    return lambda children: PhpFpm("PHP", children, str(programs[-1]), str(extensions[-1].parent))


@pytest.fixture
def here():
    endpoint = free_endpoint()
    yield endpoint
    assert listeners(endpoint) == []


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
        pytest.skip("not installed: wordpress (sh lib/system.sh install lab-test)")
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
