"""Laws of throughput over connections, and their fits.

| module                  | holds |
|-------------------------|---|
| ``law``                 | `Law`: formula, derivatives, least squares |
| ``usl`` ``roofline``    | the laws: Universal Scalability Law with Amdahl's and the linear one, min(γ N, C), |
| ``saturating``          | a smooth transition to the capacity, |
| ``finite_source``       | a delay and one queue |
| ``rational``            | least squares for laws of the form N / polynomial; ``marquardt`` for all others |
| ``points``, ``repeats`` | checked points of a curve; runs grouped by level and their weights |
| ``least_squares``       | `fit_law`; ``diagnostics`` are its checks and warnings |
| ``fits``                | one function for each law |
| ``profile``             | profile-likelihood intervals |
| ``bootstrap``           | bootstrap over runs; ``run_intervals`` widens its intervals for few repeats |
| ``model_selection``     | `run_tournament`: ``priors``, ``posterior``, and ``outlook`` beyond the last level |
| ``inverse``             | the Universal Scalability Law solved for connections, response time, throughput |
| ``other_methods``       | parameters as other authors compute them |

Imports go one way: ``law marquardt`` < ``rational`` < the laws < ``points repeats diagnostics profile`` <
``least_squares`` < ``fits`` < ``bootstrap run_intervals priors posterior outlook`` < ``model_selection``.
"""

from loadcurve.models.scaling.bootstrap import bootstrap_law, find_interval
from loadcurve.models.scaling.fits import (
    fit_amdahl,
    fit_finite_source,
    fit_free_usl,
    fit_linear,
    fit_roofline,
    fit_saturating,
    fit_usl,
)
from loadcurve.models.scaling.inverse import usl_connections_at, usl_latency_at, usl_throughput_at
from loadcurve.models.scaling.least_squares import LAWS, fit_law
from loadcurve.models.scaling.model_selection import ENTRANTS, Tournament, run_tournament
from loadcurve.models.scaling.other_methods import usl_by_parabola, usl_through_first, usl_through_two
from loadcurve.models.scaling.outlook import DEPARTURE
from loadcurve.models.scaling.profile import QUANTITIES, find_profile
from loadcurve.models.scaling.repeats import summarise_points
from loadcurve.models.scaling.run_intervals import influence_degrees, summarise_bootstrap
from loadcurve.models.scaling.usl import usl, usl_limit_rps, usl_peak_connections

__all__ = [
    "DEPARTURE",
    "ENTRANTS",
    "LAWS",
    "QUANTITIES",
    "Tournament",
    "bootstrap_law",
    "find_interval",
    "find_profile",
    "fit_amdahl",
    "fit_finite_source",
    "fit_free_usl",
    "fit_law",
    "fit_linear",
    "fit_roofline",
    "fit_saturating",
    "fit_usl",
    "influence_degrees",
    "run_tournament",
    "summarise_bootstrap",
    "summarise_points",
    "usl",
    "usl_by_parabola",
    "usl_connections_at",
    "usl_latency_at",
    "usl_limit_rps",
    "usl_peak_connections",
    "usl_through_first",
    "usl_through_two",
    "usl_throughput_at",
]
