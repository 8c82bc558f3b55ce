"""Write what a notebook publishes: figures, tables, files and numbers; and say what it leaves out."""

import contextlib
import json
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from loadcurve import tables
from loadcurve.blocks import Paragraph, to_display, to_text
from loadcurve.errors import LoadcurveError, printable
from loadcurve.files import paths, reads
from loadcurve.files.atomic import alone, write_text
from loadcurve.notebooks.source import caption_of, check_variables
from loadcurve.plots.narrow import narrowed
from loadcurve.plots.style import shows_something, svg_text
from loadcurve.runtime import jupyter
from loadcurve.runtime.git import git
from loadcurve.runtime.output import echo
from loadcurve.stats import Estimate
from loadcurve.tables.stored import csv_text
from loadcurve.units import fill_text, format_quantity, parse_form, unit_of_column, with_interval

Quantity = Estimate | float | str | tuple[Estimate | float, str]
"""A number in SI units, with or without an interval and a format; a truth value; or a short text."""

_SLUG = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*\Z")
_VALUES = "values.json"
_notebook = ""


def begin(notebook: str) -> None:
    """Set the name of the notebook, the stem of its file; later calls publish under that name.

    The values of an earlier execution in this kernel, or in one with the same process id, are removed.

    Raises
    ------
    ValueRuleError
        When a parameter is outside of the range that its cell declares (`loadcurve.notebooks.source`).

    Examples
    --------
    >>> begin("40_usl_fit")
    """
    global _notebook
    _notebook = _checked(notebook)
    check_variables(*jupyter.cells_and_variables())
    _subjects.clear()
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
        from a Markdown cell of the notebook (`loadcurve.notebooks.source`).
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
    narrow = target.with_suffix(".narrow.svg")
    narrow.unlink(missing_ok=True)
    if ax.axison:  # a diagram keeps its width
        with narrowed(ax), warnings.catch_warnings(), contextlib.suppress(UserWarning):
            warnings.filterwarnings("error", "constrained_layout not applied")  # the labels leave no room for the axes
            write_text(narrow, svg_text(ax, f"{_notebook}/{slug}/narrow"))
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
    studies = sorted(map(printable, reads.studies_read))
    facts = {**words, "units": units, "notebook": _notebook, "studies": studies, "commit": commit()}
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


def commit() -> str:
    """Return the commit of the checkout, with ``-dirty`` if files differ from it; `not known` outside a git checkout.

    Examples
    --------
    >>> known = commit()  # such as 1a2b3c4d5e, or 1a2b3c4d5e-dirty
    >>> known == "not known" or len(known) >= 10
    True
    """
    try:
        return git(paths.root(), "describe", "--always", "--dirty", "--abbrev=10")
    except LoadcurveError:
        return "not known"


_subjects: list[str] = []  # what the notebook left out so far


@contextlib.contextmanager
def or_reason(subject: str) -> Iterator[None]:
    """Run a block of code; where its data were not measured, print why in one sentence, and go on after the block.

    A later block that uses a name from a block that was left out is left out too.

    Parameters
    ----------
    subject : str
        What the block shows, such as ``Figure cpu``.

    Examples
    --------
    >>> from loadcurve.errors import NotMeasuredError
    >>> with or_reason("Figure cpu"):
    ...     raise NotMeasuredError("No sample of a processor belongs to these runs", "record `sar -u 1`")
    Left out: Figure cpu. No sample of a processor belongs to these runs: record `sar -u 1`.
    """
    known = set(plt.get_fignums())
    try:
        yield
    except LoadcurveError as error:
        for number in set(plt.get_fignums()) - known:  # a notebook would show the unfinished figure
            plt.close(number)
        reason = str(error).rstrip(".")
        echo(f"Left out: {subject}. {reason[:1].upper()}{reason[1:]}.")
        _subjects.append(subject)
    except NameError:
        if not _subjects:
            raise
        echo(f"Left out: {subject}. It needs what is left out above: {', '.join(_subjects)}.")


def describe_quantity(name: str, quantity: Quantity, unit: str | None, digits: int) -> dict[str, Any]:
    """Return a quantity as ``values.json`` holds it: its text, and for a number its value in SI units and its unit.

    An Estimate also has its text with the interval (``shown``), the ends of the interval, its level, its method, its
    warnings, and how many repeats it rests on.  A number that is not finite is None.

    Examples
    --------
    >>> describe_quantity("peak_rps", 41_418.0, None, 3)
    {'text': '41,400 requests/s', 'value': 41418.0, 'unit': 'rps'}
    >>> describe_quantity("error", (0.0213, "ratio 2"), None, 3)
    {'text': '2.1 %', 'value': 0.0213, 'unit': 'ratio'}
    """
    if isinstance(quantity, tuple):
        quantity, form = quantity
        unit, digits = parse_form(form)
    return _quantity_facts(quantity, unit_of_column(name) if unit is None else unit, digits)


def _quantity_facts(quantity: Estimate | float | str, unit: str, digits: int) -> dict[str, Any]:
    if isinstance(quantity, bool | np.bool_):
        return {"text": "yes" if quantity else "no"}
    if isinstance(quantity, str):
        return {"text": quantity}
    if isinstance(quantity, Estimate):
        value, lo, hi = (format_quantity(end, unit, digits) for end in (quantity.value, quantity.lo, quantity.hi))
        known = math.isfinite(quantity.lo) and not math.isnan(quantity.hi)
        return {
            **_number(quantity.value, unit, digits),
            "shown": with_interval(value, lo, hi) if known else value,
            "repeats": quantity.repeats,
            "lo": _finite(quantity.lo),
            "hi": _finite(quantity.hi),
            "level": quantity.level,
            "method": quantity.method,
            "warnings": list(quantity.warnings),
        }
    return _number(math.nan if pd.isna(quantity) else float(quantity), unit, digits)


def _number(value: float, unit: str, digits: int) -> dict[str, Any]:
    return {"text": format_quantity(value, unit, digits), "value": _finite(value), "unit": unit}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
