r"""Model selection: which laws the data of one curve support, and their averaged prediction for other loads.

Each law gets a probability by its evidence, the likelihood of the data averaged over its prior, with even odds before:
a law that could have made many other curves too is less supported by this one.  Predictions are of all accepted laws,
each with its probability (J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky, "Bayesian Model Averaging: A
Tutorial", Statistical Science 14(4), 1999): where the laws differ, the band is wide.  Beyond the last level the
prediction is a stack of the laws, the last value and a damped trend, and the band widens with each doubling of the
load.

A law is rejected where its best fit misses a measured level by more than a fifth, or where it is a thousand times less
probable than another.  All may be rejected: then the bands widen, as the laws miss what was measured.  Scatter is taken
as proportional to throughput, so each point weighs 1 / X² in the fits.  Nothing is drawn at random, so one curve
always has one winner.

Beyond the last level N_n every forecast starts at the throughput measured there, so it carries that level's residual
on.  By h doublings further on, the laws add the growth L, kept between none and a continuation of the last two
levels' slope g; a damped trend continues g, each doubling with a part φ of the one before; the last value adds nothing.
The stack (D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992) takes a part of one, by the slope at the
end:

.. math::

    \log X = \log X_n + \begin{cases} w_\text{laws}\,L(h) & g \ge 0 \\
    w_\text{trend}\,g\,(\varphi + \varphi^2 + \dots + \varphi^h) & g < 0 \end{cases}

A departure, normal in log X and wider below than above, allows for what none of them describes; its width is

.. math:: (a\,s + b\,|g|)\,h^{p}

with the scatter s of the measured points about the laws: larger where no law fits well, and on a slope.  A random walk
would widen with p = 1/2, a wrong slope with p = 1.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.models.fit import Fit
from loadcurve.models.scaling.diagnostics import corrected_aic
from loadcurve.models.scaling.fits import LAWS, fit_law
from loadcurve.models.scaling.law import Law
from loadcurve.models.scaling.points import known_points
from loadcurve.models.scaling.posterior import Posterior, log_shape, posterior_of
from loadcurve.stats.arrays import Array, Integers, Mask, above_0, between_0_and_1

# Bisections between curves that differ by a factor of a hundred: the last step is less than a hundred-thousandth.
_STEPS = 20


# R. J. Hyndman, G. Athanasopoulos, "Forecasting: Principles and Practice", 3rd edition, 2021, section 8.2: in practice
# 0.8 to 0.98.  Loads double, so the trend ends soon; the strongest damping of that range.
_DAMPING = 0.8


@dataclass(frozen=True)
class Departure:
    """How throughput goes on beyond the last level: parts of the forecasts, and how far it departs from them.

    `laws` and `trend` are the parts of the laws' growth, where throughput rises at the end, and of the damped trend,
    where it falls.  `scatter` is a, `slope` b and `power` p of the width above the prediction; below it is `below`
    times as wide.
    """

    laws: float
    trend: float
    scatter: float
    slope: float
    below: float
    power: float


DEPARTURE = Departure(laws=0.9, trend=0.5, scatter=0.5, slope=0.1, below=3.0, power=1.0)
"""Constants chosen on published curves by `validation.forecasts.forecast_curves`; notebook 45 chooses them again, on
all curves and without each author's."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """Predictions of log X at m loads before any departure; those of several curves can be joined.

    `centre` (m, k) holds equally probable values of the mean of log X by the laws, `last` (m,) its value at the last
    level, `doublings` log₂(N / N_n), 0 within the levels, and `slope` the growth of log X between the last two levels
    per doubling.  `level_variance` is how well the level of the curve is known, `run_variance` that of one further run.
    """

    centre: Array
    last: Array
    doublings: Array
    slope: Array
    level_variance: Array
    run_variance: Array

    def rows(self, taken: Mask) -> "Outlook":
        """Those of some of the loads."""
        return Outlook(*(getattr(self, field.name)[taken] for field in fields(self)))

    def stacked(self, departure: Departure = DEPARTURE) -> Array:
        """Equally probable values of the mean of log X (m, k), by the stack beyond the last level."""
        part = np.where((self.slope >= 0) & (self.doublings > 0), departure.laws, 1.0)
        fall = departure.trend * damped_growth(np.minimum(self.slope, 0.0), self.doublings)
        result: Array = part[:, None] * self.centre + ((1 - part) * self.last + fall)[:, None]
        return result

    def quantiles(self, ends: list[float], departure: Departure = DEPARTURE, *, further_run: bool) -> Array:
        """Quantiles of the throughput, shape (len(ends), m): of its mean, or of one further run."""
        variance = self.level_variance + (self.run_variance if further_run else 0.0)
        step = departure.scatter * np.sqrt(self.run_variance) + departure.slope * np.abs(self.slope)
        width = step * self.doublings**departure.power
        above, below = np.sqrt(variance + width**2), np.sqrt(variance + (departure.below * width) ** 2)
        centre = self.stacked(departure)
        middle = np.median(centre, axis=1)  # of the forecasts: their error widens to both sides of it
        lower = [np.minimum(_quantile(centre, below, end), middle) if end < 0.5 else middle for end in ends]
        upper = [np.maximum(_quantile(centre, above, end), middle) if end > 0.5 else middle for end in ends]
        return np.exp(np.add(lower, upper) - middle)


def damped_growth(slope: Array, doublings: Array) -> Array:
    """Growth of log X over doublings of the load, each with a part φ of the growth of the one before."""
    result: Array = slope * _DAMPING * (1 - _DAMPING**doublings) / (1 - _DAMPING)
    return result


def join(outlooks: list[Outlook]) -> Outlook:
    """Join the outlooks of several curves, one after the other."""
    parts = zip(*([getattr(one, field.name) for field in fields(Outlook)] for one in outlooks), strict=True)
    return Outlook(*(np.concatenate(part) for part in parts))


def _quantile(centre: Array, width: Array, end: float) -> Array:
    """Quantile of an even mixture of normals of one width, by bisection."""
    # It lies between the least and the largest quantile of the mixed ones.
    away = scipy.special.ndtri(end) * width
    lo, hi = centre.min(axis=1) + away, centre.max(axis=1) + away
    found: Array = (lo + hi) / 2
    mixed = hi > lo
    lo, hi, centre, width = lo[mixed], hi[mixed], centre[mixed], width[mixed, None]
    for _ in range(_STEPS):
        middle = (lo + hi) / 2
        reached = scipy.special.ndtr((middle[:, None] - centre) / width).mean(axis=1) >= end
        lo, hi = np.where(reached, lo, middle), np.where(reached, middle, hi)
    found[mixed] = (lo + hi) / 2
    return found


ENTRANTS = ("linear", "amdahl", "usl", "roofline", "saturating", "finite_source")
"""Laws that compete.  The one with free signs does not: it says nothing beyond the data."""

# As for a single fit: a miss of a fifth is more than any capacity plan has in reserve.
_MISS = 0.20
# Jeffreys 1961, appendix B: evidence of more than 100 to 1 is decisive; ten times that, for laws we chose ourselves.
_DECISIVE = 1e-3
# Fewer leave the laws of two parameters without a residual.
_MIN_POINTS = 3
# Curves of equal probability that represent those of the posteriors, and what is kept of them at each load: the median
# is one of 41, and a 99 % band still has ends of its own.
_CURVES, _KEPT = 615, 41


@dataclass(frozen=True, eq=False)
class Tournament:
    """The result of a tournament.

    Attributes
    ----------
    laws : pandas.DataFrame
        One row for each law, the most probable first: ``law``, ``parameters`` (how many), ``probability`` (of all
        laws, before any is rejected), ``corrected_aic``, ``worst_miss`` (largest relative residual), ``accepted`` and
        ``reason``.
    verdict : str
        One sentence.
    warnings : tuple of str
        What weakens it.
    posteriors : dict of str to Posterior
        Shapes of each law.
    weights : dict of str to float
        Probability of each law that predicts: of the accepted ones, or of all where none is accepted.
    connections, throughput_rps, point_weights : numpy.ndarray, shape (n,)
        The points, and how much each counts.

    Examples
    --------
    >>> found = run_tournament([1, 2, 4, 8, 16, 32], [100, 198, 405, 640, 641, 639])
    >>> print(found.laws.loc[0, "law"], found.laws.loc[0, "parameters"])
    roofline 2
    >>> print(found.predict([64])[["connections", "extrapolated"]].to_string(index=False))
     connections  extrapolated
            64.0          True
    """

    laws: pd.DataFrame
    verdict: str
    warnings: tuple[str, ...]
    posteriors: dict[str, Posterior]
    weights: dict[str, float]
    connections: Array
    throughput_rps: Array
    point_weights: Array

    @cached_property
    def fits(self) -> dict[str, Fit]:
        """The least-squares fit of each law that has enough points."""
        n, x = self.connections, self.throughput_rps
        names = [name for name in ENTRANTS if n.size > len(LAWS[name].parameters)]
        return {name: fit_law(LAWS[name], n, x, weights=self.point_weights / x**2) for name in names}

    @cached_property
    def table(self) -> pd.DataFrame:
        """As `laws`, with ``leave_one_out``: root mean square of the relative errors at levels left out of the fit."""
        misses = {name: np.sqrt(np.mean(fit.leave_one_out**2)) for name, fit in self.fits.items()}
        found = self.laws.copy()
        found.insert(found.columns.get_loc("worst_miss"), "leave_one_out", found["law"].map(misses).astype(float))
        return found

    def predict(self, connections: ArrayLike, level: float = 0.9, departure: Departure = DEPARTURE) -> pd.DataFrame:
        """Predict throughput at other loads, by all accepted laws together.

        Parameters
        ----------
        connections : array_like, shape (m,)
            Connections N, > 0.
        level : float
            Of both bands, 0 < level < 1.
        departure : Departure
            How throughput goes on beyond the last level.

        Returns
        -------
        pandas.DataFrame
            ``connections``, ``throughput_rps`` (the median), ``lo``, ``hi`` (band of the mean: where the curve runs),
            ``prediction_lo``, ``prediction_hi`` (where one further run would fall) and ``extrapolated``, whether N lies
            beyond the last level that was measured.
        """
        between_0_and_1("level", level)
        at = np.atleast_1d(above_0("connections", connections))
        outlook = self.outlook(at)
        ends = [(1 - level) / 2, 0.5, (1 + level) / 2]
        lo, middle, hi = outlook.quantiles(ends, departure, further_run=False)
        prediction_lo, prediction_hi = outlook.quantiles(ends[::2], departure, further_run=True)
        return pd.DataFrame(
            {
                "connections": at, "throughput_rps": middle, "lo": lo, "hi": hi,
                "prediction_lo": prediction_lo, "prediction_hi": prediction_hi,
                "extrapolated": at > self.connections[-1],
            }
        )  # fmt: skip

    def outlook(self, at: Array) -> Outlook:
        """Say what the laws predict at loads (m,), > 0, before any departure from them."""
        number, logs = self.connections, np.log(self.throughput_rps)
        last, before = number[-1], number[-2]
        doublings = np.log2(np.maximum(at / last, 1.0))
        slope = (logs[-1] - logs[-2]) / np.log2(last / before)
        # The residual of the last level is carried on beyond it, and fades out towards the level before.
        carried = np.clip(np.log(at / before) / np.log(last / before), 0.0, 1.0)
        curves, variances = [], []
        for name, rows in self._equally_probable().items():
            found = self.posteriors[name]
            shape = log_shape(LAWS[name], np.append(at, last), found.shape[rows])
            fitted = found.log_unit[rows, None] + shape
            residual = (logs[-1] - fitted[:, -1:]) * carried
            growth = np.clip(shape[:, :-1] - shape[:, -1:], 0.0, max(slope, 0.0) * doublings)
            curves.append(np.where(at > last, logs[-1] + growth, fitted[:, :-1] + residual))
            variances.append(found.variance[rows])
        variance = np.full(at.size, np.concatenate(variances).mean())
        return Outlook(
            # The middle one of every 15, from the lowest to the highest.
            centre=np.sort(np.vstack(curves), axis=0)[_CURVES // _KEPT // 2 :: _CURVES // _KEPT].T,
            last=np.full(at.size, logs[-1]),
            doublings=doublings,
            slope=np.full(at.size, slope),
            level_variance=variance / number.size,
            run_variance=variance,
        )

    def _equally_probable(self) -> dict[str, Integers]:
        """Rows of each predicting law's posterior, `_CURVES` together: an even comb over the probabilities."""
        share = np.concatenate([weight * self.posteriors[name].share for name, weight in self.weights.items()])
        teeth = (np.arange(_CURVES) + 0.5) / _CURVES
        taken = np.searchsorted(np.cumsum(share) / share.sum(), teeth)
        found, begin = {}, 0
        for name in self.weights:
            end = begin + self.posteriors[name].share.size
            found[name] = taken[(begin <= taken) & (taken < end)] - begin
            begin = end
        return {name: rows for name, rows in found.items() if rows.size}


