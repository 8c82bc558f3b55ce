"""nginx as the server of a study: its section, and how it listens."""

from dataclasses import dataclass, field
from typing import Literal

from loadcurve.errors import LabError
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.tools import which
from loadcurve.lab.servers.layouts import Layout, layout_services
from loadcurve.lab.servers.nginx import Nginx, Serving, nginx_service
from loadcurve.lab.servers.nginx_process import Process, nginx_process
from loadcurve.lab.servers.responses import ResponseSection
from loadcurve.lab.servers.server import Server, ServerGroup, ServerHost
from loadcurve.study.section import Section


@dataclass(frozen=True)
class NginxSection(Section):
    """An nginx, or a program that reads its configuration (`process.program`)."""

    response: ResponseSection = field(default_factory=ResponseSection)
    """What it responds with."""

    process: Process = field(default_factory=Process)
    """How it runs."""

    serving: Serving = field(default_factory=Serving)
    """How it sends."""

    layout: Literal["", "A", "B", "C", "D", "E", "reuseport"] = ""
    """How it listens. ``A``: all workers on one address; ``B``: on all; ``C``: one worker alone; ``D``: an address for
    each worker; ``E``: an instance for each port; ``reuseport``: a socket for each worker. Empty for one socket."""


def _start(section: NginxSection, host: ServerHost) -> ServerGroup:
    modules = (host.programs.ECHO,) if section.response.delay_s else ()
    process = nginx_process(section.process, host.connections, host.programs, *modules)
    response, serving = section.response.value, section.serving
    if section.layout:
        port, workers = host.listen.port, process.workers
        layout = Layout(host.name, section.layout, host.addresses, port, workers, response, process, serving)
        return ServerGroup(layout_services(layout), layout.endpoints)
    page = host.free_endpoint() if host.status else None
    while page == host.listen:  # where the study names the port that would come next
        page = host.free_endpoint()
    service = nginx_service(Nginx(host.name, (host.listen,), response, process, serving, status=page))
    return ServerGroup((service,), (host.listen,), page)


def _require(section: NginxSection, programs: Programs) -> None:
    if section.serving.log_in == "memory" and not programs.is_root:
        raise LabError("server.nginx.serving.log_in: memory needs root, to mount a tmpfs")
    # Without nginx, the missing program is the obstacle.
    if section.response.delay_s and which("nginx"):
        programs.module(programs.ECHO)


def _work_s(section: NginxSection) -> float:
    return section.response.delay_s


NGINX = Server("nginx", "An nginx, or a program that reads its configuration.", NginxSection, _start, _require, _work_s)
