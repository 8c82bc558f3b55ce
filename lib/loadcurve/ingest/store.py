"""Tidy tables on disk: `build/tidy/<study>/<table>.parquet`, remade when they do not match the raw files.

Beside the tables lies `tables.sha256`: the SHA-256 of each, and the state of the raw files that they were made from and
of the modules that read these.  A table that was edited, cut or removed does not match it, and is remade when it is
read.  A table is only replaced when its content changed, so a notebook that reads a table depends on the table's file:
`read_table` writes the file to the list named by LOADCURVE_READS for make, as a compiler writes its `.d` files.
"""

import contextlib
import functools
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from loadcurve import tables
from loadcurve.errors import LoadcurveError
from loadcurve.files import paths
from loadcurve.files.atomic import alone, read_sums, replacing, sha256_of, write_sums
from loadcurve.files.imports import LIBRARY, imported_files
from loadcurve.files.reads import record_reads, studies_read
from loadcurve.ingest.files import files_of
from loadcurve.ingest.folder import EachRun, Ingested, read_runs
from loadcurve.ingest.parsed import Parsed
from loadcurve.ingest.raw_folder import describe_own_folder, read_own_folder
from loadcurve.study import Study
from loadcurve.study.records import read_run, read_study, run_folders
from loadcurve.tables.curves import merge_generators, name_curves, name_loops
from loadcurve.tables.schemas import RAW
from loadcurve.tables.stored import to_arrow
from loadcurve.units import format_quantity, unit_of_column

each_run: EachRun = map
"""How the runs of a study are read; `loadcurve.reading` sets it to all processors with progress."""

# A launch that resumes a study removes what unfinished runs left, perhaps while they are read.
_ATTEMPTS = 3
_SOURCES, _WARNINGS = b"loadcurve.sources", b"loadcurve.warnings"

_READING = ("loadcurve.ingest.folder", "loadcurve.tables.stored")  # besides the parsers of what a study holds


def ingest(study: str | Path) -> Ingested:
    """Read the raw files of a study and write its tidy tables."""
    folder = paths.study_folder(study)
    with alone(f"tables of {paths.shown(folder)}"):
        return _ingest(folder)


def tidy(study: str | Path, report: Callable[[str], object] = lambda line: None) -> dict[str, int]:
    """Update the tidy tables of a study from its raw files; return the rows of each.

    Parameters
    ----------
    study : str or pathlib.Path
        Name or folder.
    report : callable
        Gets a line while another process writes the same tables.
    """
    folder = paths.study_folder(study)
    if not _is_whole(folder, RAW):
        with alone(f"tables of {paths.shown(folder)}", report):
            if not _is_whole(folder, RAW):
                _ingest(folder)
    return {name: pq.read_metadata(_file(name, folder)).num_rows for name in RAW}


def recorded_studies() -> list[Path]:
    """Folders of `data/studies` that hold a `study.yml`, by name."""
    return sorted(path.parent for path in paths.studies().glob("*/study.yml"))


