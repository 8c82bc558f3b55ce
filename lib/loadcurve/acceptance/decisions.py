"""The checks of an acceptance test: what one is, and how each is decided.

Functional checks are decided from the files that `lab/tools/balancers/functions.sh` leaves in the folder of a run.  The
files hold what the tools printed: curl's status, bytes and exit code for each request, nginx's access logs, rules as
ipvsadm and nft print them, connections as ss, conntrack and ipvsadm list them.  Servers S1, S2 and S3 respond with 101,
102 and 103 bytes.

Other checks are decided from the tables of runs with load.  A comparison passes or fails only if the whole 95 %
interval is on one side of its limit.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from loadcurve.stats import Estimate, find_ratio, summarise_balance, summarise_fairness
from loadcurve.units import format_quantity

FUNCTIONS = "functions"
"""What a check needs that is decided from a functional test."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check for one balancer."""

    # `not checked` where a run is missing, the balancer has no such function, or the interval contains the limit.
    verdict: Literal["pass", "fail", "not checked"]
    numbers: str  # The numbers behind it, in a sentence
    # `value`, `lo` and `hi`: the quantity that is compared with a limit, and its 95 % interval: a ratio, or a time in
    # s; NaN where the check compares none.
    value: float = math.nan
    lo: float = math.nan
    hi: float = math.nan


@dataclass(frozen=True)
class LoadRuns:
    """The tables of a study's runs with load."""

    # Name → table with the column `variant`; generators of a run are merged in `runs`.
    tables: Mapping[str, pd.DataFrame]
    balancer: str  # Balancer that is judged; its variants begin with its name

    def of(self, what: str, table: str = "runs") -> pd.DataFrame:
        """Return the rows of the balancer's variant, such as ``nft_large`` for ``large``."""
        return self.of_variant(f"{self.balancer}_{what}", table)

    def of_variant(self, variant: str, table: str = "runs") -> pd.DataFrame:
        """Return the rows of a variant."""
        rows = self.tables[table]
        return rows[rows["variant"] == variant]


@dataclass(frozen=True)
class AcceptanceCheck:
    """A check of an acceptance test."""

    name: str  # Its name, in words joined by `_`
    proves: str  # What a pass shows
    criterion: str  # How it is decided, with the threshold
    reason: str  # Why the threshold is what it is
    # `functions`, or the last parts of the names of the variants that the decision compares: `large` of `nft_large`.  A
    # name with `direct_` is a variant without a balancer.
    needs: tuple[str, ...]
    # Folder of a functional run, or `LoadRuns` → `Outcome`.
    decide: Callable[[Path], Outcome] | Callable[[LoadRuns], Outcome]
    cannot: Mapping[str, str] = field(default_factory=dict)  # Name of a balancer that has no such function → the reason

    @property
    def is_functional(self) -> bool:
        """Whether it is decided from a functional test."""
        return self.needs == (FUNCTIONS,)


CLIENTS = ("10.99.0.2", "10.99.0.3")
SERVER_OF_BYTES = {101: "S1", 102: "S2", 103: "S3"}
LONG_BYTES = 400_000
LEAST_P = 0.001
LONGEST_OUTAGE_S = 2.0


@dataclass(frozen=True)
class Response:
    """What curl printed of one request: HTTP status (0 for no response), bytes of the body, exit code."""

    status: int
    size: int
    exit_code: int

    @property
    def ok(self) -> bool:
        """Whether a server responded."""
        return self.status == 200 and self.exit_code == 0


def client_address(folder: Path) -> Outcome:
    """Decide whether the servers' access logs name the addresses of both clients, and no others."""
    logs = [log for name in SERVER_OF_BYTES.values() if (log := folder / f"{name}.access.log").is_file()]
    lines = [line for log in logs for line in _text(log).splitlines() if "/client_address" in line]
    seen = Counter(line.partition(" ")[0] for line in lines)
    listed = ", ".join(f"{address} ({count})" for address, count in sorted(seen.items())) or "none"
    numbers = f"clients {', '.join(CLIENTS)}; addresses in the servers' logs: {listed}"
    return _outcome(set(seen) == set(CLIENTS), numbers)


def outside(folder: Path) -> Outcome:
    """Decide whether a server got a response from a host that has no route to it."""
    found = _responses(folder / "outside.txt")
    log = folder / "OUT.access.log"
    sources = sorted({line.partition(" ")[0] for line in _text(log).splitlines() if "/outside" in line})
    passed = bool(found) and all(one.ok for one in found) and not any(one.startswith("10.99.64.") for one in sources)
    return _outcome(passed, f"{_answered(found)}; the host outside saw {', '.join(sources) or 'nobody'}")


