"""Statistics of repeats, of series and of comparisons: numbers with their intervals.

| module                        | holds |
|-------------------------------|---|
| ``estimate``                  | `Estimate`, a number with its interval and warnings: what every ``find_*`` returns |
| ``mean harmonic quantile``    | one sample of repeats: means, rates, quantiles |
| ``variance``                  | repeats at several levels (builds, starts, runs) |
| ``stopping``                  | how many repeats |
| ``steady drift change``       | one series: warm-up, drift, jumps |
| ``oscillation merging``       | one series: periods, mean despite autocorrelation |
| ``ratio rank bootstrap``      | A against B: intervals of the ratio; ``ratios`` puts them side by side |
| ``equivalence multiple``      | is the difference small enough; several comparisons at once |
| ``histogram``                 | quantiles from histogram classes; ``merged_generators`` joins generators of one run |
| ``fairness balance``          | shares of the servers behind a balancer |

Imports go one way: ``_runs _hypothesis_test estimate`` < ``mean histogram`` < ``merging`` < the other modules
of one sample or one series; ``ratio rank bootstrap`` < ``equivalence ratios multiple``.  No module knows a tool or a
file.

An argument outside the range that its docstring states raises `ValueRuleError`, which names the argument and the rule.
"""

from typing import TYPE_CHECKING

from loadcurve.packages import imported_late

if TYPE_CHECKING:
    from loadcurve.stats.balance import summarise_balance
    from loadcurve.stats.bootstrap import find_bootstrap_ratio
    from loadcurve.stats.change import summarise_segments
    from loadcurve.stats.drift import summarise_drift
    from loadcurve.stats.equivalence import (
        equivalence_power,
        repeats_for_difference,
        repeats_for_equivalence,
        summarise_equivalence,
        variation_that_hides,
    )
    from loadcurve.stats.estimate import Estimate
    from loadcurve.stats.fairness import summarise_fairness
    from loadcurve.stats.harmonic import find_harmonic_mean
    from loadcurve.stats.histogram import summarise_histogram_quantiles
    from loadcurve.stats.mean import find_mean, summarise_repeats
    from loadcurve.stats.merged_generators import summarise_merged
    from loadcurve.stats.merging import autocorrelation, find_mean_of_series, merge_samples
    from loadcurve.stats.multiple import holm, summarise_comparisons
    from loadcurve.stats.oscillation import fisher_g_p_value, summarise_oscillation
    from loadcurve.stats.quantile import find_quantile
    from loadcurve.stats.rank import find_rank_ratio, find_shift, summarise_ranks
    from loadcurve.stats.ratio import find_geometric_ratio, find_paired_ratio, find_ratio
    from loadcurve.stats.ratios import summarise_ratios
    from loadcurve.stats.steady import find_warm_up
    from loadcurve.stats.stopping import find_repeats, summarise_stopping
    from loadcurve.stats.variance import find_mean_of_levels

__all__ = [
    "Estimate",
    "autocorrelation",
    "equivalence_power",
    "find_bootstrap_ratio",
    "find_geometric_ratio",
    "find_harmonic_mean",
    "find_mean",
    "find_mean_of_levels",
    "find_mean_of_series",
    "find_paired_ratio",
    "find_quantile",
    "find_rank_ratio",
    "find_ratio",
    "find_repeats",
    "find_shift",
    "find_warm_up",
    "fisher_g_p_value",
    "holm",
    "merge_samples",
    "repeats_for_difference",
    "repeats_for_equivalence",
    "summarise_balance",
    "summarise_comparisons",
    "summarise_drift",
    "summarise_equivalence",
    "summarise_fairness",
    "summarise_histogram_quantiles",
    "summarise_merged",
    "summarise_oscillation",
    "summarise_ranks",
    "summarise_ratios",
    "summarise_repeats",
    "summarise_segments",
    "summarise_stopping",
    "variation_that_hides",
]

__getattr__ = imported_late(__name__, __all__)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
