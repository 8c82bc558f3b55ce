"""Nothing is loaded by accident: every address is checked, those of redirects and names too, before anything starts."""

import socket
import ssl
import subprocess
from ipaddress import ip_address

import pytest
from one_test import in_one_test
from private_services import answering

from loadcurve.errors import LabError
from loadcurve.lab import launch
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.run import allowed_targets
from loadcurve.lab.run.allowed_targets import check_response, check_target
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.study import Study
from loadcurve.study.records import read_run

HERE = ("127.0.0.1",)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://127.8.9.10:81/x", "http://[::1]:8080/", "http://localhost/"]
)
def test_loopback_may_be_loaded(url):
    assert all(ip_address(address).is_loopback for address in check_target(url))


NAMED = [
    ("http://192.0.2.10/", {"allow_targets": ("192.0.2.10",)}),
    ("http://10.1.2.3/", {"allow_targets": ("10.1.0.0/16",)}),
    ("http://10.99.0.2/", {"networks": ("10.99.0.0/24",)}),
    ("http://8.8.8.8/", {"allow_targets": ("8.8.8.8",), "public": True}),
    ("http://[2606:4700:4700::1111]/", {"allow_targets": ("2606:4700:4700::1111",), "public": True}),
]


@in_one_test(("url", "named"), NAMED)
def test_a_host_or_network_that_is_named_may_be_loaded(url, named):
    assert check_target(url, **named)


LOOPBACK, NO_HOST = "target must be loopback, got .*allow_targets in study.yml", "target must be a URL with a host"
REFUSED = [
    *(
        (f"http://{host}:8080/", {}, LOOPBACK)
        for host in ("192.0.2.10", "10.0.0.5", "172.16.0.1", "[2001:db8::1]", "0.0.0.0")
    ),
    ("http://192.0.2.11/", {"allow_targets": ("192.0.2.10",)}, LOOPBACK),
    ("http://10.2.2.3/", {"allow_targets": ("10.1.0.0/16",)}, LOOPBACK),
    # A public address needs a flag as well, and the flag alone names nothing.
    *((url, {**named, "public": False}, "must not be public, got .*--public") for url, named in NAMED[-2:]),
    *((url, {"public": True}, "allow_targets") for url, _ in NAMED[-2:]),
    ("http://[::ffff:8.8.8.8]/", {"allow_targets": ("::ffff:8.8.8.8", "8.8.8.8")}, "must not be public"),
    *(
        (f"http://{host}/", {"allow_targets": ("169.254.0.0/16", "fe80::/10")}, "not be link-local, .*--public")
        for host in ("169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]")
    ),
    *(
        (f"http://{host}/", {"allow_targets": (host.strip("[]"),)}, "must not be outside private networks, .*--public")
        for host in ("0", "0.0.0.0", "[::]", "100.64.0.1", "240.0.0.1", "255.255.255.255")
    ),
    *(
        (url, {}, NO_HOST)
        for url in (
            "192.0.2.10", "http://", "/index.html", "ftp://127.0.0.1/", "http://127.0.0.1:99999/", "http://[::1/",
            "file:///etc/passwd",
        )
    ),
    ("http://no-such-host.invalid/", {}, "must be a host that resolves"),
]  # fmt: skip


@in_one_test(("url", "named", "said"), REFUSED)
def test_anything_else_is_refused_and_the_way_out_is_named(url, named, said):
    with pytest.raises(LabError, match=said):
        check_target(url, **named)


def test_every_address_of_a_name_counts(monkeypatch):
    both = [(0, 0, 0, "", ("127.0.0.1", 0)), (0, 0, 0, "", ("192.0.2.7", 0))]
    monkeypatch.setattr(allowed_targets.socket, "getaddrinfo", lambda *args, **kwargs: both)
    with pytest.raises(LabError, match=r"got two.example \(192.0.2.7\)"):
        check_target("http://two.example/")


@pytest.fixture
def redirecting():
    """A real server on loopback that answers every request with a redirect to `server.location`."""

    def redirect(request):
        request.server.asked.append(request.path)
        request.server.named.add(request.headers["Host"])
        request.send_response(302 if request.server.location else 204)
        if request.server.location:
            request.send_header("Location", request.server.location)
        request.end_headers()

    with answering(redirect) as server:
        server.location, server.asked, server.named = "", [], set()
        yield server


def test_a_redirect_is_checked_before_the_load(redirecting):
    url = f"http://127.0.0.1:{redirecting.server_port}/a?b=c"
    assert check_response(url, HERE) == "127.0.0.1"
    redirecting.location = "/elsewhere"
    assert check_response(url, ("127.0.0.2", *HERE), expected=302) == "127.0.0.1", "the first that responds"
    with pytest.raises(LabError, match="must respond with status 2xx, got 302 to .*/elsewhere and 0 bytes: correct"):
        check_response(url, HERE)
    redirecting.location = "http://192.0.2.10/"
    with pytest.raises(LabError, match=r"redirects to http://192.0.2.10/: target must be loopback, got 192.0.2.10"):
        check_response(url, HERE)
    assert check_response(url, HERE, ("192.0.2.10",), 302) == "127.0.0.1"
    assert redirecting.asked == ["/a?b=c"] * 5


