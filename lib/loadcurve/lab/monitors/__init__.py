"""Monitors: what is watched on each host while the load runs, all on one clock (UTC).

A recipe is a pure function to a `Monitor`; `watchers` turns the monitors of a host into the few processes that run
them.  Access logs need no monitor: a server writes its own (`Serving.access_log`).
"""

from loadcurve.lab.monitors.monitor import Monitor
from loadcurve.lab.monitors.recipes import (
    PROC,
    ipvsadm,
    mpstat,
    nft,
    nstat,
    proc,
    sar,
    ss_connections,
    ss_details,
    ss_summary,
    stub_status,
)
from loadcurve.lab.monitors.watchers import Watcher, watchers

__all__ = [
    "PROC",
    "Monitor",
    "Watcher",
    "ipvsadm",
    "mpstat",
    "nft",
    "nstat",
    "proc",
    "sar",
    "ss_connections",
    "ss_details",
    "ss_summary",
    "stub_status",
    "watchers",
]
