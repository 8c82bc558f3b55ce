"""A private nginx, or any program that reads its configuration, such as OpenResty and Tengine.

Its files: ``NAME.conf``, ``NAME.access.log`` if the study requires one, ``NAME.work`` for temporary files and
``NAME.www`` for the files that it sends.

A layout says how it listens; one has SO_REUSEPORT, and five are of a published comparison.  The comparison of nginx,
Tengine and OpenResty by higkoo (hi.baidu.com/higkoo, 2012) named them A to E: one socket for
all workers, on one address or on all; one worker alone; an address for each worker; an instance for each port.  In D
every worker accepts from every address, as nginx has it; the addresses spread the queue, not the workers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.tools.servers.responses import Burn, Delay, Files, Mixed, Response, ResponseSection, Status, Text
from loadcurve.lab.tools.servers.server import Server, ServerGroup, ServerHost, Service
from loadcurve.lab.tools.servers.settings import Endpoint, check_address, check_endpoints, check_path, check_program
from loadcurve.study.section import Check, Range, Section, check_flag, check_word

_MAIN = """\
# A private nginx of the laboratory; started in the run's folder by the command in run.json.
daemon off;
# The workers read the run's folder, which may be its owner's alone; ignored where the master is not root.
user root;
worker_processes {workers};
{affinity}pid {work}/nginx.pid;
lock_file {work}/nginx.lock;
error_log stderr warn;
{modules}events {{
    worker_connections {connections};
}}
"""
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")

Workers = Annotated[int, Range(1, 256)]


@dataclass(frozen=True)
class Process(Section):
    """How an nginx runs, whatever it serves."""

    program: Annotated[str, Check(check_program)] = "nginx"
    """Its name, or its absolute path."""

    modules: Annotated[tuple[str, ...], Check(check_path)] = ()
    """Absolute paths of the modules it has to load."""

    workers: Workers = 1
    """Its worker processes."""

    cpus: Annotated[tuple[int, ...], Range(0, 1023)] = ()
    """Processor of each worker, in their order; empty for no affinity."""

    connections: Annotated[int, Range(1, 1_000_000)] = 512
    """Largest number of concurrent connections to expect, of all workers; the laboratory makes room for those of the
    load in any case."""

    early_errors: bool = True
    """Whether it takes the option ``-e`` for errors before it has read its configuration: nginx from 1.19.5 on."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.cpus and len(self.cpus) != self.workers:
            yield ValueRuleError("cpus", f"one for each of {self.workers} workers, or none", self.cpus)

    @property
    def backlog(self) -> int:
        """Length of the accept queue: room for every connection at once, where the default of 511 drops SYNs."""
        return max(511, 2 * self.connections)

    def main(self, name: str) -> str:
        """Text of the configuration down to ``events``."""
        masks = " ".join(f"{1 << cpu:b}" for cpu in self.cpus)
        return _MAIN.format(
            workers=self.workers,
            affinity=f"worker_cpu_affinity {masks};\n" if masks else "",
            work=f"{name}.work",
            modules="".join(f"load_module {module};\n" for module in self.modules),
            # As many again for those to upstreams; at least nginx's own default of 512.
            connections=max(512, 2 * self.connections),
        )

    def service(self, name: str, blocks: Iterable[str], url: str, files: dict[str, str] | None = None) -> Service:
        """Return the service whose configuration is `main` and the given blocks."""
        return Service(
            name,
            "nginx",
            (self.program, "-p", ".", "-c", f"{name}.conf", *(("-e", "stderr") if self.early_errors else ())),
            files={f"{name}.conf": "\n".join((self.main(name), *blocks)), **(files or {})},
            folders=(f"{name}.work", *sorted({file.partition("/")[0] for file in files or () if "/" in file})),
            url=url,
        )


def http_directives(name: str) -> list[str]:
    """Directives that every ``http`` block of the laboratory has."""
    return [f"{kind}_temp_path {name}.work;" for kind in _TEMPORARY]


def block(head: str, lines: Iterable[str]) -> list[str]:
    """Lines of a block of the configuration."""
    return [f"{head} {{", *(f"    {line}" for line in lines), "}"]