def test_a_proxy_of_the_environment_is_not_asked(redirecting, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert check_response(f"http://127.0.0.1:{redirecting.server_port}/", HERE)


def test_a_target_that_does_not_answer_is_refused():
    with pytest.raises(LabError, match="target must answer, got .*refused"):
        check_response("http://127.0.0.1:9/", HERE)


MACHINES = {
    "C1": {"ssh": "", "address": "192.0.2.1"},
    "LB": {"ssh": "ssh://u@192.0.2.2", "address": "192.0.2.2"},
    "S1": {"ssh": "ssh://u@192.0.2.3", "address": "8.8.8.8"},
}
BEHIND = {"topology": {"machines": MACHINES}, "balancer": {"nginx_l7": {}}}


@pytest.mark.real
@pytest.mark.parametrize(
    ("sections", "public", "said"),
    [
        ({"server": {"url": "http://192.0.2.10/"}}, False, "target must be loopback, got 192.0.2.10"),
        ({"server": {"url": "{redirecting}"}}, False, "redirects to http://192.0.2.10/"),
        # Servers behind a balancer are targets too.
        ({**BEHIND, "allow_targets": ("192.0.2.2",)}, False, "target must be loopback, got 8.8.8.8"),
        ({**BEHIND, "allow_targets": ("192.0.2.2", "8.8.8.8")}, False, "target must not be public, got 8.8.8.8"),
        ({**BEHIND, "allow_targets": ("8.8.8.8",)}, True, "target must be loopback, got 192.0.2.2"),
    ],
)
def test_launch_refuses_before_anything_is_started(tmp_path, redirecting, sections, public, said):
    redirecting.location = "http://192.0.2.10/"
    if sections.get("server") == {"url": "{redirecting}"}:
        sections = {"server": {"url": f"http://127.0.0.1:{redirecting.server_port}/"}}
    with pytest.raises(LabError, match=said):
        launch(Study("s", "?", load={"duration_s": 1}, repeats=1, **sections), tmp_path / "s", public=public)
    assert not (tmp_path / "s").exists()


@pytest.mark.real
@pytest.mark.parametrize("tool", GENERATORS)
def test_a_name_is_looked_up_once_and_a_redirect_is_not_followed(tool, tmp_path, redirecting, monkeypatch):
    """By DNS another address could follow the one that was checked; here no tool could find any."""
    if which(tool) is None:
        pytest.skip(f"not installed: {tool}")
    name, found, looked_up = f"shop.example:{redirecting.server_port}", socket.getaddrinfo, []

    def once(host, *args, **kwargs):
        if host != "shop.example":
            return found(host, *args, **kwargs)
        looked_up.append(host)
        return found("127.0.0.1" if len(looked_up) == 1 else "192.0.2.7", *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", once)
    redirecting.location = f"http://{name}/elsewhere"
    kind = GENERATORS[tool]
    load = {"duration_s": 1} if "duration_s" in kind.bounds else {"requests": 10}
    load |= {"rate_rps": 10} if kind.loop == "open" else {}
    own = {"url": f"http://{name}/a?id=5", "status": 302}
    study = Study("s", "?", server=own, load={"tool": tool, **load}, repeats=1, monitors={})
    (run,) = launch(study, tmp_path / "s")
    assert len(looked_up) == 1
    assert len(redirecting.asked) >= 3 and set(redirecting.asked) == {"/a?id=5"} and redirecting.named == {name}
    assert f"one request to {own['url']}: status 302, 0 bytes" in {event["what"] for event in read_run(run).events}


@pytest.fixture
def certificate(tmp_path):
    """A key and a certificate that nobody but itself vouches for."""
    key, own = tmp_path / "key.pem", tmp_path / "own.pem"
    if which("openssl") is None:
        pytest.skip("not installed: openssl")
    words = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=elsewhere.example")
    subprocess.run([*words, "-keyout", str(key), "-out", str(own)], check=True, capture_output=True)
    return own, key


def test_a_certificate_of_its_own_is_no_reason_not_to_ask(redirecting, certificate):
    """wrk, ab and hey take any."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    redirecting.socket = context.wrap_socket(redirecting.socket, server_side=True)
    url = f"https://127.0.0.1:{redirecting.server_port}/"
    redirecting.location = "/elsewhere"
    assert check_response(url, HERE, expected=302) == "127.0.0.1"
    redirecting.location = "http://192.0.2.10/"
    with pytest.raises(LabError, match=r"redirects to http://192.0.2.10/: target must be loopback"):
        check_response(url, HERE)
