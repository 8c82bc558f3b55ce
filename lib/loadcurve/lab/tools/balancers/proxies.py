"""Balancers that are programs: haproxy and nginx, of requests and of connections."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.tools.balancers.balancer import NAME, Balanced, Balancer, BalancerHost
from loadcurve.lab.tools.balancers.shares import nginx_key, nginx_server
from loadcurve.lab.tools.servers.haproxy import HaproxyProcess, section
from loadcurve.lab.tools.servers.nginx import Process, block, http_directives, nginx_process
from loadcurve.lab.tools.servers.server import Service
from loadcurve.lab.tools.servers.settings import Endpoint, check_count, check_endpoint, check_endpoints
from loadcurve.study.section import Range, Section, broken_by, check_flag, check_word


@dataclass(frozen=True)
class Domains(Section):
    """Names that a proxy answers for, ``d00001.test`` and on, and the pools of servers behind them."""

    count: Annotated[int, Range(1, 10_000)]
    """How many names."""

    pools: int = 1
    """How many pools, at most `count`; the names take turns, and each pool is of all servers."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if not any(self._broken_types()):
            yield from broken_by(lambda: Range(1, self.count).check("pools", self.pools, whole=True))

    def pool_of_name(self) -> dict[str, str]:
        """Name → its pool.

        Examples
        --------
        >>> Domains(3, pools=2).pool_of_name()
        {'d00001.test': 'pool1', 'd00002.test': 'pool2', 'd00003.test': 'pool1'}
        """
        return {f"d{i + 1:05}.test": f"pool{i % self.pools + 1}" for i in range(self.count)}


@dataclass(frozen=True)
class Proxy:
    """A balancer that terminates the clients' connections and opens its own to the servers."""

    name: str  # Of the service
    listen: Endpoint  # Where it listens
    # Among whom it chooses; several addresses of one host are several servers, with ports enough for each.
    servers: tuple[Endpoint, ...]
    # `rr`: in turn; `lc`: the one with the fewest connections; `random`; `hash`: by the client's address.
    scheduler: str = "rr"
    # Whether connections to servers are used again.  Of HTTP only: a TCP proxy has one for each client's.
    keepalive: bool = True
    domains: Domains | None = None  # Names it serves, by HTTP only; None for one pool, whatever the name

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_endpoint("listen", self.listen)
        check_endpoints("servers", self.servers, maximum=256)
        check_flag("keepalive", self.keepalive)
        if not isinstance(self.domains, Domains | None):
            raise ValueRuleError("domains", "Domains or None", self.domains)
        check_word("scheduler", self.scheduler, ("rr", "lc", "random", "hash"))
        if self.listen in self.servers:
            raise ValueRuleError("servers", f"other than the proxy itself, {self.listen}", str(self.listen))

    @property
    def pools(self) -> tuple[str, ...]:
        """Names of its pools."""
        return tuple(f"pool{i + 1}" for i in range(self.domains.pools if self.domains else 1))


_HAPROXY_SCHEDULERS = {"rr": "roundrobin", "lc": "leastconn", "random": "random(1)", "hash": "source"}
_STATISTICS = "/haproxy?stats"


@dataclass(frozen=True)
class HaproxyProxy:
    """A haproxy before servers."""

    proxy: Proxy  # Where it listens and among whom it chooses
    mode: str = "http"  # `http`: requests; `tcp`: connections
    process: HaproxyProcess = field(default_factory=HaproxyProcess)  # How it runs
    # Where its counters are read; None for nowhere but its socket, `NAME.work/stats.sock`.
    statistics: Endpoint | None = None

    def __post_init__(self) -> None:
        check_word("mode", self.mode, ("http", "tcp"))
        if self.mode == "tcp" and self.proxy.domains:
            raise ValueRuleError("domains", "none for connections, whose names nobody reads", self.proxy.domains)
        if self.statistics is not None and check_endpoint("statistics", self.statistics) == self.proxy.listen:
            raise ValueRuleError("statistics", "apart from where requests go", str(self.statistics))


def haproxy_proxy_service(haproxy: HaproxyProxy) -> Service:
    """Return the service of a haproxy that balances."""
    proxy, files = haproxy.proxy, {}
    choice = ["default_backend pool1"]
    if proxy.domains:
        names = f"{proxy.name}.map"
        files[names] = "".join(f"{name} {pool}\n" for name, pool in proxy.domains.pool_of_name().items())
        choice = [f"use_backend %[req.hdr(host),field(1,:),lower,map({names},pool1)]"]
    sections = [section(f"frontend {proxy.name}", [f"bind {proxy.listen}", *choice])]
    members = [f"server s{i + 1} {server}" for i, server in enumerate(proxy.servers)]
    balance = [f"balance {_HAPROXY_SCHEDULERS[proxy.scheduler]}"]
    if haproxy.mode == "http":
        balance += ["http-reuse always"] if proxy.keepalive else ["http-reuse never", "option http-server-close"]
    sections += [section(f"backend {pool}", [*balance, *members]) for pool in proxy.pools]
    if haproxy.statistics:
        pages = ["mode http", f"bind {haproxy.statistics}", "stats enable", f"stats uri {_STATISTICS}"]
        sections.append(section("frontend statistics", pages))
    return haproxy.process.service(proxy.name, haproxy.mode, sections, proxy.listen.url, files)