def nginx_process(process: Process, connections: int, programs: Programs, *modules: str) -> Process:
    """Return how an nginx runs on a host: with room for its connections, and with the modules that it has to load."""
    missing = [name for name in modules if not any(path.endswith(name) for path in process.modules)]
    early = process.early_errors and programs.nginx_takes_early_errors(process.program)
    return replace(
        process,
        modules=(*process.modules, *map(programs.module, missing)),
        connections=max(process.connections, connections),
        early_errors=early,
    )


# A directive must fit nginx's 4096-byte buffer (nginx src/core/ngx_conf_file.c, NGX_CONF_BUFFER); a longer text
# consists of repetitions of a variable with this many bytes.
_DIRECTIVE_BYTES, _BLOCK_BYTES = 3000, 1000


@dataclass(frozen=True)
class Serving(Section):
    """How nginx sends responses."""

    access_log: Literal["off", "on", "buffered"] = "off"
    """``off``; ``on``, a write for each request; ``buffered``, a write for each `log_buffer_kib`."""

    log_buffer_kib: Annotated[int, Range(1, 65_536, unit="KiB")] = 1024
    """Buffer of a log that is ``buffered``."""

    log_in: Literal["run", "work", "memory"] = "run"
    """Where the log is. ``run``: in the run's folder, where it is kept; ``work``: on the same disk, and removed after
    the run; ``memory``: in a tmpfs that only this server has, and that ends with the server; it needs root."""

    sendfile: bool = True
    """Send files from the page cache to the socket without a copy."""

    tcp_nopush: bool = False
    """Send the header and the beginning of a file in one segment."""

    gzip: bool = False
    """Compress for clients that ask for it."""

    gzip_level: Annotated[int, Range(1, 9)] = 1
    """How hard it compresses; 1 is nginx's default."""

    direct_io: bool = False
    """Read files from the disk for each request, past the page cache, as where the files do not fit into memory."""

    keepalive_requests: Annotated[int, Range(1, 10**9)] = 10**9
    """Requests that a connection serves before nginx closes it. nginx's default of 1000 would close and reopen
    connections during the run."""

    keepalive_timeout_s: Annotated[int, Range(0, 86_400, unit="s")] = 75
    """How long a connection without a request stays open; 0 closes it after each response."""

    def directives(self, name: str) -> list[str]:
        """Directives of ``http``."""
        buffer = f" buffer={self.log_buffer_kib}k" if self.access_log == "buffered" else ""
        file = f"{name}.access.log" if self.log_in == "run" else f"{name}.work/access.log"
        log = "off" if self.access_log == "off" else f"{file} combined{buffer}"
        switches = {"sendfile": self.sendfile, "tcp_nopush": self.tcp_nopush, "gzip": self.gzip}
        types = []
        if self.gzip:  # text/html is always compressed; the other types that are served here have to be named
            types = [f"gzip_comp_level {self.gzip_level};", "gzip_types text/plain application/octet-stream;"]
        # From one sector on: a direct read is at least that long (nginx, directio_alignment).
        direct = ["directio 512;"] if self.direct_io else []
        kept = [f"keepalive_requests {self.keepalive_requests};", f"keepalive_timeout {self.keepalive_timeout_s}s;"]
        on_off = [f"{key} {'on' if on else 'off'};" for key, on in switches.items()]
        return [f"access_log {log};", *on_off, *kept, *types, *direct]


@dataclass(frozen=True)
class Nginx:
    """A web server."""

    name: str  # Of the service
    listens: tuple[Endpoint, ...]  # Where it listens; the first one is its URL
    response: Response = field(default_factory=Text)  # What it responds with; a delay needs nginx's echo module
    # `process` and `serving`: how it runs and sends.
    process: Process = field(default_factory=Process)
    serving: Serving = field(default_factory=Serving)
    # Whether it listens on all addresses of the host instead of those of `listens`; only on hosts in namespaces.
    wildcard: bool = False
    reuseport: bool = False  # Whether each worker has its own listening socket
    status: Endpoint | None = None  # Where it serves its counters (stub_status)

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_endpoints("listens", self.listens, maximum=256)
        check_flag("wildcard", self.wildcard)
        check_flag("reuseport", self.reuseport)
        if self.status is not None and self.status.port in {endpoint.port for endpoint in self.listens}:
            raise ValueRuleError("status", "of a port of its own", str(self.status))
        if self.wildcard and len({endpoint.port for endpoint in self.listens}) != len(self.listens):
            raise ValueRuleError("listens", "of different ports, where one listens on all addresses", self.listens)
        if self.wildcard and any(endpoint.address.startswith("127.") for endpoint in self.listens):
            # It would be reachable from all networks of this machine.
            raise ValueRuleError("listens", "in a namespace, where one listens on all addresses", self.listens)


