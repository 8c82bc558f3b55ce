"""nginx and haproxy before three servers, which are told apart by the length of what they answer."""

import contextlib
import re
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from events import HANG_S
from private_services import ask, free_endpoint, listeners, need, running

from loadcurve.errors import ValueRuleError
from loadcurve.ingest.balancers.haproxy import parse_haproxy
from loadcurve.lab.tools.balancers.proxies import (
    Domains,
    HaproxyProxy,
    NginxProxy,
    Proxy,
    haproxy_counters_argv,
    haproxy_proxy_service,
    nginx_l7_service,
    nginx_stream_service,
)
from loadcurve.lab.tools.balancers.shares import nginx_server
from loadcurve.lab.tools.servers.nginx import Nginx, Process, nginx_service
from loadcurve.lab.tools.servers.responses import Status, Text
from loadcurve.lab.tools.servers.settings import Endpoint

STREAM_MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so"
SERVERS = 3
KINDS = ("nginx L7", "nginx stream", "haproxy http", "haproxy tcp")


def service_of(kind, proxy, **settings):
    if kind == "nginx L7":
        return nginx_l7_service(NginxProxy(proxy, access_log="on", **settings))
    if kind == "nginx stream":
        return nginx_stream_service(NginxProxy(proxy, Process(modules=(STREAM_MODULE,)), access_log="on", **settings))
    return haproxy_proxy_service(HaproxyProxy(proxy, kind.split()[1], **settings))


@pytest.fixture
def site(tmp_path):
    """Three servers, and a function that puts a balancer before them for as long as a context."""
    need("nginx", "curl")
    endpoints = tuple(free_endpoint() for _ in range(SERVERS))
    services = [nginx_service(Nginx(f"S{i + 1}", (e,), Text(101 + i))) for i, e in enumerate(endpoints)]
    listen = free_endpoint()

    @contextlib.contextmanager
    def behind(kind, *, settings=None, **proxy):
        need("haproxy" if kind.startswith("haproxy") else "nginx")
        if kind == "nginx stream" and not Path(STREAM_MODULE).exists():
            pytest.skip("nginx has no stream module here (sh lib/loadcurve/lab/system.sh install lab-test)")
        balancer = Proxy("LB", listen, endpoints, **proxy)
        with running(tmp_path / "run", *services, service_of(kind, balancer, **(settings or {}))):
            yield balancer
        assert listeners(listen, *endpoints) == []

    return behind


def asked(proxy, times, *options):
    """How often each server answered, in their order."""
    found = Counter(len(ask(proxy.listen.url, *options).body) for _ in range(times))
    assert set(found) <= {101, 102, 103}
    return [found[101 + i] for i in range(SERVERS)]


@pytest.mark.lab
@pytest.mark.parametrize("kind", KINDS)
def test_servers_take_turns(site, kind):
    with site(kind) as proxy:
        assert asked(proxy, 12) == [4, 4, 4]


@pytest.mark.lab
@pytest.mark.parametrize("seed", [1, 7])
@pytest.mark.parametrize("kind", KINDS[:2])
def test_nginx_gives_a_client_the_server_that_its_hash_says(site, kind, seed):
    clients = [f"127.0.0.{n}" for n in range(2, 12)]
    expected = {client: nginx_server(client, SERVERS, np.array([seed]))[0] for client in clients}
    with site(kind, scheduler="hash", settings={"seed": seed}) as proxy:
        for client in clients:
            got = asked(proxy, 1, "--interface", client)
            assert got.index(1) == expected[client], client
    assert len(set(expected.values())) > 1


@pytest.mark.lab
@pytest.mark.parametrize("kind", KINDS)
def test_one_client_keeps_its_server_by_hash(site, kind):
    with site(kind, scheduler="hash") as proxy:
        assert sorted(asked(proxy, 6)) == [0, 0, 6]


@pytest.mark.lab
@pytest.mark.parametrize("kind", KINDS)
def test_servers_at_random(site, kind):
    with site(kind, scheduler="random") as proxy:
        counts = asked(proxy, 45)
    # Chi-square with two degrees of freedom passes 27.6 once in a million (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
    assert sum((n - 15) ** 2 / 15 for n in counts) < 27.6


@pytest.mark.lab
@pytest.mark.parametrize("kind", ["nginx L7", "haproxy http"])
@pytest.mark.parametrize("keepalive", [True, False])
def test_connections_to_servers_are_used_again(kind, keepalive, tmp_path):
    """The client closes after each request; the server says how many connections it has accepted."""
    need("nginx", "curl", kind.split()[0])
    server, listen = free_endpoint(), free_endpoint()
    proxy = Proxy("LB", listen, (server,), keepalive=keepalive)
    with running(tmp_path, nginx_service(Nginx("S1", (server,), Status())), service_of(kind, proxy)):
        accepted = [int(ask(listen.url).body.split()[7]) for _ in range(6)]
    assert accepted[-1] - accepted[0] == (0 if keepalive else 5)


