"""Run a study: every point of it, in its seeded order, each into a folder of its own.

What is finished stays as it is; what is not is done again by the next `launch` of the same folder.
"""

from pathlib import Path

from tqdm.auto import tqdm

from loadcurve.errors import LabError
from loadcurve.lab import machine, nginx
from loadcurve.lab.guard import check_redirect, check_target
from loadcurve.lab.obstacles import find_obstacles
from loadcurve.lab.plan import plan
from loadcurve.lab.resume import adopt, check_same_machine, is_finished, only_launcher
from loadcurve.lab.run_point import is_url, run_point
from loadcurve.records import run_folders
from loadcurve.study import Study


def launch(study: Study, folder: Path, *, public: bool = False) -> list[Path]:
    """Run every point of `study` that `folder` does not yet hold finished; return all its run folders.

    Parameters
    ----------
    study : Study
        What to run.
    folder : pathlib.Path
        Folder of the study, of the study's name; made, with its `study.yml`, where there is none.
    public : bool
        Whether targets that the study names may be public addresses.

    Raises
    ------
    LabError
        Before anything is started: when the machine lacks a tool, a target is not allowed, the folder holds another
        study or the record of another machine, or another launch is at work in it.  At the end: when a run failed.
    KeyboardInterrupt
        After the processes of the run at hand are ended and the run is marked interrupted.
    """
    obstacles = find_obstacles(study)
    if not obstacles.empty:
        raise LabError("; ".join(f"{row.obstacle}: {row.remedy}" for row in obstacles.itertuples()))
    for recipe in study.variants.values():
        if is_url(recipe):
            check_target(recipe, study.allow_targets, public=public)
            check_redirect(recipe, study.allow_targets, public=public)
        else:
            nginx.configuration(recipe, port=1, body_bytes=study.response_bytes, connections=1, echo_module="")
    adopt(study, folder)
    here = machine.facts()
    with only_launcher(folder):
        check_same_machine(folder, here)
        waiting = [p for p in plan(study) if not is_finished(study, p, folder / p.run_id)]
        failed = []
        for point in tqdm(waiting, desc=study.study, unit="run", disable=not waiting):
            run = run_point(study, point, folder / point.run_id, here)
            if run.status != "finished":
                failed.append(f"{run.run_id} ({run.reason})")
    if failed:
        raise LabError(f"{len(failed)} of {len(waiting)} runs failed: {', '.join(failed)}; launch again to repeat them")
    return run_folders(folder)
