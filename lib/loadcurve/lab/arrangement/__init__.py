"""What one point of a study comes to: which service on which host, which load from where, what watches; all as data.

`arrange` is a pure function: the same settings on the same hosts give the same commands, so a study can be checked and
shown before anything starts.
"""

from loadcurve.lab.arrangement.arrange import Arrangement, argvs, arrange
from loadcurve.lab.arrangement.site import Site, counting, share_processors

__all__ = ["Arrangement", "Site", "argvs", "arrange", "counting", "share_processors"]
