"""Monitors: what is sampled on each host while the load runs, all on one clock (UTC).

`MONITORS` lists the constants of class `MonitorKind`, which a study can name.  `watchers` turns
the monitors of a host into the few processes that run them.  Access logs need no monitor: a server writes its own.
"""

from loadcurve.lab.monitors import sockets, sysstat, tracked
from loadcurve.lab.monitors.counters import (
    COUNTERS,
    NSTAT,
    PROC,
    PROC_FILES,
    STUB_STATUS,
    counters,
    nstat,
    proc,
    stub_status,
)
from loadcurve.lab.monitors.monitor import Monitor, MonitoredHost, MonitorKind
from loadcurve.lab.monitors.sockets import ss_connections, ss_details, ss_summary
from loadcurve.lab.monitors.sysstat import mpstat, pidstat, sar
from loadcurve.lab.monitors.tracked import conntrack
from loadcurve.lab.monitors.watchers import Watcher, watchers

_LIST = (
    NSTAT,
    PROC,
    STUB_STATUS,
    COUNTERS,
    sockets.SUMMARY,
    sockets.CONNECTIONS,
    sockets.DETAILS,
    sysstat.SAR,
    sysstat.MPSTAT,
    sysstat.PIDSTAT,
    tracked.CONNTRACK,
)
MONITORS: dict[str, MonitorKind] = {monitor.name: monitor for monitor in _LIST}
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
