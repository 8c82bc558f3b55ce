"""The only place that starts processes: hosts, generators, servers, collectors, and the runner that keeps them in step.

`launch` runs a study and leaves run folders; `find_obstacles` says beforehand what this machine lacks.  Load goes
only to loopback, unless the study names a host under ``allow_targets``; every tool runs under an outer time limit.
"""

from loadcurve.lab.here import Measurement, measure_here
from loadcurve.lab.obstacles import find_obstacles
from loadcurve.lab.runner import launch

__all__ = ["Measurement", "find_obstacles", "launch", "measure_here"]
