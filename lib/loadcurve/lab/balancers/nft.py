"""nftables as a balancer of connections: the first packet of each chooses a server, conntrack keeps it there (DNAT)."""

from dataclasses import dataclass
from typing import Literal

from loadcurve.lab.balancers.balancer import NAME, Balanced, Balancer, BalancerHost, Services
from loadcurve.lab.balancers.rules import Rules
from loadcurve.lab.balancers.shares import nft_server
from loadcurve.lab.hosts.tools import Tool
from loadcurve.lab.servers.settings import Endpoint, check_count, check_endpoints, check_name
from loadcurve.study.section import Section

TOOL = Tool("nft", "balancer", "--version", "nftables")

MAX_SERVICES = 10_000

# How nft computes the number of a server (nft(8), "numgen expression", "hash expressions").
_SCHEDULERS = {
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

    Parameters
    ----------
    section : NftSection
        Scheduler and lookup.
    listens : tuple of Endpoint
        1–10000 services.
    servers : tuple of Endpoint
        1–256, for all services.
    seed : int
        Of the hash, 1 to 2^32 − 1; see `shares.seed_of_shares`.
    name : str
        Name of the rules; their table has it in small letters, with ``_`` for ``-``.

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
        TOOL,
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
    services, lookup = _services_map(listens) if section.lookup == "map" else ("", _services_rules(listens))
    return _TABLE.format(
        table=name,
        servers="\n".join(_CHAIN.format(i + 1, endpoint) for i, endpoint in enumerate(servers)),
        number=_SCHEDULERS[section.scheduler].format(n=len(servers), seed=seed),
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


def _services_rules(listens: tuple[Endpoint, ...]) -> str:
    """Return a rule for each service."""
    return "\n".join(f"        ip daddr {e.address} tcp dport {e.port} goto balance" for e in listens)


def _start(section: NftSection, host: BalancerHost, seed: int) -> Balanced:
    listens = host.service_endpoints(section.services)
    rules = nft_rules(section, listens, host.servers, seed)
    return Balanced(listens[-1], rules=rules, counting=(TOOL.name, rules.counters))


NFT = Balancer(
    "nft",
    "Rules of nftables: the kernel passes on packets.",
    NftSection,
    _start,
    server_of=nft_server,
    counts=True,
    in_kernel=True,
)
