"""Web servers as data: from validated settings to a `Service`, private to a run's folder.

A `Response` says what a server responds with; each server's own settings say how it runs.  `SERVERS` lists the
constants of class `Server`, which a study can name.
"""

from loadcurve.lab.tools.servers import command, haproxy, nginx, php, web
from loadcurve.lab.tools.servers.server import Server

_LIST = (
    web.APACHE,
    web.CADDY,
    command.COMMAND,
    haproxy.HAPROXY,
    web.LIGHTTPD,
    nginx.NGINX,
    php.PHP,
    php.WORDPRESS,
)
SERVERS: dict[str, Server] = {server.name: server for server in _LIST}
"""Servers by the name that a study uses."""
