"""Which outputs of a batch are complete, and why the others are not: missing, or made from something else."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadcurve.batch.grid import Job
from loadcurve.batch.notebook import STAMP
from loadcurve.files import paths
from loadcurve.files.atomic import sha256_of
from loadcurve.runtime.cluster import library


def stamp_of(job: Job) -> dict[str, Any]:
    """Return what an output of a job is made from, except for the files that the notebook reads."""
    parameters = json.loads(json.dumps(job.parameters, default=str))
    return {"notebook": sha256_of(job.notebook), "parameters": parameters, "library": library()}


def files_state(read: Sequence[str]) -> str:
    """Return a digest of the names, sizes and times of files."""
    digest = hashlib.sha256()
    for name in read:
        path = paths.build().parent / name
        try:
            state = path.stat()
            digest.update(f"{name}\0{state.st_size}\0{state.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
        except OSError:
            digest.update(f"{name}\0missing\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def why_not_complete(output: Path, stamp: Mapping[str, Any]) -> str:
    """Return why an output has to be made: ``missing``, or what changed since it was made; empty if it is complete."""
    made = read_stamp(output)
    if made is None:
        return "missing"
    if made.get("notebook") != stamp["notebook"]:
        return "the notebook changed"
    before, now = made.get("parameters", {}), stamp["parameters"]
    for name in dict.fromkeys((*before, *now)):
        if name not in before or name not in now or before[name] != now[name]:
            was, is_ = (json.dumps(one[name]) if name in one else "the default" for one in (before, now))
            return f"parameter {name} was {was}, and is {is_} now"
    if made.get("library") != stamp["library"]:
        was, is_ = made.get("library", "unknown").split("+")[0], stamp["library"].split("+")[0]
        return f"it was made by loadcurve {was}, this is {is_}" if was != is_ else "the code of loadcurve changed"
    if made.get("state") != files_state(made.get("read", [])):
        return "a file that the notebook read changed"
    figures = output.with_suffix(".figures")
    lost = next((name for name in made.get("figures", []) if not (figures / name).is_file()), "")
    return f"{figures.name}/{lost} is missing" if lost else ""


def read_stamp(output: Path) -> dict[str, Any] | None:
    """Return what an output was made from; None without an output, {} for a file that no batch wrote."""
    try:
        found = json.loads(output.read_text("utf-8"))["metadata"].get(STAMP, {})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}
