"""Every section of a study file in one dataclass, without the rules between sections."""

from dataclasses import dataclass, field
from typing import Any

from loadcurve.lab.hosts.network.conditions import LinkConditions
from loadcurve.lab.schedule.goals import ObjectiveSection, SearchSection, StopSection
from loadcurve.lab.servers.nginx_server import NGINX, NginxSection
from loadcurve.lab.study_file.balancers import BalancerSection
from loadcurve.lab.study_file.faults import FaultSection
from loadcurve.lab.study_file.hosts import HostSection, TopologySection
from loadcurve.lab.study_file.load import LoadSection
from loadcurve.lab.study_file.servers import MonitorsSection, ServerSection
from loadcurve.study import MONITORS, Study

_DEFAULT_SERVER: dict[str, Any] = {NGINX.name: NginxSection()}


@dataclass(frozen=True)
class Sections(Study):
    """A study with each section checked by itself; `Study` describes the sections."""

    topology: TopologySection = field(default_factory=TopologySection)
    hosts: dict[str, HostSection] = field(default_factory=dict)
    links: dict[str, LinkConditions] = field(default_factory=dict)
    server: ServerSection = field(default_factory=lambda: ServerSection(**_DEFAULT_SERVER))
    balancer: BalancerSection = field(default_factory=BalancerSection)
    load: LoadSection = field(default_factory=LoadSection)
    monitors: MonitorsSection = field(default_factory=lambda: MonitorsSection(**MONITORS))
    fault: FaultSection = field(default_factory=FaultSection)
    objective: ObjectiveSection = field(default_factory=ObjectiveSection)
    search: SearchSection | None = None
    stop: StopSection | None = None
