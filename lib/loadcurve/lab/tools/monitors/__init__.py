"""Monitors: what is sampled on each host while the load runs, all on one clock (UTC).

`MONITORS` lists the constants of class `MonitorKind`, which a study can name.  `watchers` turns
the monitors of a host into the few processes that run them.  Access logs need no monitor: a server writes its own.
"""

from loadcurve.lab.tools.monitors import kinds
from loadcurve.lab.tools.monitors.monitor import MonitorKind

_LIST = (
    kinds.NSTAT,
    kinds.PROC,
    kinds.STUB_STATUS,
    kinds.COUNTERS,
    kinds.SS_SUMMARY,
    kinds.SS_CONNECTIONS,
    kinds.SS_DETAILS,
    kinds.SAR,
    kinds.MPSTAT,
    kinds.PIDSTAT,
    kinds.CONNTRACK,
)
MONITORS: dict[str, MonitorKind] = {monitor.name: monitor for monitor in _LIST}
"""Monitors by the name that a study uses."""
