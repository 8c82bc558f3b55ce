"""The figure and the finding with which the page of each rule shows how a fault looks."""

import contextlib
from collections.abc import Iterable, Iterator

import matplotlib.pyplot as plt
import pandas as pd

from loadcurve import plots, publish
from loadcurve.audit import all_rules
from loadcurve.audit.atlas import summarise_shown
from loadcurve.audit.run_tables import tables_of
from loadcurve.files.reads import studies_read
from loadcurve.units import format_quantity
from validation.faults.mutation import RUN, STUDY
from validation.faults.recall import Case, clean_tables

_FORMS = {
    "time": "Timeline",
    "quantile": "Quantiles",
    "connections": "Curve over connections",
    "run": "Points over the order of the runs",
    "class": "Distribution",
    "name": "Bars",
}


def illustrations(cases: Iterable[Case]) -> dict[str, Case]:
    """Return the fault that shows each rule: a recorded one before a mutated one, its first rule before others."""
    found: dict[str, tuple[tuple[int, int], Case]] = {}
    for case in cases:
        for place, rule in enumerate(case.fault.finds):
            rank = (case.kind != "recorded", min(place, 1))
            if rule in set(case.found["rule"]) and (rule not in found or rank < found[rule][0]):
                found[rule] = (rank, case)
    return {rule: found[rule][1] for rule in all_rules() if rule in found}


def publish_illustrations(cases: Iterable[Case]) -> pd.DataFrame:
    """Publish a figure for each rule that a planted fault shows, under the rule's name, and return what the page says.

    The table has ``rule fault kind done severity evidence advice command not_recorded figure``.
    """
    rows = []
    for rule, case in illustrations(cases).items():
        finding = case.found[case.found["rule"] == rule].iloc[0]
        slug = rule.replace("-", "_") if case.fault.shows else ""
        if case.fault.shows:
            shown, recorded = _shown(case, finding), case.kind == "recorded"
            kind = "Recorded in the laboratory." if recorded else "Planted in a clean recorded run, in grey."
            lines = " The dashed line is the limit of the rule." if case.fault.shows.limit else ""
            text = f"{case.fault.title}. {kind}{lines}"
            with _only(case):
                words = {"caption": text, "alt": f"{case.fault.title}. {_alt(shown)}"}
                publish.figure(slug, plots.plot_fault(shown), shown, **words)
            plt.close()
        command = case.fault.command or next((need.record for need in all_rules()[rule].needs if need.record), "")
        rows.append(
            {
                "rule": rule,
                "fault": case.fault.title,
                "kind": case.kind,
                "done": case.fault.done,
                **finding[["severity", "evidence", "advice"]],
                "command": command,
                "not_recorded": case.not_recorded,
                "figure": slug,
            }
        )
    return pd.DataFrame(rows)


@contextlib.contextmanager
def _only(case: Case) -> Iterator[None]:
    """Name the data of this fault alone as the provenance of a figure, not those of all."""
    every = set(studies_read)
    studies_read.clear()
    studies_read.add(STUDY if case.kind == "mutated" else "atlas")
    try:
        yield
    finally:
        studies_read.update(every)


def _shown(case: Case, finding: pd.Series) -> pd.DataFrame:
    """Return the numbers of the run with the finding; of all runs together where the finding is about them."""
    assert case.fault.shows is not None
    runs = case.tables["runs"]
    if case.kind == "mutated":
        clean = clean_tables()
        every = clean["runs"]
        own = every[every["variant"] == "delay" if len(runs) > 1 else every["run_id"] == RUN]
        return summarise_shown(case.fault.shows, case.tables, tables_of(own, clean))
    chosen = case.fault.run or finding["run_id"]
    levels = runs["connections"].dropna().unique()
    several = pd.isna(chosen) or (case.fault.shows.table == "runs" and len(levels) > 1)
    tables = case.tables if several else tables_of(runs[runs["run_id"] == chosen], case.tables)
    return summarise_shown(case.fault.shows, tables)


def _alt(shown: pd.DataFrame) -> str:
    """Return in words which numbers a figure shows, panel by panel."""
    parts = []
    for panel, rows in shown[~shown["clean"].astype(bool)].groupby("panel", sort=False):
        unit = "ratio" if str(panel).endswith("[ratio]") else ""
        label = str(panel).partition(" [")[0]
        series = []
        for name, line in rows.groupby("series", sort=False):
            ends = [format_quantity(value, unit) for value in (line["value"].min(), line["value"].max())]
            series.append(f"{name} {' to '.join(dict.fromkeys(ends))}".strip())
        limit = rows["limit"].dropna()
        told = f"; limit {format_quantity(limit.iloc[0], unit)}" if len(limit) else ""
        form = _FORMS[str(rows["axis"].iloc[0])]
        parts.append(f"{form} of {label[:1].lower()}{label[1:]}: {', '.join(series[:6])}{told}.")
    return " ".join(parts)
