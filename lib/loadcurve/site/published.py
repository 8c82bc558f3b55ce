"""Read the files that `publish` wrote."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.tables.stored import as_read


def folder(notebook: str) -> Path:
    """Return the folder of a notebook's published figures."""
    return paths.build() / "figures" / notebook


def read_value(notebook: str, name: str) -> dict[str, Any]:
    """Return a published value: ``text``, and for an estimate ``interval level method warnings``.

    Raises LoadcurveError when the notebook did not publish the value.
    """
    values = _json(folder(notebook) / "values.json")
    if name not in values:
        raise LoadcurveError(f"value {name!r} must be one that {notebook} publishes ({', '.join(values)})")
    found: dict[str, Any] = values[name]
    return found


def read_facts(notebook: str, slug: str) -> dict[str, Any]:
    """Return caption, alt text and provenance of a published figure or table."""
    return _json(folder(notebook) / f"{slug}.json")


def read_rows(notebook: str, slug: str) -> pd.DataFrame:
    """Return a published table; empty cells are NaN."""
    read_facts(notebook, f"{slug}.table")
    frame = pd.read_csv(folder(notebook) / f"{slug}.table.csv", keep_default_na=False, na_values=[""])
    return frame.map(as_read).rename(columns=as_read)


def _json(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found
    except FileNotFoundError:
        raise LoadcurveError(f"{paths.shown(path)}: expected what a notebook publishes, got no file") from None
