"""From the section `server` to the services of one server host."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from loadcurve.errors import LabError
from loadcurve.lab.deployment.host_slot import HostSlot
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.servers import (
    Delay,
    Endpoint,
    Haproxy,
    Layout,
    MariaDb,
    Nginx,
    PhpFpm,
    Process,
    Serving,
    WebServer,
    apache_service,
    caddy_service,
    haproxy_service,
    layout_services,
    lighttpd_service,
    mariadb_service,
    nginx_service,
    php_front_service,
    php_service,
    wordpress_page,
)
from loadcurve.lab.servers.service import Service
from loadcurve.lab.study_file.servers import NginxSection, PhpSection, ServerSection, WebSection, WordpressSection

# As many processes as PHP has at work, and some that wait.
_SPARE_CONNECTIONS = 16


@dataclass(frozen=True)
class ServerGroup:
    """What serves on a host.

    Attributes
    ----------
    services : tuple of Service
        In the order of their start.
    endpoints : tuple of Endpoint
        Where requests go, to each alike.
    status : Endpoint or None
        Where nginx says how many connections it has.
    """

    services: tuple[Service, ...]
    endpoints: tuple[Endpoint, ...]
    status: Endpoint | None = None


def serve(
    section: ServerSection, site: HostSlot, name: str, connections: int, programs: Programs, status: bool
) -> ServerGroup:
    """Return what serves on a host.

    Parameters
    ----------
    section : ServerSection
        What the study says.
    site : HostSlot
        The host.
    name : str
        Of its services.
    connections : int
        Largest number of concurrent connections to expect.
    programs : Programs
        Where programs are that have no one name.
    status : bool
        Whether nginx says how many connections it has, on a port of its own.
    """
    listen = site.endpoint(section.port)
    if section.nginx is not None:
        return _nginx(section.nginx, site, name, listen, connections, programs, status)
    if section.haproxy is not None:
        process = replace(section.haproxy.process, connections=max(section.haproxy.process.connections, connections))
        service = haproxy_service(Haproxy(name, listen, section.haproxy.response, process))
    elif section.php is not None or section.wordpress is not None:
        return ServerGroup(_php(section.php or section.wordpress, name, listen, connections, programs), (listen,))
    else:
        web, of = _web(section, programs)
        settings = WebServer(name, listen, web.files, web.workers, connections, web.access_log, web.gzip, web.program)
        service = of(settings)
    return ServerGroup((service,), (listen,))


def nginx_process(process: Process, connections: int, programs: Programs, delays: bool = False) -> Process:
    """Return how an nginx runs here, with room for the connections, and with the modules that it has to load."""
    modules = process.modules
    if delays and not any(path.endswith(programs.ECHO) for path in modules):
        modules = (*modules, programs.module(programs.ECHO))
    early = process.early_errors and programs.nginx_takes_early_errors(process.program)
    return replace(process, modules=modules, connections=max(process.connections, connections), early_errors=early)


def _nginx(
    section: NginxSection,
    site: HostSlot,
    name: str,
    listen: Endpoint,
    connections: int,
    programs: Programs,
    status: bool,
) -> ServerGroup:
    response = section.response.value
    process = nginx_process(section.process, connections, programs, isinstance(response, Delay))
    if section.layout:
        layout = Layout(
            name, section.layout, site.addresses, listen.port, process.workers, response, process, section.serving
        )
        return ServerGroup(layout_services(layout), layout.endpoints)
    page = site.endpoint() if status else None
    while page == listen:  # where the study names the port that would come next
        page = site.endpoint()
    service = nginx_service(Nginx(name, (listen,), response, process, section.serving, status=page))
    return ServerGroup((service,), (listen,), page)


def _web(section: ServerSection, programs: Programs) -> tuple[WebSection, Callable[[WebServer], Service]]:
    if section.apache is not None:
        return section.apache, lambda settings: apache_service(settings, launcher_is_root=programs.is_root)
    if section.lighttpd is not None:
        return section.lighttpd, lighttpd_service
    if section.caddy is not None:
        return section.caddy, caddy_service
    raise LabError(f"server {section.program} is not started by the laboratory")


def _php(
    section: PhpSection | WordpressSection, name: str, listen: Endpoint, connections: int, programs: Programs
) -> tuple[Service, ...]:
    rows = section.rows if isinstance(section, PhpSection) else 1
    database = MariaDb(f"{name}-db", rows, connections=section.children + _SPARE_CONNECTIONS)
    php = PhpFpm(f"{name}-php", section.children, *programs.php())
    text = section.page.text(database) if isinstance(section, PhpSection) else wordpress_page(database, listen)
    front = php_front_service(name, listen, php, nginx_process(Process(), connections, programs), Serving(), ["page"])
    return mariadb_service(database), php_service(php, {"page": text}), front
