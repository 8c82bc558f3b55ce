"""Faults: what goes wrong on purpose, on hosts that the laboratory made, and how it looks.

A recipe is a pure function to a `Fault`; `injected` makes one for as long as a context lasts, `why_not` says beforehand
what the kernel lacks for it.
"""

from loadcurve.lab.faults.fault import Fault, Send, Sysctl, Table
from loadcurve.lab.faults.inject import Event, injected, why_not
from loadcurve.lab.faults.recipes import (
    cap_connections,
    delay_packets,
    drop_fin,
    drop_syn,
    few_descriptors,
    fill_accept_queue,
    fill_conntrack,
    kill_worker,
    lose_packets,
    narrow_ports,
    stop_server,
)

FAULTS = {
    recipe.__name__: recipe
    for recipe in (
        narrow_ports,
        few_descriptors,
        drop_syn,
        drop_fin,
        lose_packets,
        delay_packets,
        kill_worker,
        stop_server,
        fill_accept_queue,
        fill_conntrack,
        cap_connections,
    )
}
"""Recipes by name, as a study names them."""

__all__ = [
    "FAULTS",
    "Event",
    "Fault",
    "Send",
    "Sysctl",
    "Table",
    "cap_connections",
    "delay_packets",
    "drop_fin",
    "drop_syn",
    "few_descriptors",
    "fill_accept_queue",
    "fill_conntrack",
    "injected",
    "kill_worker",
    "lose_packets",
    "narrow_ports",
    "stop_server",
    "why_not",
]
