"""Paths in a checkout: source data and recorded data, and `build/`, which make writes; paths that are URLs."""

import os
import re
import shlex
import stat
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from loadcurve.errors import LoadcurveError, ParseError, check_type, original, printable

NOTEBOOK_NAME = re.compile(r"[a-z0-9_]+")
"""Form of the name of a published notebook, without its suffix: it names a folder of figures and a make target."""

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")  # same as in the Makefile

ARCHIVE = "runs.tar.xz"
"""Name of the file that holds the runs of a packed study, beside its `study.yml` (`loadcurve.study.archive`)."""


def root() -> Path:
    """Return the root of the checkout: the folder with `data/studies` above the working directory or this package.

    Outside a checkout of this project, any folder with `data/studies` can be used.  The environment variable
    LOADCURVE_ROOT overrides both.  Its studies and notebooks are launched and executed by name, so root uses no folder
    above the working directory that another user can write, except for the checkout that holds this package.
    """
    if (found := _root()) is None:
        raise LoadcurveError(f"{Path.cwd()}: expected data/studies here or above, got none: mkdir -p data/studies")
    return found


def _root() -> Path | None:
    if named := os.environ.get("LOADCURVE_ROOT"):
        return Path(named)
    above = (folder for start in (Path.cwd(), Path(__file__).parent) for folder in (start, *start.parents))
    found = next((folder for folder in above if (folder / "data" / "studies").is_dir()), None)
    if found is not None and os.geteuid() == 0 and found not in Path(__file__).parents:
        for folder in (found, found / "data", found / "data" / "studies"):
            if not is_own_folder(folder.resolve(), alone=True):
                raise LoadcurveError(
                    f"{printable(str(folder))} must be a folder that only root can write; if you trust who can, set "
                    f"LOADCURVE_ROOT={printable(shlex.quote(str(found)))}"
                )
    return found


def is_own_folder(folder: Path, *, alone: bool = False) -> bool:
    """Return whether a path is a folder, no link, of this user, and if `alone` one that nobody else can write.

    With `alone`, a folder of the user who called sudo counts as root's own.
    """
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    users = {str(os.geteuid()), os.environ.get("SUDO_UID") if alone else None}
    group = 0 if str(found.st_gid) in ("0", os.environ.get("SUDO_GID")) else stat.S_IWGRP
    is_shared = alone and bool(found.st_mode & (group | stat.S_IWOTH))
    return stat.S_ISDIR(found.st_mode) and str(found.st_uid) in users and not is_shared


def build() -> Path:
    """Return the folder of generated files, `build` in the checkout: products of make, runs started from notebooks.

    Outside a checkout, it is in the working directory.
    """
    return (_root() or Path.cwd()) / "build"


def locks() -> Path | None:
    """Return the folder of lock files, `build/locks` in the checkout; None outside a checkout."""
    return top / "build" / "locks" if (top := _root()) else None


def studies() -> Path:
    """Return the folder of recorded studies, which `loadcurve launch` writes."""
    return root() / "data" / "studies"


def designs() -> Path:
    """Return the folder of designs, studies in this package that are ready to launch; no runs are recorded there."""
    return Path(__file__).parents[1] / "designs"


def own_notebook() -> Path:
    """Return the notebook that answers for any folder of raw files; it is part of this package."""
    return Path(__file__).parents[1] / "notebooks" / "01_your_own_files.ipynb"


def notebook_folders() -> list[Path]:
    """Return the folders of notebooks: the working directory, `notebooks` of the checkout, and that of this package."""
    top = _root()
    return [Path(), *([top / "notebooks"] if top else []), own_notebook().parent]


def study_folder(study: str | Path) -> Path:
    """Return the folder of a study, given its name or its path.

    The search order is: recorded studies, studies under `build/studies`, designs, the checkout, the working directory.
    What begins with a dot, such as ``./shop``, is a path.
    """
    check_type("study", study, str | Path, "a name or a path")
    top = _root()
    recorded = [top / "data" / "studies", top / "build" / "studies"] if top else []
    places = [*recorded, designs()]
    searched = [Path()] if isinstance(study, str) and study.startswith(".") else [*places, top or Path(), Path()]
    for candidate in (place / study for place in searched):
        folder = candidate.parent if candidate.name == "study.yml" else candidate
        if (folder / "study.yml").is_file():
            return folder.resolve()
    known = dict.fromkeys(p.parent.name for place in places for p in sorted(place.glob("*/study.yml")))
    raise LoadcurveError(
        f"study must be one of {', '.join(known)}, or a folder with a study.yml or with raw files, got {str(study)!r}"
    )


def data_folder(data: str | Path) -> Path:
    """Return the folder of a study, as `study_folder`, or any other folder, which then holds raw files.

    A leading ``~`` is the home directory.
    """
    check_type("data", data, str | Path, "a path or the name of a study")
    try:
        return study_folder(data)
    except LoadcurveError:
        named = Path(data).expanduser()
        places = [place / named for place in (Path(), _root() or Path())]
        found = next((one for one in places if one.is_dir() or on_disk(one) != one.absolute()), None)
        if found is None and len(named.parts) > 1:
            raise LoadcurveError(f"{data}: expected a file or a folder, got none") from None
        if found is None or not str(data):
            raise
        return found.resolve()


_HOLD_DATA = ("data/studies", "build/studies", "data", "")
"""Folders of the checkout below which a data folder is named by its path, the closest first."""


