"""Faults: what goes wrong on purpose, on hosts that the laboratory made, and how to recognise it.

`FAULTS` lists the constants of class `FaultKind`, which a study can name.  Their `make` returns a `Fault`; `injected`
makes the fault for as long as a context lasts, and `why_not` says beforehand which capability of the kernel is missing.

To add a fault, follow the section "A fault" of ``handbook/guides/add_a_server.md``.
"""

from loadcurve.lab.faults import limits, packets, processes
from loadcurve.lab.faults.fault import Fault, FaultKind, FaultTarget, Send, Shape, Start, Steer, Sysctl, Table
from loadcurve.lab.faults.inject import Event, injected, why_not
from loadcurve.lab.faults.limits import cap_connections, few_descriptors, fill_conntrack, narrow_ports
from loadcurve.lab.faults.packets import (
    delay_packets,
    drop_fin,
    drop_syn,
    limit_packets,
    lose_clients,
    lose_packets,
    slow_link,
    steer_packets,
)
from loadcurve.lab.faults.processes import (
    busy_processors,
    fill_accept_queue,
    kill_generator,
    kill_server,
    kill_worker,
    other_transfer,
    stop_server,
)

_LIST = (
    limits.NARROW_PORTS,
    limits.FEW_DESCRIPTORS,
    limits.FILL_CONNTRACK,
    limits.CAP_CONNECTIONS,
    packets.DROP_SYN,
    packets.DROP_FIN,
    packets.LOSE_CLIENTS,
    packets.LOSE_PACKETS,
    packets.DELAY_PACKETS,
    packets.SLOW_LINK,
    packets.LIMIT_PACKETS,
    packets.STEER_PACKETS,
    processes.KILL_WORKER,
    processes.KILL_SERVER,
    processes.KILL_GENERATOR,
    processes.BUSY_PROCESSORS,
    processes.OTHER_TRANSFER,
    processes.STOP_SERVER,
    processes.FILL_ACCEPT_QUEUE,
)
FAULTS: dict[str, FaultKind] = {fault.name: fault for fault in _LIST}
"""Faults by the name that a study uses."""

__all__ = [
    "FAULTS",
    "Event",
    "Fault",
    "FaultKind",
    "FaultTarget",
    "Send",
    "Shape",
    "Start",
    "Steer",
    "Sysctl",
    "Table",
    "busy_processors",
    "cap_connections",
    "delay_packets",
    "drop_fin",
    "drop_syn",
    "few_descriptors",
    "fill_accept_queue",
    "fill_conntrack",
    "injected",
    "kill_generator",
    "kill_server",
    "kill_worker",
    "limit_packets",
    "lose_clients",
    "lose_packets",
    "narrow_ports",
    "other_transfer",
    "slow_link",
    "steer_packets",
    "stop_server",
    "why_not",
]