@pytest.mark.lab
def test_connections_are_not_used_again_by_an_nginx_that_keeps_them_unasked(tmp_path):
    """From 1.29.7 on nginx keeps connections to servers by default; the same defaults are given to any nginx here."""
    need("nginx", "curl")
    server, listen = free_endpoint(), free_endpoint()
    balancer = nginx_l7_service(NginxProxy(Proxy("LB", listen, (server,), keepalive=False)))
    text = balancer.files["LB.conf"].replace(f"server {server};", f"server {server}; keepalive 32;")
    text = text.replace("http {", 'http { proxy_http_version 1.1; proxy_set_header Connection "";')
    balancer = replace(balancer, files={"LB.conf": text})
    with running(tmp_path, nginx_service(Nginx("S1", (server,), Status())), balancer):
        accepted = [int(ask(listen.url).body.split()[7]) for _ in range(6)]
    assert accepted[-1] - accepted[0] == 5


@pytest.mark.lab
@pytest.mark.parametrize(
    ("kind", "settings", "domains"),
    [
        ("nginx L7", {"lookup": "blocks"}, Domains(800, pools=800)),
        ("nginx L7", {"lookup": "map"}, Domains(10_000, pools=4)),
        ("haproxy http", {}, Domains(10_000, pools=4)),
    ],
)
def test_thousands_of_names(site, kind, settings, domains):
    with site(kind, settings=settings, domains=domains) as proxy:
        names = list(domains.pool_of_name())
        # Each pool takes turns by itself: the first request of each goes to its first server.
        first = [len(ask(proxy.listen.url, "-H", f"Host: {name}").body) for name in (names[1], names[-2])]
    assert first == [101, 101]


@pytest.mark.lab
@pytest.mark.parametrize("kind", ["nginx L7", "nginx stream"])
def test_nginx_logs_who_answered(site, kind, tmp_path):
    with site(kind) as proxy:
        asked(proxy, 6)
    log = (tmp_path / "run/LB.access.log").read_text().splitlines()[-6:]
    assert Counter(re.search(r'"(127\.0\.0\.1:\d+)"', line)[1] for line in log) == {str(s): 2 for s in proxy.servers}


@pytest.mark.lab
@pytest.mark.parametrize("mode", ["http", "tcp"])
def test_haproxy_counts_by_server(site, mode):
    page = free_endpoint()
    with site(f"haproxy {mode}", settings={"statistics": page}) as proxy:
        asked(proxy, 6)
        argv = haproxy_counters_argv(HaproxyProxy(proxy, mode, statistics=page))
        text = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=HANG_S).stdout
    rows = parse_haproxy(text).tables["balancer"]
    servers = rows[rows["kind"] == "server"]
    assert servers["connections"].sum() == 7, "six, and the one that asked whether it is ready"
    assert servers["connections"].max() - servers["connections"].min() == 1
    assert listeners(page) == []


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda e: Proxy("LB", e, ()), "servers must be 1 to 256 endpoints"),
        (lambda e: Proxy("LB", e, (e,)), "servers must be other than the proxy itself"),
        (lambda e: Proxy("LB", e, (e, e)), "servers must be 1 to 256 endpoints, each once"),
        (lambda e: Proxy("LB;", e, (Endpoint("127.0.0.1", 1),)), "name must be"),
        (lambda e: Proxy("LB", e, (Endpoint("127.0.0.1", 1),), "rr; }"), "scheduler must be one of"),
        (lambda e: Proxy("LB", "127.0.0.1:80; }", (e,)), "listen must be an endpoint"),
        (lambda e: HaproxyProxy(_proxy(e), statistics="127.0.0.1:80"), "statistics must be an endpoint"),
        (lambda e: Domains(0), "count must be a whole number of 1 to 10000"),
        (lambda e: Domains(10_001), "count must be a whole number of 1 to 10000"),
        (lambda e: Domains(2, pools=3), "pools must be a whole number of 1 to 2"),
        (lambda e: NginxProxy(_proxy(e), access_log="/tmp/x"), "access_log must be one of"),
        (lambda e: NginxProxy(_proxy(e), lookup="lua"), "lookup must be one of"),
        (lambda e: HaproxyProxy(_proxy(e), "health"), "mode must be one of http, tcp"),
        (lambda e: HaproxyProxy(_proxy(e), statistics=e), "statistics must be apart from"),
        (lambda e: HaproxyProxy(_proxy(e, Domains(2)), "tcp"), "domains must be none for connections"),
        (lambda e: nginx_stream_service(NginxProxy(_proxy(e, Domains(2)))), "domains must be none for connections"),
        (lambda e: haproxy_counters_argv(HaproxyProxy(_proxy(e))), "statistics must be an endpoint"),
    ],
)
def test_a_setting_out_of_its_rule_is_refused(make, text):
    with pytest.raises(ValueRuleError, match=text):
        make(Endpoint("127.0.0.1", 8080))


def _proxy(listen, domains=None):
    return Proxy("LB", listen, (Endpoint("127.0.0.1", 1),), domains=domains)
