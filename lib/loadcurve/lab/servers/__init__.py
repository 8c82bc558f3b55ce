"""Web servers as data: from validated settings to a `Service`, private to a run's folder.

A `Response` says what a server responds with; each server's own settings say how it runs.  A server that a study can
name is registered by a constant of class `Server`; `SERVERS` holds all of them by name.
"""

import sys

from loadcurve.discovery import registered_by_name
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

SERVERS = registered_by_name(sys.modules[__name__], Server)
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
