"""What runs where at one point of a study: services, load generators and monitors of each host, as data.

`deploy` is a pure function: the same settings on the same hosts give the same commands, so a study can be checked and
shown before anything starts.
"""

from loadcurve.lab.deployment.deploy import Deployment, argvs, deploy
from loadcurve.lab.deployment.host_slot import HostSlot, counting, share_processors

__all__ = ["Deployment", "HostSlot", "argvs", "counting", "deploy", "share_processors"]
