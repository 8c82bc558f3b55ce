"""The manifest of a study: `runs.json` lists every run that a launch has started, so a removed run is detected.

It also lists the runs that were measured again, each with its seal, why and when.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from loadcurve.errors import LoadcurveError, ParseError, original
from loadcurve.files.atomic import write_text
from loadcurve.files.paths import is_packed, leads_out_of, shown
from loadcurve.study.study import Study

NAME = "runs.json"
OF_A_STUDY = ("study.yml", "answers.json", "fault.yml", "record.sh", "guest.sh", NAME)
"""Files of a study that belong to no run; a recorded fault has `fault.yml`, and perhaps scripts of its recording."""


def read_manifest(study_folder: Path) -> dict[str, str]:
    """Return run_id → seal of the run's `run.json`, empty for an unfinished run; no entries without a manifest.

    Raises ParseError when the file does not have the form that `list_run` writes.
    """
    return _read(study_folder)[0]


def _read(study_folder: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    path = study_folder / NAME
    if not path.exists():
        return {}, []
    from loadcurve.study.records import read_json  # with parsers of YAML, which files of no study need

    _, values = read_json(path)
    runs, replaced = (values.get("runs"), values.get("replaced", [])) if isinstance(values, dict) else (None, None)
    if not _texts(runs) or set(values) - {"runs", "replaced"}:
        raise ParseError(1, 'a mapping "runs" of run_id to seal', str(values), shown(path))
    if not isinstance(replaced, list) or not all(_texts(each) and set(each) == _REPLACED for each in replaced):
        expected = f'a list "replaced" of mappings with {", ".join(sorted(_REPLACED))}'
        raise ParseError(1, expected, str(replaced), shown(path))
    return runs, replaced


_REPLACED = {"run_id", "seal", "why", "at"}


def _texts(values: object) -> TypeGuard[dict[str, str]]:
    return isinstance(values, dict) and all(isinstance(value, str) for value in values.values())


def list_run(study_folder: Path, run_id: str, seal: str = "", *, replaces: Mapping[str, str] | None = None) -> None:
    """Add a run to the manifest of its study, with the seal of its record once the record is complete.

    `replaces` has the ``seal`` of a record that the run replaces, ``why`` it is measured again, and ``at`` what time.
    """
    runs, replaced = _read(study_folder)
    if runs.get(run_id) == seal and replaces is None:
        return
    values: dict[str, Any] = {"runs": dict(sorted({**runs, run_id: seal}.items()))}
    if replaces is not None and (run_id, replaces["seal"]) not in {(one["run_id"], one["seal"]) for one in replaced}:
        replaced = [*replaced, {"run_id": run_id, **replaces}]
    if replaced:
        values["replaced"] = replaced
    write_text(study_folder / NAME, json.dumps(values, indent=1, ensure_ascii=False) + "\n")


def gaps_of(study_folder: Path, found: Mapping[str, str], *, follow: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each run, file and link for which manifest and folder differ: its name, and a description.

    `found` are the runs in the folder that have a record: run_id → seal.  A run that was begun and has no record yet is
    no difference: a launch lists each run before it makes the folder.
    """
    listed, links = read_manifest(study_folder), dict(_links(study_folder, follow=follow))
    yield from links.items()
    if not listed and found and is_packed(Path(original(str(study_folder)))):
        yield NAME, f"not there, so nothing lists the {len(found)} runs of this study, packed or not; restore it"
    for run_id, seal in listed.items():
        if seal and run_id not in found and run_id not in links:
            yield run_id, f"missing: {NAME} lists it, but its folder is gone; restore it, or launch the study again"
        elif seal and run_id in found and seal != found[run_id]:
            yield run_id, f"not the run that was launched: its seal differs from that in {NAME}; restore it"
    for path in sorted(path for path in study_folder.iterdir() if not path.name.startswith(".")):
        if path.name in listed or path.name in links or path.name in OF_A_STUDY:
            continue
        if not path.is_dir():
            yield path.name, "of no run, so it is not read; move it elsewhere"
        elif listed:
            yield path.name, f"not of this launch: {NAME} does not list it; remove it, or launch again to list it"


def _links(study_folder: Path, *, follow: bool) -> Iterator[tuple[str, str]]:
    root = os.path.realpath(study_folder)
    for top, folders, files in os.walk(study_folder):
        for path in sorted(Path(top, name) for name in (*folders, *files)):
            if path.is_symlink():
                unread = " out of the study, so it is not read" if not follow and leads_out_of(root, path) else ""
                yield path.relative_to(study_folder).as_posix(), f"a link{unread}; replace it by what was recorded"


def accepted(study: Study) -> Mapping[str, str]:
    """Return the key ``accept`` of the section ``audit``: name of a run or file that differs → the reason.

    Raises LoadcurveError when it is no mapping of names to reasons.
    """
    reasons = study.audit.get("accept", {})
    if not isinstance(reasons, Mapping) or not all(isinstance(v, str) and v.strip() for v in reasons.values()):
        raise LoadcurveError(f"{study.study}/study.yml audit: expected name: reason in accept, got {reasons!r}")
    return reasons