def round_robin(folder: Path) -> Outcome:
    """Decide whether the servers took turns."""
    found = _responses(folder / "round_robin.txt")
    counts = _by_server(found)
    if not all(one.ok for one in found) or not found:
        return _outcome(False, _answered(found))
    row = summarise_fairness(list(counts.values())).loc[0]
    passed = row["verdict"] == "as even as round robin"
    return _outcome(passed, f"{_shares(counts)} connections, chi-square {row['chi_square']:.2f}: {row['verdict']}")


def hash_of_address(folder: Path) -> Outcome:
    """Decide whether each client address keeps its server, and whether addresses are spread evenly."""
    servers: dict[str, set[str]] = {}
    failed = 0
    for line in _text(folder / "hash.txt").splitlines():
        address, _, rest = line.partition(" ")
        response = _response(rest)
        failed += not response.ok
        servers.setdefault(address, set()).add(SERVER_OF_BYTES.get(response.size, "none"))
    if not servers or failed:
        return _outcome(False, f"{len(servers)} addresses, {failed} requests without a response")
    moved = sum(len(of) > 1 for of in servers.values())
    counts = {name: sum(name in of for of in servers.values()) for name in SERVER_OF_BYTES.values()}
    row = summarise_fairness(list(counts.values())).loc[0]
    numbers = (
        f"{len(servers)} addresses, {moved} of them sent to more than one server; {_shares(counts)} addresses, "
        f"chi-square {row['chi_square']:.2f}, p = {row['p_value']:.3g}"
    )
    return _outcome(moved == 0 and row["p_value"] >= LEAST_P, numbers)


def ten_thousand(folder: Path) -> Outcome:
    """Decide whether ten thousand services are loaded, and the first and the last respond."""
    count = int(_text(folder / "ten_thousand.count.txt") or 0)
    found = _responses(folder / "ten_thousand.txt")
    passed = count == 10_000 and bool(found) and all(one.ok for one in found)
    return _outcome(passed, f"{count:,} services listed; at the first and the last: {_answered(found)}")


def export_import(folder: Path) -> Outcome:
    """Decide whether exported rules, imported after a flush, are the same rules and balance again."""
    names = ("exported", "flushed", "imported")
    exported, flushed, imported = (_text(folder / f"export_import.{name}.txt") for name in names)
    between, after = (_responses(folder / f"export_import.asked_when_{name}.txt") for name in ("flushed", "imported"))
    lost = _difference(exported, imported)
    faults = [
        *(["nothing was exported"] if not exported.strip() else []),
        *(["rules are left after the flush"] if flushed.strip() else []),
        *(["the service still responds after the flush"] if any(one.ok for one in between) else []),
        *([f"exported and imported rules differ: {lost}"] if exported != imported else []),
        *([f"after the import: {_answered(after)}"] if not after or not all(one.ok for one in after) else []),
    ]
    lines = len(exported.splitlines())
    return _outcome(not faults, "; ".join(faults) or f"{lines} lines exported, flushed, imported: the same {lines}")


def dead_server(folder: Path) -> Outcome:
    """Decide whether a server that died gets no more connections, and gets them again when it is back."""
    found, back = (_responses(folder / f"dead_server.{name}") for name in ("txt", "back.txt"))
    times = [float(line) for line in _text(folder / "dead_server.clock.txt").splitlines()]
    returned = _by_server(back)["S3"]
    passed = bool(found) and all(one.ok for one in found) and returned > 0
    waited = f"{times[-1] - times[0]:.1f} s after S3 ended" if len(times) > 1 else "after S3 ended"
    return _outcome(passed, f"{waited}: {_answered(found)}; when S3 was back it got {returned} of {len(back)}")


def fail_over(folder: Path) -> Outcome:
    """Decide whether the second balancer takes over the address and responds to new connections."""
    crash = float(_text(folder / "fail_over.clock.txt") or "nan")
    rows = [line.split() for line in _text(folder / "fail_over.short.txt").splitlines()]
    first = next((at for at, (status, _) in enumerate(rows) if status == "200"), None)
    taken = "inet 10.99.0.1/" in _text(folder / "fail_over.address.txt")
    if first is None:
        return _outcome(False, f"no response to {len(rows)} requests after the first balancer stopped")
    outage_s, later = float(rows[first][1]) - crash, rows[first:]
    lost = sum(status != "200" for status, _ in later)
    numbers = (
        f"first response {outage_s:.1f} s after the first balancer stopped; from then on {len(later) - lost} of "
        f"{len(later)} requests got a response; the second balancer has {'' if taken else 'not '}the address"
    )
    return _outcome(taken and not lost and outage_s <= LONGEST_OUTAGE_S, numbers)


