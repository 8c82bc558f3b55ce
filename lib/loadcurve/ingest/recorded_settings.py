"""Settings of hosts and limits of processes from `run.json`, as rows of the table `settings`."""

import re
from collections.abc import Iterator
from typing import Any

from loadcurve.errors import printable
from loadcurve.study import Command, Run

_CONTROL = "net.ipv4.tcp_congestion_control"
# Facts of the machine that are settings of its kernel (`loadcurve.lab.hosts.facts`).
_OF_MACHINE = {
    "tcp_congestion_control": _CONTROL,
    "somaxconn": "net.core.somaxconn",
    "ip_local_port_range": "net.ipv4.ip_local_port_range",
    "tcp_tw_reuse": "net.ipv4.tcp_tw_reuse",
}
# Facts of the whole machine, which its network namespaces share.
_OF_ALL_NAMESPACES = {
    "cpu_model": "model name",
    "cpu_governor": "scaling_governor",
    "cpu_mitigations": "vulnerabilities",
    "tcp_max_orphans": "net.ipv4.tcp_max_orphans",
}
_NOFILE = re.compile(r"--nofile=([0-9]+)(?::[0-9]*)?")
_UNKNOWN = "not known"
_BY_ROUTE = re.compile(r".* congctl ([a-z][a-z0-9_]{0,14})(?: .*)?")  # ip-route(8)


def recorded_settings(run: Run) -> list[dict[str, str]]:
    """Return rows of the table `settings`: of each host, and the open files of generators and servers.

    A host of its own network has the settings recorded there; the launcher's machine and its loopback interface have
    the machine's.  Where all routes of a host name one congestion control, its connections use that one.  A process
    has the limit of its command (`prlimit`), a generator otherwise the launcher's.  The value of ``link NAME`` is the
    kind of a virtual link and its queueing disciplines, that of ``addresses`` all but those of lo.
    """
    hosts: dict[str, Any] = run.machine.get("hosts", {})
    rows = []
    for host in dict.fromkeys([*(command.host for command in run.commands), *hosts]):
        facts = hosts.get(host, {})
        of_machine = facts if _OF_MACHINE.keys() & facts else run.machine if host == "local" else {}
        of_machine = {name: of_machine.get(key) for key, name in _OF_MACHINE.items()}
        known = facts.get("sysctls", of_machine) | _control_of_routes(facts)
        rows += [
            {"host": host, "setting": name, "value": str(value)}
            for name, value in known.items()
            if value not in (None, "", _UNKNOWN)
        ]
        machine = facts if "ssh" in facts else run.machine
        known = {name: machine.get(key) for key, name in _OF_ALL_NAMESPACES.items()} | _links(facts)
        rows += [
            {"host": host, "setting": name, "value": printable(value)}
            for name, value in known.items()
            if isinstance(value, str) and value not in ("", _UNKNOWN)
        ]
    rows += [row for command in run.commands if (row := _open_files(command, run.machine))]
    return [{"tool": "loadcurve", **row} for row in rows]


def _control_of_routes(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the congestion control that all routes of a host name; empty where they name none or several."""
    named = [_BY_ROUTE.fullmatch(route) for route in facts.get("routes", [])]
    names = {match[1] if match else "" for match in named}
    return {_CONTROL: names.pop()} if len(names) == 1 and "" not in names else {}


def _links(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the kind and the queueing disciplines of each virtual link of a host, and its addresses."""
    cards = facts.get("interfaces", {})
    links = {
        f"link {printable(name)}": " ".join([card["kind"], *card.get("qdiscs", [])])
        for name, card in cards.items()
        if card.get("kind")
    }
    addresses = [address.partition("/")[0] for name, card in cards.items() if name != "lo"
                 for address in card.get("addresses", [])]  # fmt: skip
    return links | {"addresses": " ".join(addresses)}


def _open_files(command: Command, machine: dict[str, Any]) -> dict[str, str]:
    """Return the limit of open files of a command; empty where it is not known."""
    if command.role not in ("generator", "server"):
        return {}
    *_, given = [None, *_nofile(command)]  # the last one is the nearest to the command
    # A server may raise its own limit, as nginx does by worker_rlimit_nofile.
    inherited = machine.get("open_files_limit") if command.role == "generator" and command.host == "local" else None
    limit = given if given is not None else inherited
    if limit is None:
        return {}
    return {"host": command.host, "process": command.role, "setting": "Max open files", "value": str(limit)}


def _nofile(command: Command) -> Iterator[str]:
    for word, option in zip(command.argv, command.argv[1:], strict=False):
        if word == "prlimit" and (limit := _NOFILE.fullmatch(option)):
            yield limit[1]
