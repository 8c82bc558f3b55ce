"""The only writer of figures, tables and numbers for the handbook.

In a batch run they go to `build/figures/<notebook>/`, where the handbook finds them; by hand, in JupyterLab or with
papermill, to `build/draft/<notebook>/<process>/`, so that trying something changes neither what is published nor what
another kernel tries::

    <slug>.svg + .csv + .json    figure(): the drawing, the numbers drawn, caption and provenance
    <slug>.table.csv + .json     table(): the same for a table
    values.json                  value(): every number that a page quotes
"""

import io
import itertools
import json
import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PolyCollection

from loadcurve import paths
from loadcurve.atomic import alone, write_text
from loadcurve.errors import LoadcurveError
from loadcurve.ingest import store
from loadcurve.plots import style
from loadcurve.spreadsheet import csv_text
from loadcurve.stats import Estimate
from loadcurve.units import format_quantity

_SLUG = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*\Z")
_notebook = ""


def begin(notebook: str) -> None:
    """Say which notebook this is, by the stem of its file; every later call publishes under that name."""
    global _notebook
    _notebook = _checked(notebook)


def figure(slug: str, ax: Axes, data: pd.DataFrame, *, caption: str, alt: str) -> Path:
    """Publish the figure of `ax` with the numbers it draws.

    Parameters
    ----------
    slug : str
        Name within the notebook: lower case, digits and underscores.
    ax : matplotlib.axes.Axes
        Any Axes of the figure.
    data : pandas.DataFrame
        What is drawn, for the CSV beside it.
    caption, alt : str
        What the reader should see, naming the band if there is one; and what it shows, for those who cannot see it.

    Returns
    -------
    pathlib.Path
        The SVG.

    Raises
    ------
    LoadcurveError
        When words are missing, or nothing is drawn: an empty figure says nothing and looks like a result.
    """
    if not caption or not alt:
        raise LoadcurveError(f"figure {slug!r} must have a caption and an alt text, got {caption!r} and {alt!r}")
    if not any(map(_shows_something, ax.figure.axes)):
        raise LoadcurveError(f"figure {slug!r} must show a number, got none: its table has {len(data)} rows")
    target = _folder() / f"{_checked(slug)}.svg"
    # A salt makes the ids inside the drawing the same every time, and different between figures on one page.
    with mpl.rc_context({"svg.hashsalt": f"{_notebook}/{slug}"}):
        drawing = io.StringIO()
        ax.figure.savefig(drawing, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    # The ink follows the page's text colour, in the light scheme and in the dark one.
    inked = re.sub(rf"(fill|stroke): {style.INK}", r"\1: currentColor", drawing.getvalue())
    write_text(target, inked)
    _describe(target, data, caption=caption, alt=alt)
    return target


def _shows_something(ax: Axes) -> bool:
    """Whether an Axes holds a point, a line, an area or a bar in units of its data; limits across it do not count."""
    lines = (line.get_xydata() for line in ax.lines if line.get_transform() is ax.transData)
    points = (np.ma.filled(c.get_offsets().astype(float), np.nan) for c in ax.collections if not _is_area(c))
    areas = (path.vertices for c in ax.collections if _is_area(c) for path in c.get_paths())
    drawn = any(len(xy) and np.isfinite(xy).all(axis=1).any() for xy in itertools.chain(lines, points, areas))
    return drawn or bool(ax.images) or any(patch.get_data_transform() is ax.transData for patch in ax.patches)


def _is_area(collection: Collection) -> bool:
    return isinstance(collection, PolyCollection | LineCollection)


def table(slug: str, frame: pd.DataFrame, *, caption: str) -> Path:
    """Publish a table as CSV; a page shows it with ``{{ table(notebook, slug) }}``."""
    target = _folder() / f"{_checked(slug)}.table.csv"
    _describe(target, frame, caption=caption)
    return target


def value(name: str, quantity: Estimate | float | str, unit: str = "", digits: int = 3) -> Path:
    """Publish a number, or a short text, that a page quotes with ``{{ value(notebook, name) }}``.

    Parameters
    ----------
    name : str
        Name within the notebook, dotted: ``usl.peak``.  It may carry the name of a curve, such as
        ``scatter.cpu keep_alive=on``, which holds any level of a study.
    quantity : Estimate, float or str
        In the SI unit named by `unit`; an Estimate brings its interval along.
    unit : str
        ``s``, ``rps``, ``bytes``, ``ratio`` or ``""``: decides how the number is shown.
    digits : int
        Significant digits shown.
    """
    target = _folder() / "values.json"
    if not name or not name.isprintable():
        raise LoadcurveError(f"name must be printable text, got {name!r}")
    with alone(str(target)):  # by hand, two kernels may have the same notebook open
        known = json.loads(target.read_text("utf-8")) if target.exists() else {}
        known[name] = _shown(quantity, unit, digits)
        write_text(target, json.dumps(known, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
    return target


def _shown(quantity: Estimate | float | str, unit: str, digits: int) -> dict[str, Any]:
    if isinstance(quantity, str):
        return {"text": quantity}
    if isinstance(quantity, Estimate):
        return {
            "text": format_quantity(quantity.value, unit, digits),
            "interval": _interval(quantity.lo, quantity.hi, unit, digits),
            "level": quantity.level,
            "method": quantity.method,
            "warnings": list(quantity.warnings),
        }
    return {"text": format_quantity(float(quantity), unit, digits)}


def _interval(lo: float, hi: float, unit: str, digits: int) -> str:
    """An interval in words; empty where it has no end at all."""
    if math.isfinite(lo + hi):
        return f"{format_quantity(lo, unit, digits)} to {format_quantity(hi, unit, digits)}"
    if math.isfinite(lo) and math.isinf(hi):
        return f"{format_quantity(lo, unit, digits)} or more, without an upper end"
    return ""


def _describe(target: Path, data: pd.DataFrame, **words: str) -> None:
    write_text(target.with_suffix(".csv"), csv_text(data))
    facts = {**words, "notebook": _notebook, "studies": sorted(store.studies_read), "commit": commit()}
    write_text(target.with_suffix(".json"), json.dumps(facts, indent=2, ensure_ascii=False) + "\n")


def _folder() -> Path:
    if not _notebook:
        raise LoadcurveError("publish.begin(NOTEBOOK) must come before anything is published, got no notebook")
    published = os.environ.get("LOADCURVE_PUBLISH")
    folder = Path(published) if published else paths.build() / "draft" / _notebook / str(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def commit() -> str:
    """Commit the checkout stands at, marked where files differ from it; `not known` outside of a git checkout."""
    try:
        said = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=10"],
            cwd=paths.root(),
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, LoadcurveError):
        return "not known"
    return said.stdout.strip()


def _checked(name: str) -> str:
    if not _SLUG.match(name):
        raise LoadcurveError(f"name must be lower case letters, digits, underscores and dots, got {name!r}")
    return name