def run_tournament(connections: ArrayLike, throughput_rps: ArrayLike, weights: ArrayLike | None = None) -> Tournament:
    """Let every law of `ENTRANTS` compete for one curve.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N, >= 1, each once, n >= 3: the mean over repeats is one point.
    throughput_rps : array_like, shape (n,)
        Throughput X, > 0.
    weights : array_like, shape (n,), optional
        How much each point counts, > 0.

    Returns
    -------
    Tournament

    Raises
    ------
    ValueRuleError
        As `fit_usl`.

    Examples
    --------
    >>> found = run_tournament([1, 2, 4, 8, 16, 32], [100, 198, 405, 640, 641, 639])
    >>> found.verdict
    'roofline is the most probable law (76 %), then saturating (23 %)'
    """
    number, throughput, weight, warnings = known_points(connections, throughput_rps, weights, _MIN_POINTS)
    posteriors = {name: posterior_of(LAWS[name], number, throughput, weight) for name in ENTRANTS}
    evidence = np.array([posteriors[name].log_evidence for name in ENTRANTS])
    probability = np.exp(evidence - evidence.max())
    probability /= probability.sum()
    rows: list[dict[str, Any]] = []
    for name, share in zip(ENTRANTS, probability, strict=True):
        row = {"law": name, "parameters": len(LAWS[name].parameters), "probability": share}
        if number.size > row["parameters"]:
            row |= _judged(LAWS[name], number, throughput, weight / throughput**2)
        else:
            row |= {"accepted": True, "reason": f"{number.size} points for {row['parameters']} parameters: not checked"}
        if row["accepted"] and share < _DECISIVE * probability.max():
            best = ENTRANTS[int(np.argmax(probability))]
            row |= {"accepted": False, "reason": f"is more than {1 / _DECISIVE:g} times less probable than {best}"}
        rows.append(row)
    table = pd.DataFrame(rows).sort_values("probability", ascending=False, ignore_index=True)
    kept = table[table["accepted"]] if table["accepted"].any() else table
    total = kept["probability"].sum()
    if total < 0.5:
        warnings.append(f"the accepted laws have {total:.0%} of the probability: the data support what they contradict")
    shares = dict(zip(kept["law"], kept["probability"] / total, strict=True))
    return Tournament(
        laws=table,
        verdict=_verdict(table),
        warnings=(*warnings, *_weak(number, table)),
        posteriors=posteriors,
        weights=shares,
        connections=number,
        throughput_rps=throughput,
        point_weights=weight,
    )


