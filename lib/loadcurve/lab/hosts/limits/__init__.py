"""Limits of a host's commands: open files for each process, processor time for all of them together.

`limited` makes what they need for as long as a context lasts and yields what stands before a command, `why_not` says
why this machine cannot, `throttling` what a quota did.
"""

from loadcurve.lab.hosts.limits.limits import Limits, Prefix, limited, throttling, why_not

__all__ = ["Limits", "Prefix", "limited", "throttling", "why_not"]
