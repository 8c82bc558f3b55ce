"""The manifest of a study: `runs.json` lists every run that a launch has started, so a removed run is detected."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from loadcurve.errors import ParseError
from loadcurve.files.atomic import write_text
from loadcurve.paths import shown

NAME = "runs.json"


def read_manifest(study_folder: Path) -> dict[str, str]:
    """Return run_id → seal of the run's `run.json`, empty for an unfinished run; no entries without a manifest.

    Raises
    ------
    ParseError
        When the file does not have the form that `list_run` writes.
    """
    path = study_folder / NAME
    if not path.exists():
        return {}
    from loadcurve.study.records import read_json  # with parsers of YAML, which files of no study need

    _, values = read_json(path)
    runs = values.get("runs") if isinstance(values, dict) else None
    if not isinstance(runs, dict) or set(values) != {"runs"} or not all(isinstance(v, str) for v in runs.values()):
        raise ParseError(1, 'a mapping "runs" of run_id to seal', str(values), shown(path))
    return runs


def list_run(study_folder: Path, run_id: str, seal: str = "") -> None:
    """Add a run to the manifest of its study, with the seal of its record once the record is complete."""
    runs = read_manifest(study_folder)
    if runs.get(run_id) != seal:
        listed = dict(sorted({**runs, run_id: seal}.items()))
        write_text(study_folder / NAME, json.dumps({"runs": listed}, indent=1, ensure_ascii=False) + "\n")


def gaps_of(study_folder: Path, found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the run_id of each run for which manifest and folder differ, and a description of the difference.

    Parameters
    ----------
    study_folder : pathlib.Path
        Folder of the study.
    found : mapping of str to str
        Runs in the folder that have a record: run_id → seal.
    """
    listed = read_manifest(study_folder)
    for run_id, seal in listed.items():
        if run_id not in found:
            yield run_id, f"missing: {NAME} lists it, but its folder is gone; restore it, or launch the study again"
        elif seal and seal != found[run_id]:
            yield run_id, f"not the run that was launched: its seal differs from that in {NAME}; restore it"
    for run_id in found if listed else ():
        if run_id not in listed:
            yield (
                run_id,
                f"not of this launch: {NAME} does not list it; remove it, or launch again to list it",
            )
