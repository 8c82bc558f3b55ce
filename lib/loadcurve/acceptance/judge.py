"""The list of all checks, and a recorded acceptance test judged by them: pass, fail or not checked."""

from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd

from loadcurve.acceptance import decisions
from loadcurve.acceptance.decisions import FUNCTIONS, AcceptanceCheck, LoadRuns, Outcome
from loadcurve.errors import LoadcurveError
from loadcurve.files.paths import study_folder
from loadcurve.files.reads import record_reads, studies_read
from loadcurve.reading.tables import read_table
from loadcurve.study import Run, Study
from loadcurve.study.records import read_run, read_study, run_folders
from loadcurve.tables import merge_generators

_FILE = "HAProxy reads its configuration from a file; nothing is loaded into the kernel"
_SLOW = "IPVS runs in user-mode-linux, which shows functions and no speed"
_ONE_LOOKUP = "it has one way to find a service"

CHECKS = (
    AcceptanceCheck(
        "client_address",
        "Servers see the addresses of their clients.",
        "The servers' access logs name the addresses of both clients and no others.",
        "One foreign address is enough to break access rules and logs.",
        (FUNCTIONS,),
        decisions.client_address,
    ),
    AcceptanceCheck(
        "servers_reach_outside",
        "Servers reach hosts outside through the balancer.",
        "A server gets a response from a host that has no route to the servers.",
        "Without a route back, only an address of the balancer can be answered.",
        (FUNCTIONS,),
        decisions.outside,
    ),
    AcceptanceCheck(
        "round_robin",
        "Servers take turns.",
        "30 connections in sequence are as even as round robin: counts differ from a third by at most one.",
        "Turns leave no chance: a larger difference is not round robin.",
        (FUNCTIONS,),
        decisions.round_robin,
    ),
    AcceptanceCheck(
        "hash_of_address",
        "A client address keeps its server, and addresses are spread evenly.",
        f"None of 36 addresses changes its server, and the chi-square test gives p ≥ {decisions.LEAST_P}.",
        "A fair hash fails this by chance in one of 1,000 tests.",
        (FUNCTIONS,),
        decisions.hash_of_address,
    ),
    AcceptanceCheck(
        "ten_thousand_services",
        "Ten thousand services can be loaded, and the last one works.",
        "The balancer lists 10,000 services, and the first and the last respond to every request.",
        "The number is that of the published plan.",
        (FUNCTIONS,),
        decisions.ten_thousand,
        cannot={"haproxy": "each service would be a listening socket, which the laboratory does not configure"},
    ),
    AcceptanceCheck(
        "export_import",
        "Rules can be saved and restored.",
        "After a flush nothing responds; the rules exported after the import equal those exported before it, as text.",
        "A lost rule is a lost server or service.",
        (FUNCTIONS,),
        decisions.export_import,
        cannot={"haproxy": _FILE},
    ),
    AcceptanceCheck(
        "dead_server_taken_out",
        "A server that died gets no more connections, and gets them again when it is back.",
        "At most 3 s after its end all of 12 requests get a response; after its start it responds again.",
        "Checks every 0.2 s (HAProxy) or 0.5 s (keepalived) find a closed port within 1 s; 3 s leaves room.",
        (FUNCTIONS,),
        decisions.dead_server,
    ),
    AcceptanceCheck(
        "fail_over",
        "A second balancer takes over the address.",
        f"New connections get a response at most {decisions.LONGEST_OUTAGE_S:g} s after the first balancer stopped, "
        "and all from then on.",
        "VRRP with advertisements every 0.2 s needs 0.6 to 0.8 s (RFC 5798: three intervals and the skew).",
        (FUNCTIONS,),
        decisions.fail_over,
    ),
    AcceptanceCheck(
        "state_copied",
        "The second balancer knows established connections before it takes over.",
        "It lists the client's connection as established 2 s after it began (IPVS: 5 s).",
        "IPVS copies a connection from its third packet on (sync_threshold); conntrackd copies each change.",
        (FUNCTIONS,),
        decisions.state_copied,
        cannot={"haproxy": "HAProxy ends the client's connection, so no other process can continue it"},
    ),
    AcceptanceCheck(
        "connection_survives",
        "A client's long connection survives the fail-over.",
        f"A download of {decisions.LONG_BYTES:,} bytes that began 2 s before (IPVS: 5 s) ends with every byte.",
        "A connection that is not continued ends early: no threshold is needed.",
        (FUNCTIONS,),
        decisions.connection_survives,
    ),
    AcceptanceCheck(
        "large_responses",
        "Large responses fill the link.",
        f"Received bytes per second are at least {decisions.LEAST_BANDWIDTH_RATIO:.0%} of those without the balancer, "
        "on the same link of 200 Mbit/s.",
        "Runs on a rate-limited link differ by less than 0.1 %, so 2 % is far outside their scatter.",
        ("large", "direct_large"),
        decisions.large_responses,
        cannot={"ipvs": _SLOW},
    ),
    AcceptanceCheck(
        "small_responses",
        "Small packets pass without loss.",
        f"At most 1 of {1 / decisions.MOST_LOST_RATIO:,.0f} TCP segments is sent again, and no processor spends over "
        f"{decisions.LARGEST_SOFTIRQ_RATIO:.0%} of its time in software interrupts.",
        "A processor that only handles interrupts drops packets; a lost segment costs its response 200 ms or more.",
        ("small",),
        decisions.small_responses,
        cannot={"ipvs": _SLOW},
    ),
    AcceptanceCheck(
        "response_time",
        "The balancer adds little to the response time.",
        f"At two connections the mean response time is at most {decisions.LARGEST_ADDED_S * 1e6:g} µs longer than "
        "without it.",
        "A tenth of the round trip of 1 ms that a request takes across a data centre.",
        ("few", "direct_few"),
        decisions.response_time,
        cannot={"ipvs": _SLOW},
    ),
    AcceptanceCheck(
        "round_robin_under_load",
        "Servers take turns under load, too.",
        "In every run the balancer's counters are as even as round robin.",
        "As for round_robin; under load, processors deal at the same time.",
        ("short",),
        decisions.dealt_under_load,
        cannot={"ipvs": _SLOW},
    ),
    AcceptanceCheck(
        "services_in_a_map",
        "Ten thousand services in a map cost nothing.",
        f"New connections per second are at least {decisions.LEAST_THROUGHPUT_RATIO:.0%} of those with one service.",
        "Five runs of a server limited by its processor show no difference below about 10 %.",
        ("map", "short"),
        partial(decisions.cost_of_services, how="map"),
        cannot={"ipvs": _SLOW, "haproxy": _ONE_LOOKUP},
    ),
    AcceptanceCheck(
        "services_as_rules",
        "Ten thousand services, a rule each, cost nothing.",
        f"New connections per second are at least {decisions.LEAST_THROUGHPUT_RATIO:.0%} of those with one service.",
        "As for services_in_a_map.",
        ("rules", "short"),
        partial(decisions.cost_of_services, how="rules"),
        cannot={"ipvs": _SLOW, "haproxy": _ONE_LOOKUP},
    ),
    AcceptanceCheck(
        "no_failed_request",
        "No request fails under load.",
        "No connection error, time-out or error status in any run.",
        "The loads are below the limit of the ports, so every failure is a fault.",
        ("small",),
        decisions.no_failed_request,
        cannot={"ipvs": _SLOW},
    ),
)
"""All checks, in the order of the report."""

