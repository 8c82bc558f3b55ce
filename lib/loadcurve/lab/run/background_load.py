"""What else used the processors of a run while its load lasted, and the warnings that follow."""

import os
from typing import Any

from loadcurve.lab.deployment import Deployment
from loadcurve.lab.deployment.host_slot import processors
from loadcurve.lab.hosts import background
from loadcurve.lab.run.environment import Environment
from loadcurve.lab.study_file import StudyFile

_ROLES = ("S1", "C1", "LB")  # on loopback each has processors of its own


def sample(environment: Environment) -> dict[str, dict[str, Any]]:
    """Return what processes and processors of each machine have used so far: ``local``, and hosts by ssh by name."""
    here = [place for place in environment.watch.values() if place.is_here]
    found = {"local": here[0].processor_use()} if here else {}
    return found | {name: place.processor_use() for name, place in environment.watch.items() if not place.is_here}


def between(
    settings: StudyFile,
    deployment: Deployment,
    environment: Environment,
    before: dict[str, dict],
    after: dict[str, dict],
) -> dict[str, dict[str, Any]]:
    """Return the record of each machine between two samples.

    A server that runs already is no process of the run, and cannot be told from others: then only steal is recorded.

    Parameters
    ----------
    settings : StudyFile
        Sections of the point.
    deployment : Deployment
        What runs.
    environment : Environment
        On which hosts.
    before, after : dict
        As `sample` returned them.
    """
    found = {}
    for machine in before:
        names = (
            [machine] if machine != "local" else [name for name, place in environment.watch.items() if place.is_here]
        )
        used = _used(settings, deployment, names) or (os.sched_getaffinity(0) if machine == "local" else ())
        found[machine] = background.between(before[machine], after[machine], used)
        if settings.server.url is not None:
            del found[machine]["other_cpu_s"]
    return found


def _used(settings: StudyFile, deployment: Deployment, names: list[str]) -> set[int]:
    """Processors that the hosts of a machine use; empty where one of them may use all."""
    roles = _ROLES if "local" in names else _ROLES[:1]
    each = [processors(settings, deployment.slots, name, role) for name in names for role in roles]
    return set().union(*each) if all(each) else set()
