"""Web servers as data: from validated settings to a `Service`, private to a run's folder.

A `Response` says what a server responds with; each server's own settings say how it runs.  `SERVERS` lists the
constants of class `Server`, which a study can name.
"""

from loadcurve.lab.tools.servers import command, haproxy, nginx, php, web
from loadcurve.lab.tools.servers.haproxy import HaproxyProcess, HaproxySection, haproxy_service
from loadcurve.lab.tools.servers.nginx import LAYOUTS, Layout, Nginx, Process, Serving, layout_services, nginx_service
from loadcurve.lab.tools.servers.php import (
    MariaDb,
    Page,
    PhpFpm,
    mariadb_service,
    php_front_service,
    php_service,
    wordpress_page,
)
from loadcurve.lab.tools.servers.responses import Burn, Delay, Files, Mixed, Response, Status, Text
from loadcurve.lab.tools.servers.server import Server, ServerGroup, ServerHost
from loadcurve.lab.tools.servers.settings import Endpoint
from loadcurve.lab.tools.servers.web import WebSection, WebServer, apache_service, caddy_service, lighttpd_service

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

__all__ = [
    "LAYOUTS",
    "SERVERS",
    "Burn",
    "Delay",
    "Endpoint",
    "Files",
    "HaproxyProcess",
    "HaproxySection",
    "Layout",
    "MariaDb",
    "Mixed",
    "Nginx",
    "Page",
    "PhpFpm",
    "Process",
    "Response",
    "Server",
    "ServerGroup",
    "ServerHost",
    "Serving",
    "Status",
    "Text",
    "WebSection",
    "WebServer",
    "apache_service",
    "caddy_service",
    "haproxy_service",
    "layout_services",
    "lighttpd_service",
    "mariadb_service",
    "nginx_service",
    "php_front_service",
    "php_service",
    "wordpress_page",
]
