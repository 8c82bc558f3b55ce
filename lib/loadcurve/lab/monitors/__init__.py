"""Monitors: what is sampled on each host while the load runs, all on one clock (UTC).

A monitor is registered by a constant of class `MonitorKind`; `MONITORS` holds all of them by name.  `watchers` turns
the monitors of a host into the few processes that run them.  Access logs need no monitor: a server writes its own.
"""

import sys

from loadcurve.discovery import registered_by_name
from loadcurve.lab.monitors.counters import PROC_FILES, counters, nstat, proc, stub_status
from loadcurve.lab.monitors.monitor import Monitor, MonitoredHost, MonitorKind
from loadcurve.lab.monitors.sockets import ss_connections, ss_details, ss_summary
from loadcurve.lab.monitors.sysstat import mpstat, pidstat, sar
from loadcurve.lab.monitors.tracked import conntrack
from loadcurve.lab.monitors.watchers import Watcher, watchers

MONITORS = registered_by_name(sys.modules[__name__], MonitorKind)
"""Monitors by the name that a study uses."""

__all__ = [
    "MONITORS",
    "PROC_FILES",
    "Monitor",
    "MonitorKind",
    "MonitoredHost",
    "Watcher",
    "conntrack",
    "counters",
    "mpstat",
    "nstat",
    "pidstat",
    "proc",
    "sar",
    "ss_connections",
    "ss_details",
    "ss_summary",
    "stub_status",
    "watchers",
]
