"""How often the intervals of this library hold the true value, in simulations with a known truth."""

from loadcurve.plots.comparison import CLAIMED
from validation.coverage.bootstrapped import summarise_bootstrap_coverage
from validation.coverage.comparisons import (
    summarise_comparison_coverage,
    summarise_ratio_coverage,
    summarise_unequal_coverage,
)
from validation.coverage.count import COLUMNS, holds, summarise_hits, summarise_sizes, summarise_studies, verdict
from validation.coverage.curves import (
    LAST,
    SHIPPED,
    TRUTH,
    WHERE,
    summarise_usl_coverage,
    summarise_weight_coverage,
    truth_of,
)
from validation.coverage.means import summarise_mean_coverage, summarise_quantile_coverage
from validation.coverage.ratios import summarise_coverage
from validation.coverage.resources import (
    summarise_demand_coverage,
    summarise_knee_coverage,
    summarise_plateau_coverage,
    summarise_scale_out_coverage,
)
from validation.coverage.series import summarise_drift_coverage, summarise_series_coverage, summarise_slow_coverage

__all__ = [
    "CLAIMED",
    "COLUMNS",
    "LAST",
    "SHIPPED",
    "TRUTH",
    "WHERE",
    "holds",
    "summarise_bootstrap_coverage",
    "summarise_comparison_coverage",
    "summarise_coverage",
    "summarise_demand_coverage",
    "summarise_drift_coverage",
    "summarise_hits",
    "summarise_knee_coverage",
    "summarise_mean_coverage",
    "summarise_plateau_coverage",
    "summarise_quantile_coverage",
    "summarise_ratio_coverage",
    "summarise_scale_out_coverage",
    "summarise_series_coverage",
    "summarise_sizes",
    "summarise_slow_coverage",
    "summarise_studies",
    "summarise_unequal_coverage",
    "summarise_usl_coverage",
    "summarise_weight_coverage",
    "truth_of",
    "verdict",
]
