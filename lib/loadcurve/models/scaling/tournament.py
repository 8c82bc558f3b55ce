r"""Several laws against one curve: which of them the data support, and what they say together of other loads.

Each law gets a probability by its evidence, the likelihood of the data averaged over its prior, with even odds before:
a law that could have made many other curves too is less supported by this one.  Predictions are of all accepted laws,
each with its probability (J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky, "Bayesian Model Averaging: A
Tutorial", Statistical Science 14(4), 1999): where the laws part, the band is wide.  Beyond the last level it widens
with each doubling, too, as no law holds for ever.

A law is rejected where its best fit misses a measured level by more than a fifth, or where it is a thousand times less
probable than another.  All may be rejected.  As the scatter of throughput is one in proportion, the fits here are too:
each point weighs 1 / X².
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models._values import above_0
from loadcurve.models.fit import Fit
from loadcurve.models.scaling.fits import LAWS, fit_law
from loadcurve.models.scaling.points import known_points
from loadcurve.models.scaling.posterior import Posterior, sample

ENTRANTS = ("linear", "amdahl", "usl", "roofline", "saturating", "finite_source")
"""Laws that compete.  The one with free signs does not: it says nothing beyond the data."""

# As for a single fit: a miss of a fifth is more than any capacity plan has in reserve.
_MISS = 0.20
# Jeffreys 1961, appendix B: evidence of more than 100 to 1 is decisive; ten times that, for laws we chose ourselves.
_DECISIVE = 1e-3
# No law holds for ever: beyond the last level other things begin to queue, of which the levels show nothing.  A tenth
# for each doubling is what the bands lacked on the published curves; notebook 45 shows the coverage on each half.
_DEPARTURE = 0.10
# Fewer leave the laws of two parameters without a residual.
_LEAST = 3


@dataclass(frozen=True, eq=False)
class Tournament:
    """What came of it.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each law, the most probable first: ``law``, ``parameters`` (how many), ``probability`` (of all
        laws, before any is rejected), ``corrected_aic``, ``leave_one_out`` (root mean square of the relative errors at
        levels left out), ``worst_miss`` (largest relative residual), ``accepted`` and ``reason``.
    fits : dict of str to Fit
        The least-squares fit of each law that has enough points.
    verdict : str
        One sentence.
    warnings : tuple of str
        What weakens it.
    """

    table: pd.DataFrame
    fits: dict[str, Fit]
    verdict: str
    warnings: tuple[str, ...]
    posteriors: dict[str, Posterior]
    weights: dict[str, float]
    last: float

    def predict(self, connections: ArrayLike, level: float = 0.9) -> pd.DataFrame:
        """Throughput at other loads, by all accepted laws together.

        Parameters
        ----------
        connections : array_like, shape (m,)
            Connections N, > 0.
        level : float
            Of both bands, 0 < level < 1.

        Returns
        -------
        pandas.DataFrame
            ``connections``, ``throughput_rps`` (the median), ``lo``, ``hi`` (band of the mean: where the law runs),
            ``prediction_lo``, ``prediction_hi`` (where one further run would fall) and ``extrapolated``, whether N lies
            beyond the last level that was measured.
        """
        if not 0 < level < 1:
            raise ValueRuleError("level", "0 < level < 1", level)
        at = np.atleast_1d(above_0("connections", connections))
        random = np.random.default_rng(0)
        beyond = _DEPARTURE * np.log2(np.maximum(at / self.last, 1.0))
        means, shares, noise = [], [], []
        for name, weight in self.weights.items():
            found = self.posteriors[name]
            leaving = np.exp(beyond * random.standard_normal((len(found.scatter), 1)))
            means.append(LAWS[name].function(at, *found.parameters.T[:, :, None]) * leaving)
            shares.append(np.full(len(found.scatter), weight / len(found.scatter)))
            noise.append(found.scatter[:, None] * random.standard_normal((len(found.scatter), at.size)))
        mean, share = np.vstack(means), np.concatenate(shares)
        further = mean * np.exp(np.vstack(noise))
        ends = [(1 - level) / 2, 0.5, (1 + level) / 2]
        lo, middle, hi = _quantiles(mean, share, ends)
        prediction_lo, _, prediction_hi = _quantiles(further, share, ends)
        return pd.DataFrame(
            {
                "connections": at, "throughput_rps": middle, "lo": lo, "hi": hi,
                "prediction_lo": prediction_lo, "prediction_hi": prediction_hi, "extrapolated": at > self.last,
            }
        )  # fmt: skip


def run_tournament(
    connections: ArrayLike, throughput_rps: ArrayLike, weights: ArrayLike | None = None, *, seed: int = 0
) -> Tournament:
    """Let every law of `ENTRANTS` compete for one curve.

    Parameters
    ----------
    connections : array_like, shape (n,)
        Connections N, >= 1, each once, n >= 3: the mean over repeats is one point.
    throughput_rps : array_like, shape (n,)
        Throughput X, > 0.
    weights : array_like, shape (n,), optional
        How much each point counts, > 0.
    seed : int
        The same seed gives the same probabilities and bands.

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
    'roofline is the most probable law (74 %), then saturating (26 %)'
    """
    number, throughput, weight, warnings = known_points(connections, throughput_rps, weights, _LEAST)
    random = np.random.default_rng(seed)
    posteriors = {name: sample(LAWS[name], number, throughput, weight, random) for name in ENTRANTS}
    evidence = np.array([posteriors[name].log_evidence for name in ENTRANTS])
    probability = np.exp(evidence - evidence.max())
    probability /= probability.sum()
    rows, fits = [], {}
    for name, share in zip(ENTRANTS, probability, strict=True):
        row = {"law": name, "parameters": len(LAWS[name].parameters), "probability": share}
        if number.size > row["parameters"]:
            fits[name] = fit_law(LAWS[name], number, throughput, weights=weight / throughput**2)
            row |= _judged(fits[name])
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
        table=table,
        fits=fits,
        verdict=_verdict(table),
        warnings=(*warnings, *_weak(number, table)),
        posteriors=posteriors,
        weights=shares,
        last=float(number[-1]),
    )


def _judged(fit: Fit) -> dict:
    miss = fit.predict(fit.connections) / fit.throughput_rps - 1
    worst = int(np.argmax(np.abs(miss)))
    accepted = bool(abs(miss[worst]) <= _MISS)
    reason = "" if accepted else f"misses the throughput at N = {fit.connections[worst]:g} by {miss[worst]:+.0%}"
    left_out = float(np.sqrt(np.mean(fit.leave_one_out**2)))
    return {
        "corrected_aic": fit.corrected_aic, "leave_one_out": left_out, "worst_miss": float(miss[worst]),
        "accepted": accepted, "reason": reason,
    }  # fmt: skip


def _verdict(table: pd.DataFrame) -> str:
    accepted = table[table["accepted"]]
    if accepted.empty:
        first = table.iloc[0]
        return f"no law describes these data: even the most probable one, {first['law']}, {first['reason']}"
    named = [f"{row.law} ({row.probability:.0%})".replace("%", " %") for row in accepted.head(2).itertuples()]
    then = f", then {named[1]}" if len(named) > 1 and accepted["probability"].iloc[1] >= 0.05 else ""
    law, share = named[0].split(" ", 1)
    return f"{law} is the most probable law {share}{then}"


def _weak(number: np.ndarray, table: pd.DataFrame) -> list[str]:
    found = []
    if number.size < 6:
        found.append(f"{number.size} points: what tells the laws apart is mostly the prior")
    if not table["accepted"].any():
        found.append("every law is rejected: the bands are of laws that do not fit")
    return found


def _quantiles(values: np.ndarray, share: np.ndarray, ends: list[float]) -> list[np.ndarray]:
    """Weighted quantiles of each column."""
    order = np.argsort(values, axis=0)
    along = np.cumsum(share[order], axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    columns = np.arange(values.shape[1])
    last = len(share) - 1
    return [ordered[np.minimum((along < end).sum(axis=0), last), columns] for end in ends]
