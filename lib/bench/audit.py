"""What an audit costs: one file from the command line, and a thousand runs from tidy tables."""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from report import say

_RUNS = 1000
_REPORT = Path(__file__).parents[1] / "tests/data/folders/wrk_only/c64.txt"
_STUDY = "connections_on_loopback"


def one_file(_: Path) -> None:
    """The audit of one report of wrk, process start included, over the import of pandas alone."""
    ours = _children_s([sys.executable, "-m", "loadcurve", "audit", str(_REPORT)])
    pandas = _children_s([sys.executable, "-c", "import pandas"])
    say("audit of one file", f"{ours:.2f} s of CPU", "< 1 s", ours < 1)
    say("audit of one file / import pandas", f"{ours:.2f} s / {pandas:.2f} s = {ours / pandas:.1f}", "-", True)


def many_runs(_: Path) -> None:
    """The audit of a thousand runs with monitors, and the rules that take most of it."""
    from loadcurve.audit import all_rules, audit
    from loadcurve.audit.of_runs import OfRuns
    from loadcurve.audit.settings import AuditSettings

    tables = replicated(_RUNS)
    rows = sum(len(frame) for frame in tables.values())
    before = _memory_bytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on (proc(5))
    took = _own_s(lambda: audit(tables, AuditSettings()))
    grown = (_memory_bytes("VmHWM") - before) / 1e6
    say(f"audit of {_RUNS:,} runs, {rows:,} rows", f"{took:.2f} s of CPU", "≤ 5 s", took <= 5)
    say("memory that it takes beyond the tables", f"{grown:,.0f} MB", "≤ 300 MB", grown <= 300)
    of_runs = OfRuns(tables)
    each = {name: _own_s(lambda rule=rule: rule.rows(of_runs)) for name, rule in all_rules().items()}
    for name in sorted(each, key=each.__getitem__, reverse=True):
        say(f"  {name} alone", f"{each[name] * 1000:.0f} ms of CPU", "≤ 100 ms", each[name] <= 0.1)


def replicated(number: int) -> dict[str, pd.DataFrame]:
    """Return tidy tables of some runs: copies of the recorded runs under names of their own."""
    from loadcurve.ingest.parsed import Tables
    from loadcurve.reading import read
    from loadcurve.tables import check

    recorded: Tables = read(Path(__file__).parents[2] / "data/studies" / _STUDY).tables
    names = recorded["runs"]["run_id"].unique()
    copies = -(-number // len(names))
    kept = {f"{name}x{copy}" for copy in range(copies) for name in names if copy * len(names) < number}
    kept = set(sorted(kept)[:number])
    found = {}
    for table in recorded:
        frame = recorded[table]
        if "run_id" in frame:
            every = [frame.assign(run_id=frame["run_id"] + f"x{copy}") for copy in range(copies)]
            frame = pd.concat(every, ignore_index=True)
            frame = frame[frame["run_id"].isin(kept)]
        found[table] = check(table, frame)
    return found


def _memory_bytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def _own_s(work: Callable[[], object]) -> float:
    begun = _used_s(resource.RUSAGE_SELF)
    work()
    return _used_s(resource.RUSAGE_SELF) - begun


def _children_s(command: list[str], repeats: int = 5) -> float:
    """Least CPU time of a command, in seconds; the first run, which compiles, does not count."""
    times = []
    for _ in range(repeats + 1):
        begun = _used_s(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=False)
        times.append(_used_s(resource.RUSAGE_CHILDREN) - begun)
    return min(times[1:])


def _used_s(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


CASES = {"audit_file": one_file, "audit": many_runs}
