"""Limits of a host's commands: open files for each process, processor time for all of them together.

`limited` applies limits for as long as a context lasts and yields the prefix of commands, `why_not` returns why this
machine cannot apply them, `throttling` what a quota did.
"""

from loadcurve.lab.hosts.limits.limits import Limits, Prefix, limited, throttling, why_not

__all__ = ["Limits", "Prefix", "limited", "throttling", "why_not"]
