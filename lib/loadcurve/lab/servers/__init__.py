"""Web servers as data: from validated settings to a `Service`, private to a run's folder.

A `Response` says what a server answers; each server's own settings say how it runs.
"""

from loadcurve.lab.servers.haproxy import Haproxy, HaproxyProcess, haproxy_service
from loadcurve.lab.servers.layouts import LAYOUTS, Layout, layout_services
from loadcurve.lab.servers.nginx import Nginx, Process, Serving, nginx_service
from loadcurve.lab.servers.responses import Burn, Delay, Files, Response, Status, Text
from loadcurve.lab.servers.settings import Endpoint

__all__ = [
    "LAYOUTS",
    "Burn",
    "Delay",
    "Endpoint",
    "Files",
    "Haproxy",
    "HaproxyProcess",
    "Layout",
    "Nginx",
    "Process",
    "Response",
    "Serving",
    "Status",
    "Text",
    "haproxy_service",
    "layout_services",
    "nginx_service",
]
