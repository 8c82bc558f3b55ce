"""Connections that the kernel tracks, against the most that it may track."""

from loadcurve.lab.monitors.monitor import Monitor, MonitorKind

SETTINGS = ("net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max")


def conntrack(interval_s: float = 1) -> Monitor:
    """Return ``sysctl`` of the number of tracked connections and its maximum; empty where nothing is tracked."""
    return Monitor("conntrack", "sysctl", "", interval_s, ("sysctl", "-e", *SETTINGS))


CONNTRACK = MonitorKind(
    "conntrack",
    "Tracked connections of the host and their maximum.",
    lambda interval_s, host: conntrack(interval_s),
)
