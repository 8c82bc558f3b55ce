"""CPU time that processes outside the run, and the hypervisor, took while the load lasted."""

import os
from typing import Any

from loadcurve.lab.deployment import Deployment
from loadcurve.lab.deployment.host_slot import processors
from loadcurve.lab.hosts import background
from loadcurve.lab.run.environment import Environment
from loadcurve.lab.study_file import StudyFile

_ROLES = ("S1", "C1", "LB")  # on loopback each role has its own processors


def sample(environment: Environment) -> dict[str, dict[str, Any]]:
    """Return the CPU time used so far on each machine: ``local`` and each remote host by name."""
    here = [executor for executor in environment.watch.values() if executor.is_here]
    found = {"local": here[0].processor_use()} if here else {}
    return found | {
        name: executor.processor_use() for name, executor in environment.watch.items() if not executor.is_here
    }


def between(
    settings: StudyFile,
    deployment: Deployment,
    environment: Environment,
    before: dict[str, dict],
    after: dict[str, dict],
) -> dict[str, dict[str, Any]]:
    """Return the record of each machine between two samples of `sample`.

    An existing server is not a process of the run and cannot be distinguished from others, so only steal is recorded.
    """
    found = {}
    for machine in before:
        names = (
            [machine]
            if machine != "local"
            else [name for name, executor in environment.watch.items() if executor.is_here]
        )
        used = _used(settings, deployment, names) or (os.sched_getaffinity(0) if machine == "local" else ())
        found[machine] = background.between(before[machine], after[machine], used)
        if settings.server.url is not None:
            del found[machine]["other_cpu_s"]
    return found


def _used(settings: StudyFile, deployment: Deployment, names: list[str]) -> set[int]:
    """Processors that the hosts of a machine use; empty if one of them may use all."""
    roles = _ROLES if "local" in names else _ROLES[:1]
    each = [processors(settings, deployment.slots, name, role) for name in names for role in roles]
    return set().union(*each) if all(each) else set()
