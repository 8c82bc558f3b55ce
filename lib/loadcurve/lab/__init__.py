"""The only place that starts processes: hosts, servers, balancers, generators, monitors, and what keeps them in step.

`launch` runs a study and leaves run folders; `find_obstacles` says beforehand what this machine lacks.  Load goes
only to loopback and to networks of the laboratory's own, unless the study names a target under ``allow_targets``;
every tool runs under an outer time limit.  A study becomes runs in four steps, each a package or module of its own::

    sections      study.yml, checked          plan, order    which point comes next
    arrangement   what runs where, as data    run_point      hosts made, all started, stopped, recorded
"""

from loadcurve.lab.describe import describe, describe_obstacles
from loadcurve.lab.here import Measurement, measure_here
from loadcurve.lab.obstacles import find_obstacles
from loadcurve.lab.order import Eyes, Measured
from loadcurve.lab.runner import launch
from loadcurve.lab.sections import read_checked

__all__ = [
    "Eyes",
    "Measured",
    "Measurement",
    "describe",
    "describe_obstacles",
    "find_obstacles",
    "launch",
    "measure_here",
    "read_checked",
]