def nginx_service(nginx: Nginx) -> Service:
    """Return the service of a web server.

    Examples
    --------
    >>> service = nginx_service(Nginx("S1", (Endpoint("127.0.0.1", 8080),), Text(5)))
    >>> service.argv
    ('nginx', '-p', '.', '-c', 'S1.conf', '-e', 'stderr')
    >>> 'return 200 "xxxxx";' in service.files["S1.conf"]
    True
    """
    options = f"backlog={nginx.process.backlog}{' reuseport' if nginx.reuseport else ''}"
    listens = [f"listen {'*:' + str(e.port) if nginx.wildcard else e} {options};" for e in nginx.listens]
    server = block("server", [*listens, "default_type text/plain;", *_locations(nginx.name, nginx.response)])
    if nginx.status:
        server += block("server", [f"listen {nginx.status};", *_locations(nginx.name, Status())])
    files = nginx.response.files(f"{nginx.name}.www") if isinstance(nginx.response, Files) else {}
    shares = []
    if isinstance(nginx.response, Mixed):  # which requests get the other response
        shares = block('split_clients "$request_id" $other', [f"{nginx.response.ratio:.2%} 1;", '* "";'])
    http = block("http", [*http_directives(nginx.name), *shares, *nginx.serving.directives(nginx.name), *server])
    service = nginx.process.service(nginx.name, ["\n".join(http)], nginx.listens[0].url, files)
    return _with_tmpfs(service, nginx) if nginx.serving.log_in == "memory" else service


def _with_tmpfs(service: Service, nginx: Nginx) -> Service:
    """Return the service with a tmpfs on its work folder, in a mount namespace that ends with the process."""
    mounted = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"', f"{nginx.name}.work")
    return replace(service, argv=(*mounted, *service.argv), program=nginx.process.program)


def _waiting(delay_ms: int, body_bytes: int) -> list[str]:
    # The end of a chunked body would leave in a segment of its own after the first 1460 bytes, nginx's default.
    return ["postpone_output 1m;", f"echo_sleep {delay_ms / 1000:.3f};", f"echo_duplicate {body_bytes} x;"]


def _returned(status: int, body_bytes: int) -> list[str]:
    if status == 444:
        return ["return 444;"]
    if body_bytes <= _DIRECTIVE_BYTES:
        return [f'return {status} "{"x" * body_bytes}";']
    blocks, rest = divmod(body_bytes, _BLOCK_BYTES)
    return [f'set $block "{"x" * _BLOCK_BYTES}";', f'return {status} "{"${block}" * blocks}{"x" * rest}";']


def _locations(name: str, response: Response) -> list[str]:
    if isinstance(response, Files):
        return block("location /", [f"root {name}.www;", f"index {response.sizes_bytes[0]}.bin;"])
    if isinstance(response, Delay) and response.delay_ms:
        body = _waiting(response.delay_ms, response.body_bytes)
    elif isinstance(response, Status):
        body = ["stub_status;"]
    else:
        body = _returned(200, response.body_bytes)
    if isinstance(response, Burn):
        # Each of the two stars can end anywhere and nothing matches after them: PCRE tries all divisions of the text.
        body = [f'set $text "{"a" * response.steps}";', 'if ($text ~ "^[ab]*[ab]*[^ab]") { return 500; }', *body]
    if isinstance(response, Mixed):
        size = response.other_bytes
        other = _waiting(response.delay_ms, size) if response.delay_ms else _returned(response.status, size)
        return [
            *block("location /", ["if ($other) { rewrite ^ /other last; }", *body]),
            *block("location /other", other),
        ]
    return block("location /", body)


LAYOUTS = ("A", "B", "C", "D", "E", "reuseport")


