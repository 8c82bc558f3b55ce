"""Tools whose reports loadcurve reads and which the laboratory does not start; nobody installs their packages."""

from loadcurve.lab.hosts.tools import Tool

VEGETA = Tool("vegeta", "load, open loop", "-version", source="https://github.com/tsenart/vegeta/releases")
K6 = Tool("k6", "load, both loops", "version", source="https://github.com/grafana/k6/releases")
FORTIO = Tool("fortio", "load, open loop", "version", source="https://github.com/fortio/fortio/releases")
HTTPERF = Tool("httperf", "load, open loop", "--version", "httperf", group="")
# siege prints its version only after it has written to ~/.siege.
SIEGE = Tool("siege", "load, closed loop", "", "siege", group="")
GHZ = Tool("ghz", "load, gRPC", "--version", source="https://github.com/bojand/ghz/releases")
IPTABLES = Tool("iptables", "balancer", "--version", "iptables", group="")
IOSTAT = Tool("iostat", "disks", "-V", "sysstat", group="")
VMSTAT = Tool("vmstat", "machine", "-V", "procps", group="")
NETSTAT = Tool("netstat", "kernel counters", "-V", "net-tools", group="")
