"""The published values of a batch as one table, so that a grid can be analysed like any other data."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from loadcurve.batch.grid import Job
from loadcurve.files.atomic import replacing
from loadcurve.packages import __version__

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
    fields = [field.with_metadata({"description": _meaning(field.name)}) for field in made.schema]
    notes = {"description": "Published values of a batch", "loadcurve.version": __version__}
    table = made.cast(pa.schema(fields, {**(made.schema.metadata or {}), **notes}))
    with replacing(target) as draft:
        pq.write_table(table, draft)


def _meaning(column: str) -> str:
    return COLUMNS[column][1] if column in COLUMNS else _PARAMETER.format(column.removeprefix("parameter_"))


def _one_type(values: pd.Series) -> pd.Series:
    known = values[values.map(lambda value: isinstance(value, list) or pd.notna(value))]
    for kind, dtype in ((bool, "boolean"), (int, "Int64"), ((int, float), "Float64")):
        if len(known) and all(isinstance(one, kind) and isinstance(one, bool) == (kind is bool) for one in known):
            return values.astype(dtype)
    texts = known.map(lambda value: value if isinstance(value, str) else json.dumps(value, default=str))
    return texts.reindex(values.index).astype("string")