COLUMNS = ["check", "balancer", "verdict", "numbers", "criterion", "runs", "value", "lo", "hi"]
_TABLES = ("runs", "network", "tcp", "cpu", "balancer")
_DIRECT = "direct"


def describe_checks() -> pd.DataFrame:
    """Return the declared checks: ``check``, ``proves``, ``criterion``, ``reason``, ``kind`` (function or load)."""
    rows = [
        (check.name, check.proves, check.criterion, check.reason, "function" if check.is_functional else "load")
        for check in CHECKS
    ]
    return pd.DataFrame(rows, columns=["check", "proves", "criterion", "reason", "kind"])


def is_acceptance(study: Study) -> bool:
    """Return whether variants of a study test the functions of balancers."""
    return bool(_tested(study))


def _tested(study: Study) -> list[str]:
    """Return the balancers whose functions are tested, by the names of variants."""
    return [name.rpartition("_")[0] for name in study.variants if name.endswith(f"_{FUNCTIONS}")]


def judge_acceptance(study: str | Path) -> pd.DataFrame:
    """Return the verdict on each check for each balancer of a recorded study, given by its name or folder.

    A balancer is what the names of variants begin with: ``nft_large`` and ``nft_functions`` are variants of ``nft``.

    The columns are ``check``, ``balancer``, ``verdict`` (``pass``, ``fail``, ``not checked``), ``numbers``,
    ``criterion``, ``runs``, on which the verdict rests, and ``value``, ``lo`` and ``hi`` of what is compared with a
    limit (`Outcome`).

    Raises LoadcurveError when no variant of the study tests functions.
    """
    folder = study_folder(study)
    declared = read_study(folder)
    tested = _tested(declared)
    if not tested:
        raise LoadcurveError(f"{folder}: expected a study with variants such as nft_{FUNCTIONS}, got none")
    finished = {path: run for path in run_folders(folder) if (run := read_run(path)).status == "finished"}
    functional = {path: run for path, run in finished.items() if run.is_functional}
    studies_read.add(declared.study)
    record_reads([folder / "study.yml", *(file for path in functional for file in sorted(path.iterdir()))])
    tables = _load_tables(folder) if len(functional) < len(finished) else None
    rows = [
        {"check": check.name, "balancer": balancer, "criterion": check.criterion}
        | _judged(check, balancer, functional, tables)
        for check in CHECKS
        for balancer in tested
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def judge_functions(folder: Path, balancer: str = "") -> pd.DataFrame:
    """Return the verdict on each functional check from the files of one test: ``check``, ``verdict``, ``numbers``.

    Checks that the balancer cannot pass are not checked.
    """
    rows = []
    for check in CHECKS:
        if check.is_functional:
            cannot = check.cannot.get(balancer)
            outcome = Outcome("not checked", cannot) if cannot else check.decide(folder)  # type: ignore[arg-type]
            rows.append({"check": check.name, "verdict": outcome.verdict, "numbers": outcome.numbers})
    return pd.DataFrame(rows)


def _load_tables(folder: Path) -> dict[str, pd.DataFrame]:
    found = {name: read_table(name, folder) for name in _TABLES}
    found["runs"] = merge_generators(found["runs"])
    of_run = found["runs"].drop_duplicates("run_id").set_index("run_id")["variant"]
    return {name: rows.assign(variant=rows["run_id"].map(of_run)) for name, rows in found.items()}


def _judged(
    check: AcceptanceCheck, balancer: str, functional: dict[Path, Run], tables: dict[str, pd.DataFrame] | None
) -> dict[str, object]:
    if balancer in check.cannot:
        return {"verdict": "not checked", "numbers": check.cannot[balancer], "runs": 0}
    if check.is_functional:
        own = [path for path, run in functional.items() if run.factors["variant"] == f"{balancer}_{FUNCTIONS}"]
        return _of_functions(check, own)
    needed = [name if name.startswith(f"{_DIRECT}_") else f"{balancer}_{name}" for name in check.needs]
    counts = [0 if tables is None else int((tables["runs"]["variant"] == name).sum()) for name in needed]
    if tables is None or not all(counts):
        missing = ", ".join(name for name, count in zip(needed, counts, strict=True) if not count)
        return {"verdict": "not checked", "numbers": f"no run of {missing}", "runs": 0}
    outcome = check.decide(LoadRuns(tables, balancer))  # type: ignore[arg-type]
    return {**asdict(outcome), "runs": sum(counts)}


def _of_functions(check: AcceptanceCheck, folders: list[Path]) -> dict[str, object]:
    """Judge repeats of a functional test together: one failure is a failure."""
    if not folders:
        return {"verdict": "not checked", "numbers": "no functional test is recorded", "runs": 0}
    outcomes = [check.decide(folder) for folder in folders]  # type: ignore[arg-type]
    failed = [outcome for outcome in outcomes if outcome.verdict == "fail"]
    shown = (failed or outcomes)[0]
    numbers = f"{len(outcomes) - len(failed)} of {len(outcomes)} tests pass; in one: {shown.numbers}"
    return {"verdict": shown.verdict, "numbers": numbers if len(outcomes) > 1 else shown.numbers, "runs": len(folders)}
