"""Build a topology of namespaces, links and conditions, and remove it at the end of a context; facts of each network.

``hosts.json`` lists the commands that create the hosts (``before``) and those that remove them (``after``), in order,
each with its ``argv`` and ``stdin``.  A command with ``stays`` runs as long as the hosts, and first prints ``ready``.
"""

import contextlib
import ipaddress
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from loadcurve.errors import LabError
from loadcurve.lab.hosts.host import LOCAL, Host
from loadcurve.lab.hosts.network import delay_line
from loadcurve.lab.hosts.network.conditions import (
    HostSettings,
    Invocation,
    LinkConditions,
    ethtool_argv,
    has_netem,
    loss_rules,
    run,
    run_together,
    tc_lines,
)
from loadcurve.lab.hosts.network.ledger import Ledger, Resource
from loadcurve.lab.hosts.network.topology import (
    SWITCH,
    Links,
    Topology,
    free_block,
    host_lines,
    namespace,
    namespaces_lines,
    port,
    resolve,
    switch_lines,
    sysctl_words,
    veth_lines,
)
from loadcurve.lab.hosts.process import guarded, pipe
from loadcurve.lab.hosts.tools import environment

_SETTINGS = (
    "net.core.somaxconn",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "net.netfilter.nf_conntrack_max",
)
# Those of ethtool(8) ``-k`` that decide how many packets a response is.
_OFFLOADS = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
}


def network_facts(hosts: Mapping[str, Host]) -> dict[str, dict[str, Any]]:
    """Return interfaces, routes and settings of each host.

    By host: ``interfaces`` (name → ``kind``, ``addresses``, ``mtu``, ``qdiscs``, ``offloads``; the kind of a virtual
    device is veth, tun or bridge, otherwise empty), ``routes`` (as ip(8) writes them, with ``congctl`` where a route
    has its own congestion control) and ``sysctls`` (name → value; those that the kernel hides are left out).
    """
    invocations = [
        Invocation(host.argv(command))
        for host in hosts.values()
        for command in (
            ("ip", "-4", "-d", "-j", "address", "show"),
            ("ip", "-4", "route", "show"),
            ("tc", "-j", "qdisc", "show"),
            ("sysctl", "-e", *_SETTINGS),
        )
    ]
    outputs = run_together(invocations)
    facts = {name: _facts_of(*outputs[4 * at : 4 * at + 4]) for at, name in enumerate(hosts)}
    cards = [(name, card) for name, of_host in facts.items() for card in of_host["interfaces"] if card != "lo"]
    invocations = [Invocation(hosts[name].argv(("ethtool", "-k", card))) for name, card in cards]
    for (name, card), output in zip(cards, run_together(invocations), strict=True):
        facts[name]["interfaces"][card]["offloads"] = _offloads(output)
    return facts


def _facts_of(addresses: str, routes: str, qdiscs: str, sysctls: str) -> dict[str, Any]:
    queues: dict[str, list[str]] = {}
    for queue in json.loads(qdiscs or "[]"):
        queues.setdefault(queue["dev"], []).append(_queue(queue))
    settings = (line.partition("=") for line in sysctls.splitlines())
    return {
        "interfaces": {
            link["ifname"]: {
                "kind": link.get("linkinfo", {}).get("info_kind", ""),
                "addresses": [f"{a['local']}/{a['prefixlen']}" for a in link["addr_info"]],
                "mtu": link["mtu"],
                "qdiscs": queues.get(link["ifname"], []),
            }
            for link in json.loads(addresses or "[]")
            if link
        },
        "routes": [" ".join(line.split()) for line in routes.splitlines()],
        "sysctls": {name.strip(): " ".join(value.split()) for name, _, value in settings},
    }


def _queue(queue: dict[str, Any]) -> str:
    options = " ".join(f"{key} {value}" for key, value in queue.get("options", {}).items() if value is not None)
    return f"{queue['kind']} {options}".strip()


def _offloads(features: str) -> dict[str, bool]:
    lines = (line.partition(":") for line in features.splitlines())
    return {_OFFLOADS[name]: value.split()[0] == "on" for name, _, value in lines if name in _OFFLOADS}


