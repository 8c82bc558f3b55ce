"""Private servers of files: apache, lighttpd and caddy, with the settings that they share."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.tools import PackageFile, Tool
from loadcurve.lab.tools.servers.responses import Files
from loadcurve.lab.tools.servers.server import Server, ServerHost, Service
from loadcurve.lab.tools.servers.settings import Endpoint, check_count, check_endpoint, check_program
from loadcurve.study.section import Range, Section, broken_by, check_flag


@dataclass(frozen=True)
class WebSection(Section):
    """A server of files: apache, lighttpd or caddy."""

    files: Files = field(default_factory=lambda: Files((616,)))
    """What it sends; the first one is its root."""

    workers: Annotated[int, Range(0, 1024)] = 0
    """Threads of apache, processes of lighttpd, CPUs of caddy; 0 for the usual number. That is twice the connections
    for apache, 400–2048, as one whose threads are all busy closes connections that it keeps alive; 1 for lighttpd and
    caddy."""

    access_log: bool = False
    """Whether it writes a line for each request."""

    gzip: bool = False
    """Whether it compresses for clients that ask for it."""

    program: str = ""
    """Its absolute path; empty for the usual name."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        yield from broken_by(lambda: self.program and check_program("program", self.program))


@dataclass(frozen=True)
class WebServer:
    """A web server that sends files, on its host."""

    name: str  # Name of the service
    listen: Endpoint  # Where it listens
    settings: WebSection = field(default_factory=WebSection)  # What it sends, and how
    connections: int = 512  # Largest number of concurrent connections to expect

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_endpoint("listen", self.listen)
        check_count("connections", self.connections, 1, 1_000_000)

    @property
    def index(self) -> str:
        """Name of the file that is its root."""
        return f"{self.settings.files.sizes_bytes[0]}.bin"

    def service(self, tool: str, argv: tuple[str, ...], files: Mapping[str, str], **others: Any) -> Service:
        """Return its service, with a folder for temporary files and one for the files that it sends."""
        sent, folders = self.settings.files.files(f"{self.name}.www"), (f"{self.name}.work", f"{self.name}.www")
        return Service(self.name, tool, argv, {**files, **sent}, folders, url=self.listen.url, **others)


def web_server(section: WebSection, host: ServerHost) -> WebServer:
    """Return a server of files on a host."""
    return WebServer(host.name, host.listen, section, host.connections)


APACHE_TOOL = Tool("apache2", "server", "-v", "apache2-bin")

# Threads of a process, at most: the default of ThreadLimit (mpm_common of Apache 2.4).
_THREADS_OF_A_PROCESS = 64
# The default MaxRequestWorkers of Apache 2.4 (16 processes of 25 threads), and a number that a small machine can start.
_MIN_WORKERS, _MAX_WORKERS = 400, 2048
_APACHE_MODULES = "/usr/lib/apache2/modules"

_APACHE_CONFIG = """\
# A private apache of the laboratory; started in the run's folder by the command in run.json.
ServerRoot .
ServerName {listen}
Listen {listen}
ListenBacklog {backlog}
PidFile {name}.work/httpd.pid
DefaultRuntimeDir {name}.work
Mutex pthread
ErrorLog /dev/stderr
LogLevel warn
{modules}
{model}
KeepAlive On
KeepAliveTimeout 60
# 0 is no limit.
MaxKeepAliveRequests 0
MaxConnectionsPerChild 0
EnableSendfile On
DocumentRoot {name}.www
DirectoryIndex {index}
{options}"""


def apache_service(server: WebServer, *, launcher_is_root: bool = True) -> Service:
    """Return the service of an apache.

    Started by root, apache would switch to another user, who cannot read the run's folder; so it runs in a user
    namespace, in which it is not root.
    """
    check_flag("launcher_is_root", launcher_is_root)
    loaded = ["mpm_event", "authz_core", "dir", *(["filter", "deflate"] if server.settings.gzip else [])]
    options = ["SetOutputFilter DEFLATE"] if server.settings.gzip else []
    if server.settings.access_log:
        combined = r'"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""'
        options += [f"LogFormat {combined} combined", f"CustomLog {server.name}.access.log combined"]
    text = _APACHE_CONFIG.format(
        name=server.name,
        listen=server.listen,
        backlog=max(511, 2 * server.connections),
        modules="\n".join(f"LoadModule {module}_module {_APACHE_MODULES}/mod_{module}.so" for module in loaded),
        model="\n".join(_apache_threads(server)),
        index=server.index,
        options="".join(f"{line}\n" for line in options),
    )
    apart = ("unshare", "--user", "--map-user=1000") if launcher_is_root else ()
    program = server.settings.program or "apache2"
    argv = (*apart, program, "-d", ".", "-f", f"{server.name}.conf", "-DFOREGROUND")
    return server.service("apache2", argv, {f"{server.name}.conf": text}, program=program)


