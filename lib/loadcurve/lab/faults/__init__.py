"""Faults: what goes wrong on purpose, on hosts that the laboratory made, and how to recognise it.

A fault that a study can name is registered by a constant of class `FaultKind`; `FAULTS` holds all of them by name.
Its `make` returns a `Fault`; `injected` makes the fault for as long as a context lasts, and `why_not` says beforehand
which capability of the kernel is missing.

To add a fault, follow the section "A fault" of ``handbook/guides/add_a_server.md``.
"""

import sys

from loadcurve.discovery import registered_by_name
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

FAULTS = registered_by_name(sys.modules[__name__], FaultKind)
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
