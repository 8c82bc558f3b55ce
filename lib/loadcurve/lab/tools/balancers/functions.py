"""Functional tests of a balancer: which functions are tested, and the files and the command of the test.

The test is the script `functions.sh`, which builds two balancers and three servers in namespaces that end with it:
here, or in user-mode-linux for IPVS if this kernel has none.  It keeps what the tools print.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts import small_registers
from loadcurve.lab.hosts.tools import Tool, which
from loadcurve.lab.hosts.user_mode_linux import TOOL as USER_MODE_LINUX
from loadcurve.lab.hosts.user_mode_linux import kernel_argv, module_paths, why_no_kernel
from loadcurve.lab.tools.balancers.kernel import IpvsSection, NftSection, has_ipvs, ipvs_rules, nft_rules
from loadcurve.lab.tools.servers.settings import Endpoint
from loadcurve.study.section import Range, Section

KEEPALIVED = Tool("keepalived", "fail-over", "--version", "keepalived")
CONNTRACKD = Tool("conntrackd", "fail-over", "--version", "conntrackd")
CONNTRACK = Tool("conntrack", "connection tracking", "--version", "conntrack")
IPTABLES = Tool("iptables-legacy", "NAT beside IPVS", "--version", "iptables")
_TOOLS = (KEEPALIVED, CONNTRACKD, CONNTRACK, IPTABLES, USER_MODE_LINUX)

FUNCTION_CHECKS = (
    "client_address", "outside", "round_robin", "hash", "ten_thousand", "export_import", "dead_server", "fail_over",
)  # fmt: skip
"""Names of the functions that the script can test, in its order."""

_SCRIPT = "functions.sh"
_REGISTERS = "small_registers.py"
_ADDRESS = "10.99.0.1"
_SERVERS = tuple(Endpoint(f"10.99.64.1{number}", 80) for number in (1, 2, 3))
# Programs that the script starts, for every balancer and for each.
_PROGRAMS = ("unshare", "ip", "sysctl", "nginx", "curl", "ss", "keepalived")
_OWN_PROGRAMS = {
    "nft": ("nft", "conntrackd", "conntrack"),
    "haproxy": ("haproxy", "nft"),
    "ipvs": ("ipvsadm", "iptables-legacy"),
}
_MODULES = ("veth", "bridge", "ip_vs", "ip_vs_rr", "ip_vs_sh", "iptable_nat", "xt_MASQUERADE")
DURATION_S = {"nft": 14.0, "haproxy": 12.0, "ipvs": 30.0}
"""Typical duration of the test of each balancer, in s, on a machine with two processors."""

# For a busy machine.
_LIMIT_S = 180.0

# A server is down after two checks without response, so within 0.4 s.
_HAPROXY = """\
# A private haproxy of the laboratory.
global
    maxconn 1000
defaults
    mode http
    option forwardfor
    timeout connect 1s
    timeout client 30s
    timeout server 30s
frontend clients
    bind :80
    default_backend servers
backend servers
    balance {scheduler}
    default-server check inter 200ms fall 2 rise 1
{servers}
"""


@dataclass(frozen=True)
class FunctionsSection(Section):
    """A test of the functions of a balancer, instead of load: in two balancers and three servers of its own."""

    balancer: Literal["", "nft", "haproxy", "ipvs"] = ""
    """Balancer whose functions are tested; empty for a run with load. ``ipvs`` is tested in user-mode-linux if this
    kernel has no IPVS."""

    checks: tuple[str, ...] = FUNCTION_CHECKS
    """Functions that are tested: ``client_address``, ``outside``, ``round_robin``, ``hash``, ``ten_thousand``,
    ``export_import``, ``dead_server``, ``fail_over``."""

    repeats: Annotated[int, Range(0, 10_000)] = 0
    """Number of tests, if fewer than the `repeats` of the study suffice for a yes or no; 0 for those of the study."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if unknown := [name for name in self.checks if name not in FUNCTION_CHECKS]:
            yield ValueRuleError("checks", f"some of {', '.join(FUNCTION_CHECKS)}", unknown[0])


@dataclass(frozen=True)
class FunctionTest:
    """The test of a balancer's functions."""

    balancer: str
    files: Mapping[str, str]  # Name of each file that the script needs → its text
    in_user_mode_linux: bool  # Whether the script is the first process of another kernel
    programs: tuple[str, ...]  # Programs that it starts
    limit_s: float = _LIMIT_S  # Outer time limit

    def argv(self) -> tuple[str, ...]:
        """Return the command of the test, which runs in the folder of its files and names no other folder."""
        if self.in_user_mode_linux:
            kernel = kernel_argv(Path("$PWD"), _SCRIPT, registers=("python3", _REGISTERS))
            return ("sh", "-c", "exec " + " ".join(f'"{word}"' for word in kernel))
        return ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", f"./{_SCRIPT}")


def function_test(section: FunctionsSection) -> FunctionTest:
    """Return the test of a balancer's functions.

    Its balancer must not be empty.

    Examples
    --------
    >>> test = function_test(FunctionsSection("nft", ("round_robin",)))
    >>> sorted(test.files)
    ['balancer.sh', 'functions.env', 'functions.sh', 'hash.rules', 'rr.rules']
    """
    elsewhere = section.balancer == "ipvs" and not has_ipvs() and not why_no_kernel()
    modules = module_paths(_MODULES) if elsewhere else ()
    here = Path(__file__).parent
    files = {
        _SCRIPT: (here / _SCRIPT).read_text("utf-8"),
        "balancer.sh": (here / f"{section.balancer}.sh").read_text("utf-8"),
        "functions.env": f"CHECKS='{' '.join(section.checks)}'\nMODULES='{' '.join(modules)}'\n",
        "rr.rules": _rules(section.balancer, "rr"),
        "hash.rules": _rules(section.balancer, "hash"),
    }
    if elsewhere:
        files[_REGISTERS] = Path(small_registers.__file__).read_text("utf-8")
    programs = (*_PROGRAMS, *_OWN_PROGRAMS[section.balancer], *((USER_MODE_LINUX.name,) if elsewhere else ()))
    return FunctionTest(section.balancer, files, elsewhere, programs)


def missing(test: FunctionTest) -> Iterator[tuple[str, str]]:
    """Yield what is missing on this machine for a test, with its remedy."""
    for name in test.programs:
        if which(name) is None:
            yield f"{name} is not installed", next((one.remedy for one in _TOOLS if one.name == name), "")
    if test.balancer == "ipvs" and not test.in_user_mode_linux and not has_ipvs():
        yield "this kernel has no IPVS", USER_MODE_LINUX.remedy


def _rules(balancer: str, scheduler: Literal["rr", "hash"]) -> str:
    """Return what the balancer loads for one service at port 80."""
    listen = (Endpoint(_ADDRESS, 80),)
    if balancer == "nft":
        (text,) = nft_rules(NftSection(scheduler), listen, _SERVERS).files.values()
    elif balancer == "ipvs":
        section = IpvsSection("rr" if scheduler == "rr" else "sh")
        (text,) = ipvs_rules(section, listen, _SERVERS).files.values()
    else:
        servers = "\n".join(f"    server s{number} {end}" for number, end in enumerate(_SERVERS, 1))
        text = _HAPROXY.format(scheduler={"rr": "roundrobin", "hash": "source"}[scheduler], servers=servers)
    return text
