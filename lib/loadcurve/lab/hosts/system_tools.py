"""Programs of the system by which hosts, networks and limits are made, and commands are started."""

from loadcurve.lab.hosts.tools import Tool

IP = Tool("ip", "interfaces", "-V", "iproute2")
TC = Tool("tc", "conditions of links", "-V", "iproute2")
ETHTOOL = Tool("ethtool", "interfaces", "--version", "ethtool")
SYSCTL = Tool("sysctl", "kernel settings", "--version", "procps")
SSH = Tool("ssh", "hosts", "-V", "openssh-client")
SETPRIV = Tool("setpriv", "starts commands", "--version", "util-linux")
UNSHARE = Tool("unshare", "starts commands", "--version", "util-linux")
TASKSET = Tool("taskset", "processors", "--version", "util-linux")
PRLIMIT = Tool("prlimit", "limits", "--version", "util-linux")
TIMEOUT = Tool("timeout", "time limits", "--version", "coreutils")
PYTHON = Tool("python3", "remote hosts", "--version", "python3")
CURL = Tool("curl", "pages of counters", "--version", "curl")
