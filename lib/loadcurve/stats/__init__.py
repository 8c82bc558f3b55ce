"""Numbers with their uncertainty: what a few repeats say, and how surely they say it."""

from loadcurve.stats.bootstrap import find_bootstrap_ratio
from loadcurve.stats.equivalence import equivalence_power, repeats_for_equivalence, summarise_equivalence
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.fairness import summarise_fairness, summarise_shares
from loadcurve.stats.mean import find_mean, summarise_repeats
from loadcurve.stats.multiple import holm, summarise_comparisons
from loadcurve.stats.rank import find_rank_ratio, find_shift, summarise_ranks
from loadcurve.stats.ratio import find_geometric_ratio, find_paired_ratio, find_ratio
from loadcurve.stats.ratios import summarise_coverage, summarise_ratios

__all__ = [
    "Estimate",
    "equivalence_power",
    "find_bootstrap_ratio",
    "find_geometric_ratio",
    "find_mean",
    "find_paired_ratio",
    "find_rank_ratio",
    "find_ratio",
    "find_shift",
    "holm",
    "repeats_for_equivalence",
    "summarise_comparisons",
    "summarise_coverage",
    "summarise_equivalence",
    "summarise_fairness",
    "summarise_ranks",
    "summarise_ratios",
    "summarise_repeats",
    "summarise_shares",
]
