"""Tidy tables on disk: `build/tidy/<table>/study=<study>/part-0.parquet`, made anew when a raw file is newer.

Each file carries the list of the raw files it was made from.  A notebook that reads a table depends on those, and
make is told so: `read_table` writes them to the file named by LOADCURVE_READS, as a compiler writes its `.d` files.
"""

import json
import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from loadcurve import paths, tables
from loadcurve.errors import LoadcurveError
from loadcurve.ingest.folder import Ingested, read_runs
from loadcurve.records import read_run, read_study, run_folders
from loadcurve.schemas import RAW
from loadcurve.study import Study
from loadcurve.units import format_quantity, unit_of_column

_SOURCES, _WARNINGS = b"loadcurve.sources", b"loadcurve.warnings"

# A changed parser makes other tables of the same raw files.
_PARSERS = [
    *Path(__file__).parent.rglob("*.py"),
    *(Path(__file__).parents[1] / "schemas").glob("*.py"),
    Path(__file__).parents[1] / "units.py",
]

# Studies this process has read, for the provenance line under each figure.
studies_read: set[str] = set()


def ingest(study: str | Path) -> Ingested:
    """Read the raw files of a study and write its tidy tables."""
    folder = paths.study_folder(study)
    ingested = read_runs(folder)
    for name, frame in ingested.tables.items():
        target = _file(name, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        notes = {
            _SOURCES: json.dumps([paths.shown(p) for p in ingested.sources[name]]).encode(),
            _WARNINGS: json.dumps(ingested.warnings).encode(),
        }
        draft = target.with_suffix(f".{os.getpid()}.tmp")
        pq.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), **notes}), draft)
        draft.replace(target)
    return ingested


def read_table(name: str, study: str | Path) -> pd.DataFrame:
    """Read a tidy table of a study, by its name or its folder.

    Raises
    ------
    ParseError
        When the study has to be ingested first and a raw file does not hold what its tool writes.
    LoadcurveError
        When there is no such study or table.

    Examples
    --------
    >>> runs = read_table("runs", "connections_on_loopback")
    >>> sorted(runs["variant"].unique())
    ['cpu', 'delay']
    """
    if name not in RAW:
        raise LoadcurveError(f"table must be one of {', '.join(RAW)}, got {name!r}")
    folder = _fresh(study)
    notes = pq.read_metadata(_file(name, folder)).metadata
    # The folder itself too: its time changes when a run is added or taken away.
    record_reads([folder, *(paths.root() / source for source in json.loads(notes[_SOURCES]))])
    return tables.check(name, pd.read_parquet(_file(name, folder)))


def read_warnings(study: str | Path) -> list[str]:
    """Read what the parsers and `run.json` said weakens a study: ``PATH: sentence`` each."""
    return json.loads(pq.read_metadata(_file("runs", _fresh(study))).metadata[_WARNINGS])


def read_machine(study: str | Path) -> pd.DataFrame:
    """Read the facts of the machine a study ran on: ``fact``, ``value``; no rows when no run finished."""
    folder = paths.study_folder(study)
    finished = [(path, run) for path in run_folders(folder) if (run := read_run(path)).status == "finished"]
    record_reads([path / "run.json" for path, _ in finished[:1]])
    facts = finished[0][1].machine.items() if finished else ()
    shown = [{"fact": name.replace("_", " "), "value": _shown(name, value)} for name, value in facts]
    return pd.DataFrame(shown, columns=["fact", "value"])


def _shown(name: str, value: object) -> str:
    unit = unit_of_column(name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_quantity(value, unit) if unit and isinstance(value, int | float) else str(value)


def describe_study(study: str | Path) -> Study:
    """Read a study's `study.yml`, by its name or its folder, and count that as a read."""
    folder = paths.study_folder(study)
    record_reads([folder / "study.yml"])
    return read_study(folder)


def _fresh(study: str | Path) -> Path:
    """Folder of a study whose tidy tables are newer than raw files and parsers, ingested now if they were not."""
    folder = paths.study_folder(study)
    studies_read.add(folder.name)
    made = [_file(name, folder) for name in RAW]
    raw = max(p.stat().st_mtime_ns for p in (folder, *folder.rglob("*"), *_PARSERS))
    if not all(p.exists() for p in made) or min(p.stat().st_mtime_ns for p in made) < raw:
        ingest(folder)
    return folder


def _file(table: str, folder: Path) -> Path:
    place = f"study={folder.name}"
    if folder.parent not in (paths.root() / "data" / "studies", paths.build() / "studies"):
        # A study from elsewhere must not take the place of one of the same name here.
        place += "@" + folder.parent.as_posix().strip("/").replace("/", "_")
    return paths.build() / "tidy" / table / place / "part-0.parquet"


def record_reads(sources: list[Path]) -> None:
    """Write down that a notebook depends on files, where make asked for it."""
    if ledger := os.environ.get("LOADCURVE_READS"):
        with Path(ledger).open("a", encoding="utf-8") as out:
            out.writelines(f"{paths.shown(p)}\n" for p in sources)