def _apache_threads(server: WebServer) -> list[str]:
    """Directives of the model `event`: the requested number of threads, all started at once.

    A process of `event` whose threads are all busy closes connections that it keeps alive, without an error message:
    with 16 connections and two threads, wrk counts 4,000 read errors in 2 s; with 512 connections and 1,024 threads
    it counts 3, because connections are not spread evenly.  So the default is twice the number of connections.
    """
    enough = min(max(_MIN_WORKERS, 2 * server.connections), _MAX_WORKERS)
    enough += -enough % _THREADS_OF_A_PROCESS  # whole processes
    # With one thread, `event` never accepts a second connection while the first one is busy.
    workers = max(server.settings.workers or enough, 2)
    # The largest divisor that fits, because MaxRequestWorkers must be a multiple of the threads of a process.
    threads = max(n for n in range(1, _THREADS_OF_A_PROCESS + 1) if workers % n == 0)
    processes = workers // threads
    limits = [f"ThreadLimit {threads}", f"ThreadsPerChild {threads}", f"ServerLimit {processes}"]
    limits += [f"StartServers {processes}", f"MaxRequestWorkers {workers}", f"MinSpareThreads {workers}"]
    # An idle connection takes no thread of `event`, but `event` limits their number, by default to two for each idle
    # thread.  Further connections would wait for as long as the others are kept alive.
    return [*limits, f"MaxSpareThreads {workers + threads}", f"AsyncRequestWorkerFactor {max(2, server.connections)}"]


APACHE = Server(
    "apache",
    "Apache's httpd, which sends files.",
    WebSection,
    lambda section, host: host.group(apache_service(web_server(section, host), launcher_is_root=host.programs.is_root)),
)


CADDY_TOOL = Tool("caddy", "server", "version", "caddy")


def caddy_service(server: WebServer) -> Service:
    """Return the service of a caddy, without its administration port, certificates and saved configuration.

    caddy has no limit of connections.
    """
    settings, work = server.settings, f"{server.name}.work"
    configuration = json.dumps(_caddy_configuration(server), indent=2) + "\n"
    env = {"GOMAXPROCS": str(settings.workers or 1), "HOME": work, "XDG_DATA_HOME": work, "XDG_CONFIG_HOME": work}
    argv = (settings.program or "caddy", "run", "--config", f"{server.name}.json")
    return server.service("caddy", argv, {f"{server.name}.json": configuration}, env=env)


def _caddy_configuration(server: WebServer) -> dict[str, Any]:
    """Return caddy's configuration in its own JSON form."""
    settings = server.settings
    handlers: list[dict[str, Any]] = [
        {"handler": "file_server", "root": f"{server.name}.www", "index_names": [server.index]}
    ]
    if settings.gzip:
        # By itself it compresses texts only.
        every = {"headers": {"Content-Type": ["*"]}}
        handlers.insert(0, {"handler": "encode", "encodings": {"gzip": {}}, "match": every})
    site: dict[str, Any] = {
        "listen": [str(server.listen)],
        "automatic_https": {"disable": True},
        "routes": [{"handle": handlers}],
    }
    logs: dict[str, Any] = {"default": {"level": "WARN"}}
    if settings.access_log:
        site["logs"] = {}
        file = {"output": "file", "filename": f"{server.name}.access.log", "roll": False}
        logs["access"] = {"writer": file, "include": ["http.log.access"], "encoder": {"format": "json"}}
        logs["default"]["exclude"] = ["http.log.access"]
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        "logging": {"logs": logs},
        "apps": {"http": {"servers": {"site": site}}},
    }


CADDY = Server(
    "caddy",
    "A caddy, which sends files.",
    WebSection,
    lambda section, host: host.group(caddy_service(web_server(section, host))),
)


LIGHTTPD_TOOL = Tool("lighttpd", "server", "-v", "lighttpd")
DEFLATE = PackageFile("lighttpd-mod-deflate", "/usr/lib/lighttpd/mod_deflate.so", "compresses responses")

_LIGHTTPD_CONFIG = """\
# A private lighttpd of the laboratory; started in the run's folder by the command in run.json.
server.modules = ({modules})
server.bind = "{address}"
server.port = {port}
server.listen-backlog = {backlog}
# The run's folder; lighttpd sends nothing from a relative path.
server.document-root = "/proc/self/cwd/{name}.www"
server.upload-dirs = ("{name}.work")
server.pid-file = "{name}.work/lighttpd.pid"
server.max-worker = {processes}
server.max-connections = {connections}
server.max-fds = {files}
# The default of 1000 would close and reopen connections during the run.
server.max-keep-alive-requests = 1000000000
index-file.names = ("{index}")
mimetype.assign = ("" => "application/octet-stream")
{options}"""


def lighttpd_service(server: WebServer) -> Service:
    """Return the service of a lighttpd.

    One worker is its only process; more are children of one that only watches them.
    """
    modules, options = [], []
    if server.settings.gzip:
        modules.append("mod_deflate")
        options += ['deflate.mimetypes = ("application/octet-stream")', 'deflate.allowed-encodings = ("gzip")']
    if server.settings.access_log:
        modules.append("mod_accesslog")
        options.append(f'accesslog.filename = "{server.name}.access.log"')
    text = _LIGHTTPD_CONFIG.format(
        name=server.name,
        address=server.listen.address,
        port=server.listen.port,
        backlog=max(511, 2 * server.connections),
        modules=", ".join(f'"{module}"' for module in modules),
        processes=server.settings.workers if server.settings.workers > 1 else 0,
        connections=server.connections,
        # A connection, its file and some to spare.
        files=max(1024, 3 * server.connections),
        index=server.index,
        options="".join(f"{line}\n" for line in options),
    )
    argv = (server.settings.program or "lighttpd", "-D", "-f", f"{server.name}.conf")
    return server.service("lighttpd", argv, {f"{server.name}.conf": text})


LIGHTTPD = Server(
    "lighttpd",
    "A lighttpd, which sends files.",
    WebSection,
    lambda section, host: host.group(lighttpd_service(web_server(section, host))),
)
