"""Write what a notebook publishes: figures, tables, files and numbers."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from loadcurve import tables
from loadcurve.blocks import Paragraph, to_display, to_text
from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.files.atomic import alone, write_text
from loadcurve.files.spreadsheet import csv_text
from loadcurve.ingest import reads
from loadcurve.notebooks.captions import caption_of
from loadcurve.notebooks.parameters import check_variables
from loadcurve.plots.style import shows_something, svg_text
from loadcurve.publish import left_out
from loadcurve.publish.checkout import commit
from loadcurve.publish.quantities import Quantity, describe_quantity
from loadcurve.runtime import jupyter
from loadcurve.units import fill_text

_SLUG = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*\Z")
_VALUES = "values.json"
_notebook = ""


def begin(notebook: str) -> None:
    """Set the name of the notebook, the stem of its file; later calls publish under that name.

    The values of an earlier execution in this kernel, or in one with the same process id, are removed.

    Raises
    ------
    ValueRuleError
        When a parameter is outside of the range that its cell declares (`loadcurve.notebooks.parameters`).

    Examples
    --------
    >>> begin("40_usl_fit")
    """
    global _notebook
    _notebook = _checked(notebook)
    check_variables(*jupyter.cells_and_variables())
    left_out.forget()
    (_target() / _VALUES).unlink(missing_ok=True)


def figure(slug: str, ax: Axes, data: pd.DataFrame, *, caption: str = "", alt: str = "", **quantities: Any) -> Path:
    """Publish the figure that contains `ax`, with the plotted numbers.

    Parameters
    ----------
    slug : str
        Name within the notebook: lower case, digits and underscores.
    ax : matplotlib.axes.Axes
        Any Axes of the figure.
    data : pandas.DataFrame
        Plotted numbers, for the CSV file.
    caption, alt : str
        The conclusion that the figure supports, and a description for readers who cannot see it.  By default both come
        from a Markdown cell of the notebook (`loadcurve.notebooks.captions`).
    **quantities : float or str
        Values of the caption's placeholders (`loadcurve.units.fill_text`), in SI units.

    Returns
    -------
    pathlib.Path
        Path of the SVG file.

    Raises
    ------
    LoadcurveError
        When the caption or the alt text is missing, or the figure is empty.

    Examples
    --------
    >>> from loadcurve.plots import plot_throughput_by_connections
    >>> runs = pd.DataFrame({"variant": "cpu", "connections": [1, 4], "throughput_rps": [100.0, 300.0]})
    >>> begin("40_usl_fit")
    >>> words = {"caption": "Throughput triples from 1 to 4 connections.", "alt": "Two points joined by a rising line."}
    >>> figure("curve", plot_throughput_by_connections(runs), runs, **words).name
    'curve.svg'
    """
    template = ""
    if not (caption or alt):
        template, words = caption_of(_notebook, "Figure", slug)
        caption, alt = (fill_text(text, quantities) for text in (template, words))
    if not caption or not alt:
        raise LoadcurveError(
            f"figure {slug!r} must have a caption and an alt text in a Markdown cell, got {caption!r} and {alt!r}: "
            f"write '**Figure `{slug}`.** CAPTION' and, in the next line, '<!-- alt: ALT TEXT -->'"
        )
    if not any(map(shows_something, ax.figure.axes)):
        raise LoadcurveError(f"figure {slug!r} must show a number, got none: its table has {len(data)} rows")
    target = _folder() / f"{_checked(slug)}.svg"
    write_text(target, svg_text(ax, f"{_notebook}/{slug}"))
    _describe(target, data, caption=caption, alt=alt)
    _show_caption(f"Figure {slug}", caption, template)
    return target


def table(slug: str, frame: pd.DataFrame, *, caption: str = "", **quantities: Any) -> Path:
    """Publish a table as CSV; a page includes it with ``{{ table(notebook, slug) }}``.

    Caption and quantities are as in `figure`; in the notebook the caption begins with ``**Table `SLUG`.**``.

    Examples
    --------
    >>> begin("40_usl_fit")
    >>> table("points", pd.DataFrame({"connections": [1, 4]}), caption="The levels that were fitted.").name
    'points.table.csv'
    """
    template = "" if caption else caption_of(_notebook, "Table", slug).caption
    caption = caption or fill_text(template, quantities)
    if not caption:
        raise LoadcurveError(
            f"table {slug!r} must have a caption in a Markdown cell, got none: write '**Table `{slug}`.** CAPTION'"
        )
    target = _folder() / f"{_checked(slug)}.table.csv"
    _describe(target, frame, caption=caption)
    _show_caption(f"Table {slug}", caption, template)
    return target


def file(name: str, text: str) -> Path:
    """Publish a file that readers and programs download: the site has it beside the data of the notebook's figures.

    A page links to it with ``[JUnit](../figures/NOTEBOOK/NAME)``.

    Parameters
    ----------
    name : str
        Lower case, digits and underscores, and the ending ``.xml``.
    text : str
        Content of the file.

    Raises
    ------
    LoadcurveError
        When the name has another ending.

    Examples
    --------
    >>> begin("54_lvs_acceptance")
    >>> file("acceptance.xml", "<testsuites/>").name
    'acceptance.xml'
    """
    if not _checked(name).endswith(".xml"):
        raise LoadcurveError(f"name must end in .xml, got {name!r}")
    target = _folder() / name
    write_text(target, text)
    return target


def values(
    quantities: Mapping[str, Quantity] | pd.Series | pd.DataFrame | None = None,
    /,
    *,
    prefix: str = "",
    unit: str | None = None,
    digits: int = 3,
    **named: Quantity,
) -> pd.DataFrame:
    """Publish numbers or short texts, which a page quotes with ``{{ value(notebook, name) }}``.

    Parameters
    ----------
    quantities : mapping, pandas.Series or pandas.DataFrame, optional
        Numbers, texts or Estimates by name; an Estimate is published with its interval.  Numbers are in SI units.  A
        pair is a number and its format: unit, digits, or both (``"rps"``, ``"4"``, ``"ratio 2"``).  A truth value is
        shown as yes or no.  A name may contain the name of a curve, such as ``scatter.cpu keep_alive=on``.  The cells
        of a table are named by row and column, such as ``cpu.latency_s``.
    prefix : str
        Text placed before each name: ``usl.`` for ``usl.peak``.
    unit : str, optional
        Unit of all numbers, which decides how they are shown: ``s``, ``rps``, ``bytes``, ``ratio`` or ``""``.  By
        default, each name ends in its unit like a column name (``usl.peak_rps``), or is a plain number.
    digits : int
        Significant digits of all numbers.
    **named
        Further quantities by name.

    Returns
    -------
    pandas.DataFrame
        Column ``value``: the texts of all values published under `prefix` so far, by name, as a page shows them.

    Raises
    ------
    LoadcurveError
        When a name is empty or contains a character that is not printable.

    Examples
    --------
    >>> publish.values(prefix="usl.", peak=96.5, peak_rps=41_418.0, error=(0.0213, "ratio 2"))  # doctest: +SKIP
                  value
    usl.peak       96.5
    usl.peak_rps  41,400 requests/s
    usl.error     2.1 %
    """
    if isinstance(quantities, pd.DataFrame):
        quantities = {f"{row}.{name}": cell for row, cells in quantities.iterrows() for name, cell in cells.items()}
    given = {} if quantities is None else dict(quantities.items())
    found = {f"{prefix}{name}": quantity for name, quantity in (given | named).items()}
    for name in found:
        if not name or not name.isprintable():
            raise LoadcurveError(f"name must be printable text, got {name!r}")
    shown = {name: describe_quantity(name, quantity, unit, digits) for name, quantity in found.items()}
    target = _folder() / _VALUES
    with alone(str(target)):  # in JupyterLab, two kernels may run the same notebook
        known = json.loads(target.read_text("utf-8")) if target.exists() else {}
        known |= shown
        write_text(target, json.dumps(known, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
    texts = {name: one["text"] for name, one in known.items() if name.startswith(prefix)}
    return pd.Series(texts, name="value", dtype="object").to_frame()


def _show_caption(label: str, caption: str, template: str) -> None:
    """Show a caption below the cell, unless the notebook's Markdown contains it, or will after a batch run."""
    if caption != template and not (template and jupyter.is_batch()):
        shown = [Paragraph(label, caption)]
        jupyter.show(to_text(shown), to_display(shown))


def _describe(target: Path, data: pd.DataFrame, **words: str) -> None:
    write_text(target.with_suffix(".csv"), csv_text(data))
    units = {row.column: row.unit for row in tables.columns(data).itertuples() if row.unit}
    facts = {**words, "units": units, "notebook": _notebook, "studies": sorted(reads.studies_read), "commit": commit()}
    write_text(target.with_suffix(".json"), json.dumps(facts, indent=2, ensure_ascii=False) + "\n")


def _folder() -> Path:
    if not _notebook:
        raise LoadcurveError("publish.begin(NOTEBOOK) must come before anything is published, got no notebook")
    folder = _target()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _target() -> Path:
    published = os.environ.get("LOADCURVE_PUBLISH")
    return Path(published) if published else paths.build() / "draft" / _notebook / str(os.getpid())


def _checked(name: str) -> str:
    if not _SLUG.match(name):
        raise LoadcurveError(f"name must be lower case letters, digits, underscores and dots, got {name!r}")
    return name
