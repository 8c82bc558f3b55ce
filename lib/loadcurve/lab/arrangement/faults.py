"""From the section `fault` to a fault on a host."""

from dataclasses import replace

from loadcurve.lab import faults
from loadcurve.lab.faults import Fault
from loadcurve.lab.network import HostSettings, LinkConditions
from loadcurve.lab.sections.adaptive import FaultSection
from loadcurve.lab.sections.hosts import HostSection


def fault_of(section: FaultSection, service: str, port: int) -> Fault:
    """Return the fault of a section that names one.

    Parameters
    ----------
    section : FaultSection
        What the study says.
    service : str
        The server to which it happens.
    port : int
        The server's.
    """
    kind = section.kind
    value = getattr(section, kind)
    if kind in ("drop_syn", "drop_fin"):
        return faults.FAULTS[kind](port)
    if kind in ("kill_worker", "stop_server"):
        return faults.FAULTS[kind](service)
    if kind == "fill_accept_queue":
        return faults.fill_accept_queue(service, value)
    if kind == "cap_connections":
        return faults.cap_connections(port, value)
    if kind in ("few_descriptors", "lose_packets", "delay_packets") and section.host:
        return faults.FAULTS[kind](value, section.host.rstrip("0123456789"))
    return faults.FAULTS[kind](value)


def link_with(fault: Fault | None, host: str, links: dict[str, LinkConditions]) -> dict[str, LinkConditions]:
    """Return the links' conditions with those of a fault on a host."""
    if fault is None or fault.link is None:
        return links
    now, worse = links.get(host, LinkConditions()), fault.link
    changed = replace(now, delay_s=max(now.delay_s, worse.delay_s), loss_ratio=max(now.loss_ratio, worse.loss_ratio))
    return links | {host: changed}


def settings_with(fault: Fault | None, on: str, name: str, host: HostSection) -> HostSettings:
    """Return the settings of the host `name`, with those of a fault where it is `on` this host."""
    settings = host.network()
    if fault is None or on != name:
        return settings
    return replace(settings, sysctls={**settings.sysctls, **fault.sysctls})
