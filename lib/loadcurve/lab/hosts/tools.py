"""The tools whose output is read: where they are on this machine, their versions, how to get the others."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Daemons are outside the PATH of ordinary users on Debian.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])

_PATIENCE_S = 10.0  # for a tool that waits instead of printing its version


@dataclass(frozen=True)
class Tool:
    """A tool, and where it comes from.

    Attributes
    ----------
    name : str
        Its command.
    use : str
        What it tells.
    flag : str
        Option that makes it print its version; empty where there is none.
    package : str
        Debian's package; empty where there is none.
    source : str
        Where else to get it.
    """

    name: str
    use: str
    flag: str
    package: str = ""
    source: str = ""

    @property
    def remedy(self) -> str:
        """How to get it."""
        return f"apt-get install --no-install-recommends {self.package}" if self.package else self.source

    def __str__(self) -> str:
        path = which(self.name)
        found = f"{version(self.name) or 'prints no version':<18} {path}" if path else f"not here: {self.remedy}"
        return f"{self.name:<10} {self.use:<20} {found}"


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("wrk", "load, closed loop", "-v", "wrk"),
        Tool("ab", "load, closed loop", "-V", "apache2-utils"),
        Tool("weighttp", "load, closed loop", "-v", source="build https://git.lighttpd.net/lighttpd/weighttp"),
        Tool("wrk2", "load, open loop", "-v", source="build https://github.com/giltene/wrk2"),
        Tool("h2load", "load, HTTP/2", "--version", "nghttp2-client"),
        Tool("hey", "load, closed loop", "", "hey"),
        Tool("oha", "load, both loops", "--version", source="cargo install oha"),
        Tool("vegeta", "load, open loop", "-version", source="https://github.com/tsenart/vegeta/releases"),
        Tool("k6", "load, both loops", "version", source="https://github.com/grafana/k6/releases"),
        Tool("fortio", "load, open loop", "version", source="https://github.com/fortio/fortio/releases"),
        Tool("httperf", "load, open loop", "--version", "httperf"),
        Tool("siege", "load, closed loop", "", "siege"),  # asked for its version, it writes to the user's ~/.siege
        Tool("ghz", "load, gRPC", "--version", source="https://github.com/bojand/ghz/releases"),
        Tool("nginx", "server, proxy", "-v", "nginx"),
        Tool("apache2", "server", "-v", "apache2-bin"),
        Tool("lighttpd", "server", "-v", "lighttpd"),
        Tool("caddy", "server", "version", "caddy"),
        Tool("php-fpm", "server of pages", "-v", "php-fpm"),
        Tool("mariadbd", "database", "--version", "mariadb-server-core"),
        Tool("haproxy", "balancer", "-v", "haproxy"),
        Tool("ipvsadm", "balancer", "--version", "ipvsadm"),
        Tool("nft", "balancer", "--version", "nftables"),
        Tool("iptables", "balancer", "--version", "iptables"),
        Tool("conntrack", "connection tracking", "--version", "conntrack"),
        Tool("sar", "machine", "-V", "sysstat"),
        Tool("sadf", "binary sa files", "-V", "sysstat"),
        Tool("mpstat", "processors", "-V", "sysstat"),
        Tool("pidstat", "processes", "-V", "sysstat"),
        Tool("iostat", "disks", "-V", "sysstat"),
        Tool("vmstat", "machine", "-V", "procps"),
        Tool("ss", "sockets", "-V", "iproute2"),
        Tool("ssh", "hosts", "-V", "openssh-client"),
        Tool("ip", "interfaces", "-V", "iproute2"),
        Tool("nstat", "kernel counters", "-V", "iproute2"),
        Tool("netstat", "kernel counters", "-V", "net-tools"),
        Tool("ethtool", "interfaces", "--version", "ethtool"),
    )
}
"""Tools by name, in the order in which `loadcurve doctor` shows them."""


def which(tool: str) -> str | None:
    """Path of a tool, also where ordinary users do not look; None when it is not installed."""
    return shutil.which(tool, path=SEARCH_PATH) or (_newest_php() if tool == "php-fpm" else None)


def _newest_php() -> str | None:
    """Debian's PHP-FPM has its version in its name; the newest one is the last."""
    programs = sorted(Path("/usr/sbin").glob("php-fpm[0-9]*"))
    return str(programs[-1]) if programs else None


@cache
def version(tool: str, program: str = "") -> str:
    """Version as the tool itself prints it: the first number with a dot in its own answer; empty where it has none.

    Parameters
    ----------
    tool : str
        One of `TOOLS`.
    program : str
        Path of the very program, where it is not the usual one.
    """
    path, flag = which(program or tool), TOOLS[tool].flag if tool in TOOLS else ""
    if path is None or not flag:
        return ""
    try:
        done = subprocess.run(
            [path, flag], capture_output=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return version_in((done.stdout + done.stderr).decode("utf-8", "replace"))


def version_in(words: str) -> str:
    """First number with a dot in what a tool says of itself; empty where there is none.

    Examples
    --------
    >>> version_in("nginx version: nginx/1.22.1")
    '1.22.1'
    """
    found = re.search(r"[0-9]+(?:\.[0-9]+)+", words)
    return found[0] if found else ""
