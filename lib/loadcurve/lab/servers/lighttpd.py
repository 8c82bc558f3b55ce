"""A private lighttpd that sends files."""

from loadcurve.lab.hosts.tools import PackageFile, Tool
from loadcurve.lab.servers.server import Server
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.web import WebSection, WebServer, web_server

TOOL = Tool("lighttpd", "server", "-v", "lighttpd")
DEFLATE = PackageFile("lighttpd-mod-deflate", "/usr/lib/lighttpd/mod_deflate.so", "compresses responses")

_CONFIG = """\
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

    Parameters
    ----------
    server : WebServer
        Its settings; one worker is its only process, more are children of one that only watches them.
    """
    modules, options = [], []
    if server.settings.gzip:
        modules.append("mod_deflate")
        options += ['deflate.mimetypes = ("application/octet-stream")', 'deflate.allowed-encodings = ("gzip")']
    if server.settings.access_log:
        modules.append("mod_accesslog")
        options.append(f'accesslog.filename = "{server.name}.access.log"')
    text = _CONFIG.format(
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
    return Service(
        server.name,
        "lighttpd",
        (server.settings.program or "lighttpd", "-D", "-f", f"{server.name}.conf"),
        files={f"{server.name}.conf": text} | server.settings.files.files(f"{server.name}.www"),
        folders=server.folders,
        url=server.listen.url,
    )


LIGHTTPD = Server(
    "lighttpd",
    "A lighttpd, which sends files.",
    WebSection,
    lambda section, host: host.group(lighttpd_service(web_server(section, host))),
)