def haproxy_counters_argv(haproxy: HaproxyProxy) -> tuple[str, ...]:
    """Return the command that prints its counters as CSV, a row for each server of each pool.

    Raises ValueRuleError when it has no `statistics`.
    """
    if haproxy.statistics is None:
        raise ValueRuleError("statistics", "an endpoint, for counters to be read", haproxy.statistics)
    url = f"http://{haproxy.statistics}{_STATISTICS};csv"
    return ("curl", "-q", "--silent", "--show-error", "--fail", "--noproxy", "*", "--max-time", "5", url)


@dataclass(frozen=True)
class HaproxyProxySection(Section):
    """A haproxy that balances requests or connections."""

    mode: Literal["http", "tcp"] = "http"
    """``http``: requests; ``tcp``: connections."""

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    """How it chooses a server. ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``: by
    the client's address."""

    keepalive: bool = True
    """Whether connections to servers are used again; for ``http`` only."""

    domains: Domains | None = None
    """Names it serves, by ``http`` only; left out for one pool of servers, whatever the name."""

    process: HaproxyProcess = field(default_factory=HaproxyProcess)
    """How it runs."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.mode == "tcp" and self.domains is not None:
            yield ValueRuleError("domains", "left out for tcp: a TCP proxy does not read names", "domains")


def _start_haproxy(section: HaproxyProxySection, host: BalancerHost, seed: int) -> Balanced:
    listen = host.free_endpoint()
    process = replace(section.process, connections=max(section.process.connections, 2 * host.connections))
    proxy = Proxy(NAME, listen, host.servers, section.scheduler, section.keepalive, section.domains)
    haproxy = HaproxyProxy(proxy, section.mode, process, host.free_endpoint())
    return Balanced(listen, haproxy_proxy_service(haproxy), counting=("haproxy", haproxy_counters_argv(haproxy)))


HAPROXY = Balancer(
    "haproxy",
    "A haproxy that passes on requests, or the bytes of connections.",
    HaproxyProxySection,
    _start_haproxy,
    counts=True,
)


_NGINX_SCHEDULERS = {"rr": [], "lc": ["least_conn;"], "random": ["random;"], "hash": ["hash {key};"]}
# Idle connections that each worker keeps to the servers of a pool; far more than servers answer at once.
_KEPT_CONNECTIONS = 512
# Tables large enough for 10,000 names (nginx, "Setting up hashes").
_HASHES = [f"{name}_hash_{size};" for name in ("server_names", "map") for size in ("max_size 65536", "bucket_size 128")]
# The usual fields, then which server it was and how long it took: what counts requests by server.
_HTTP_LOG = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
    '"$http_referer" "$http_user_agent" "$upstream_addr" $request_time $upstream_response_time'
)
_STREAM_LOG = '$remote_addr [$time_local] $protocol $status $bytes_sent $bytes_received $session_time "$upstream_addr"'


@dataclass(frozen=True)
class NginxProxy:
    """An nginx before servers."""

    proxy: Proxy  # Where it listens and among whom it chooses
    process: Process = field(default_factory=Process)  # How it runs.  Each worker takes its own turns.
    # `off`; `on`; `buffered`: a line for each request or, in L4, connection, with the server it went to.
    access_log: str = "off"
    # How a name finds its pool: `blocks`, a server block for each name; `map`, one block and a table.
    lookup: str = "blocks"
    seed: int = 1  # Of the hash, 1 to 2^32 − 1; see `shares.seed_of_shares`

    def __post_init__(self) -> None:
        check_word("access_log", self.access_log, ("off", "on", "buffered"))
        check_word("lookup", self.lookup, ("blocks", "map"))
        check_count("seed", self.seed, 1, 2**32 - 1)


def nginx_l7_service(nginx: NginxProxy) -> Service:
    """Return the service of an nginx that balances requests."""
    proxy, kept = nginx.proxy, []
    if proxy.keepalive:
        kept = [f"keepalive {_KEPT_CONNECTIONS};", "keepalive_requests 1000000000;"]
    pools = [line for pool in proxy.pools for line in block(f"upstream {pool}", [*_members(nginx), *kept])]
    clients = "keepalive_requests 1000000000;"  # the default of 1000 would reopen connections during the run
    http = [*http_directives(proxy.name), clients, *_log(nginx, "http", _HTTP_LOG), *_HASHES, *pools, *_servers(nginx)]
    files = {}
    if proxy.domains and nginx.lookup == "map":
        files[f"{proxy.name}.map"] = "".join(f"{name} {pool};\n" for name, pool in proxy.domains.pool_of_name().items())
    return nginx.process.service(proxy.name, block("http", http), proxy.listen.url, files)


def nginx_stream_service(nginx: NginxProxy) -> Service:
    """Return the service of an nginx that balances connections; it takes the stream module."""
    proxy = nginx.proxy
    if proxy.domains:
        raise ValueRuleError("domains", "none for connections, whose names nobody reads", proxy.domains)
    stream = [*_log(nginx, "stream", _STREAM_LOG), *block("upstream pool1", _members(nginx))]
    stream += block("server", [f"listen {proxy.listen} backlog={nginx.process.backlog};", "proxy_pass pool1;"])
    return nginx.process.service(proxy.name, block("stream", stream), proxy.listen.url)


def _members(nginx: NginxProxy) -> list[str]:
    proxy = nginx.proxy
    scheduler = [line.format(key=nginx_key(nginx.seed)) for line in _NGINX_SCHEDULERS[proxy.scheduler]]
    return [*scheduler, *(f"server {server};" for server in proxy.servers)]


def _servers(nginx: NginxProxy) -> list[str]:
    """Server blocks: one, or one for each name; the first one serves unknown names."""
    proxy = nginx.proxy
    options = f" backlog={nginx.process.backlog}"
    if not proxy.domains:
        return block("server", [f"listen {proxy.listen}{options};", *_location(nginx, "pool1")])
    if nginx.lookup == "map":
        table = block("map $host $pool", ["default pool1;", f"include {proxy.name}.map;"])
        return [*table, *block("server", [f"listen {proxy.listen}{options};", *_location(nginx, "$pool")])]
    lines = []
    for name, pool in proxy.domains.pool_of_name().items():
        head = [f"listen {proxy.listen}{options};", f"server_name {name};"]
        lines += block("server", [*head, *_location(nginx, pool)])
        options = ""  # of the socket, which has them from the first block
    return lines


def _location(nginx: NginxProxy, pool: str) -> list[str]:
    # Both ways are written out: nginx keeps connections to servers by default from 1.29.7 on, and did not before.
    kept = ["proxy_http_version 1.1;", 'proxy_set_header Connection "";']
    closed = ["proxy_http_version 1.0;", "proxy_set_header Connection close;"]
    return block("location /", [f"proxy_pass http://{pool};", *(kept if nginx.proxy.keepalive else closed)])


def _log(nginx: NginxProxy, kind: str, form: str) -> list[str]:
    if nginx.access_log == "off":
        return ["access_log off;"]
    buffer = " buffer=1024k" if nginx.access_log == "buffered" else ""
    file = f"{nginx.proxy.name}.access.log"
    return [f"log_format balancer_{kind} '{form}';", f"access_log {file} balancer_{kind}{buffer};"]


@dataclass(frozen=True)
class NginxL7Section(Section):
    """An nginx that balances requests."""

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    """How it chooses a server. ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``: by
    the client's address, with a seed that spreads the clients evenly."""

    keepalive: bool = True
    """Whether connections to servers are used again."""

    domains: Domains | None = None
    """Names it serves; left out for one pool of servers, whatever the name."""

    lookup: Literal["blocks", "map"] = "blocks"
    """How it finds a name. ``blocks``: a server block for each; ``map``: a table."""

    access_log: Literal["off", "on", "buffered"] = "off"
    """``off``; ``on``, a write for each request; ``buffered``, a write for each 1024 KiB."""

    process: Process = field(default_factory=Process)
    """How it runs."""


