"""Where things live in a checkout: data written by people and machines, and `build/`, which make writes."""

import os
import re
from pathlib import Path

from loadcurve.errors import LoadcurveError

NOTEBOOK_NAME = re.compile(r"[a-z0-9_]+")
"""Of a published notebook, without its suffix: it names a folder of figures, and goes into make's rules."""

_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")  # the Makefile has the same


def root() -> Path:
    """Top of the checkout: the folder above the working directory, or above this package, that holds `data/studies`.

    Outside a checkout of this project, any folder with `data/studies` serves.  The environment variable LOADCURVE_ROOT
    overrides both.

    Raises
    ------
    LoadcurveError
        When there is no such folder; the text says how to make one.
    """
    if (found := _root()) is None:
        raise LoadcurveError(f"{Path.cwd()}: expected data/studies here or above, got none: mkdir -p data/studies")
    return found


def _root() -> Path | None:
    if named := os.environ.get("LOADCURVE_ROOT"):
        return Path(named)
    above = (folder for start in (Path.cwd(), Path(__file__).parent) for folder in (start, *start.parents))
    return next((folder for folder in above if (folder / "data" / "studies").is_dir()), None)


def build() -> Path:
    """What make builds, and what lies nowhere else: runs made from the notebook, the findings of fuzzers."""
    return root() / "build"


def studies() -> Path:
    """Recorded studies: what `loadcurve launch` writes."""
    return root() / "data" / "studies"


def designs() -> Path:
    """Studies that are ready to be launched, a part of this package; nothing is recorded here."""
    return Path(__file__).with_name("designs")


def study_folder(study: str | Path) -> Path:
    """Folder of a study, from its name or its path.

    The search goes through the recorded studies, the studies under `build/studies`, and the designs, in this order.

    Raises
    ------
    LoadcurveError
        When there is no such study; the text names the known ones.
    """
    top = _root()
    recorded = [top / "data" / "studies", top / "build" / "studies"] if top else []
    places = [*recorded, designs()]
    for candidate in (place / study for place in (*places, top or Path(), Path())):
        folder = candidate.parent if candidate.name == "study.yml" else candidate
        if (folder / "study.yml").is_file():
            return folder.resolve()
    known = dict.fromkeys(p.parent.name for place in places for p in sorted(place.glob("*/study.yml")))
    raise LoadcurveError(f"study must be one of {', '.join(known)}, or a folder with a study.yml, got {str(study)!r}")


def record_folder(folder: Path) -> Path:
    """Where the runs of a study go: beside its `study.yml`, but those of a design to the recorded studies."""
    return studies() / folder.name if folder.resolve().parent == designs().resolve() else folder


def shown(path: Path) -> str:
    """A path as messages and provenance write it: relative to the checkout where it is inside."""
    path, top = path.resolve(), _root()
    if top and path.is_relative_to(top := top.resolve()):
        return str(path.relative_to(top))
    return str(path)


def is_plain(path: str | Path) -> bool:
    """Whether a path means the same to make, to a shell and to us: letters, digits and ``_ . / + -`` alone.

    Examples
    --------
    >>> is_plain("c0064-r2/local.wrk.txt"), is_plain("load test.txt"), is_plain("a=b.txt")
    (True, False, False)
    """
    return bool(_PLAIN.fullmatch(str(path)))
