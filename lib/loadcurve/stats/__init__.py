"""Numbers with their uncertainty: what a few repeats say, and how surely they say it."""

from loadcurve.stats.estimate import Estimate
from loadcurve.stats.mean import find_mean, summarise_repeats

__all__ = ["Estimate", "find_mean", "summarise_repeats"]
