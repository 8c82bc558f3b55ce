"""Declarations of all tables: type, unit, rule and meaning of each column."""

from loadcurve.tables.schemas import host, load, sockets
from loadcurve.tables.schemas.declare import Column, Table

__all__ = ["RAW", "SCHEMAS", "Column", "Table"]

SCHEMAS: dict[str, Table] = {
    "runs": load.RUNS,
    "factors": load.FACTORS,
    "latency": load.LATENCY,
    "histogram": load.HISTOGRAM,
    "phases": load.PHASES,
    "requests": load.REQUESTS,
    "labels": load.LABELS,
    "cpu": host.CPU,
    "load": host.LOAD,
    "memory": host.MEMORY,
    "disks": host.DISKS,
    "network": host.NETWORK,
    "tcp": host.TCP,
    "interrupts": host.INTERRUPTS,
    "processes": host.PROCESSES,
    "counters": host.COUNTERS,
    "averages": host.AVERAGES,
    "events": host.EVENTS,
    "hosts": host.HOSTS,
    "settings": host.SETTINGS,
    "sockets": sockets.SOCKETS,
    "connections": sockets.CONNECTIONS,
    "flows": sockets.FLOWS,
    "balancer": sockets.BALANCER,
    "server": sockets.SERVER,
    "findings": load.FINDINGS,
    "fits": load.FITS,
}
"""Declarations by table name: columns with type, unit, rule and meaning."""

RAW = tuple(name for name in SCHEMAS if name not in ("findings", "fits"))
"""Tables that ingestion fills; the others come from the audit and the models."""
