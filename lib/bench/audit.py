"""What an audit costs, for one file and for a thousand runs, and how often it is wrong."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from process_tree import cost, memory
from report import say

_RUNS = 1000
_REPORT = Path(__file__).parents[1] / "tests/data/folders/wrk_only/c64.txt"
_STUDY = "connections_on_loopback"
_AIMS = {("unseen", "errors"): (0.98, 0.9), ("unseen", "warnings"): (0.9, 0.9), ("unseen", "all rules"): (0.9, 0.9)}
"""Precision and recall that the audit aims at on reports that nobody looks at while changing a rule."""


def one_file(_: Path) -> None:
    """The audit of one report of wrk, process start included, over the import of pandas alone."""
    commands = (["-m", "loadcurve", "audit", str(_REPORT)], ["-c", "import pandas"])
    ours, pandas = (min(cost([sys.executable, *command]).cpu_s for _ in range(6)) for command in commands)
    say("audit of one file", f"{ours:.2f} s of CPU", "< 1 s", ours < 1)
    say("audit of one file / import pandas", f"{ours:.2f} s / {pandas:.2f} s = {ours / pandas:.1f}", "-", True)


def many_runs(_: Path) -> None:
    """The audit of a thousand runs with monitors, and the rules that take most of it."""
    from loadcurve.audit import all_rules, audit
    from loadcurve.audit.run_tables import RunTables
    from loadcurve.audit.settings import AuditSettings

    tables = replicated(_RUNS)
    rows = sum(len(frame) for frame in tables.values())
    before, _ = memory(os.getpid())
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on (proc(5))
    took = _own_s(lambda: audit(tables, AuditSettings()))
    grown = (memory(os.getpid())[1] - before) / 1e6
    say(f"audit of {_RUNS:,} runs, {rows:,} rows", f"{took:.2f} s of CPU", "≤ 5 s", took <= 5)
    say("memory that it takes beyond the tables", f"{grown:,.0f} MB", "≤ 300 MB", grown <= 300)
    of_runs = RunTables(tables)
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


def _own_s(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def error_rates(_: Path) -> None:
    """Precision and recall of the findings about labelled reports, and recall of each rule on planted faults."""
    from validation.faults import mutated_cases, recorded_cases, summarise_recall
    from validation.labels import compare_with_labels, summarise_error_rates

    planted = summarise_recall([*recorded_cases(), *mutated_cases()]).assign(half="planted", label="raise", severity="")
    planted = planted.assign(rule=planted["expected"].str.split(", ")).explode("rule")
    reported = [rule in names.split(", ") for rule, names in zip(planted["rule"], planted["found"], strict=True)]
    planted["found"] = planted["rule"].where(reported, "")
    rates = summarise_error_rates(pd.concat([compare_with_labels(), planted]))
    for row in rates[rates[["right", "wrong", "missed"]].any(axis=1)].itertuples():
        shares = {"recall": (row.recall, row.recall_lo, row.recall_hi)}
        if row.half != "planted":  # where nothing but faults is planted, no finding is wrong
            shares = {"precision": (row.precision, row.precision_lo, row.precision_hi), **shares}
        figure = ", ".join(f"{name} {s:.0%} ({lo:.0%}–{hi:.0%})" for name, (s, lo, hi) in shares.items() if s == s)
        precision, recall = _AIMS.get((row.half, row.rule), (0, 0))
        asked = f"≥ {precision:.0%}, ≥ {recall:.0%}" if precision else "-"
        fine = not (row.precision < precision or row.recall < recall)
        say(f"{row.half}: {row.rule}, {row.right} + {row.wrong} wrong + {row.missed} missed", figure, asked, fine)


CASES = {"audit_file": one_file, "audit": lambda place: (many_runs(place), error_rates(place))}
