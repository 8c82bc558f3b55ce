"""The load of a warm-up: that of the run for another time, into files of its own."""

from dataclasses import replace

from loadcurve.lab.deployment.deploy import Deployment
from loadcurve.lab.deployment.host_slot import with_role
from loadcurve.lab.deployment.loads import Loader, loaders
from loadcurve.lab.study_file import StudyFile


def warm_ups(warm_up_s: float, settings: StudyFile, deployment: Deployment) -> tuple[Loader, ...]:
    """Return the same load for the time of a warm-up, into files of their own."""
    section = replace(settings.load, duration_s=warm_up_s, requests=0, each_request=False)
    balanced, served = deployment.balanced, deployment.served.values()
    roots = (balanced.endpoint.url,) if balanced else tuple(e.url for one in served for e in one.endpoints)
    return loaders(
        section,
        with_role(deployment.slots, "C"),
        roots or (settings.server.url or "",),
        0.0,
        "-warm-up",
        deployment.addresses,
    )
