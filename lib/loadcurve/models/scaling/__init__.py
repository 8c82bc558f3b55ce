"""Laws of throughput over connections, and their fits.

| module              | holds |
|---------------------|---|
| ``law``             | `Law`: formula, derivatives, least squares |
| ``usl``             | Universal Scalability Law with Amdahl's and the linear one, inverses, older methods |
| ``saturating``      | the roofline min(γ N, C), and a smooth transition to the capacity |
| ``finite_source``   | a delay and one queue |
| ``rational``        | least squares for laws of the form N / polynomial; ``marquardt`` for all others |
| ``points``          | runs grouped by level, checked, with their weights |
| ``fits``            | `fit_law` and functions for the laws fitted most; ``diagnostics`` are its checks and warnings |
| ``intervals``       | profile-likelihood intervals; bootstrap intervals widened for few repeats |
| ``bootstrap``       | bootstrap over runs |
| ``model_selection`` | `run_tournament`: ``posterior``, and the forecast beyond the last level |

Imports go one way: ``law marquardt`` < ``rational`` < the laws < ``points diagnostics intervals`` < ``fits`` <
``bootstrap posterior`` < ``model_selection``.
"""

from loadcurve.models.scaling.bootstrap import bootstrap_law, find_interval
from loadcurve.models.scaling.fits import LAWS, fit_law, fit_usl
from loadcurve.models.scaling.intervals import QUANTITIES, find_profile, influence_degrees, summarise_bootstrap
from loadcurve.models.scaling.model_selection import DEPARTURE, ENTRANTS, Tournament, run_tournament
from loadcurve.models.scaling.points import summarise_points
from loadcurve.models.scaling.usl import (
    usl,
    usl_by_parabola,
    usl_limit_rps,
    usl_peak_connections,
    usl_through_first,
    usl_through_two,
)

__all__ = [
    "DEPARTURE",
    "ENTRANTS",
    "LAWS",
    "QUANTITIES",
    "Tournament",
    "bootstrap_law",
    "find_interval",
    "find_profile",
    "fit_law",
    "fit_usl",
    "influence_degrees",
    "run_tournament",
    "summarise_bootstrap",
    "summarise_points",
    "usl",
    "usl_by_parabola",
    "usl_limit_rps",
    "usl_peak_connections",
    "usl_through_first",
    "usl_through_two",
]
