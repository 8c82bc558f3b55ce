"""Balancers in the kernel, IPVS and nftables, and how their rules are loaded for as long as a context lasts."""

import contextlib
import lzma
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from loadcurve.errors import LabError, ValueRuleError
from loadcurve.lab.hosts.executor import Executor, output_of
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.process import guarded, now
from loadcurve.lab.hosts.tools import FIXED, Tool, version, which
from loadcurve.lab.tools.balancers.balancer import NAME, Balanced, Balancer, BalancerHost, Rules, Services
from loadcurve.lab.tools.balancers.shares import nft_server
from loadcurve.lab.tools.servers.settings import Endpoint, check_address, check_count, check_endpoints
from loadcurve.study import Command
from loadcurve.study.section import Range, Section

IPVS_TOOL = Tool("ipvsadm", "balancer", "--version", "ipvsadm")

MAX_SERVICES = 10_000
_FORWARDS = {"nat": "-m", "dr": "-g"}  # ipvsadm(8): masquerading, gatewaying
_PATIENCE_S = 10.0


@dataclass(frozen=True)
class IpvsSection(Section):
    """IPVS, where the kernel has it."""

    scheduler: Literal["rr", "wrr", "wlc", "sh", "mh"] = "rr"
    """How it chooses a server. ``rr``, ``wrr``: in turn, by weight; ``wlc``: the fewest connections for its weight;
    ``sh``, ``mh``: by the client's address."""

    forward: Literal["nat", "dr"] = "nat"
    """``nat``: the balancer rewrites addresses both ways; ``dr``: it passes on frames, and the servers send their
    responses directly."""

    weights: Annotated[tuple[int, ...], Range(0, 65_535)] = ()
    """Weight of each server, 0 for no new connections; empty for 1 each."""

    services: Services = 1
    """How many services are loaded; the load goes to the last one."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.forward == "dr" and self.services > 1:
            yield ValueRuleError("services", "1: direct routing cannot change the servers' only port", self.services)


def ipvs_rules(
    section: IpvsSection, listens: tuple[Endpoint, ...], servers: tuple[Endpoint, ...], name: str = NAME
) -> Rules:
    """Return the rules that pass connections to some services of the balancer's host on to servers.

    They replace everything that IPVS has in the host's namespace, and `Rules.remove` removes all of it, so use them
    only in namespaces that the laboratory made.  The kernel updates its counters every 2 s: read them 2 s later.  A
    server that is loaded again within a minute keeps its old counters: take differences.  There are 1–10000 services
    (`listens`), under direct routing at the servers' only port, and 1–256 servers for all of them.

    Examples
    --------
    >>> here, there = Endpoint("10.99.0.1", 80), Endpoint("10.99.65.1", 8080)
    >>> print(ipvs_rules(IpvsSection("wrr", weights=(3,)), (here,), (there,)).files["LB.ipvs"], end="")
    -C
    -A -t 10.99.0.1:80 -s wrr
    -a -t 10.99.0.1:80 -r 10.99.65.1:8080 -m -w 3
    """
    check_name("name", name)
    check_endpoints("listens", listens, maximum=MAX_SERVICES)
    check_endpoints("servers", servers, maximum=256)
    if section.weights and len(section.weights) != len(servers):
        raise ValueRuleError("weights", f"one for each of {len(servers)} servers, or none", section.weights)
    ports = {endpoint.port for endpoint in (*listens, *servers)}
    if section.forward == "dr" and len(ports) > 1:
        raise ValueRuleError("servers", "of the services' only port, which direct routing cannot change", ports)
    weights, flag = section.weights or (1,) * len(servers), _FORWARDS[section.forward]
    lines = ["-C"]
    for listen in listens:
        lines.append(f"-A -t {listen} -s {section.scheduler}")
        for server, weight in zip(servers, weights, strict=True):
            lines.append(f"-a -t {listen} -r {server} {flag} -w {weight}")
    file = f"{name}.ipvs"
    return Rules(
        name,
        IPVS_TOOL,
        load=("ipvsadm", "-R"),
        remove=("ipvsadm", "-C"),
        export=("ipvsadm", "-S", "-n"),
        counters=("ipvsadm", "-L", "-n", "--stats", "--exact"),
        files={file: "\n".join((*lines, ""))},
        stdin=file,
    )


def direct_routing_argvs(address: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands with which a server responds from the balancer's address without announcing it by ARP.

    Examples
    --------
    >>> for argv in direct_routing_argvs("10.99.0.1"):
    ...     print(*argv)
    sysctl -q -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
    ip address add 10.99.0.1/32 dev lo
    """
    check_address("address", address)
    quiet = ("net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.arp_announce=2")
    return (("sysctl", "-q", "-w", *quiet), ("ip", "address", "add", f"{address}/32", "dev", "lo"))


