"""A folder of raw files without records into tables."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from loadcurve.ingest.raw_file import FACTORS, Matched, RawFile
from loadcurve.ingest.run_matching import match_runs


def read_raw_folder(files: Iterable[RawFile], folder: Path, factors: Mapping[str, str] | None = None) -> Matched:
    """Return the tables of files of a folder, with the run of every row and all that is known of each run.

    Parameters
    ----------
    files : iterable of RawFile
        In the order of their rows.
    folder : pathlib.Path
        The folder, which may hold ``factors.csv``.
    factors : mapping of str to str, optional
        Factor -> pattern on names of files (`loadcurve.ingest.run_facts`).

    Raises
    ------
    LoadcurveError
        When ``factors.csv`` or a pattern is wrong.
    """
    matched = match_runs(files, folder.resolve().name)
    reports = {run: file.path for run, file in matched.runs.items()}
    given = folder / FACTORS
    # A flat folder without further facts needs no pandas here.
    if not (factors or given.is_file() or any(len(path.parts) > 1 for path in reports.values())):
        return matched
    from loadcurve.ingest.fact_columns import add_facts
    from loadcurve.ingest.run_facts import match_patterns, match_subfolders, read_factors

    facts = read_factors(given, reports) if given.is_file() else []
    facts += match_patterns(factors or {}, reports)
    if reports:
        runs = matched.tables["runs"]
        records = runs if isinstance(runs, Sequence) else runs.to_dict("records")
        facts += match_subfolders(reports, {run["run_id"]: run.get("connections") for run in records})
        add_facts(matched, facts)
    return matched
