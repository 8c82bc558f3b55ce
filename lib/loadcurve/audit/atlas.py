"""Recorded faults: ``data/atlas/<fault>/fault.yml`` says what was done to a run, and which rules must find it.

Beside it are the raw files as the laboratory recorded them: a `study.yml` with its run folders, each sealed by its
`run.json`, or a folder ``raw`` with files of any tools::

    title: A generator with too few descriptors
    done: wrk requested 1000 connections under `ulimit -n 256`.
    finds: [connections-opened]
    shows: {table: runs, columns: [connections, errors_connect]}
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loadcurve import paths, tables
from loadcurve.audit.registry import all_rules
from loadcurve.errors import ValueRuleError, refuse
from loadcurve.files.checked import built
from loadcurve.files.yaml_document import read_yaml
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.reads import record_reads, studies_read
from loadcurve.reading import read
from loadcurve.section import Section

FILE = "fault.yml"


@dataclass(frozen=True)
class Shows(Section):
    """The counter that gives a fault away.

    The form of its figure follows from the table: a timeline where rows have a time; a curve over connections where the
    runs have several levels, and over their order where several have one level; bars for one run.
    """

    table: str
    """Name of a table."""

    columns: tuple[str, ...]
    """Columns with numbers, or quotients such as ``received_bytes / requests``; each is a line or a bar."""

    where: dict[str, Any] = field(default_factory=dict)
    """Column → the value of the rows that are shown, such as ``cpu: all``."""

    by: str = ""
    """Column of which each value is a line or a bar of its own, such as ``cpu``; empty for none."""

    label: str = ""
    """Text of the axis; by default, that of the first column."""

    limit: str = ""
    """Limit that is drawn as a line, ``RULE.LIMIT``; empty for none."""

    distribution: bool = False
    """Whether the shares of the values of the first column are shown, and not the values over time."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if self.table not in tables.SCHEMAS:
            yield ValueRuleError("table", f"one of {', '.join(tables.SCHEMAS)}", self.table)
            return
        known = list(tables.SCHEMAS[self.table].columns)
        columns = [part for column in self.columns for part in column.split(" / ")]
        for name in (*columns, *self.where, *filter(None, [self.by])):
            if name not in known:
                yield ValueRuleError("shows", f"columns of the table {self.table}", name)
        if not self.columns:
            yield ValueRuleError("columns", "one or more", "none")
        rule = self.limit.partition(".")[0]
        limits = [f"{name}.{one}" for name, of in all_rules().items() for one in of.limits]
        if self.limit and self.limit not in limits:
            near = [name for name in limits if name.startswith(f"{rule}.")]
            yield ValueRuleError("limit", f"RULE.LIMIT, such as {', '.join(near or limits[:1])}", self.limit)


@dataclass(frozen=True)
class Fault(Section):
    """What was done to a run, and what the audit must find."""

    title: str
    """The fault in a few words."""

    done: str
    """What was done to the run, in one sentence."""

    finds: tuple[str, ...]
    """Rules that must report a warning or an error, the one that the fault illustrates first; none for clean runs."""

    cause: str = ""
    """Words with which the evidence or the advice of one of these rules must name the cause."""

    shows: Shows | None = None
    """The counter that gives the fault away; by default the finding alone is shown."""

    command: str = ""
    """Command that shows the counter by hand; by default, what the first rule needs."""

    run: str = ""
    """Run that is shown; by default, the first with a finding of the first rule."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        for name in ("title", "done"):
            if not getattr(self, name).strip():
                yield ValueRuleError(name, "a text", getattr(self, name))
        for rule in self.finds:
            if rule not in all_rules():
                yield ValueRuleError("finds", f"rules of the audit ({', '.join(all_rules())})", rule)


def atlas_folder() -> Path:
    """Return the folder of recorded faults in the checkout.

    Examples
    --------
    >>> atlas_folder().name
    'atlas'
    """
    return paths.root() / "data" / "atlas"


def read_fault(folder: Path) -> Fault:
    """Read the `fault.yml` of a folder."""
    document = read_yaml(folder / FILE)
    fault, wrong = built(Fault, document)
    refuse(wrong, document.path)
    record_reads([document.path])
    assert isinstance(fault, Fault)  # without errors there is one
    return fault


def read_faults(folder: Path | None = None) -> dict[str, Fault]:
    """Read all faults of an atlas by name, that of their folder."""
    within = atlas_folder() if folder is None else folder
    return {one.name: read_fault(one) for one in sorted(within.glob("*")) if one.is_dir()}


def read_recorded(name: str, folder: Path | None = None) -> Parsed:
    """Read the raw files of a fault into declared tables."""
    of = (atlas_folder() if folder is None else folder) / name
    raw = of if (of / "study.yml").is_file() else of / "raw"
    parsed = read(raw)
    studies_read.discard(paths.data_name(raw))  # all faults are one set of data
    studies_read.add(paths.data_name(of.parent))
    return parsed
