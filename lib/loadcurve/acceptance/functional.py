"""Decide functional checks from the files that `lab/tools/balancers/functions.sh` leaves in the folder of a run.

The files hold what the tools printed: curl's status, bytes and exit code for each request, nginx's access logs, rules
as ipvsadm and nft print them, connections as ss, conntrack and ipvsadm list them.  Servers S1, S2 and S3 respond with
101, 102 and 103 bytes.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from loadcurve.acceptance.check import Outcome
from loadcurve.stats import summarise_fairness

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