@cache
def has_ipvs() -> bool:
    """Whether this kernel has IPVS, tried in a temporary namespace."""
    program = which("ipvsadm")
    if program is None or which("unshare") is None:
        return False
    argv = guarded(("unshare", "--net", program, "-L", "-n"), _PATIENCE_S)
    return subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0


def _start_ipvs(section: IpvsSection, host: BalancerHost, seed: int) -> Balanced:
    direct = section.forward == "dr"
    # Direct routing cannot change the port: the only service has that of the servers.
    listens = host.service_endpoints(section.services, *((host.servers[0].port,) if direct else ()))
    rules = ipvs_rules(section, listens, host.servers)
    before = direct_routing_argvs(host.address) if direct else ()
    return Balanced(listens[-1], rules=rules, counting=(IPVS_TOOL.name, rules.counters), before=before)


_NO_IPVS = ("this kernel has no IPVS", "choose the balancer nft, or a kernel with ip_vs")
IPVS = Balancer(
    "ipvs",
    "IPVS, where the kernel has it.",
    IpvsSection,
    _start_ipvs,
    counts=True,
    in_kernel=True,
    missing_in_kernel=lambda: None if has_ipvs() else _NO_IPVS,
)


NFT_TOOL = Tool("nft", "balancer", "--version", "nftables", group="lab-tools")


# How nft computes the number of a server (nft(8), "numgen expression", "hash expressions").
_NFT_SCHEDULERS = {
    "rr": "numgen inc mod {n}",
    "random": "numgen random mod {n}",
    "hash": "jhash ip saddr mod {n} seed {seed:#x}",
}

# nft rewrites a port only after a match on the transport protocol.
_CHAIN = """\
    chain s{} {{
        meta l4proto tcp counter dnat to {}
    }}"""

_TABLE = """\
# A balancer of the laboratory; loaded in the run's folder by the command in run.json.
table ip {table}
delete table ip {table}
table ip {table} {{
{servers}
    chain balance {{
        {number} vmap {{ {choices} }}
    }}
{services}
    chain prerouting {{
        type nat hook prerouting priority dstnat; policy accept;
{lookup}
    }}
}}
"""


@dataclass(frozen=True)
class NftSection(Section):
    """Rules of nftables that choose a server for each connection."""

    scheduler: Literal["rr", "random", "hash"] = "rr"
    """How it chooses a server. ``rr``: in turn; ``random``; ``hash``: by the client's address, with a seed that spreads
    the clients evenly."""

    lookup: Literal["map", "rules"] = "map"
    """How a packet finds its service. ``map``: one look into a table; ``rules``: one rule after the other."""

    services: Services = 1
    """How many services are loaded; the load goes to the last one."""


def nft_rules(
    section: NftSection, listens: tuple[Endpoint, ...], servers: tuple[Endpoint, ...], seed: int = 1, name: str = NAME
) -> Rules:
    """Return the rules that pass connections to some services of the balancer's host on to servers.

    Each server has a chain with a counter, which counts connections: a chain of type nat sees their first packets.
    There are 1–10000 services (`listens`), and 1–256 servers for all of them; `seed` of the hash is 1 to 2^32 − 1, see
    `seed_of_shares`.  The table has the rules' name in small letters, with ``_`` for ``-``.

    Examples
    --------
    >>> rules = nft_rules(NftSection(), (Endpoint("10.99.0.1", 80),), (Endpoint("10.99.64.2", 8080),))
    >>> rules.load
    ('nft', '-f', 'LB.nft')
    >>> "counter dnat to 10.99.64.2:8080" in rules.files["LB.nft"]
    True
    """
    check_name("name", name)
    check_endpoints("listens", listens, maximum=MAX_SERVICES)
    check_endpoints("servers", servers, maximum=256)
    check_count("seed", seed, 1, 2**32 - 1)
    table_name = name.lower().replace("-", "_")
    file, table = f"{name}.nft", ("table", "ip", table_name)
    return Rules(
        name,
        NFT_TOOL,
        load=("nft", "-f", file),
        remove=("nft", "delete", *table),
        export=("nft", "--stateless", "--numeric", "list", *table),
        counters=("nft", "--numeric", "list", *table),
        files={file: _table(table_name, section, listens, servers, seed)},
    )


