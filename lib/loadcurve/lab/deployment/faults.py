"""From the section `fault` to a fault on a host."""

from collections.abc import Mapping
from dataclasses import replace

from loadcurve.lab import faults
from loadcurve.lab.faults import Fault, FaultTarget
from loadcurve.lab.hosts.network import HostSettings, LinkConditions, Topology
from loadcurve.lab.hosts.network.wiring import resolve
from loadcurve.lab.study_file.faults import FaultSection
from loadcurve.lab.study_file.hosts import HostSection


def fault_of(section: FaultSection, service: str, port: int, address: str) -> Fault:
    """Return the fault of a section that names one; service, port and address are of the server to which it happens."""
    kind = faults.FAULTS[section.kind]
    role = section.host.rstrip("0123456789")
    return kind.make(section.chosen[1], FaultTarget(service, port, role, address))


def links_with(
    fault: Fault | None, host: str, links: Mapping[str, LinkConditions], topology: Topology
) -> dict[str, LinkConditions]:
    """Return the links' conditions with those of a fault on a host: each of its links keeps what is set, or is worse.

    Links are named as a study names them: of a host, of a network, or one link.  None, or a fault that is of no link,
    changes nothing.
    """
    if fault is None or (worse := fault.link) is None:
        return dict(links)
    changed = {}
    for (name, network), now in resolve(topology, links).items():
        if name == host:
            delay_s, loss_ratio = max(now.delay_s, worse.delay_s), max(now.loss_ratio, worse.loss_ratio)
            now = replace(now, delay_s=delay_s, loss_ratio=loss_ratio)
        changed[f"{name}.{network}"] = now
    return changed


def settings_with(fault: Fault | None, on: str, name: str, host: HostSection) -> HostSettings:
    """Return the settings of the host `name`, with those of a fault where it is `on` this host."""
    settings = host.network()
    if fault is None or on != name:
        return settings
    return replace(settings, sysctls={**settings.sysctls, **fault.sysctls})
