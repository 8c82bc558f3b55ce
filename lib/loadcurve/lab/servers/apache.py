"""A private Apache httpd that sends files."""

from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.servers.server import Server
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.settings import check_flag
from loadcurve.lab.servers.web import WebSection, WebServer, web_server

TOOL = Tool("apache2", "server", "-v", "apache2-bin")

# Threads of a process, at most: the default of ThreadLimit (mpm_common of Apache 2.4).
_THREADS_OF_A_PROCESS = 64
# The default MaxRequestWorkers of Apache 2.4 (16 processes of 25 threads), and a number that a small machine can start.
_MIN_WORKERS, _MAX_WORKERS = 400, 2048
_MODULES = "/usr/lib/apache2/modules"

_CONFIG = """\
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

    Parameters
    ----------
    server : WebServer
        Its settings.
    launcher_is_root : bool
        Whether root starts it.  Started by root, apache would switch to another user, who cannot read the run's
        folder; so it runs in a user namespace, in which it is not root.

    Raises
    ------
    ValueRuleError
        When a setting breaks its rule.
    """
    check_flag("launcher_is_root", launcher_is_root)
    loaded = ["mpm_event", "authz_core", "dir", *(["filter", "deflate"] if server.settings.gzip else [])]
    options = ["SetOutputFilter DEFLATE"] if server.settings.gzip else []
    if server.settings.access_log:
        combined = r'"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""'
        options += [f"LogFormat {combined} combined", f"CustomLog {server.name}.access.log combined"]
    text = _CONFIG.format(
        name=server.name,
        listen=server.listen,
        backlog=max(511, 2 * server.connections),
        modules="\n".join(f"LoadModule {module}_module {_MODULES}/mod_{module}.so" for module in loaded),
        model="\n".join(_threads(server)),
        index=server.index,
        options="".join(f"{line}\n" for line in options),
    )
    apart = ("unshare", "--user", "--map-user=1000") if launcher_is_root else ()
    program = server.settings.program or "apache2"
    return Service(
        server.name,
        "apache2",
        (*apart, program, "-d", ".", "-f", f"{server.name}.conf", "-DFOREGROUND"),
        files={f"{server.name}.conf": text} | server.settings.files.files(f"{server.name}.www"),
        folders=server.folders,
        url=server.listen.url,
        program=program,
    )


def _threads(server: WebServer) -> list[str]:
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
