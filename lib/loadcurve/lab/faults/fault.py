"""A fault, as data: what is done to a host, to its services, to a command or to a link, and what undoes it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.network.conditions import SYSCTLS, LinkConditions
from loadcurve.lab.servers.settings import check_choice, check_name

_NUMBERS = re.compile(r"[0-9]{1,10}(?: [0-9]{1,10}){0,2}")
_RULE = re.compile(r"[a-z][a-z0-9 &|()=]{0,200}")
_TABLE = re.compile(r"fault_[a-z_]{1,24}")


@dataclass(frozen=True)
class Sysctl:
    """A setting of the host's namespace; the end of the fault puts back what was there before.

    Attributes
    ----------
    name, value : str
        As sysctl(8) takes them; the value is one or more numbers.
    """

    name: str
    value: str

    def __post_init__(self) -> None:
        if self.name not in SYSCTLS | {"net.netfilter.nf_conntrack_max"}:
            raise ValueRuleError("sysctl", "a setting of a network namespace that the laboratory knows", self.name)
        if not (isinstance(self.value, str) and _NUMBERS.fullmatch(self.value)):
            raise ValueRuleError(f"sysctl {self.name}", "one or more numbers", self.value)


@dataclass(frozen=True)
class Table:
    """A table of nftables, of family ``inet``, with one chain; the end of the fault removes it.

    Attributes
    ----------
    name : str
        ``fault_`` and small letters.
    hook : str
        ``input`` or ``output``.
    rules : tuple of str
        Of the chain, each with a counter.
    """

    name: str
    hook: str
    rules: tuple[str, ...]

    def __post_init__(self) -> None:
        if not _TABLE.fullmatch(self.name):
            raise ValueRuleError("table", "fault_ and small letters", self.name)
        check_choice("hook", self.hook, ("input", "output"))
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
    """A signal to processes of a service that the laboratory started.

    Attributes
    ----------
    service : str
        Its name.
    signal : str
        ``KILL``, ``STOP`` or ``CONT``.
    whom : str
        ``all``: each of its processes; ``worker``: the first one that its master has started.
    """

    service: str
    signal: str
    whom: str = "all"

    def __post_init__(self) -> None:
        check_name("service", self.service)
        check_choice("signal", self.signal, ("KILL", "STOP", "CONT"))
        check_choice("whom", self.whom, ("all", "worker"))


Step = Sysctl | Table | Send


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong on purpose.

    Attributes
    ----------
    name : str
        As a study calls it.
    role : str
        On whose host it happens: ``C``, ``LB`` or ``S``.
    begin : tuple of Step
        What makes it, while services and load run.
    end : tuple of Step
        What undoes it beyond settings and tables, which are undone by themselves.
    wrap : tuple of str
        Stands before the argv of the load generator (role C) or of the servers.
    sysctls : mapping of str to str
        Settings of the host that must be there before its services start.
    link : LinkConditions or None
        Condition of the host's links, for as long as they last.
    """

    name: str
    role: str
    begin: tuple[Step, ...] = ()
    end: tuple[Step, ...] = ()
    wrap: tuple[str, ...] = ()
    sysctls: Mapping[str, str] = field(default_factory=dict)
    link: LinkConditions | None = None

    def __post_init__(self) -> None:
        check_choice("role", self.role, ("C", "LB", "S"))
        for name, value in self.sysctls.items():
            Sysctl(name, value)
