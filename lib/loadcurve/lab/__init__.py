"""The only place that starts processes: it runs a study and leaves run folders.

`launch` runs a study; `list_obstacles` lists what is missing on this machine.  Load goes only to loopback and to
networks of the laboratory's own, unless the study names a target under ``allow_targets``; every tool runs under an
outer time limit.  Each folder imports only from those above it in this list::

    hosts         where a command runs: executor, host, process, facts; network/, ssh/, limits/
    servers       web servers and databases: settings, configuration, command
    balancers     proxies and kernel rules: settings, configuration, command
    functions     functional tests of balancers, for which no load is sent
    generators    load generators: settings, command, what each can do
    monitors      what is sampled on each host while the load runs
    faults        what is broken on purpose, and how it is undone
    schedule      which point comes next: random order, adaptive search, stop rules
    study_file    the sections of study.yml, their checks and the JSON schema
    deployment    what runs where, as data
    preflight     obstacles, allowed targets, dry run
    run           launch, run, session, environment, record

`known_tools` lists every program that the folders from `hosts` to `faults` start.
"""

from loadcurve.lab.preflight.dry_run import describe, describe_obstacles
from loadcurve.lab.preflight.obstacles import list_obstacles
from loadcurve.lab.run.launch import launch
from loadcurve.lab.run.measure_here import Measurement, measure_here
from loadcurve.lab.schedule.feedback import Feedback, Measured
from loadcurve.lab.study_file import read_checked

__all__ = [
    "Feedback",
    "Measured",
    "Measurement",
    "describe",
    "describe_obstacles",
    "launch",
    "list_obstacles",
    "measure_here",
    "read_checked",
]
