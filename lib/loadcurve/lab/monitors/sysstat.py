"""sar, mpstat and pidstat, which print their samples themselves."""

from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.monitors.monitor import Monitor, MonitorKind

SAR_TOOL = Tool("sar", "machine", "-V", "sysstat", group="lab-tools")
SADF_TOOL = Tool("sadf", "binary sa files", "-V", "sysstat")
MPSTAT_TOOL = Tool("mpstat", "processors", "-V", "sysstat")
PIDSTAT_TOOL = Tool("pidstat", "threads", "-V", "sysstat")


def sar(interval_s: float = 1) -> Monitor:
    """Return sar: processors, interfaces and drops, TCP, sockets; it prints the samples that it holds on SIGINT."""
    kinds = ("-u", "ALL", "-P", "ALL", "-n", "DEV", "-n", "EDEV", "-n", "TCP", "-n", "ETCP", "-n", "SOCK")
    argv = ("sar", *kinds, f"{interval_s:g}")
    return Monitor("sar", "sar", interval_s=interval_s, argv=argv, repeats=True, stop="INT")


def mpstat(interval_s: float = 1) -> Monitor:
    """Return mpstat: time shares of each processor."""
    argv = ("mpstat", "-P", "ALL", f"{interval_s:g}")
    return Monitor("mpstat", "mpstat", interval_s=interval_s, argv=argv, repeats=True, stop="INT")


def pidstat(interval_s: float = 1) -> Monitor:
    """Return pidstat: processor time of each thread that ran, so that one busy thread among idle processors is seen."""
    argv = ("pidstat", "-u", "-t", f"{interval_s:g}")
    return Monitor("pidstat", "pidstat", interval_s=interval_s, argv=argv, repeats=True, stop="INT")


SAR = MonitorKind(
    "sar",
    "Processors, interfaces and their drops, TCP and sockets.",
    lambda interval_s, host: sar(interval_s),
    whole_seconds=True,
)
MPSTAT = MonitorKind(
    "mpstat", "Each processor by itself.", lambda interval_s, host: mpstat(interval_s), whole_seconds=True
)
PIDSTAT = MonitorKind(
    "pidstat",
    "Processor time of each thread, such as those of the load generator.",
    lambda interval_s, host: pidstat(interval_s),
    whole_seconds=True,
)
