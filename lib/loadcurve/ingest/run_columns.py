"""Columns that the record of a run adds to what a tool printed: study, run, host, factors, shares."""

import json
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.errors import printable
from loadcurve.study import Command, Run, background_ratios, place_of
from loadcurve.tables.schemas import SCHEMAS

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
    options = [option for word, option in pairwise(command.argv) if word == "prlimit"]
    given = [found[1] for option in options if (found := _NOFILE.fullmatch(option))]
    # A server may raise its own limit, as nginx does by worker_rlimit_nofile.
    inherited = machine.get("open_files_limit") if command.role == "generator" and command.host == "local" else None
    limit = given[-1] if given else inherited  # the last one is the nearest to the command
    if limit is None:
        return {}
    return {"host": command.host, "process": command.role, "setting": "Max open files", "value": str(limit)}


_RATE = re.compile(r"tbf rate ([0-9]{1,15})\b.*")  # bytes/s, as `tc -j qdisc show` prints it


def complete(
    name: str,
    frame: pd.DataFrame,
    run: Run,
    command: Command,
    source: str,
    load_started: pd.Timestamp,
    generator: int | None,
) -> pd.DataFrame:
    """Add the columns that only the run's record knows to a table of one file."""
    columns = SCHEMAS[name].columns
    known: dict[str, Any] = {"source": source}
    if generator is not None and "generator" in columns:
        known["generator"] = generator
    if "elapsed_s" in columns and "time" in frame:
        known["elapsed_s"] = (frame["time"] - load_started).dt.total_seconds() - _clock_offset_s(run, command.host)
    if "host" in columns and (name != "hosts" or "host" not in frame):
        # A heading, such as mpstat's, names the machine, which namespaces share; the study names the host.
        known["host"] = command.host
    shares = run.factors.get("expected_shares")  # one for each server behind the laboratory's balancer
    if name == "balancer" and shares:
        known["expected_share_ratio"] = _expected_shares(frame, shares)
    if name == "balancer" and "scheduler" not in frame and (scheduler := _scheduler(run)):
        known["scheduler"] = scheduler  # counters are printed without it
    if name == "network" and (rates := _rates_bytes_per_s(run, command.host)):
        known["utilisation_ratio"] = _share_of_rates(frame, rates)
    if name == "runs":
        failed = frame["status"].eq("failed") if "status" in frame else pd.Series(False, frame.index)
        known |= {
            "status": failed.map({True: "failed", False: run.status}),
            "tool_version": command.version,
            "started_at": pd.Timestamp(command.started_at),
            **factors_of(run),
            **_background(run),
        }
        if (seconds := run.factors.get("seconds", 0)) > 0:
            known["duration_asked_s"] = float(seconds)
        if shares:
            known["server_units"] = len(shares)
    return of_run(frame.assign(**known), run)


def _expected_shares(balancer: pd.DataFrame, shares: dict[str, float]) -> pd.Series:
    """Share of each server by its endpoint; haproxy names the servers s1, s2 and so on, in their order."""
    known = balancer.reindex(columns=["server", "server_address", "server_port"]).astype("str")
    names = {f"s{number}": share for number, share in enumerate(shares.values(), 1)}
    return (known["server_address"] + ":" + known["server_port"]).map(shares).fillna(known["server"].map(names))


def _rates_bytes_per_s(run: Run, host: str) -> dict[str, float]:
    """Rate limits that the laboratory set on the interfaces of a host, both directions, in bytes/s.

    NaN for a veth without a limit: it reports a speed that limits nothing.
    """
    cards = run.machine.get("hosts", {}).get(host, {}).get("interfaces", {})
    rates = {}
    for name, card in cards.items():
        limits = [float(limit[1]) for queue in card.get("qdiscs", ()) if (limit := _RATE.fullmatch(queue))]
        if limits := [limit for limit in limits if limit > 0]:
            rates[name] = limits[-1]
        elif card.get("kind") == "veth":
            rates[name] = np.nan
    return rates