def state_copied(folder: Path) -> Outcome:
    """Decide whether the second balancer lists the client's connection before the first one stops."""
    port = _client_port(folder)
    listed = _text(folder / "fail_over.state.txt").splitlines()
    own = [line for line in listed if re.search(rf"sport={port} |{CLIENTS[0]}:{port} ", line)] if port else []
    state = next((word for word in ("ESTABLISHED", "ESTAB") if own and word in own[0]), "")
    return _outcome(bool(state), f"client port {port or 'unknown'}: the second balancer lists {state or 'nothing'}")


def connection_survives(folder: Path) -> Outcome:
    """Decide whether a download that began before the first balancer stopped ends with every byte."""
    words = _text(folder / "fail_over.long.txt").split()
    if len(words) != 4:
        return _outcome(False, "the download left no result")
    status, size, code, took = int(words[0]), int(words[1]), int(words[2]), float(words[3])
    passed = (status, size, code) == (200, LONG_BYTES, 0)
    return _outcome(passed, f"{size:,} of {LONG_BYTES:,} bytes in {took:.1f} s, curl's exit code {code}")


def _outcome(passed: bool, numbers: str) -> Outcome:
    return Outcome("pass" if passed else "fail", numbers)


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def _response(line: str) -> Response:
    words = line.split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        return Response(0, 0, -1)
    return Response(*map(int, words))


def _responses(path: Path) -> list[Response]:
    return [_response(line) for line in _text(path).splitlines()]


def _by_server(found: list[Response]) -> dict[str, int]:
    return {name: sum(one.ok and one.size == size for one in found) for size, name in SERVER_OF_BYTES.items()}


