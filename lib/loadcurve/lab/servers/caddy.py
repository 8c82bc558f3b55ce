"""A private caddy that sends files."""

import json

from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.servers.server import Server
from loadcurve.lab.servers.service import Service
from loadcurve.lab.servers.web import WebSection, WebServer, web_server

TOOL = Tool("caddy", "server", "version", "caddy")


def caddy_service(server: WebServer) -> Service:
    """Return the service of a caddy, without its administration port, certificates and saved configuration.

    Parameters
    ----------
    server : WebServer
        Its settings; caddy has no limit of connections.
    """
    settings, work = server.settings, f"{server.name}.work"
    configuration = json.dumps(_configuration(server), indent=2) + "\n"
    return Service(
        server.name,
        "caddy",
        (settings.program or "caddy", "run", "--config", f"{server.name}.json"),
        files={f"{server.name}.json": configuration} | settings.files.files(f"{server.name}.www"),
        folders=server.folders,
        env={"GOMAXPROCS": str(settings.workers or 1), "HOME": work, "XDG_DATA_HOME": work, "XDG_CONFIG_HOME": work},
        url=server.listen.url,
    )


def _configuration(server: WebServer) -> dict:
    """Return caddy's configuration in its own JSON form."""
    settings = server.settings
    handlers: list[dict] = [{"handler": "file_server", "root": f"{server.name}.www", "index_names": [server.index]}]
    if settings.gzip:
        # By itself it compresses texts only.
        every = {"headers": {"Content-Type": ["*"]}}
        handlers.insert(0, {"handler": "encode", "encodings": {"gzip": {}}, "match": every})
    site: dict = {
        "listen": [str(server.listen)],
        "automatic_https": {"disable": True},
        "routes": [{"handle": handlers}],
    }
    logs: dict = {"default": {"level": "WARN"}}
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
