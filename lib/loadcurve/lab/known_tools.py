"""Every program that the laboratory starts or whose reports are read: for `loadcurve doctor` and missing programs."""

from loadcurve.lab.hosts import capabilities, user_mode_linux
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.tools.balancers import functions, kernel
from loadcurve.lab.tools.generators import GENERATORS
from loadcurve.lab.tools.monitors import kinds
from loadcurve.lab.tools.servers import haproxy, php, web

_USED = (
    *(generator.tool for generator in GENERATORS.values()),
    *(web.APACHE_TOOL, web.CADDY_TOOL, haproxy.TOOL, web.LIGHTTPD_TOOL, php.MARIADB_TOOL, php.PHP_TOOL),
    *(kernel.IPVS_TOOL, kernel.NFT_TOOL),
    *(user_mode_linux.TOOL, functions.KEEPALIVED, functions.CONNTRACKD, functions.CONNTRACK, functions.IPTABLES),
    *(kinds.NSTAT_TOOL, kinds.SS_TOOL, kinds.SAR_TOOL, kinds.SADF_TOOL, kinds.MPSTAT_TOOL, kinds.PIDSTAT_TOOL),
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
    Tool("ethtool", "interfaces", "--version", "ethtool", group="lab-tools"),
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
