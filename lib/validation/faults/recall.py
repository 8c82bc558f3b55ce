"""Which planted faults the audit finds, and how often it raises a false alarm on clean runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pandas as pd

from loadcurve import read
from loadcurve.audit import AuditSettings, all_rules
from loadcurve.audit.atlas import Fault, atlas_folder, read_faults, read_recorded
from loadcurve.audit.registry import audit
from loadcurve.audit.run_tables import Tables, tables_of
from loadcurve.audit.settings import study_settings
from loadcurve.files import paths
from loadcurve.reading.tables import read_tables
from loadcurve.study.records import read_study
from validation.faults import balance, clocks, errors, load, physics, saturation, statistics, timelines
from validation.faults.mutation import RUN, STUDY, Mutation

FOUND = ("warning", "error")
FAMILIES = (load, errors, saturation, physics, statistics, timelines, clocks, balance)
MUTATIONS: tuple[Mutation, ...] = tuple(one for family in FAMILIES for one in family.MUTATIONS)
FOLDERS = tuple(f"lib/tests/data/folders/{name}" for name in ("ab_sar", "json_tools", "wrk_monitors", "wrk_only"))
"""Recorded runs without a planted fault, beside the studies and those faults of the atlas that have no rule."""


@dataclass(frozen=True)
class Case:
    """Tables of a planted fault and what the audit reports about them."""

    name: str  # Of the fault's folder, or of the mutation
    kind: str  # `recorded` or `mutated`
    fault: Fault
    tables: Tables
    findings: pd.DataFrame
    not_recorded: str = ""  # Why it is not recorded, of a mutation

    @property
    def found(self) -> pd.DataFrame:
        """The warnings and errors, errors first and the expected rules before others."""
        rows = self.findings[self.findings["severity"].isin(FOUND)]
        order = {rule: number for number, rule in enumerate(self.fault.finds)}
        rank = rows["rule"].map(order).fillna(len(order))
        return rows.assign(rank=rank).sort_values(["rank", "severity"], kind="stable").drop(columns="rank")

    @property
    def verdict(self) -> str:
        """``found``, ``cause not named`` or ``missed``."""
        found = self.found
        if not set(self.fault.finds) <= set(found["rule"]):
            return "missed"
        expected = found[found["rule"].isin(self.fault.finds)]
        words = expected["evidence"] + " " + expected["advice"].fillna("")
        return "found" if words.str.contains(self.fault.cause, case=False, regex=False).any() else "cause not named"


@cache
def clean_tables(study: str = STUDY) -> dict[str, pd.DataFrame]:
    """Return the tables of the clean study in which faults are planted."""
    return read_tables(study)


def cases_of(rule: str) -> Iterator[Case]:
    """Yield each fault that a rule must find, with what the rules that must find it report."""
    for name, fault in read_faults().items():
        if rule in fault.finds:
            tables, own = read_recorded(name).tables, _own_settings(atlas_folder() / name)
            yield Case(name, "recorded", fault, tables, audit(tables, replace(own, select=fault.finds)))
    for name, (one, planted) in _planted(tuple(one for one in MUTATIONS if rule in one.fault.finds)).items():
        findings = audit(planted, AuditSettings(select=one.fault.finds))
        yield Case(name, "mutated", one.fault, planted, findings, one.not_recorded)


def recorded_cases(folder: Path | None = None) -> Iterator[Case]:
    """Yield each recorded fault, and what the audit reports about its runs."""
    faults = {name: fault for name, fault in read_faults(folder).items() if fault.finds}
    tables = {name: read_recorded(name, folder).tables for name in faults}
    findings = findings_of(tables)
    for name in faults:
        if (own := _own_settings((atlas_folder() if folder is None else folder) / name)) != AuditSettings():
            findings[name] = audit(tables[name], own)
    for name, fault in faults.items():
        yield Case(name, "recorded", fault, tables[name], findings[name])


def _own_settings(fault: Path) -> AuditSettings:
    """Return the settings of the audit in the study.yml of a fault, such as a limit that was measured."""
    return study_settings(read_study(fault), all_rules()) if (fault / "study.yml").is_file() else AuditSettings()


def mutated_cases(mutations: tuple[Mutation, ...] = MUTATIONS) -> Iterator[Case]:
    """Yield each mutation and what the audit reports about it."""
    planted = _planted(mutations)
    findings = findings_of({name: tables for name, (_, tables) in planted.items()})
    for name, (one, tables) in planted.items():
        yield Case(name, "mutated", one.fault, tables, findings[name], one.not_recorded)


def _planted(mutations: tuple[Mutation, ...]) -> dict[str, tuple[Mutation, Tables]]:
    tables = clean_tables()
    runs = tables["runs"]
    run, sweep = (tables_of(runs[rows], tables) for rows in (runs["run_id"] == RUN, runs["variant"] == "delay"))
    return {one.name: (one, one.change(sweep if one.sweep else run)) for one in mutations}


def findings_of(planted: Mapping[str, Tables]) -> dict[str, pd.DataFrame]:
    """Return the findings about each set of tables; those of one run are audited together, which takes less time."""
    single = {name: tables for name, tables in planted.items() if len(tables["runs"]) == 1}
    named = [{table: rows.assign(study=name) for table, rows in tables.items()} for name, tables in single.items()]
    found = audit(_joined(named), AuditSettings()) if single else pd.DataFrame()
    known = {name: found[found["study"] == name] for name in single}
    return {name: known[name] if name in single else audit(tables, AuditSettings()) for name, tables in planted.items()}


def _joined(parts: Sequence[Tables]) -> dict[str, pd.DataFrame]:
    names = dict.fromkeys(name for tables in parts for name in tables)
    return {name: pd.concat([tables[name] for tables in parts if name in tables], ignore_index=True) for name in names}


def summarise_recall(cases: list[Case]) -> pd.DataFrame:
    """Return a row for each planted fault: what was planted, what must be found and what is.

    The columns are ``fault kind expected found verdict evidence name``: the rules that must report it, all that do, the
    verdict, and the evidence of the first expected rule.
    """
    rows = []
    for case in cases:
        found = case.found
        first = found[found["rule"].isin(case.fault.finds)].head(1)
        rows.append(
            {
                "fault": case.fault.title,
                "kind": case.kind,
                "expected": ", ".join(case.fault.finds),
                "found": ", ".join(found["rule"].unique()),
                "verdict": case.verdict,
                "evidence": first["evidence"].iloc[0] if len(first) else "",
                "name": case.name,
            }
        )
    return pd.DataFrame(rows)


def summarise_not_recorded(cases: list[Case]) -> pd.DataFrame:
    """Return ``rule fault reason`` of each rule that no recorded fault shows; the reason may be empty."""
    recorded = {
        rule for case in cases if case.kind == "recorded" for rule in case.fault.finds if case.verdict == "found"
    }
    reasons = {rule: case for case in reversed(cases) if case.not_recorded for rule in case.fault.finds}
    rows = []
    for rule in all_rules():
        if rule not in recorded:
            case = reasons.get(rule)
            said = {"fault": case.fault.title, "reason": case.not_recorded} if case else {"fault": "", "reason": ""}
            rows.append({"rule": rule, **said})
    return pd.DataFrame(rows, columns=["rule", "fault", "reason"])


def summarise_false_alarms(folders: tuple[str, ...] = FOLDERS, atlas: Path | None = None) -> pd.DataFrame:
    """Return a row for each folder of clean runs: how many runs, errors, and runs with a warning, and which rules.

    Studies with a fault on purpose are left out.  What a study ignores with a reason does not count, and an error of
    other processes is true wherever it is recorded.

    The columns are ``data runs errors runs_with_warning rules``.
    """
    clean = [f"data/atlas/{name}" for name, fault in read_faults(atlas).items() if not fault.finds]
    folders_of_studies = sorted(paths.studies().glob("*"))
    studies = [f"data/studies/{each.name}" for each in folders_of_studies if not read_study(each).fault_on_purpose]
    rows = []
    for path in (*clean, *studies, *folders):
        if path in studies:
            found: Tables = read_tables(Path(path).name)
        else:
            found = (read_recorded(Path(path).name, atlas) if path in clean else read(paths.root() / path)).tables
        settings = study_settings(read_study(paths.root() / path), all_rules()) if path in studies else AuditSettings()
        findings = audit(found, settings)
        findings = findings[findings["rule"] != "other-processes"]
        warned = findings[findings["severity"] == "warning"]
        rows.append(
            {
                "data": path,
                "runs": len(found["runs"]),
                "errors": int((findings["severity"] == "error").sum()),
                "runs_with_warning": int(warned["run_id"].nunique()),
                "rules": ", ".join(warned["rule"].unique()),
            }
        )
    return pd.DataFrame(rows)