def _shares(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _answered(found: list[Response]) -> str:
    return f"{sum(one.ok for one in found)} of {len(found)} requests got a response"


def _difference(exported: str, imported: str) -> str:
    gone = [line.strip() for line in exported.splitlines() if line not in imported.splitlines()]
    return f"{len(gone)} lines are missing, such as {gone[0]!r}" if gone else "lines were added or moved"


def _client_port(folder: Path) -> str:
    match = re.search(rf"{re.escape(CLIENTS[0])}:(\d+) ", _text(folder / "fail_over.client_sockets.txt"))
    return match[1] if match else ""


LEAST_BANDWIDTH_RATIO = 0.98
LARGEST_ADDED_S = 100e-6
LEAST_THROUGHPUT_RATIO = 0.9
LARGEST_SOFTIRQ_RATIO = 0.95
MOST_LOST_RATIO = 1e-4
_NO_INTERVAL = "one run of each has no interval: repeat both"
_UNDECIDED = "undecided, because the interval contains the limit: repeat more often"
_ERRORS = ("errors_connect", "errors_read", "errors_write", "errors_timeout", "errors_status")


def large_responses(runs: LoadRuns) -> Outcome:
    """Decide whether large responses reach the client as fast as without the balancer."""
    ours, direct = (rows["received_bytes_per_s"] for rows in (runs.of("large"), runs.of_variant("direct_large")))
    ratio = find_ratio(ours, direct)
    numbers = (
        f"{format_quantity(8 * ours.mean(), 'bps')} with it, {format_quantity(8 * direct.mean(), 'bps')} without it: "
        f"ratio {ratio.value:.4f} [{ratio.lo:.4f}, {ratio.hi:.4f}]"
    )
    return _at_least(ratio, LEAST_BANDWIDTH_RATIO, numbers)


def small_responses(runs: LoadRuns) -> Outcome:
    """Decide whether small responses pass without lost segments, and whether a processor only handles interrupts."""
    rows, network, tcp, cpu = (runs.of("small", table) for table in ("runs", "network", "tcp", "cpu"))
    packets = network[(network["host"] == "LB") & network["interface"].str.startswith("eth")]
    each = cpu[(cpu["host"] == "LB") & (cpu["cpu"] != "all")].groupby(["run_id", "cpu"])["cpu_softirq_ratio"].mean()
    if packets.empty or each.empty or tcp.empty:
        return Outcome("not checked", "no packets, segments or processors were recorded; add the monitor sar")
    lost = tcp["retransmits_pps"].sum() / tcp["segments_sent_pps"].sum()
    rates = packets.groupby(["run_id", "time"])[["received_pps", "transmitted_pps"]].sum().mean()
    mean = each.groupby("run_id").mean().mean()
    numbers = (
        f"{format_quantity(rows['throughput_rps'].mean(), 'rps')}, {format_quantity(rates['received_pps'], 'pps')} in "
        f"and {format_quantity(rates['transmitted_pps'], 'pps')} out of the balancer; softirq takes {mean:.1%} of the "
        f"processors on average and {each.max():.1%} of the busiest; {1e6 * lost:.3g} of 1,000,000 segments sent again"
    )
    passed = lost <= MOST_LOST_RATIO and each.max() <= LARGEST_SOFTIRQ_RATIO
    return Outcome("pass" if passed else "fail", numbers, mean)


def response_time(runs: LoadRuns) -> Outcome:
    """Decide how much the balancer adds to the mean response time at two connections."""
    ours, direct = (rows["latency_mean_s"].astype(float) for rows in (runs.of("few"), runs.of_variant("direct_few")))
    count = ours.size, direct.size
    if min(count) < 2:
        return Outcome("not checked", _NO_INTERVAL)
    added = ours.mean() - direct.mean()
    variances = ours.var(ddof=1) / count[0], direct.var(ddof=1) / count[1]
    error = math.sqrt(sum(variances))
    lo, hi = added, added
    if error:
        import scipy

        squares = sum(variance**2 / (n - 1) for variance, n in zip(variances, count, strict=True))
        half = float(scipy.special.stdtrit(sum(variances) ** 2 / squares, 0.975)) * error  # Welch
        lo, hi = added - half, added + half
    numbers = (
        f"{format_quantity(ours.mean(), 's')} with it, {format_quantity(direct.mean(), 's')} without it: "
        f"{added * 1e6:.1f} µs more [{lo * 1e6:.1f}, {hi * 1e6:.1f}]"
    )
    servers = runs.of("few").get("server_units", pd.Series(dtype=float)).astype(float).max()
    if servers > 1:  # without a balancer, one server gets all connections
        unequal = f"{servers:.0f} servers with it, 1 without it: give both one server"
        return Outcome("not checked", f"{numbers}; {unequal}", added, lo, hi)
    if hi <= LARGEST_ADDED_S:
        return Outcome("pass", numbers, added, lo, hi)
    if lo > LARGEST_ADDED_S:
        return Outcome("fail", numbers, added, lo, hi)
    return Outcome("not checked", f"{numbers}; {_UNDECIDED}", added, lo, hi)


def dealt_under_load(runs: LoadRuns) -> Outcome:
    """Decide whether the servers still take turns under load, by the balancer's own counters."""
    balancer = runs.of("short", "balancer")
    verdicts, totals = [], []
    for _, rows in balancer.groupby("run_id", sort=True):
        counts = summarise_balance(rows)["connections"].to_numpy(float)
        if counts.size >= 2 and counts.sum():
            row = summarise_fairness(counts).loc[0]
            verdicts.append(row)
            totals.append(int(counts.sum()))
    if not verdicts:
        return Outcome("not checked", "the balancer's counters were not recorded")
    worst = max(verdicts, key=lambda row: row["chi_square"])
    even = sum(row["verdict"] == "as even as round robin" for row in verdicts)
    numbers = (
        f"{sum(totals):,} connections; {even} of {len(verdicts)} runs as even as round robin; largest chi-square "
        f"{worst['chi_square']:.3g}"
    )
    return _outcome(even == len(verdicts), numbers)


def no_failed_request(runs: LoadRuns) -> Outcome:
    """Decide whether any request failed in any run with load."""
    rows = runs.tables["runs"]
    own = rows[rows["variant"].str.startswith(f"{runs.balancer}_")]
    failed = own.reindex(columns=list(_ERRORS)).astype(float).fillna(0).sum(axis=1)
    numbers = f"{int(failed.sum()):,} failed requests of {int(own['requests'].sum()):,} in {len(own)} runs"
    return _outcome(not failed.any(), numbers)


def cost_of_services(runs: LoadRuns, how: str) -> Outcome:
    """Decide whether ten thousand services, in a map or a rule each, cost throughput of new connections."""
    many, one = (runs.of(name)["throughput_rps"] for name in (how, "short"))
    ratio = find_ratio(many, one)
    numbers = (
        f"{format_quantity(many.mean(), 'rps')} with 10,000 services, {format_quantity(one.mean(), 'rps')} with one: "
        f"ratio {ratio.value:.3f} [{ratio.lo:.3f}, {ratio.hi:.3f}]"
    )
    return _at_least(ratio, LEAST_THROUGHPUT_RATIO, numbers)


def _at_least(ratio: Estimate, limit: float, numbers: str) -> Outcome:
    ends = ratio.value, ratio.lo, ratio.hi
    if np.isnan(ratio.lo) or np.isnan(ratio.hi):
        return Outcome("not checked", f"{numbers}; {_NO_INTERVAL}", *ends)
    if ratio.lo >= limit:
        return Outcome("pass", numbers, *ends)
    if ratio.hi < limit:
        return Outcome("fail", numbers, *ends)
    return Outcome("not checked", f"{numbers}; {_UNDECIDED}", *ends)
