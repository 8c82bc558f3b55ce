"""No value of a study ends a directive, becomes an option or leaves its folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test

from loadcurve.errors import ValueRuleError
from loadcurve.lab.tools.servers.haproxy import HaproxyProcess, HaproxySection, haproxy_service
from loadcurve.lab.tools.servers.nginx import Layout, Nginx, Process, Serving, layout_services, nginx_service
from loadcurve.lab.tools.servers.php import MariaDb, Page, PhpFpm, php_service, wordpress_page
from loadcurve.lab.tools.servers.responses import Burn, Delay, Files, Mixed, Text
from loadcurve.lab.tools.servers.settings import Endpoint
from loadcurve.lab.tools.servers.web import WebSection, WebServer

HERE = Endpoint("127.0.0.1", 8080)
HOSTILE = ["-v", "--help", "a;b", "a b", "a\nb", "a}b", "a{b", 'a"b', "a'b", "../a", "a/../b", "$(id)", "a\0b", "é"]


WORDS = [
    (lambda word: Nginx(word, (HERE,)), "name must be a letter", ["", "a/b", "1a", "a" * 33, None, 7]),
    (lambda word: haproxy_service(word, HERE, HaproxySection()), "name must be", ["", "S1\nglobal"]),
    (lambda word: WebServer(word, HERE), "name must be", ["", "S1\nInclude /etc/passwd", 'S1"']),
    (lambda word: WebSection(program=word), "program must be", ["S1\nInclude /etc/passwd", 'S1"']),
    (
        lambda word: Process(program=word), "program must be",
        ["", "a/b", "./nginx", "/a/../b", "/opt/n;x", "/opt/n\n", None],
    ),
    (
        lambda word: Process(modules=(word,)), "modules must be an absolute path",
        ["", "echo.so", "/a/../b.so", "/m.so;user root", "/m.so\n}"],
    ),
    (
        lambda word: Endpoint(word, 80), "address must be an IPv4 address of one host",
        ["", "0.0.0.0", "*", "localhost", "127.1", "127.0.0.1;", "::1", "127.0.0.01"],
    ),
]  # fmt: skip


@in_one_test(("make", "text", "word"), [(*case, word) for *case, more in WORDS for word in (*HOSTILE, *more)])
def test_a_word_that_could_be_more_than_one_is_refused(make, text, word):
    with pytest.raises(ValueRuleError, match=text):
        make(word)


@in_one_test("value", [0, -1, 65536, 80.0, "80", True, None])
def test_a_port_is_a_port(value):
    with pytest.raises(ValueRuleError, match="port must be a whole number of 1 to 65535"):
        Endpoint("127.0.0.1", value)


@in_one_test(
    ("make", "text"),
    [
        (lambda: Text(100_001), "body_bytes must be a whole number of 0 to 100000, got 100001"),
        (lambda: Text("1; user root"), "body_bytes must be a whole number"),
        (lambda: Delay(-1), "delay_ms must be a whole number of 0 to 60000 ms, got -1"),
        (lambda: Burn(3001), "steps must be a whole number of 1 to 3000, got 3001"),
        (lambda: Mixed(0.1, 301), "status must be no redirect, got 301"),
        (lambda: Mixed(0.1, 503, delay_ms=1), "status must be 200 for a response after a wait, got 503"),
        (lambda: Files(()), "sizes_bytes must be sizes, each once"),
        (lambda: Files((1, 1)), "sizes_bytes must be sizes, each once"),
        (lambda: Files((-1,)), "sizes_bytes must be a whole number"),
        (lambda: Files(("../a",)), "sizes_bytes must be a whole number"),
        (lambda: Serving(access_log="/etc/passwd"), "access_log must be one of off, on, buffered"),
        (lambda: Serving(log_in="/etc"), "log_in must be one of run, work, memory"),
        (lambda: HaproxySection(Text(15_001)), "body_bytes must be at most 15000 bytes for haproxy, got 15001"),
        (lambda: Serving(gzip="on; user root"), "gzip must be true or false"),
        (lambda: Process(workers=0), "workers must be a whole number of 1 to 256"),
        (lambda: Process(workers=2, cpus=(0,)), "cpus must be one for each of 2 workers"),
        (lambda: Process(cpus=("0; user root",)), "cpus must be a whole number"),
        (lambda: Nginx("S1", ()), "listens must be 1 to 256 endpoints, each once"),
        (lambda: Nginx("S1", ("127.0.0.1:80",)), "listens must be 1 to 256 endpoints"),
        (lambda: Nginx("S1", (HERE, Endpoint("127.0.0.2", 8080)), wildcard=True), "listens must be of different ports"),
        (lambda: Nginx("S1", (HERE,), wildcard=True), "listens must be in a namespace"),
        (lambda: haproxy_service("S1", "127.0.0.1:80\n    chroot /", HaproxySection()), "listen must be an endpoint"),
        (lambda: WebServer("S1", "127.0.0.1:80"), "listen must be an endpoint"),
        (lambda: MariaDb("DB", listen="127.0.0.1:80 --x"), "listen must be an endpoint"),
        (lambda: wordpress_page(MariaDb("DB"), "http://x'; system('id"), "home must be an endpoint"),
        (lambda: Layout("S1", "F", ("127.0.0.1",), 80, 1), "letter must be one of A, B, C, D, E, reuseport"),
        (lambda: Layout("S1", "D", ("127.0.0.1",), 80, 2), "addresses must be 2 or more for layout D"),
        (lambda: Layout("S1", "A", (), 80, 2), "addresses must be 1 or more"),
        (lambda: HaproxyProcess(threads=0), "threads must be a whole number of 1 to 64, got 0"),
        (lambda: HaproxyProcess(connections="1\n    chroot /"), "connections must be a whole number"),
        (lambda: MariaDb("DB; DROP"), "name must be"),
        (lambda: MariaDb("DB", rows="1; DROP DATABASE lab"), "rows must be a whole number of 1 to 1000000"),
        (lambda: MariaDb("DB", connections=0), "connections must be"),
        (lambda: MariaDb("DB", program="--init-file=/etc/passwd"), "program must be"),
        (lambda: Page(queries="1); system('id'"), "queries must be a whole number of 1 to 1000"),
        (lambda: Page(steps=-1), "steps must be"),
        (lambda: Page(wait_ms=1.5), "wait_ms must be"),
        (lambda: PhpFpm("PHP\nuser=x", 1, "php-fpm", "/x"), "name must be"),
        (lambda: PhpFpm("PHP", 0, "php-fpm", "/x"), "children must be a whole number of 1 to 1000"),
        (lambda: PhpFpm("PHP", 1, "-d evil=1", "/x"), "program must be"),
        (lambda: PhpFpm("PHP", 1, "php-fpm", "../x"), "extensions must be an absolute path"),
        (lambda: php_service(PhpFpm("PHP", 1, "php-fpm", "/x"), {"../../page": ""}), "pages must be"),
    ],
)
def test_a_setting_out_of_its_rule_is_refused(make, text):
    with pytest.raises(ValueRuleError, match=text):
        make()


@given(st.text(max_size=40))
def test_a_text_that_is_let_through_stays_one_word(value):
    for make in (lambda: Process(program=value).program, lambda: Nginx(value, (HERE,)).name):
        try:
            passed = make()
        except ValueRuleError:
            continue
        assert passed == value
        assert not set(passed) & set(" \t\r\n;{}\"'\\$#`&|<>()*?~!") and not passed.startswith("-")


@given(
    response=st.one_of(
        st.builds(Text, st.integers(0, 100_000)),
        st.builds(Delay, st.integers(0, 60000)),
        st.builds(Burn, st.integers(1, 3000)),
        st.builds(Mixed, st.floats(0.0001, 0.9999), st.sampled_from([200, 444, 503]), st.integers(0, 100_000)),
        st.builds(Mixed, st.just(0.5), delay_ms=st.integers(0, 60000)),
        st.builds(Files, st.lists(st.integers(0, 2000), min_size=1, max_size=4, unique=True).map(tuple)),
    ),
    workers=st.integers(1, 256),
)
def test_a_configuration_keeps_to_its_folder(response, workers):
    service = nginx_service(Nginx("S1", (HERE,), response, Process(workers=workers)))
    text = service.files["S1.conf"]
    assert text.count("{") == text.count("}") and text.count('"') % 2 == 0
    assert "/etc" not in text and "/var" not in text and "/usr" not in text
    assert all(len(line) < 4096 for line in text.splitlines()), "nginx reads a directive into 4096 bytes"
    assert all(name == "S1.conf" or name.startswith("S1.www/") for name in service.files)


def test_each_instance_has_a_processor_of_its_own():
    layout = Layout("S1", "E", ("10.99.2.1",), 8080, 2, process=Process(workers=2, cpus=(0, 3)))
    texts = [service.files[f"S1-{i + 1}.conf"] for i, service in enumerate(layout_services(layout))]
    assert ["worker_cpu_affinity 1;" in texts[0], "worker_cpu_affinity 1000;" in texts[1]] == [True, True]
    assert ["listen *:8080 " in texts[0], "listen *:8081 " in texts[1]] == [True, True]