def _ingest(folder: Path) -> Ingested:
    for attempt in range(_ATTEMPTS):
        state = _state(folder)  # before the files are read, so the next reader finds a change meanwhile
        try:
            ingested = read_runs(folder, each_run)
            break
        except LoadcurveError:
            if attempt == _ATTEMPTS - 1 or _state(folder) == state:
                raise
    for name, frame in ingested.tables.items():
        target = _file(name, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        table = to_arrow(name, frame)
        notes = {
            _SOURCES: json.dumps(sorted({paths.shown(paths.on_disk(p)) for p in ingested.sources[name]})).encode(),
            _WARNINGS: json.dumps(ingested.warnings).encode(),
        }
        with replacing(target) as draft:
            pq.write_table(table.replace_schema_metadata({**table.schema.metadata, **notes}), draft)
            if target.is_file() and sha256_of(target) == sha256_of(draft):
                # The same content keeps its time, so nothing that reads it is done again.
                os.utime(draft, ns=(target.stat().st_atime_ns, target.stat().st_mtime_ns))
    parsers = (f"loadcurve.ingest.{parser.partition(':')[0]}" for parser in ingested.parsers)
    modules = [file.relative_to(LIBRARY).as_posix() for file in imported_files((*_READING, *parsers))]
    made_from = _made_from(state, {name: _CODE[name] for name in modules if name in _CODE})
    write_sums(_sums(folder), (_file(name, folder) for name in ingested.tables), made_from)
    return ingested


def read_table(name: str, study: str | Path) -> pd.DataFrame:
    """Read a tidy table of a study, by its name or its folder, or of a folder with raw files.

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
    if own := _own(study):
        return own.tables[name].copy() if name in own.tables else tables.empty(name)
    file = _file(name, _fresh(study, name))
    sources = json.loads(pq.read_metadata(file).metadata[_SOURCES])
    # The raw files too, so that `make -n -W FILE` shows what a changed file would rebuild; without files that make
    # cannot name, which the table represents.
    record_reads([file, *(paths.root() / source for source in sources if paths.is_plain(source))])
    return tables.check(name, pq.ParquetFile(file).read().to_pandas())


def read_tables(study: str | Path) -> dict[str, pd.DataFrame]:
    """Read the tidy tables of a study, or of a folder with raw files, that have rows, and the table ``runs``.

    Examples
    --------
    >>> "cpu" in read_tables("connections_on_loopback")
    True
    """
    if own := _own(study):
        return {name: rows.copy() for name, rows in own.tables.items()}
    return {name: read_table(name, study) for name, rows in tidy(study).items() if rows or name == "runs"}


def read_curves(study: str | Path, *, over: str = "connections") -> pd.DataFrame:
    """Read the table ``runs`` with a variant that names each factor which differs between runs of one load.

    What groups by variant and load then averages over repeats only: a study of one to four servers has four curves.  A
    run with several load generators has one row, with all that they did together.  Where both are there, closed and
    open loops are curves of their own: runs at an offered rate without a number of connections have no place on a curve
    over connections.

    Parameters
    ----------
    study : str or pathlib.Path
        Name or folder of a study, or a folder with raw files.
    over : str
        Column of the load, along which a curve runs.

    Examples
    --------
    >>> sorted(read_curves("connections_on_loopback")["variant"].unique())
    ['cpu', 'delay']
    """
    runs, factors = merge_generators(read_table("runs", study)), read_table("factors", study)
    if over != "connections":
        return name_curves(runs, factors, over=over)
    return pd.concat([named for _, named in name_loops(runs, factors)] or [runs]).sort_index()


def read_warnings(study: str | Path) -> list[str]:
    """Read the warnings of the parsers and of `run.json` about a study: ``PATH: sentence`` each.

    Of a folder with raw files, facts that no report prints follow, each with where it comes from.

    Examples
    --------
    >>> all(": " in warning for warning in read_warnings("connections_on_loopback"))
    True
    """
    if own := _own(study):
        return [*own.warnings, *own.origins]
    file = _file("runs", _fresh(study, "runs"))
    record_reads([file])
    warnings: list[str] = json.loads(pq.read_metadata(file).metadata[_WARNINGS])
    return warnings


def read_machine(study: str | Path) -> pd.DataFrame:
    """Read the facts of the machine a study ran on: ``fact``, ``value``; no rows when no run finished.

    Examples
    --------
    >>> read_machine("connections_on_loopback").set_index("fact")["value"]["system"]
    'Linux'
    """
    folder = paths.data_folder(study)
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
    """Read a study's `study.yml`, by its name or its folder, and count that as a read.

    Of a folder with raw files, the study has the levels and variants that the reports show.

    Examples
    --------
    >>> describe_study("connections_on_loopback").factors["connections"][:3]
    (1, 2, 4)
    """
    if own := _own(study):
        return describe_own_folder(own, paths.data_folder(study).name)
    folder = paths.study_folder(study)
    record_reads([folder / "study.yml"])
    return read_study(folder)


def _own(study: str | Path) -> Parsed | None:
    """Tables of a folder with raw files; None for a study."""
    folder = paths.data_folder(study)
    if (folder / "study.yml").is_file():
        return None
    studies_read.add(paths.data_name(folder))
    record_reads([path for path in files_of(folder) if paths.is_plain(path)])
    return _read_own(folder, _digest(_state(folder)))


@functools.lru_cache(maxsize=4)
def _read_own(folder: Path, _state_of_files: str) -> Parsed:
    """Read a folder with raw files once for each state of its files: there need not be a checkout with a `build/`."""
    return read_own_folder(folder)


def _fresh(study: str | Path, table: str) -> Path:
    """Folder of a study whose tidy table matches its raw files; makes the table if needed."""
    folder = paths.study_folder(study)
    studies_read.add(folder.name)
    if not _is_whole(folder, [table]):
        tidy(folder)
    return folder


def _is_whole(folder: Path, names: Iterable[str]) -> bool:
    """Whether tables exist unchanged, made from the raw files as they are now."""
    made_from, sums = read_sums(_sums(folder))
    modules = made_from.partition(" by ")[2].split()
    if made_from != _made_from(_state(folder), _facts(modules)):
        return False
    files = [_file(name, folder) for name in names]
    return all(file.is_file() and sums.get(paths.shown(file)) == sha256_of(file) for file in files)


def _made_from(files: Mapping[str, str], modules: Mapping[str, str]) -> str:
    """Return a digest of the raw files and modules that tables were made from, and the names of the modules."""
    return f"made from {_digest({**files, **modules})} by {' '.join(modules)}"


def _state(folder: Path) -> dict[str, str]:
    """Return the size and time of each of a study's files, by its path."""
    found = [os.path.join(top, name) for top, *names in os.walk(folder) for name in itertools.chain(*names)]  # noqa: PTH118
    return _facts([os.fspath(folder), *sorted(found)])


def _facts(names: Iterable[str], folder: Path = LIBRARY) -> dict[str, str]:
    """Return the size and time of each file that is there, by its path, absolute or in a folder."""
    found = {}
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # a draft that a launch has renamed since it was listed
            facts = os.lstat(folder / name)
            found[name] = f"{facts.st_size} {facts.st_mtime_ns}"
    return found


def _digest(facts: Mapping[str, str]) -> str:
    return hashlib.sha256(os.fsencode("".join(f"{name}\0{fact}\0" for name, fact in facts.items()))).hexdigest()


def _file(table: str, folder: Path) -> Path:
    return _tables_folder(folder) / f"{table}.parquet"


def _sums(folder: Path) -> Path:
    return _tables_folder(folder) / "tables.sha256"


def _tables_folder(folder: Path) -> Path:
    """Folder of a study's tables; a study outside `data/studies` never shares a folder with one inside."""
    elsewhere = folder.resolve().parent != paths.studies().resolve()
    where = "+" + hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16] if elsewhere else ""
    return paths.build() / "tidy" / f"{folder.name}{where}"


_CODE = _facts(path.relative_to(LIBRARY).as_posix() for path in Path(__file__).parents[1].rglob("*.py"))
"""Of the modules as this process found them; one that is edited meanwhile makes its tables stale."""
