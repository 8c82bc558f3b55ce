"""Parts of one text, or files of one folder, as one `Parsed`."""

from collections.abc import Sequence

import pandas as pd

from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.registry import Form


def merge(parts: Sequence[tuple[Form, Parsed, int]]) -> Parsed:
    """Join the parts of a text; from the second on, a warning says where it begins.

    `generator` goes on counting, so that two parts never share a number.
    """
    collected: dict[str, list] = {}
    warnings: list[str] = []
    generators = 0
    for form, parsed, line in parts:
        if collected or warnings:
            warnings.append(f"line {line}: output of {form.name} begins here")
        warnings += parsed.warnings
        for name in parsed.tables:
            collected.setdefault(name, []).append(_shifted(parsed.tables.rows(name), generators))
        generators += len(parsed.tables.rows("runs")) if "runs" in parsed.tables else 0
    first = parts[0][1]
    return Parsed(first.tool, Tables({n: join(t) for n, t in collected.items()}), tuple(warnings), first.version)


def join(parts: Sequence["pd.DataFrame | Sequence[dict]"]) -> "pd.DataFrame | list[dict]":
    """Join tables of one name, in order: rows as rows, anything else as a DataFrame."""
    if not any(isinstance(part, pd.DataFrame) for part in parts):
        return [row for part in parts for row in part]
    frames = [part if isinstance(part, pd.DataFrame) else pd.DataFrame(list(part)) for part in parts]
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else frames[0]


def _shifted(table: "pd.DataFrame | Sequence[dict]", by: int) -> "pd.DataFrame | Sequence[dict]":
    if not by or not len(table):
        return table
    if isinstance(table, pd.DataFrame):
        return table.assign(generator=table["generator"] + by) if "generator" in table else table
    return [{**row, "generator": row["generator"] + by} if "generator" in row else row for row in table]
