"""Web servers as data: from validated settings to a `Service`, private to a run's folder.

A `Response` says what a server responds with; each server's own settings say how it runs.  `SERVERS` lists the
constants of class `Server`, which a study can name.
"""

from loadcurve.lab.servers import apache, caddy, haproxy, lighttpd, nginx_server, php, wordpress
from loadcurve.lab.servers.apache import apache_service
from loadcurve.lab.servers.caddy import caddy_service
from loadcurve.lab.servers.haproxy import HaproxyProcess, HaproxySection, haproxy_service
from loadcurve.lab.servers.layouts import LAYOUTS, Layout, layout_services
from loadcurve.lab.servers.lighttpd import lighttpd_service
from loadcurve.lab.servers.mariadb import MariaDb, mariadb_service
from loadcurve.lab.servers.nginx import Nginx, Serving, nginx_service
from loadcurve.lab.servers.nginx_process import Process
from loadcurve.lab.servers.php import Page, PhpFpm, php_front_service, php_service
from loadcurve.lab.servers.responses import Burn, Delay, Files, Mixed, Response, Status, Text
from loadcurve.lab.servers.server import Server, ServerGroup, ServerHost
from loadcurve.lab.servers.settings import Endpoint
from loadcurve.lab.servers.web import WebSection, WebServer
from loadcurve.lab.servers.wordpress import wordpress_page

_LIST = (
    apache.APACHE,
    caddy.CADDY,
    haproxy.HAPROXY,
    lighttpd.LIGHTTPD,
    nginx_server.NGINX,
    php.PHP,
    wordpress.WORDPRESS,
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
