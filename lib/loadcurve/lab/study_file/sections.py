"""Every section of a study file in one dataclass, without the rules between sections."""

from dataclasses import dataclass, field
from typing import Any

from loadcurve.lab.functions import FunctionsSection
from loadcurve.lab.hosts.network.conditions import LinkConditions
from loadcurve.lab.schedule.goals import ObjectiveSection, SearchSection, StopSection
from loadcurve.lab.servers.nginx_server import NGINX, NginxSection
from loadcurve.lab.study_file.balancers import BalancerSection
from loadcurve.lab.study_file.faults import FaultSection
from loadcurve.lab.study_file.hosts import HostSection, TopologySection
from loadcurve.lab.study_file.load import LoadSection
from loadcurve.lab.study_file.servers import MonitorsSection, ServerSection
from loadcurve.study import MONITORS, StudyKeys
from loadcurve.study.section import Section


@dataclass(frozen=True)
class AuditSection(Section):
    """Rules of the audit for the runs of this study, with the keys of `[audit]` in a loadcurve.toml, and `accept`."""

    select: tuple[str, ...] = ()
    """Names of the rules that run; all rules where it is left out."""

    ignore: dict[str, str] = field(default_factory=dict)
    """Rule → the reason why its findings do not count. They are listed with the reason."""

    accept: dict[str, str] = field(default_factory=dict)
    """Run, file or link that differs from the manifest `runs.json` → the reason: `c0001-r2: lost with a disk`. For any
    other, `loadcurve tidy` ends with exit code 1."""

    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    """Rule → threshold → another value; `loadcurve explain RULE` lists the thresholds."""


_DEFAULT_SERVER: dict[str, Any] = {NGINX.name: NginxSection()}


@dataclass(frozen=True)
class Sections(StudyKeys):
    """A study with each section checked by itself."""

    topology: TopologySection = field(default_factory=TopologySection)
    """A recipe of hosts and networks with its numbers, or machines that already run; this machine's loopback where
    the section is left out."""

    hosts: dict[str, HostSection] = field(default_factory=dict)
    """What each host is set to: name of the host, such as ``S1``, or of its role, ``S`` → its settings."""

    links: dict[str, LinkConditions] = field(default_factory=dict)
    """What each link does to packets: ``S1`` (that host's), ``LB.back``, or a network's name (all of it) → its
    conditions."""

    server: ServerSection = field(default_factory=lambda: ServerSection(**_DEFAULT_SERVER))
    """What runs on each server host; an nginx where the section is left out."""

    balancer: BalancerSection = field(default_factory=BalancerSection)
    """What distributes the load among the servers."""

    load: LoadSection = field(default_factory=LoadSection)
    """What the generator does at each point."""

    monitors: MonitorsSection = field(default_factory=lambda: MonitorsSection(**MONITORS))
    """What watches each host, each with its interval in s."""

    fault: FaultSection = field(default_factory=FaultSection)
    """What goes wrong on purpose during each run."""

    functions: FunctionsSection = field(default_factory=FunctionsSection)
    """A test of functions instead of load."""

    objective: ObjectiveSection = field(default_factory=ObjectiveSection)
    """What a run must keep: a latency at a quantile, a share of failed requests."""

    search: SearchSection | None = None
    """Instead of levels for one factor: search the level at which the objective breaks."""

    stop: StopSection | None = None
    """Instead of a number of repeats: repeat until the mean is known well enough."""

    audit: AuditSection = field(default_factory=AuditSection)
    """Which rules of the audit judge the runs, and with which limits."""
