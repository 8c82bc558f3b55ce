"""Measure a short copy of a study on this machine, or report why that is not possible."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from loadcurve.errors import LabError, LoadcurveError
from loadcurve.files import paths
from loadcurve.lab.run.launch import launch
from loadcurve.lab.schedule.feedback import Feedback
from loadcurve.lab.study_file import read_checked
from loadcurve.study import Study
from loadcurve.study.records import fingerprint, read_run, read_study, run_folders


@dataclass(frozen=True)
class Measurement:
    """The result of `measure_here`.

    Attributes
    ----------
    folder : pathlib.Path
        The study's folder under ``build/studies``.
    finished : int
        Number of finished runs in it.
    reason : str
        Why runs are missing (a missing tool, a failed run); empty when every run finished.

    Examples
    --------
    >>> Measurement(Path("build/studies/here"), finished=12, reason="").finished
    12
    """

    folder: Path
    finished: int
    reason: str


def measure_here(
    study: str | Path,
    *,
    name: str,
    seconds: float,
    repeats: int,
    afresh: bool = False,
    feedback: Feedback | None = None,
) -> Measurement:
    """Launch a study under another name with another duration and number of repeats.

    What this machine cannot run is reported in the result and raises no error.

    Parameters
    ----------
    study : str or pathlib.Path
        Name of a study, its folder, or its `study.yml`.
    name : str
        The copy's name, and that of its folder under ``build/studies``.
    seconds : float
        Duration of the load at each point, in s, at least 1.
    repeats : int
        Repeats of each point, at least 1.
    afresh : bool
        Whether a copy of that name is removed first if it has other settings, or was changed or damaged.
    feedback : Feedback, optional
        How a study with a search or a stop rule measures its runs; see `loadcurve.launching`.

    Raises
    ------
    ParseError, LoadcurveError
        When the study does not exist or is invalid, or the copy is of another study and `afresh` is False.

    Examples
    --------
    >>> here = measure_here("connections_on_loopback", name="here", seconds=1, repeats=1)  # doctest: +SKIP
    >>> here.finished, here.reason  # doctest: +SKIP
    (20, '')
    """
    recorded = read_checked(paths.study_folder(study))
    short = replace(recorded, study=name, load={**recorded.load, "duration_s": float(seconds)}, repeats=repeats)
    folder = paths.build() / "studies" / name
    if folder.exists() and not _holds(folder, short):
        if not afresh:
            raise LoadcurveError(
                f"{paths.shown(folder)} holds another study, or one with other seconds, repeats or settings: "
                "give another name, or remove the folder"
            )
        shutil.rmtree(folder)
    try:
        launch(short, folder, feedback=feedback)
        reason = ""
    except LabError as error:
        reason = str(error)
    finished = sum(read_run(run).status == "finished" for run in run_folders(folder))
    return Measurement(folder, finished, reason)


def _holds(folder: Path, study: Study) -> bool:
    """Whether a folder holds this study, with every run as it was recorded."""
    try:
        return read_study(folder) == study and all(map(_is_as_recorded, run_folders(folder)))
    except LoadcurveError:
        return False


def _is_as_recorded(folder: Path) -> bool:
    files = read_run(folder).files
    return all((folder / name).is_file() and fingerprint(folder / name) == known for name, known in files.items())
