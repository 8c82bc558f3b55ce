"""Several folders and files as one set of tables: a run of one path is never taken for a repeat of another path's."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import pandas as pd

from loadcurve import tables
from loadcurve.errors import LoadcurveError, printable
from loadcurve.ingest.fact_columns import Factors, GivenFactors
from loadcurve.ingest.files import Hints
from loadcurve.ingest.merge import join
from loadcurve.ingest.parsed import Parsed, Tables
from loadcurve.ingest.raw_file import RawFile
from loadcurve.ingest.raw_folder import read_raw_folder
from loadcurve.ingest.streams import parse_each
from loadcurve.reading import NOT_READ, read
from loadcurve.study.study import ONLY_VARIANT

_LISTED = 3  # paths that name the data


def read_sources(
    paths: Sequence[str | Path], factors: Factors = None, timezone: str = "UTC", follow: bool = False
) -> Parsed:
    r"""Read folders and files together.

    Files that are named one by one, as ``results/c*.txt`` names them, are read as a folder that holds them: a file of
    `sar` belongs to the report with the same name.  The runs of each folder become variants named by the folder, unless
    the variants of the folders differ already.
    """
    given = list(dict.fromkeys(map(str, paths)))  # a path that is named twice holds no more runs
    if not all(given):  # an unset shell variable, which must not mean the current folder
        raise LoadcurveError("the name of a file or folder must not be empty")
    folders = [path for path in given if not Path(path).is_file()]
    files = [path for path in given if Path(path).is_file()]
    if not folders and len(files) == 1:
        return read(files[0], timezone=timezone, factors=factors)
    parts: dict[str, Parsed] = {}
    faults: list[str] = []
    for path in folders:
        try:
            parts[path] = read(path, factors=factors, timezone=timezone, follow=follow)
        except LoadcurveError as error:
            faults.append(str(error))
    if files:
        try:
            parts[_folder_of(files)] = read_files(files, factors, timezone)
        except LoadcurveError as error:
            faults += str(error).splitlines()
    if not parts:
        raise LoadcurveError("\n".join(faults) or "path must be a file or a folder, got none")
    found = next(iter(parts.values())) if len(parts) == 1 else _joined(parts)
    warnings = (*(NOT_READ + fault for fault in faults), *found.warnings)
    return Parsed(found.tool, found.tables, warnings, found.version, found.origins)


def read_files(files: Sequence[str], factors: Factors = None, timezone: str = "UTC") -> Parsed:
    """Read files as if a folder held them and nothing else."""
    folder, given = Path(_folder_of(files)), GivenFactors.of(factors)
    raw, warnings, faults = [], [], []
    wanted = [Path(file) for file in files if not given or Path(file).resolve() not in given.files]
    for path, parsed, refused in parse_each(wanted, Hints(timezone=timezone)):
        if parsed is None:
            faults.append(refused)
            continue
        warnings += [f"{printable(str(path))}: {warning}" for warning in parsed.warnings]
        place = PurePosixPath(os.path.relpath(path, folder))
        raw.append(RawFile(place, printable(str(path)), parsed.tables, path.stat().st_mtime))
    if not raw:
        raise LoadcurveError("\n".join(faults))
    matched = read_raw_folder(raw, folder, given)
    joined = Tables(matched.tables)
    checked = {name: tables.check(name, joined[name], extra=name == "runs") for name in joined}
    notes = (*(NOT_READ + fault for fault in faults), *warnings, *matched.warnings)
    return Parsed("", Tables(checked), notes, origins=tuple(matched.origins))


def name_of(paths: Sequence[str | Path]) -> str:
    """Return a name for several paths: the first of them, and how many more there are.

    Examples
    --------
    >>> name_of(["c1.txt", "c2.txt", "c4.txt", "c8.txt", "c16.txt"])
    'c1.txt, c2.txt, c4.txt and 2 more'
    """
    more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
    return ", ".join(printable(str(path)) for path in paths[:_LISTED]) + more


def _folder_of(files: Sequence[str]) -> str:
    return os.path.relpath(os.path.commonpath([Path(file).absolute().parent for file in files]))


def _joined(parts: Mapping[str, Parsed]) -> Parsed:
    """Tables of all parts, each run named by its part first."""
    names = dict(zip(parts, _short_names(list(parts)), strict=True))
    variants = [_variants(part) for part in parts.values()]
    differ = all(variants) and len(set().union(*variants)) == sum(map(len, variants))
    collected: dict[str, list[pd.DataFrame]] = {}
    for path, part in parts.items():
        for name, rows in part.tables.items():
            own = rows
            if "run_id" in own:
                own = own.assign(run_id=(names[path] + "/" + own["run_id"].astype("string")))
            if name == "runs" and not differ:
                variant = own["variant"].astype("string") if "variant" in own else pd.Series(pd.NA, own.index, "string")
                variant = variant.where(variant.ne(ONLY_VARIANT), "").fillna("")
                own = own.assign(variant=(names[path] + " " + variant).str.strip())
            collected.setdefault(name, []).append(own)
    frames = Tables({name: join(rows) for name, rows in collected.items()})
    origins = [f"{names[path]}: {origin}" for path, part in parts.items() for origin in part.origins]
    if not differ:
        origins.append("variant of every run: the folder that was named")
    warnings = [warning for part in parts.values() for warning in part.warnings]
    return Parsed("", frames, tuple(warnings), origins=tuple(origins))


def _variants(part: Parsed) -> set[str]:
    """Variants of the runs of a part; none if a run has none, or only the name of a study's only variant."""
    runs = part.tables["runs"] if "runs" in part.tables else pd.DataFrame()
    if "variant" not in runs or runs["variant"].isna().any():
        return set()
    return set(runs["variant"].astype(str)) - {ONLY_VARIANT}


def _short_names(paths: Sequence[str]) -> list[str]:
    """Name each folder by as many of its last parts as distinguish it from the others."""
    parts = [Path(path).resolve().parts for path in paths]
    for depth in range(1, max(map(len, parts)) + 1):
        names = [printable("/".join(part[-depth:])) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [printable(path) for path in paths]