def _judged(law: Law, number: Array, throughput: Array, weight: Array) -> dict[str, Any]:
    weight = weight / weight.mean()
    values = law.solve(number, throughput[None], weight)[0]
    miss = law.function(number, *values) / throughput - 1
    worst = int(np.argmax(np.abs(miss)))
    accepted = bool(abs(miss[worst]) <= _MISS)
    reason = "" if accepted else f"misses the throughput at N = {number[worst]:g} by {miss[worst]:+.0%}"
    squares = float((miss * throughput) ** 2 @ weight)
    return {
        "corrected_aic": corrected_aic(squares, number.size, len(values), weight),
        "worst_miss": float(miss[worst]),
        "accepted": accepted,
        "reason": reason,
    }


def _verdict(table: pd.DataFrame) -> str:
    accepted = table[table["accepted"]]
    if accepted.empty:
        first = table.iloc[0]
        return f"no law describes these data: even the most probable one, {first['law']}, {first['reason']}"
    named = [f"{row.law} ({row.probability:.0%})".replace("%", " %") for row in accepted.head(2).itertuples()]
    then = f", then {named[1]}" if len(named) > 1 and accepted["probability"].iloc[1] >= 0.05 else ""
    law, share = named[0].split(" ", 1)
    return f"{law} is the most probable law {share}{then}"


def _weak(number: Array, table: pd.DataFrame) -> list[str]:
    found = []
    if number.size < 6:
        found.append(f"{number.size} points: mostly the prior distinguishes the laws")
    if not table["accepted"].any():
        found.append("every law is rejected: the bands are of laws that do not fit, and widened by their misses")
    return found