NAME = "hosts.json"


@dataclass
class SetupLog:
    """Commands that created the hosts of a run."""

    # `before` and `after`: commands that create the hosts and commands that remove them, in order.
    before: list[Invocation] = field(default_factory=list)
    after: list[Invocation] = field(default_factory=list)
    # Files that the commands need, written to the run's folder: name → text.
    files: dict[str, str] = field(default_factory=dict)

    def note(self, made: Iterable[Invocation]) -> list[Invocation]:
        """Add commands that are about to be run, and return them as a list."""
        made = list(made)
        self.before += made
        return made

    def keep(self, folder: Path) -> None:
        """Write ``hosts.json`` and its files to a run's folder; write nothing if no commands were recorded."""
        if not self.before:
            return
        steps = {"before": list(map(asdict, self.before)), "after": list(map(asdict, self.after))}
        for name, text in {**self.files, NAME: json.dumps(steps, indent=1) + "\n"}.items():
            (folder / name).write_text(text, "utf-8")


# Time limit of a delay line, which normally ends with its topology.
_LONGEST_TOPOLOGY_S = 86_400.0
_DELAY_LINE_START_LIMIT_S = 5.0
# File name of the delay line in the run's folder, for a reader who repeats the run by hand.
_DELAY_LINE = "delay_line.py"


@contextlib.contextmanager
def build(
    topology: Topology,
    ledger: Ledger,
    links: Mapping[str, LinkConditions] | None = None,
    hosts: Mapping[str, HostSettings] | None = None,
    setup_log: SetupLog | None = None,
) -> Iterator[dict[str, Host]]:
    """Build a topology, and remove it at the end with every process in it.

    `ledger` records each resource before it is created, `setup_log` the commands; `loopback` needs no setup and has
    only the host ``local``.  `links` has conditions by name of a host (all its links), of one link, such as
    ``LB.back``, or of a network (all its links).  Raises LabError when a name is not in the topology, the machine
    cannot build the topology, or a delay line ended early.
    """
    conditions = resolve(topology, links or {})
    settings = {node.name: HostSettings() for node in topology.nodes}
    settings |= {topology.node(name).name: setting for name, setting in (hosts or {}).items()}
    if not topology.nodes:
        yield {"local": LOCAL}
        return
    _check_machine(topology)
    spaces = [namespace(ledger.tag, name) for name in (*settings, SWITCH)]
    resources = [Resource("namespace", name) for name in spaces]
    ledger.record(*resources)
    with contextlib.ExitStack() as stack:
        stack.callback(ledger.remove, *resources)
        setup_log = setup_log or SetupLog()
        setup_log.after += [Invocation(("ip", "netns", "del", space)) for space in spaces]
        _make(topology, ledger, conditions, settings, stack, setup_log)
        yield {
            node.name: Host(node.name, node.addresses[0], ("ip", "netns", "exec", namespace(ledger.tag, node.name)))
            for node in topology.nodes
        }


def unused_block() -> str:
    """Return a block of private addresses that this machine has no route to."""
    return free_block(_routes())


def _routes() -> list[str]:
    found = json.loads(run(("ip", "-4", "-j", "route", "show", "table", "all")) or "[]")
    return [route["dst"] for route in found if route["dst"] != "default"]


def _check_machine(topology: Topology) -> None:
    if os.geteuid() != 0:
        raise LabError(f"topology {topology.name} needs network namespaces, and those need root; or use loopback")
    routes = [ipaddress.ip_network(route, strict=False) for route in _routes()]
    for network in {
        ipaddress.ip_interface(a).network for n in topology.nodes for i in n.interfaces for a in i.addresses
    }:
        if any(network.overlaps(route) for route in routes):
            raise LabError(f"this machine has a route to {network}; give the topology another block, see unused_block")