def data_name(folder: Path) -> str:
    """Return the name of a data folder in the provenance of a figure; `named_data` finds the folder again.

    It is the name of a study, ``published/SOURCE``, the path of another folder in the checkout, or the last part of the
    path of a folder elsewhere.
    """
    folder, top = Path(original(str(folder.resolve()))), _root()
    above = [(top / place).resolve() for place in _HOLD_DATA] if top else []
    return next((str(folder.relative_to(place)) for place in above if folder.is_relative_to(place)), folder.name)


def named_data(name: str) -> Path | None:
    """Return the data folder of the checkout with a name that `data_name` returned, or None if there is none."""
    if not is_plain(name) or ".." in Path(name).parts or Path(name).is_absolute() or not (top := _root()):
        return None
    return next((top / place / name for place in _HOLD_DATA if (top / place / name).is_dir()), None)


def record_folder(folder: Path) -> Path:
    """Return the folder for the runs of a study: the study's folder, or for a design a folder of recorded studies."""
    return studies() / folder.name if folder.resolve().parent == designs().resolve() else folder


def shown(path: Path) -> str:
    """Return a path for messages and provenance, that of a link itself: relative to the checkout if it is inside."""
    path = path.parent.resolve() / path.name if path.is_symlink() else path.resolve()
    path, top = Path(original(str(path))), _root()
    if top and path.is_relative_to(top := top.resolve()):
        return str(path.relative_to(top))
    return str(path)


def is_packed(folder: Path) -> bool:
    """Return whether a folder is that of a study with an archive of its runs."""
    return (folder / ARCHIVE).is_file() and (folder / "study.yml").is_file()


def on_disk(path: Path) -> Path:
    """Return the file that holds a file of a study, which is the archive for one in a packed run."""
    place = Path(original(str(path.absolute())))
    return next((folder / ARCHIVE for folder in place.parents if not place.exists() and is_packed(folder)), place)


def below(file: Path, folder: Path) -> PurePosixPath:
    """Return the path of a file relative to a folder, also of a file in the temporary copy of a packed study there.

    Examples
    --------
    >>> below(Path("results/c64/wrk.txt"), Path("results"))
    PurePosixPath('c64/wrk.txt')
    """
    return PurePosixPath(os.path.relpath(original(str(file)), original(str(folder))))


def leads_out_of(folder: str, link: str | Path) -> bool:
    """Return whether a path leads out of a folder whose path has no links.

    Examples
    --------
    >>> leads_out_of("/proc", "/proc/self"), leads_out_of("/proc", "/proc/self/cwd"), leads_out_of("/pro", "/proc")
    (False, True, True)
    """
    return not f"{os.path.realpath(link)}/".startswith(f"{folder.rstrip('/')}/")


def is_own_file(path: Path, *, follow: bool = False) -> bool:
    """Return whether there is a file in a folder, and, unless links are followed, no link that leads out of it."""
    return path.is_file() and (follow or not leads_out_of(os.path.realpath(path.parent), path))


def check_own_file(path: Path, folder: Path | None = None) -> Path:
    """Return the path of a file in a folder; raise `ParseError` for a link that leads out of the folder."""
    if leads_out_of(os.path.realpath(folder or path.parent), path):
        raise ParseError(0, "a file of this folder (copy it here)", "a link that leads out of it", str(path))
    return path


def is_plain(path: str | Path) -> bool:
    """Return whether a path has only letters, digits and ``_ . / + -``, so that make and shells need no quoting.

    Examples
    --------
    >>> is_plain("c0064-r2/local.wrk.txt"), is_plain("load test.txt"), is_plain("a=b.txt")
    (True, False, False)
    """
    return bool(_PLAIN.fullmatch(str(path)))


def is_url(path: object) -> bool:
    """Return whether a path is a URL.

    Examples
    --------
    >>> is_url("s3://bucket/out"), is_url("file:///tmp/out"), is_url("out/s3"), is_url("C:/out")
    (True, True, False, False)
    """
    return isinstance(path, str) and bool(_URL.match(path))


def local_path(path: str | Path) -> Path | None:
    """Return a path on this machine, also of a ``file://`` URL; None for a remote one.

    Examples
    --------
    >>> local_path("file:///tmp/load%20test").as_posix(), local_path("s3://bucket/out")
    ('/tmp/load test', None)
    """
    if not is_url(path):
        return Path(path)
    parts = urlsplit(str(path))
    if parts.scheme.lower() != "file":
        return None
    if parts.netloc not in ("", "localhost"):
        raise LoadcurveError(f"{path}: expected file:///PATH with three slashes, got the host {parts.netloc!r}")
    return Path(unquote(parts.path))


def check_local(target: Path) -> None:
    """Check that the path of a file to write was not given as a URL, whose two slashes a `Path` makes one.

    Examples
    --------
    >>> check_local(Path("s3://bucket/page.html"))
    Traceback (most recent call last):
    loadcurve.errors.LoadcurveError: output must be a local file, got s3://bucket/page.html: write it here, then copy it
    """
    scheme, colon, rest = str(target).partition(":/")
    if colon and is_url(f"{scheme}://") and not target.is_absolute() and not Path(f"{scheme}:").exists():
        url = printable(f"{scheme}://{rest}")
        raise LoadcurveError(f"output must be a local file, got {url}: write it here, then copy it")
