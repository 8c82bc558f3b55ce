"""A fault as it is listed, and as data: its steps on a host, a service, a command or a link, and their undoing."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.network.conditions import SYSCTLS, LinkConditions, tc_lines
from loadcurve.lab.tools.servers.settings import check_count
from loadcurve.study.section import check_word

FIRST_LINK = "eth0"
"""Name of the first interface of each host, which is on the network of the clients."""

_NUMBERS = re.compile(r"[0-9]{1,10}(?: [0-9]{1,10}){0,2}")
_RULE = re.compile(r"[a-z][a-z0-9 &|()=/]{0,200}")
_TABLE = re.compile(r"fault_[a-z_]{1,24}")


@dataclass(frozen=True)
class Sysctl:
    """A setting of the host's namespace; the end of the fault restores the previous value."""

    # `name` and `value`: as sysctl(8) takes them; the value is one or more numbers.
    name: str
    value: str

    def __post_init__(self) -> None:
        if self.name not in SYSCTLS | {"net.netfilter.nf_conntrack_max"}:
            raise ValueRuleError("sysctl", "a setting of a network namespace that the laboratory knows", self.name)
        if not (isinstance(self.value, str) and _NUMBERS.fullmatch(self.value)):
            raise ValueRuleError(f"sysctl {self.name}", "one or more numbers", self.value)


@dataclass(frozen=True)
class Table:
    """A table of nftables, of family ``inet``, with one chain; the end of the fault removes it."""

    name: str  # `fault_` and small letters
    hook: str  # `input` or `output`
    rules: tuple[str, ...]  # Of the chain, each with a counter

    def __post_init__(self) -> None:
        if not _TABLE.fullmatch(self.name):
            raise ValueRuleError("table", "fault_ and small letters", self.name)
        check_word("hook", self.hook, ("input", "output"))
        for rule in self.rules:
            if not _RULE.fullmatch(rule):
                raise ValueRuleError("rules", "of small letters, digits, spaces and & | ( ) =", rule)

    @property
    def text(self) -> str:
        """What ``nft -f -`` reads."""
        rules = "".join(f"    {rule}\n" for rule in self.rules)
        head = f"type filter hook {self.hook} priority filter; policy accept;"
        return f"table inet {self.name} {{\n  chain packets {{\n    {head}\n{rules}  }}\n}}\n"


@dataclass(frozen=True)
class Send:
    """A signal to processes of a service that the laboratory started."""

    service: str
    signal: str  # `KILL`, `STOP` or `CONT`
    whom: str = "all"  # `all`: each of its processes; `worker`: the first one that its master has started

    def __post_init__(self) -> None:
        check_name("service", self.service)
        check_word("signal", self.signal, ("KILL", "STOP", "CONT"))
        check_word("whom", self.whom, ("all", "worker"))


@dataclass(frozen=True)
class Shape:
    """A rate limit of what the host sends on its first link; the end of the fault removes it."""

    rate_bps: float  # Bits per second, frames with their Ethernet header

    def __post_init__(self) -> None:
        LinkConditions(rate_bps=self.rate_bps)

    @property
    def text(self) -> str:
        """What ``tc -batch -`` reads; the kernel refuses it where the link has a limit already."""
        return tc_lines(FIRST_LINK, LinkConditions(rate_bps=self.rate_bps), netem=False)


@dataclass(frozen=True)
class Steer:
    """Received packets of the host's first link are handled by one processor; the end of the fault undoes it."""

    processor: int  # Its number

    def __post_init__(self) -> None:
        check_count("processor", self.processor, 0, 31)  # the kernel divides longer masks by commas

    @property
    def path(self) -> str:
        """File of the setting (Linux, Documentation/networking/scaling.rst, receive packet steering)."""
        return f"/sys/class/net/{FIRST_LINK}/queues/rx-0/rps_cpus"

    @property
    def mask(self) -> str:
        """What is written there: a bit for the processor, in hexadecimal digits."""
        return f"{1 << self.processor:x}"


@dataclass(frozen=True)
class Start:
    """A program that runs on the host; the end of the fault ends it, and so does the end of the launcher."""

    argv: tuple[str, ...]  # The program, which needs no file and writes none


Step = Sysctl | Table | Send | Shape | Steer | Start


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong on purpose."""

    name: str  # Its name in a study
    role: str  # Role of its host: `C`, `LB` or `S`
    begin: tuple[Step, ...] = ()  # Steps that make it, while services and load run
    # Steps that undo it, besides settings, tables, rate limits and programs, which are always undone.
    end: tuple[Step, ...] = ()
    wrap: tuple[str, ...] = ()  # Prefix of the argv of the load generator (role C) or of the servers
    # Settings of the host that are set before its services start.
    sysctls: Mapping[str, str] = field(default_factory=dict)
    link: LinkConditions | None = None  # Condition of the host's links for the whole run

    def __post_init__(self) -> None:
        check_word("role", self.role, ("C", "LB", "S"))
        for name, value in self.sysctls.items():
            Sysctl(name, value)

    @property
    def ends(self) -> frozenset[str]:
        """Names of the services that it ends."""
        sent = (step for step in self.begin if isinstance(step, Send))
        return frozenset(step.service for step in sent if (step.signal, step.whom) == ("KILL", "all"))


@dataclass(frozen=True)
class FaultTarget:
    """Where a fault of a study happens."""

    service: str = "S1"  # Name of the server's service
    port: int = 80  # The server's port
    role: str = ""  # Role of the host that the study names, `C`, `LB` or `S`; empty where it names none
    address: str = "127.0.0.1"  # The server's first address


@dataclass(frozen=True)
class FaultKind:
    """A fault that a study can name."""

    name: str  # Its key in the section `fault`
    description: str  # What the key means: a sentence for the schema and the reference page
    symptoms: str  # How a load test shows the fault, for the reference page
    value: Any  # Type of the key's value; `Literal[True]` for a fault without a number
    # Value, as the study's section `fault` has checked it, and `FaultTarget` → `Fault`.
    make: Callable[[Any, FaultTarget], Fault]
    # `process` or `port` of a server that the laboratory started, or `host`.
    acts_on: Literal["process", "port", "host"] = "host"