def _make(
    topology: Topology,
    ledger: Ledger,
    links: Links,
    settings: Mapping[str, HostSettings],
    stack: contextlib.ExitStack,
    setup_log: SetupLog,
) -> None:
    """Create namespaces and veth pairs, then delay lines, then configure all namespaces in parallel."""
    netem = any(c.delay_s for c in links.values()) and has_netem()
    delayed = frozenset(link for link, c in links.items() if c.delay_s and not netem)
    batch = namespaces_lines(topology, ledger.tag) + veth_lines(topology, ledger.tag, delayed)
    run_together(setup_log.note([Invocation(("ip", "-batch", "-"), batch)]), ledger.lock)
    _start_delay_lines(topology, ledger, {link: links[link].delay_s for link in delayed}, stack, setup_log)
    ipv6 = Path("/proc/sys/net/ipv6").exists()
    switch = namespace(ledger.tag, SWITCH)
    first, then = [Invocation(("ip", "-n", switch, "-batch", "-"), switch_lines(topology, links, ipv6))], []
    for node in topology.nodes:
        space, setting = namespace(ledger.tag, node.name), settings[node.name]
        enter = ("ip", "netns", "exec", space)
        first.append(Invocation(("ip", "-n", space, "-batch", "-"), host_lines(node, links, setting, ipv6)))
        first.append(Invocation((*enter, "sysctl", "-q", "-w", *sysctl_words(node, setting))))
        then += _conditions(space, {i.name: links[node.name, i.network] for i in node.interfaces}, netem)
    then += _conditions(switch, {port(*link): condition for link, condition in links.items()}, netem)
    run_together(setup_log.note(first), ledger.lock)
    run_together(setup_log.note(then), ledger.lock)


def _conditions(space: str, devices: Mapping[str, LinkConditions], netem: bool) -> list[Invocation]:
    """Return the commands that set the conditions of a namespace's devices."""
    enter, made = ("ip", "netns", "exec", space), []
    if lines := "".join(tc_lines(device, condition, netem) for device, condition in devices.items()):
        made.append(Invocation(("tc", "-n", space, "-batch", "-"), lines))
    if losses := {device: c.loss_ratio for device, c in devices.items() if c.loss_ratio}:
        made.append(Invocation((*enter, "nft", "-f", "-"), loss_rules(losses)))
    switched = (ethtool_argv(device, condition) for device, condition in devices.items())
    return made + [Invocation((*enter, *argv)) for argv in switched if argv]


def _start_delay_lines(
    topology: Topology,
    ledger: Ledger,
    delays: Mapping[tuple[str, str], float],
    stack: contextlib.ExitStack,
    setup_log: SetupLog,
) -> None:
    """Start a delay line for each link with delay; a delay line ends if it cannot print `ready` to the launcher."""
    lines = []
    for (host, network), delay_s in delays.items():
        (device,) = (i.name for i in topology.node(host).interfaces if i.network == network)
        ends = (namespace(ledger.tag, host), device, namespace(ledger.tag, SWITCH), port(host, network))
        argv = (sys.executable, "-I", "-S", delay_line.__file__, *ends, f"{delay_s:.6f}")
        setup_log.note([Invocation(("python3", "-I", "-S", _DELAY_LINE, *argv[4:]), stays=True)])
        setup_log.files[_DELAY_LINE] = Path(delay_line.__file__).read_text("utf-8")
        process = subprocess.Popen(
            guarded(argv, _LONGEST_TOPOLOGY_S),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(ledger.lock,),  # `clean` waits until the delay line has ended
        )
        stack.push(partial(_stop, process))
        lines.append(process)
    for process in lines:
        ready, _, _ = select.select([pipe(process.stdout)], [], [], _DELAY_LINE_START_LIMIT_S)
        printed = "it printed nothing"
        if ready:
            printed = os.read(pipe(process.stdout).fileno(), 4096).decode("utf-8", "replace").strip()
        if printed != "ready":
            raise LabError(f"a delay line did not start: {printed.splitlines()[-1] if printed else 'it ended at once'}")


def _stop(process: subprocess.Popen[bytes], kind: type[BaseException] | None, *_: object) -> None:
    """End a delay line; raise an error if it had ended before, unless another error is being raised."""
    if process.poll() is not None:
        pipe(process.stdout).close()
        if kind is not None:
            return
        raise LabError(f"a delay line ended by itself, exit code {process.returncode}: its link was cut")
    process.terminate()  # `timeout` forwards the signal
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(3)
    pipe(process.stdout).close()
