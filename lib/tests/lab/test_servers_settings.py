"""No value of a study ends a directive, becomes an option or leaves its folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_test import in_one_test

from loadcurve.errors import ValueRuleError
from loadcurve.lab.servers import (
    Burn,
    Delay,
    Endpoint,
    Files,
    HaproxySection,
    Layout,
    MariaDb,
    Mixed,
    Nginx,
    Process,
    Serving,
    Text,
    WebServer,
    haproxy_service,
    layout_services,
    nginx_service,
    wordpress_page,
)

HERE = Endpoint("127.0.0.1", 8080)
HOSTILE = ["", "-v", "--help", "a;b", "a b", "a\nb", "a}b", "a{b", 'a"b', "a'b", "../a", "a/../b", "$(id)", "a\0b", "é"]


@in_one_test("value", [*HOSTILE, "a/b", "1a", "a" * 33, None, 7])
def test_a_name_is_letters_digits_and_dashes(value):
    with pytest.raises(ValueRuleError, match="name must be a letter"):
        Nginx(value, (HERE,))


@in_one_test("value", [*HOSTILE, "a/b", "./nginx", "/a/../b", "/opt/n;x", "/opt/n\n", None])
def test_a_program_is_a_name_or_an_absolute_path(value):
    with pytest.raises(ValueRuleError, match="program must be"):
        Process(program=value)


@in_one_test("value", [*HOSTILE, "echo.so", "/a/../b.so", "/m.so;user root", "/m.so\n}"])
def test_a_module_is_an_absolute_path(value):
    with pytest.raises(ValueRuleError, match="modules must be an absolute path"):
        Process(modules=(value,))


@in_one_test("value", [*HOSTILE, "0.0.0.0", "*", "localhost", "127.1", "127.0.0.1;", "::1", "127.0.0.01"])
def test_an_address_is_that_of_one_host(value):
    with pytest.raises(ValueRuleError, match="address must be an IPv4 address of one host"):
        Endpoint(value, 80)


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
