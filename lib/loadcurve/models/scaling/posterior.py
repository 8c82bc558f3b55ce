r"""Parameters of a law after the curve was seen: many that could have made it, and how well the law foretold it.

The scatter is taken as one in proportion: log X = log f(N) + noise.  Its size s is not known; with a scaled inverse
chi-square for s², integrated out, a law's parameters have the likelihood

.. math:: L(\theta) \propto \left(\nu_0 s_0^2 + \sum w_i \log^2 \frac{X_i}{f_i(\theta)}\right)^{-(\nu_0+n)/2}

A. Gelman et al., "Bayesian Data Analysis", 3rd edition, 2013, section 3.2.  The particles are found by sequential Monte
Carlo: from the prior, the likelihood is raised to a power that grows from 0 to 1, with Metropolis steps between; the
product of the mean weights is the evidence.  P. Del Moral, A. Doucet, A. Jasra, "Sequential Monte Carlo samplers",
Journal of the Royal Statistical Society B 68(3), 2006.
"""

from dataclasses import dataclass

import numpy as np

from loadcurve.models.scaling.law import Law
from loadcurve.models.scaling.priors import parameters_of, ranges

# Repeats of one level on one machine scatter by some per cent; two observations' worth of that belief.
_SCATTER, _BELIEF = 0.03, 2.0
_MOVES = 4
# Gelman, Roberts, Gilks 1996: the step that mixes best in p dimensions, 2.38/√p of the spread; and a short one.
_STEPS = (2.38, 0.5)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Particles of one law.

    Attributes
    ----------
    parameters : numpy.ndarray, shape (b, p)
        All of the same weight.
    scatter : numpy.ndarray, shape (b,)
        Relative scatter s that goes with each.
    log_evidence : float
        Logarithm of the mean likelihood under the prior, up to a constant that all laws share.
    """

    parameters: np.ndarray
    scatter: np.ndarray
    log_evidence: float


def sample(
    law: Law,
    number: np.ndarray,
    throughput: np.ndarray,
    weights: np.ndarray,
    random: np.random.Generator,
    particles: int = 2000,
) -> Posterior:
    """Draw particles of a law for one curve; arrays as in `Law.solve`, `throughput` (n,)."""
    lower, upper = np.log(ranges(law.name, number, throughput))
    own = parameters_of(law.name)
    logs = np.log(throughput)

    def values_of(place: np.ndarray) -> np.ndarray:
        return own(np.exp(lower + place * (upper - lower)))

    def misfit(place: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            fitted = law.function(number, *values_of(place).T[:, :, None])
            total = (logs - np.log(fitted)) ** 2 @ weights
        return np.where(np.isfinite(total), total, np.inf)

    def likelihood(place: np.ndarray) -> np.ndarray:
        return -(_BELIEF + number.size) / 2 * np.log(_BELIEF * _SCATTER**2 + misfit(place))

    place, evidence = _anneal(likelihood, random.random((particles, lower.size)), random)
    # s² given the parameters: (ν₀s₀² + Σ) over a chi-square with ν₀ + n degrees of freedom.
    squares = _BELIEF * _SCATTER**2 + misfit(place)
    scatter = np.sqrt(squares / random.chisquare(_BELIEF + number.size, particles))
    return Posterior(values_of(place), scatter, evidence)


def _anneal(likelihood, place: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, float]:
    """Move particles of the unit cube from even density to the likelihood."""
    count, dimensions = place.shape
    now, power, evidence = likelihood(place), 0.0, 0.0
    while power < 1:
        step = _next_power(now, 1 - power)
        weight = step * now
        top = weight.max()
        weight = np.exp(weight - top)
        evidence += top + np.log(weight.mean())
        power += step
        # Systematic resampling: one even comb over the weights.
        teeth = (random.random() + np.arange(count)) / count
        kept = np.minimum(np.searchsorted(np.cumsum(weight) / weight.sum(), teeth), count - 1)
        place, now = place[kept], now[kept]
        spread = np.linalg.cholesky(np.cov(place.T).reshape(dimensions, dimensions) + 1e-12 * np.eye(dimensions))
        for move in range(_MOVES):
            length = _STEPS[move % len(_STEPS)] / np.sqrt(dimensions)
            trial = place + length * random.standard_normal(place.shape) @ spread.T
            trial = 1 - np.abs(1 - np.abs(trial) % 2)  # reflected at the ends of the range
            found = likelihood(trial)
            better = np.log(random.random(count)) < power * (found - now)
            place[better], now[better] = trial[better], found[better]
    return place, float(evidence)


def _next_power(now: np.ndarray, most: float) -> float:
    """Largest step that leaves half of the particles effective; no less than a thousandth, so that it ends."""

    def effective(step: float) -> float:
        weight = np.exp(step * (now - now.max()))
        return weight.sum() ** 2 / (weight**2).sum() / now.size

    if effective(most) >= 0.5:
        return most
    lo, hi = 0.0, most
    for _ in range(30):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if effective(middle) >= 0.5 else (lo, middle)
    return max(lo, 1e-3 * most)
