"""What else used the processors of a run while its load lasted, and the warnings that follow."""

import math
import os
from collections.abc import Sequence
from typing import Any

from loadcurve.lab import background
from loadcurve.lab.arrangement import Arrangement
from loadcurve.lab.sections import StudyFile
from loadcurve.lab.stage import Stage, processors
from loadcurve.study import BUSY_RATIO, background_ratios

_ROLES = ("S1", "C1", "LB")  # on loopback each has processors of its own


def sample(stage: Stage) -> dict[str, dict[str, Any]]:
    """Return what processes and processors of each machine have used so far: ``local``, and hosts by ssh by name."""
    here = [place for place in stage.watch.values() if place.is_here]
    found = {"local": here[0].processor_use()} if here else {}
    return found | {name: place.processor_use() for name, place in stage.watch.items() if not place.is_here}


def between(
    settings: StudyFile, arrangement: Arrangement, stage: Stage, before: dict[str, dict], after: dict[str, dict]
) -> dict[str, dict[str, Any]]:
    """Return the record of each machine between two samples.

    A server that runs already is no process of the run, and cannot be told from others: then only steal is recorded.

    Parameters
    ----------
    settings : StudyFile
        Sections of the point.
    arrangement : Arrangement
        What runs.
    stage : Stage
        On which hosts.
    before, after : dict
        As `sample` returned them.
    """
    found = {}
    for machine in before:
        names = [machine] if machine != "local" else [name for name, place in stage.watch.items() if place.is_here]
        used = _used(settings, arrangement, names) or (os.sched_getaffinity(0) if machine == "local" else ())
        found[machine] = background.between(before[machine], after[machine], used)
        if settings.server.url is not None:
            del found[machine]["other_cpu_s"]
    return found


def _used(settings: StudyFile, arrangement: Arrangement, names: list[str]) -> set[int]:
    """Processors that the hosts of a machine use; empty where one of them may use all."""
    roles = _ROLES if "local" in names else _ROLES[:1]
    each = [processors(settings, arrangement.sites, name, role) for name in names for role in roles]
    return set().union(*each) if all(each) else set()


def warnings(recorded: dict[str, dict[str, Any]]) -> list[str]:
    """Say on which machines others took more of the processors than `BUSY_RATIO`."""
    found = []
    for machine, (other, steal) in background_ratios(recorded).items():
        on = "" if machine == "local" else f" of {machine}"
        if other > BUSY_RATIO:
            found.append(
                f"processes outside the run took {other:.1%} of the run's processors{on}: stop them and repeat the run"
            )
        if steal > BUSY_RATIO:
            found.append(
                f"the hypervisor took {steal:.1%} of the run's processors{on} (steal): repeat the run, or use another "
                "machine"
            )
    return found


def sentence(ratios: Sequence[tuple[float, float]]) -> str:
    """Return what is said of several runs together: in how many others or steal took too much; empty for none.

    Parameters
    ----------
    ratios : sequence of (float, float)
        Of each run what others and what the hypervisor took of its processors; NaN for not known.

    Examples
    --------
    >>> sentence([(0.001, 0.0), (0.074, 0.0), (float("nan"), 0.031)])
    'others took more than 2% of the processors in 2 of 3 runs (other processes up to 7.4%, steal up to 3.1%)'
    """
    busy = [pair for pair in ratios if max(map(_known, pair)) > BUSY_RATIO]
    if not busy:
        return ""
    other, steal = (max(_known(pair[i]) for pair in busy) for i in (0, 1))
    return (
        f"others took more than {BUSY_RATIO:.0%} of the processors in {len(busy)} of {len(ratios)} runs "
        f"(other processes up to {other:.1%}, steal up to {steal:.1%})"
    )


def _known(ratio: float) -> float:
    return 0.0 if math.isnan(ratio) else ratio
