"""A private nginx, or any program that reads its configuration, such as OpenResty and Tengine.

Its files: ``NAME.conf``, ``NAME.access.log`` if the study requires one, ``NAME.work`` for temporary files and
``NAME.www`` for the files that it sends.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.servers.nginx_process import Process, block, http_directives
from loadcurve.lab.servers.responses import Burn, Delay, Files, Mixed, Response, Status, Text
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import Endpoint, check_endpoints, check_flag, check_name
from loadcurve.study.section import Range, Section

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
        # text/html is always compressed; the other types that are served here have to be named.
        types = ["gzip_types text/plain application/octet-stream;"] if self.gzip else []
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

    Parameters
    ----------
    nginx : Nginx
        Its settings.

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
    shares = _shares(nginx.response)
    http = block("http", [*http_directives(nginx.name), *shares, *nginx.serving.directives(nginx.name), *server])
    service = nginx.process.service(nginx.name, ["\n".join(http)], nginx.listens[0].url, files)
    return _with_tmpfs(service, nginx) if nginx.serving.log_in == "memory" else service


def _with_tmpfs(service: Service, nginx: Nginx) -> Service:
    """Return the service with a tmpfs on its work folder, in a mount namespace that ends with the process."""
    mounted = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"', f"{nginx.name}.work")
    return replace(service, argv=(*mounted, *service.argv), program=nginx.process.program)


def _shares(response: Response) -> list[str]:
    """Directives of ``http`` that choose the requests with the other response."""
    if not isinstance(response, Mixed):
        return []
    return block('split_clients "$request_id" $other', [f"{response.ratio:.2%} 1;", '* "";'])


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