@dataclass(frozen=True)
class Layout(Section):
    """A server that listens according to a layout."""

    name: str  # Of the service; instances of E get a number after it
    letter: Annotated[str, Check(lambda name, letter: check_word(name, letter, LAYOUTS))]  # One of `LAYOUTS`
    # Of the host: D listens on each, the other layouts on the first one.
    addresses: Annotated[tuple[str, ...], Check(check_address)]
    port: int  # The only or, in E, the first one
    workers: Workers  # Number of processes; C always has one
    # `response`, `process` and `serving`: as of `Nginx`; the workers of `process` are those of the layout.
    response: Response = field(default_factory=Text)
    process: Process = field(default_factory=Process)
    serving: Serving = field(default_factory=Serving)

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if any(self._broken_types()):
            return
        needed = self.workers if self.letter == "D" else 1
        if not needed <= len(set(self.addresses)) == len(self.addresses):
            yield ValueRuleError("addresses", f"{needed} or more for layout {self.letter}, each once", self.addresses)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Where requests go, the same number to each."""
        if self.letter == "D":
            return tuple(Endpoint(address, self.port) for address in self.addresses[: self.workers])
        ports = self.workers if self.letter == "E" else 1
        return tuple(Endpoint(self.addresses[0], self.port + i) for i in range(ports))


def layout_services(layout: Layout) -> tuple[Service, ...]:
    """Return the services of a layout: one, or one for each port in E.

    Examples
    --------
    >>> [s.url for s in layout_services(Layout("S1", "E", ("10.99.2.1",), 8080, workers=2))]
    ['http://10.99.2.1:8080/', 'http://10.99.2.1:8081/']
    """
    alone, cpus = layout.letter in ("C", "E"), layout.process.cpus
    process = replace(layout.process, workers=1 if alone else layout.workers, cpus=cpus[:1] if alone else cpus)
    common = Nginx(
        layout.name,
        layout.endpoints,
        layout.response,
        process,
        layout.serving,
        wildcard=layout.letter in ("B", "E"),
        reuseport=layout.letter == "reuseport",
    )
    if layout.letter != "E":
        return (nginx_service(common),)
    services = []
    for i, endpoint in enumerate(layout.endpoints):
        own = replace(process, cpus=cpus[i : i + 1])
        instance = replace(common, name=f"{layout.name}-{i + 1}", listens=(endpoint,), process=own)
        services.append(nginx_service(instance))
    return tuple(services)


@dataclass(frozen=True)
class NginxSection(Section):
    """An nginx, or a program that reads its configuration (`process.program`)."""

    response: ResponseSection = field(default_factory=ResponseSection)
    """What it responds with."""

    process: Process = field(default_factory=Process)
    """How it runs."""

    serving: Serving = field(default_factory=Serving)
    """How it sends."""

    layout: Literal["", "A", "B", "C", "D", "E", "reuseport"] = ""
    """How it listens. ``A``: all workers on one address; ``B``: on all; ``C``: one worker alone; ``D``: an address for
    each worker; ``E``: an instance for each port; ``reuseport``: a socket for each worker. Empty for one socket."""


def _start(section: NginxSection, host: ServerHost) -> ServerGroup:
    modules = (host.programs.ECHO,) if section.response.delay_s else ()
    process = nginx_process(section.process, host.connections, host.programs, *modules)
    response, serving = section.response.value, section.serving
    if section.layout:
        port, workers = host.listen.port, process.workers
        layout = Layout(host.name, section.layout, host.addresses, port, workers, response, process, serving)
        return ServerGroup(layout_services(layout), layout.endpoints)
    page = host.free_endpoint() if host.status else None
    while page == host.listen:  # where the study names the port that would come next
        page = host.free_endpoint()
    service = nginx_service(Nginx(host.name, (host.listen,), response, process, serving, status=page))
    return ServerGroup((service,), (host.listen,), page)


def _require(section: NginxSection, programs: Programs) -> None:
    if section.serving.log_in == "memory" and not programs.is_root:
        raise LabError("server.nginx.serving.log_in: memory needs root, to mount a tmpfs")
    # Without nginx, the missing program is the obstacle.
    if section.response.delay_s and which("nginx"):
        programs.module(programs.ECHO)


NGINX = Server(
    "nginx",
    "An nginx, or a program that reads its configuration.",
    NginxSection,
    _start,
    _require,
    work_s=lambda section: section.response.delay_s,
)