def _share_of_rates(network: pd.DataFrame, rates: dict[str, float]) -> pd.Series:
    """Utilisation of each sample: of the rate limit, where an interface is in `rates`, otherwise as printed."""
    columns = ["received_bytes_per_s", "transmitted_bytes_per_s", "interface", "utilisation_ratio"]
    known = network.reindex(columns=columns)
    names = known["interface"].astype("str")
    of_rate = known[columns[:2]].astype(float).max(axis=1) / names.map(rates).astype(float)
    return of_rate.where(names.isin(rates), known["utilisation_ratio"].astype(float))


def _scheduler(run: Run) -> str:
    """Scheduler of ipvs or haproxy, by the balancer's own name; empty for others, whose hash spreads the clients."""
    chosen = run.factors.get("settings", {}).get("balancer", {})
    for kind, section in chosen.items():
        scheduler = section.get("scheduler") if isinstance(section, dict) else None
        if kind in ("ipvs", "haproxy") and isinstance(scheduler, str):
            return "source" if kind == "haproxy" and scheduler == "hash" else scheduler
    return ""


def _clock_offset_s(run: Run, host: str) -> float:
    """Time in s by which a host's clock is ahead of the launcher's, which recorded when commands started."""
    facts = run.machine.get("hosts", {}).get(host, {})
    return float(facts.get("clock_offset_s", 0.0))


def factors_of(run: Run) -> dict[str, Any]:
    """Factors of a run that have columns in `runs`."""
    return {name: run.factors.get(name) for name in ("variant", "repeat", "server_cpu", "generator_cpu")}


def _background(run: Run) -> dict[str, Any]:
    """Processor shares of other programs and of the hypervisor, on the machine where they were largest."""
    ratios = [*background_ratios(run.background).values()] or [(np.nan, np.nan)]
    return dict(zip(("cpu_other_ratio", "cpu_steal_ratio"), np.fmax.reduce(ratios), strict=True))


def of_run(frame: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Add the columns `study` and `run_id`."""
    return frame.assign(study=run.study, run_id=run.run_id)


def tables_of(run: Run, load_started: pd.Timestamp) -> dict[str, pd.DataFrame]:
    """Tables from the record alone: levels of the factors, injected faults, settings, what quotas of CPU time did."""
    levels = run.factors.get("levels", {})
    factors = [
        {
            "factor": ".".join(place_of(name)),
            "level": level if isinstance(level, str) else json.dumps(level),
            "number": float(level) if isinstance(level, int | float) and not isinstance(level, bool) else float("nan"),
        }
        for name, level in levels.items()
    ]
    events = [
        {
            "time": (at := pd.Timestamp(event["at"])),
            "elapsed_s": (at - load_started).total_seconds(),
            "host": event["host"],
            "tool": "loadcurve",
            "event": "fault",
            "text": event["what"],
        }
        for event in run.events
    ]
    found = {
        "factors": factors,
        "events": events,
        "settings": recorded_settings(run),
        "counters": _throttling(run, load_started),
    }
    return {name: pd.DataFrame(rows) for name, rows in found.items() if rows}


def _throttling(run: Run, load_started: pd.Timestamp) -> list[dict[str, Any]]:
    """Rows of each host with a quota: 0 when its control group was created, and the counters at its end."""
    place = {"tool": "cgroup", "group": "cpu.stat"}
    ends = [pd.Timestamp(command.ended_at) for command in run.commands if command.ended_at]
    last_s = (max(ends) - load_started).total_seconds() if ends else float("nan")
    rows = []
    for host, facts in run.machine.get("hosts", {}).items():
        if counted := facts.get("throttling"):
            values = (("nr_periods", "periods", ""), ("nr_throttled", "throttled", ""))
            for name, key, unit in (*values, ("throttled_usec", "throttled_s", "s")):
                row = {**place, "host": host, "counter": name, "unit": unit}
                rows += [
                    {**row, "elapsed_s": 0.0, "value": 0.0},
                    {**row, "elapsed_s": last_s, "value": float(counted[key])},
                ]
    return rows
