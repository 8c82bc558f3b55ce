"""Parts of one text, or files of one folder, as one `Parsed`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from loadcurve.ingest.form import Form
from loadcurve.ingest.parsed import Parsed, Rows, Tables

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd
    import pyarrow as pa

    Table: TypeAlias = pd.DataFrame | pa.Table | Rows


_OF_A_RUN = ("throughput_rps", "duration_s", "tool_version", "url", "connections", "requests_asked")
"""Columns of which a row of `runs` has one unless it is a part of a report."""


def merge(parts: Sequence[tuple[Form, Parsed, int]]) -> Parsed:
    """Join the parts of a text, with a warning at the beginning of each but the first.

    `generator` continues over the parts, so that no two parts share a number.
    """
    if len(parts) == 1:
        return parts[0][1]
    collected: dict[str, list[Any]] = {}
    warnings: list[str] = []
    generators = 0
    for i, (form, parsed, line) in enumerate(parts):
        if i:
            warnings.append(f"line {line}: output of {form.name} begins here")
        warnings += parsed.warnings
        for name in parsed.tables:
            collected.setdefault(name, []).append(_shifted(parsed.tables.rows(name), generators))
        generators += len(parsed.tables.rows("runs")) if "runs" in parsed.tables else 0
    first = parts[0][1]
    return Parsed(first.tool, Tables({n: join(t) for n, t in collected.items()}), tuple(warnings), first.version)


def without_fragments(parsed: Parsed) -> Parsed:
    """Return what was parsed without parts of reports that begin no run and have no rate, beside a report with a rate.

    Such as the table of status codes that a script shows before the whole report.  A run that began and has no result
    is kept: its heading names a version, a URL or connections.
    """
    runs = parsed.tables.rows("runs") if "runs" in parsed.tables else ()
    if not isinstance(runs, Sequence) or len(runs) < 2 or not any(_has(run, "throughput_rps") for run in runs):
        return parsed
    fragments = {
        run["generator"]
        for run in runs
        if run.get("status", "finished") == "finished" and not any(_has(run, name) for name in _OF_A_RUN)
    }
    if not fragments:
        return parsed
    kept = {}
    for name in parsed.tables:
        rows = parsed.tables.rows(name)
        if isinstance(rows, Sequence):
            kept[name] = [row for row in rows if row.get("generator") not in fragments]
        else:
            kept[name] = rows[~rows["generator"].isin(fragments)] if "generator" in rows else rows
    number = f"{len(fragments)} parts of reports" if len(fragments) > 1 else "1 part of a report"
    warning = f"{number} without a heading or a rate left out: a whole report is in the same text"
    return replace(parsed, tables=Tables(kept), warnings=(*parsed.warnings, warning))


def _has(row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name)
    return value is not None and value == value


def join(parts: "Sequence[pd.DataFrame | Rows]") -> "pd.DataFrame | Rows":
    """Join tables of one name, in order: rows as rows, anything else as a DataFrame."""
    if all(isinstance(part, Sequence) for part in parts):
        return [row for part in parts for row in part]
    import pandas as pd

    frames = []
    for are_rows, group in groupby(parts, lambda part: isinstance(part, Sequence)):
        found = list(group)
        frames += [pd.DataFrame(list(chain.from_iterable(found)))] if are_rows else found
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else frames[0]


def label(table: "Table", **known: object) -> "Table":
    """Return a table with the same value in every row of some columns."""
    if isinstance(table, Sequence):
        return [{**known, **row} for row in table]
    if hasattr(table, "assign"):
        return table.assign(**known)
    from loadcurve.tables.stored import with_columns

    return with_columns(table, **known)


def _shifted(table: "pd.DataFrame | Rows", by: int) -> "pd.DataFrame | Rows":
    if not by or not len(table):
        return table
    if isinstance(table, Sequence):
        return [{**row, "generator": row["generator"] + by} if "generator" in row else row for row in table]
    return table.assign(generator=table["generator"] + by) if "generator" in table else table
