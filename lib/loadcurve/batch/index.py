"""The index page of a batch, with all outputs and their figures side by side; and their values as one table."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import pyarrow as pa

from loadcurve.batch.execution import Outcome
from loadcurve.batch.grid import Job
from loadcurve.blocks import Block, Code, Drawing, Grid, Paragraph, to_html
from loadcurve.blocks.html import framed
from loadcurve.files.atomic import replacing, write_text
from loadcurve.packages import __version__

INDEX, VALUES = "index.html", "values.parquet"
"""Names of the files about all outputs of a batch."""


def write_index(folder: Path, outcomes: Sequence[Outcome]) -> None:
    """Write the index page and the table of published values of a batch, next to its outputs."""
    complete = [one.job for one in outcomes if one.state != "failed"]
    write_values(collect_values(folder, complete), folder / VALUES)
    write_text(folder / INDEX, index_page(folder, outcomes))


def index_page(folder: Path, outcomes: Sequence[Outcome]) -> str:
    """Return the index page as HTML; it shows figures from the files next to it, and loads nothing else."""
    failed = [one for one in outcomes if one.state == "failed"]
    notebooks = list(dict.fromkeys(one.job.notebook.stem for one in outcomes))
    values = f'<p><a href="{VALUES}">{VALUES}</a> has the published values of all outputs as one table.</p>'
    parts = [to_html([_verdict(outcomes, failed)]), values, _outputs(folder, outcomes)]
    parts += [_failed(one) for one in failed]
    for notebook in notebooks:
        jobs = [one.job for one in outcomes if one.job.notebook.stem == notebook and one.state != "failed"]
        parts += [_notebook(folder, notebook, jobs)] if jobs else []
    summary = f"{_count(len(outcomes), 'output')} of {_count(len(notebooks), 'notebook')}"
    title = f"{folder.name}: {summary}"
    return framed(title, folder.name, summary, "\n".join(parts), __version__, datetime.now(UTC))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _verdict(outcomes: Sequence[Outcome], failed: Sequence[Outcome]) -> Paragraph:
    if failed:
        again = "this one" if len(failed) == 1 else "these"
        text = f"{len(failed)} of {_count(len(outcomes), 'output')} failed; the same command runs only {again} again."
        return Paragraph("Verdict", text, "error")
    every = "The output is" if len(outcomes) == 1 else f"All {len(outcomes)} outputs are"
    return Paragraph("Verdict", f"{every} complete.", "ok")


def _outputs(folder: Path, outcomes: Sequence[Outcome]) -> str:
    """Return a table of the outputs, with links, the parameters of the grid, and how long each took."""
    varied = list(dict.fromkeys(name for one in outcomes for name in one.job.varied))
    cells = [["output", *varied, "duration"]]
    links = []
    for one in outcomes:
        values = [_text(one.job.varied[name]) if name in one.job.varied else "" for name in varied]
        done = one.state != "failed"
        cells.append([one.job.notebook.stem, *values, _duration(folder, one.job) if done else "failed"])
        target = f"{one.job.name}.ipynb" if done else one.partial.rpartition("/")[2]
        links.append(quote(target))
    fixed = dict.fromkeys(f"`{name}={_text(value)}`" for one in outcomes for name, value in one.job.fixed.items())
    more = f"; parameters of all notebooks that declare them: {', '.join(fixed)}" if fixed else ""
    caption = f"Executed notebooks{more}"
    table = to_html([Grid(cells[0], cells[1:], caption, left=len(cells[0]) - 1)])
    # Cells of a grid are plain text; the first of each row becomes a link to its notebook.
    head, *rows = table.split('<tr><td class="left">')
    for at, (row, link) in enumerate(zip(rows, links, strict=True)):
        name, _, rest = row.partition("</td>")
        rows[at] = f'<a href="{link}">{name}</a></td>{rest}' if link else row
    return '<tr><td class="left">'.join([head, *rows])


def _duration(folder: Path, job: Job) -> str:
    metadata = json.loads((folder / f"{job.name}.ipynb").read_text("utf-8"))["metadata"]
    seconds = metadata.get("papermill", {}).get("duration")
    return f"{seconds:.0f} s" if isinstance(seconds, int | float) else ""


def _failed(one: Outcome) -> str:
    inner: list[Block] = [Paragraph("", one.reason), *([Code(one.cell)] if one.cell else [])]
    name = escape(one.job.name).replace(",", ",<wbr>")
    return f'<section class="finding error">\n<h3>{name}</h3>\n{to_html(inner)}\n</section>'


def _notebook(folder: Path, notebook: str, jobs: Sequence[Job]) -> str:
    """Return the section of one notebook: values that differ between its outputs, those that do not, and figures."""
    values = [published_values(folder, job) for job in jobs]
    parts = [*_values(jobs, values), *_figures(folder, jobs)]
    inner = "\n".join(parts) or to_html([Paragraph("", "This notebook published neither values nor figures.")])
    return f"<section>\n<h2>{escape(notebook)}</h2>\n{inner}\n</section>"


def _values(jobs: Sequence[Job], values: Sequence[Mapping[str, Mapping[str, Any]]]) -> Iterator[str]:
    names = list(dict.fromkeys(name for each in values for name in each))
    rows = {name: [str(each[name]["text"]) if name in each else "" for each in values] for name in names}
    differ = [[name, *texts] for name, texts in rows.items() if len(set(texts)) > 1]
    same = [[name, texts[0]] for name, texts in rows.items() if len(set(texts)) == 1]
    if differ:
        yield to_html([Grid(["value", *map(_label, jobs)], differ, "Values that differ between the outputs", left=1)])
    if same:
        caption = "Published values" if len(jobs) == 1 else "Values that are the same in all outputs"
        yield to_html([Grid(["value", ""], same, caption, left=1, folded=len(jobs) > 1)])


def _figures(folder: Path, jobs: Sequence[Job]) -> Iterator[str]:
    found: dict[str, list[Block]] = {}
    for job in jobs:
        for drawing in sorted((folder / f"{job.name}.figures").glob("*.svg")):
            if drawing.stem.endswith(".narrow"):
                continue
            facts = json.loads(drawing.with_suffix(".json").read_text("utf-8"))
            source = quote(f"{drawing.parent.name}/{drawing.name}")
            image = f'<img src="{source}" alt="{escape(facts["alt"])}" loading="lazy">'
            label = f"{_label(job)}: " if job.varied else ""
            found.setdefault(drawing.stem, []).append(Drawing(image, f"{label}{facts['caption']}", facts["alt"]))
    for slug, drawings in found.items():
        yield f"<h3>{escape(slug)}</h3>\n{to_html(drawings)}"


def _label(job: Job) -> str:
    return ", ".join(f"{name}={_text(value)}" for name, value in job.varied.items()) or "value"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


COLUMNS = {
    "output": ("string", "File name of the executed notebook, without its suffix."),
    "notebook": ("string", "Name of the notebook."),
    "name": ("string", "Name of the published value."),
    "value": ("float64", "The value in SI units; missing for a text, and for a number that is not known."),
    "unit": ("string", "Unit: s, rps, pps, per_s, bps, bytes, bytes_per_s, ratio; empty for a count."),
    "text": ("string", "The value as a page shows it."),
    "lo": ("float64", "Lower end of the interval; missing where there is none."),
    "hi": ("float64", "Upper end of the interval; missing where there is none."),
    "level": ("float64", "Confidence level of the interval."),
    "method": ("string", "How the interval was computed."),
}
"""Column → type and meaning; a column ``parameter_NAME`` for each given parameter comes after `notebook`."""

_PARAMETER = "Parameter {} of the notebook; missing where the notebook does not have it."


def collect_values(folder: Path, jobs: Sequence[Job]) -> pd.DataFrame:
    """Return a row for each value that the outputs of jobs published."""
    rows = []
    for job in jobs:
        facts: dict[str, object] = {"output": job.name, "notebook": job.notebook.stem}
        facts |= {f"parameter_{name}": value for name, value in job.parameters.items()}
        rows += [facts | {"name": name} | value for name, value in published_values(folder, job).items()]
    given = list(dict.fromkeys(f"parameter_{name}" for job in jobs for name in job.parameters))
    names = list(COLUMNS)
    frame = pd.DataFrame(rows, columns=[*names[:2], *given, *names[2:]])
    for column in given:
        frame[column] = _one_type(frame[column])
    return frame.astype({name: kind for name, (kind, _) in COLUMNS.items()})


def published_values(folder: Path, job: Job) -> dict[str, dict[str, Any]]:
    """Return the values that an output published, by name, as `loadcurve.publish.values` wrote them."""
    file = folder / f"{job.name}.figures" / "values.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def write_values(frame: pd.DataFrame, target: Path) -> None:
    """Write the table as Parquet; the meaning of each column is in the metadata of its field."""
    import pyarrow.parquet as pq  # with file systems of clouds

    made = pa.Table.from_pandas(frame, preserve_index=False)
    fields = []
    for field in made.schema:
        _, meaning = COLUMNS.get(field.name, ("", _PARAMETER.format(field.name.removeprefix("parameter_"))))
        fields.append(field.with_metadata({"description": meaning}))
    notes = {"description": "Published values of a batch", "loadcurve.version": __version__}
    table = made.cast(pa.schema(fields, {**(made.schema.metadata or {}), **notes}))
    with replacing(target) as draft:
        pq.write_table(table, draft)


def _one_type(values: pd.Series) -> pd.Series:
    known = values[values.map(lambda value: isinstance(value, list) or pd.notna(value))]
    for kind, dtype in ((bool, "boolean"), (int, "Int64"), ((int, float), "Float64")):
        if len(known) and all(isinstance(one, kind) and isinstance(one, bool) == (kind is bool) for one in known):
            return values.astype(dtype)
    return known.map(_text).reindex(values.index).astype("string")
