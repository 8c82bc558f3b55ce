"""Faults: what goes wrong on purpose, on hosts that the laboratory made, and how to recognise it.

`FAULTS` lists the constants of class `FaultKind`, which a study can name.  Their `make` returns a `Fault`; `injected`
makes the fault for as long as a context lasts, and `why_not` says beforehand which capability of the kernel is missing.

To add a fault, follow the section "A fault" of ``handbook/guides/add_a_server.md``.
"""

from loadcurve.lab.tools.faults import kinds
from loadcurve.lab.tools.faults.fault import FaultKind

_LIST = (
    kinds.NARROW_PORTS,
    kinds.FEW_DESCRIPTORS,
    kinds.FILL_CONNTRACK,
    kinds.CAP_CONNECTIONS,
    kinds.DROP_SYN,
    kinds.DROP_FIN,
    kinds.LOSE_CLIENTS,
    kinds.LOSE_PACKETS,
    kinds.DELAY_PACKETS,
    kinds.SLOW_LINK,
    kinds.LIMIT_PACKETS,
    kinds.STEER_PACKETS,
    kinds.KILL_WORKER,
    kinds.KILL_SERVER,
    kinds.KILL_GENERATOR,
    kinds.BUSY_PROCESSORS,
    kinds.OTHER_TRANSFER,
    kinds.STOP_SERVER,
    kinds.FILL_ACCEPT_QUEUE,
)
FAULTS: dict[str, FaultKind] = {fault.name: fault for fault in _LIST}
"""Faults by the name that a study uses."""