def _table(
    name: str, section: NftSection, listens: tuple[Endpoint, ...], servers: tuple[Endpoint, ...], seed: int
) -> str:
    """Return the text of a table: a chain for each server, one that chooses a server, one that finds the service."""
    services = ""
    lookup = "\n".join(f"        ip daddr {e.address} tcp dport {e.port} goto balance" for e in listens)
    if section.lookup == "map":
        services, lookup = _services_map(listens)
    return _TABLE.format(
        table=name,
        servers="\n".join(_CHAIN.format(i + 1, endpoint) for i, endpoint in enumerate(servers)),
        number=_NFT_SCHEDULERS[section.scheduler].format(n=len(servers), seed=seed),
        choices=", ".join(f"{i} : goto s{i + 1}" for i in range(len(servers))),
        services=services,
        lookup=lookup,
    )


def _services_map(listens: tuple[Endpoint, ...]) -> tuple[str, str]:
    """Return a map of all services, and the rule that looks a packet's service up in it."""
    elements = ",\n".join(f"            {e.address} . {e.port} : goto balance" for e in listens)
    services = (
        "    map services {\n        type ipv4_addr . inet_service : verdict\n"
        f"        elements = {{\n{elements}\n        }}\n    }}"
    )
    return services, "        ip daddr . tcp dport vmap @services"


def _start_nft(section: NftSection, host: BalancerHost, seed: int) -> Balanced:
    listens = host.service_endpoints(section.services)
    rules = nft_rules(section, listens, host.servers, seed)
    return Balanced(listens[-1], rules=rules, counting=(NFT_TOOL.name, rules.counters))


NFT = Balancer(
    "nft",
    "Rules of nftables: the kernel passes on packets.",
    NftSection,
    _start_nft,
    server_of=nft_server,
    counts=True,
    in_kernel=True,
)


# Ten thousand services are loaded within a second or two.
LIMIT_S = 30.0
# Longer rules are kept compressed: ten thousand services are 0.5 MB of almost equal lines.
_COMPRESSED_FROM_BYTES = 65_536


@contextlib.contextmanager
def loaded(rules: Rules, executor: Executor) -> Iterator[Command]:
    """Write the files of rules, load them, and at the end keep what the kernel holds and remove them.

    Yields the command as it ran.  ``NAME.TOOL.rules.txt`` has the rules as the tool prints them, which `Rules.load`
    takes again.  Long files are compressed at the end (``.xz``); `Command.unpacked` names the one that it loads.
    Raises LabError when the host is no namespace that the laboratory made, or the kernel refuses them.
    """
    if "netns" not in executor.host.prefix:
        raise LabError(f"rules are loaded only in a namespace of the laboratory, not on host {executor.host.name}")
    executor.put(rules.files)
    begun = now()
    argv = executor.argv(rules.load, LIMIT_S)
    output_of(argv, executor.host, executor.folder, rules.stdin or os.devnull)
    exported = executor.check_output(rules.export, LIMIT_S)
    printed = f"{rules.name}.{rules.tool.name}.rules.txt"
    (executor.folder / printed).write_text(exported, "utf-8")
    long = [
        name for name in (*rules.files, printed) if (executor.folder / name).stat().st_size >= _COMPRESSED_FROM_BYTES
    ]
    packed = next((f"{name}.xz" for name in long if name != printed), "")
    try:
        yield Command(
            "balancer", rules.tool.name, argv, "", "", LIMIT_S,
            version=version(rules.tool), host=executor.host.name, env=dict(FIXED), started_at=begun, ended_at=now(),
            exit_code=0, stdin=rules.stdin, unpacked=packed,
        )  # fmt: skip
    finally:
        executor.check_output(rules.remove, LIMIT_S)
        for path in (executor.folder / name for name in long):
            with lzma.open(f"{path}.xz", "wb") as file:
                file.write(path.read_bytes())
            path.unlink()
