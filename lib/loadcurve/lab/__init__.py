"""The only place that starts processes: it runs a study and leaves run folders.

`launch` runs a study; `list_obstacles` lists what is missing on this machine.  Load goes only to loopback and to
networks of the laboratory's own, unless the study names a target under ``allow_targets``; every tool runs under an
outer time limit.  Each folder imports only from those above it in this list::

    hosts         where a command runs: executor, host, process, facts, limits; network/, ssh/
    tools         what is started: servers/, balancers/ with their functional tests, generators/, monitors/, faults/
    schedule      which point comes next: random order, adaptive search, stop rules
    study_file    the sections of study.yml, their checks and the JSON schema
    run           deployment as data, obstacles, allowed targets, dry run; launch, run, session, environment, record

`known_tools` lists every program that `hosts` and `tools` start.
"""

from loadcurve.lab.run.dry_run import describe, describe_obstacles
from loadcurve.lab.run.launch import Measurement, launch, measure_here
from loadcurve.lab.run.obstacles import install, list_obstacles, packages_of
from loadcurve.lab.schedule.feedback import Feedback, Measured
from loadcurve.lab.study_file import read_checked

__all__ = [
    "Feedback",
    "Measured",
    "Measurement",
    "describe",
    "describe_obstacles",
    "install",
    "launch",
    "list_obstacles",
    "measure_here",
    "packages_of",
    "read_checked",
]
