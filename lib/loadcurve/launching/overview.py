"""Studies and designs with their state: how many runs are finished, how large, when the last one ended."""

from pathlib import Path

import pandas as pd

from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.lab.schedule.order import max_points
from loadcurve.lab.study_file import read_checked, settings_of
from loadcurve.study.records import read_run, run_folders

COLUMNS = ["study", "state", "finished", "planned", "bytes", "last", "question"]


def list_studies() -> pd.DataFrame:
    """Return one row for each study and each design, by name.

    Examples
    --------
    >>> list_studies().set_index("study").loc["connections_on_loopback", "state"]
    'finished'
    """
    recorded = sorted(paths.studies().glob("*/study.yml")) if _in_a_checkout() else []
    rows = [_row(file.parent, design=False) for file in recorded]
    names = {row["study"] for row in rows}
    designs = sorted(paths.designs().glob("*/study.yml"))
    rows += [_row(file.parent, design=True) for file in designs if file.parent.name not in names]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.assign(last=pd.to_datetime(table["last"], utc=True))


def _in_a_checkout() -> bool:
    try:
        paths.studies()
    except LoadcurveError:
        return False
    return True


def _row(folder: Path, *, design: bool) -> dict[str, object]:
    row: dict[str, object] = {"study": folder.name, "finished": 0, "planned": 0, "bytes": 0, "last": pd.NaT}
    try:
        study = read_checked(folder)
        planned = max_points(study, settings_of(study))
    except LoadcurveError as error:
        return row | {"state": "wrong", "question": str(error)}
    row |= {"planned": planned, "question": study.question}
    if design:
        return row | {"state": "design"}
    runs = [read_run(path) for path in run_folders(folder)]
    finished = [run for run in runs if run.status == "finished"]
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    last = max((pd.Timestamp(c.ended_at) for run in finished for c in run.commands if c.ended_at), default=pd.NaT)
    state = "finished" if len(finished) >= planned else "part" if finished else "not run"
    return row | {"finished": len(finished), "bytes": size, "last": last, "state": state}
