"""Launch a study and report what came of it.

The laboratory starts processes and reads no output; ingestion reads output and starts no process; statistics do
neither.  This package connects them: the runs of a study with a search or a stop rule decide which run comes next.
"""

from loadcurve.launching.launcher import describe_launch, feedback, interruption, judge, launch, measure, objectives_of

__all__ = ["describe_launch", "feedback", "interruption", "judge", "launch", "measure", "objectives_of"]
