"""Every program that the laboratory starts or whose reports are read: for `loadcurve doctor` and missing programs."""

from loadcurve.lab.balancers import ipvs, nft
from loadcurve.lab.functions import functions
from loadcurve.lab.generators import ab, h2load, hey, k6, oha, weighttp, wrk, wrk2
from loadcurve.lab.hosts import capabilities, user_mode_linux
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.monitors import sockets, sysstat
from loadcurve.lab.monitors.counters import TOOL as NSTAT
from loadcurve.lab.servers import apache, caddy, haproxy, lighttpd, mariadb, php

_USED = (
    *(ab.TOOL, h2load.TOOL, hey.TOOL, k6.TOOL, oha.TOOL, weighttp.TOOL, wrk.TOOL, wrk2.TOOL),
    *(apache.TOOL, caddy.TOOL, haproxy.TOOL, lighttpd.TOOL, mariadb.TOOL, php.TOOL, ipvs.TOOL, nft.TOOL),
    *(user_mode_linux.TOOL, functions.KEEPALIVED, functions.CONNTRACKD, functions.CONNTRACK, functions.IPTABLES),
    *(NSTAT, sockets.TOOL, sysstat.SAR_TOOL, sysstat.SADF_TOOL, sysstat.MPSTAT_TOOL, sysstat.PIDSTAT_TOOL),
    capabilities.NGINX,
)
# Tools whose reports loadcurve reads and which the laboratory does not start; nobody installs their packages.
_READ = (
    Tool("vegeta", "load, open loop", "-version", source="https://github.com/tsenart/vegeta/releases"),
    Tool("fortio", "load, open loop", "version", source="https://github.com/fortio/fortio/releases"),
    Tool("httperf", "load, open loop", "--version", "httperf", group=""),
    # siege prints its version only after it has written to ~/.siege.
    Tool("siege", "load, closed loop", "", "siege", group=""),
    Tool("ghz", "load, gRPC", "--version", source="https://github.com/bojand/ghz/releases"),
    Tool("iptables", "balancer", "--version", "iptables", group=""),
    Tool("iostat", "disks", "-V", "sysstat", group=""),
    Tool("vmstat", "machine", "-V", "procps", group=""),
    Tool("netstat", "kernel counters", "-V", "net-tools", group=""),
)
# Programs of the system by which hosts, networks and limits are made, and commands are started.
_SYSTEM = (
    Tool("ip", "interfaces", "-V", "iproute2"),
    Tool("tc", "conditions of links", "-V", "iproute2"),
    Tool("ethtool", "interfaces", "--version", "ethtool"),
    Tool("sysctl", "kernel settings", "--version", "procps"),
    Tool("ssh", "hosts", "-V", "openssh-client"),
    Tool("setpriv", "starts commands", "--version", "util-linux"),
    Tool("unshare", "starts commands", "--version", "util-linux"),
    Tool("taskset", "processors", "--version", "util-linux"),
    Tool("prlimit", "limits", "--version", "util-linux"),
    Tool("timeout", "time limits", "--version", "coreutils"),
    Tool("python3", "remote hosts", "--version", "python3"),
    Tool("curl", "pages of counters", "--version", "curl"),
)
TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*_USED, *_READ, *_SYSTEM)}
"""Tools by name, in the order in which `loadcurve doctor` lists them."""


def tool_named(name: str) -> Tool:
    """Return a tool by its name; one without a version where it is not listed, such as a source of counters."""
    return TOOLS.get(name) or Tool(name, "", "")