@dataclass(frozen=True)
class NginxStreamSection(Section):
    """An nginx that balances connections."""

    scheduler: Literal["rr", "lc", "random", "hash"] = "rr"
    """How it chooses a server. ``rr``: in turn; ``lc``: the one with the fewest connections; ``random``; ``hash``: by
    the client's address, with a seed that spreads the clients evenly."""

    access_log: Literal["off", "on", "buffered"] = "off"
    """``off``; ``on``, a write for each connection; ``buffered``, a write for each 1024 KiB."""

    process: Process = field(default_factory=Process)
    """How it runs."""


def _start_l7(section: NginxL7Section, host: BalancerHost, seed: int) -> Balanced:
    listen = host.free_endpoint()
    proxy = Proxy(NAME, listen, host.servers, section.scheduler, section.keepalive, section.domains)
    process = nginx_process(section.process, host.connections, host.programs)
    return Balanced(listen, nginx_l7_service(NginxProxy(proxy, process, section.access_log, section.lookup, seed)))


def _start_stream(section: NginxStreamSection, host: BalancerHost, seed: int) -> Balanced:
    listen = host.free_endpoint()
    process = nginx_process(section.process, host.connections, host.programs, host.programs.STREAM)
    proxy = Proxy(NAME, listen, host.servers, section.scheduler)
    return Balanced(listen, nginx_stream_service(NginxProxy(proxy, process, section.access_log, seed=seed)))


NGINX_L7 = Balancer(
    "nginx_l7",
    "An nginx that ends the clients' connections and passes on requests.",
    NginxL7Section,
    _start_l7,
    server_of=nginx_server,
)
NGINX_STREAM = Balancer(
    "nginx_stream",
    "An nginx that passes on the bytes of connections.",
    NginxStreamSection,
    _start_stream,
    server_of=nginx_server,
    require=lambda section, programs: which("nginx") and programs.module(programs.STREAM),
)
