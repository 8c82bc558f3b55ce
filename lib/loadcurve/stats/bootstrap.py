"""Ratio of A to B by the hierarchical bootstrap: runs are drawn with replacement, and samples within each run.

The bootstrap assumes no distribution and takes percentiles as well as means.  Resamples of fewer than five runs take
few values, so their percentiles are too close together: then the expanded interval is at least the t interval on
logarithms, and the others are refused.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.runtime.cluster import map_items
from loadcurve.stats._runs import relative_variances, two_groups, welch_degrees
from loadcurve.stats.arrays import Array, Integers, between_0_and_1, floats
from loadcurve.stats.estimate import Estimate
from loadcurve.stats.ratio import find_geometric_ratio

_Centre = Callable[..., Any]  # np.mean or np.median, with or without an axis
# Runs of either server from which on a 95 % interval covers 93 % and more in simulation (notebook 44, its table).
_ENOUGH_RUNS = {"expanded percentile": 5, "percentile": 30, "BCa": 30}
# Of four runs one resample in 256 repeats one run only: a percentile of 2.5 % is hardly determined.
_LEAST_RUNS = 5
# Draws of single samples that a bootstrap may take in all, some ten seconds, and ten times as many on several
# processors; and at once, some 16 MB.
_MAX_DRAWS, _DRAWS_AT_ONCE = 2_000_000_000, 2_000_000
# A part of the draws, about a second, has random numbers of its own; with fewer draws there is one part.
_DRAWS_OF_A_PART = 100_000_000


def find_bootstrap_ratio(
    a: ArrayLike | Sequence[ArrayLike],
    b: ArrayLike | Sequence[ArrayLike],
    *,
    seed: int | np.random.Generator,
    quantile: float | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    interval: str = "expanded percentile",
    workers: int = 1,
    scheduler: str = "",
) -> Estimate:
    """Ratio of A to B over runs with a hierarchical bootstrap interval.

    Parameters
    ----------
    a, b : array_like or sequence of array_like
        One entry for each run: a number > 0, or the samples > 0 of the run (runs may differ in length).
    seed : int or numpy.random.Generator
        Where the random numbers come from; the same seed gives the same interval.
    quantile : float, optional
        Without it a run counts by its mean, and the servers by the mean over their runs.  With it, 0 < quantile < 1,
        a run counts by its own quantile (a run given as one number is taken as that), and the servers by the median
        over their runs: quantiles are never averaged.
    level : float
        Confidence level, 0 < level < 1.
    resamples : int
        How often the study is drawn again, >= 100.
    interval : str
        ``expanded percentile``, ``percentile`` or ``BCa``.  The first covers best with few runs.
    workers : int
        Number of processes that draw where samples times resamples exceed 100 million; 0 for one per processor.
    scheduler : str
        Address of a Dask scheduler that draws instead, or ``local`` (`loadcurve.runtime.cluster`).  The result is the
        same for any number of processes.

    Returns
    -------
    Estimate
        The ratio; NaN ends with one run of either, and with fewer than 5 for ``percentile`` and ``BCa``.  With fewer
        than 5 runs the expanded interval is at least the t interval on logarithms.  A warning names each case, and runs
        that are too few for a percentile or BCa interval to cover its level.

    Raises
    ------
    ValueRuleError
        When an argument breaks its rule, or samples are so many that the draws would take minutes: give the mean of
        each run then, or several processes.
    LoadcurveError
        When the scheduler does not respond.

    Notes
    -----
    Assumes independent runs.  Samples within a run need not be independent: the scatter between runs holds theirs too,
    so drawing them again makes the interval a little wider than it need be.
    B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 13 (percentile) and 14 (BCa).
    T. C. Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69 (2015): the expanded
    percentile interval.  T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013: resampling by
    level, from the run down.

    Examples
    --------
    >>> a, b = [110, 112, 108, 111, 109, 110, 113, 107, 110, 110], [100, 101, 99, 102, 98, 100, 103, 97, 100, 100]
    >>> print(find_bootstrap_ratio(a, b, seed=1))
    1.1 [1.083, 1.118]
    """
    _check_options(quantile, level, resamples, interval)
    most = (_MAX_DRAWS if workers == 1 and not scheduler else 10 * _MAX_DRAWS) // resamples
    samples = [_samples("a", a, most), _samples("b", b, most)]
    own = [[_own(run, quantile) for run in runs] if isinstance(runs, list) else runs for runs in samples]
    first, second, warnings = two_groups(*own)
    centre: _Centre = np.mean if quantile is None else np.median
    ratio, fewest = float(centre(first) / centre(second)), min(first.size, second.size)
    of = "ratio of means" if quantile is None else f"ratio of medians of the runs' own {quantile:g} quantiles"
    if fewest == 1:
        return Estimate(ratio, np.nan, np.nan, level, of, tuple(warnings), fewest)
    rng = np.random.default_rng(seed)
    means = partial(_means_in_parts, rng=rng, workers=workers, scheduler=scheduler)
    above, below = (
        _replicates(known, runs, quantile, resamples, rng, means)
        for known, runs in zip((first, second), samples, strict=True)
    )
    lo, hi = _INTERVALS[interval](above / below, first, second, centre, level)
    method = f"{of}, {interval} bootstrap of {resamples} resamples"
    enough = _ENOUGH_RUNS[interval]
    of_runs = f"{first.size} runs of A and {second.size} of B, fewer than {enough}"
    if fewest < _LEAST_RUNS and interval != "expanded percentile":
        warnings.append(f"{of_runs}: no {interval} interval; take the t interval, or measure more runs")
        return Estimate(ratio, np.nan, np.nan, level, method, tuple(warnings), fewest)
    if fewest < _LEAST_RUNS:
        by_t = find_geometric_ratio(first, second, level)
        lo, hi, method = min(lo, by_t.lo), max(hi, by_t.hi), f"{method}, at least the t interval on logarithms"
        warnings.append(f"{of_runs}: resamples take few values, so the t interval on logarithms widens this one")
    elif fewest < enough:
        warnings.append(f"{of_runs}: this bootstrap covers less than {level:.0%}; take the t interval")
    return Estimate(ratio, min(lo, ratio), max(hi, ratio), level, method, tuple(warnings), fewest)


def _check_options(quantile: float | None, level: float, resamples: int, interval: str) -> None:
    if interval not in _INTERVALS:
        raise ValueRuleError("interval", f"one of {', '.join(_INTERVALS)}", interval)
    if quantile is not None and not 0 < quantile < 1:
        raise ValueRuleError("quantile", "0 < quantile < 1", quantile)
    if resamples < 100:
        raise ValueRuleError("resamples", ">= 100", resamples)
    between_0_and_1("level", level)


def _samples(name: str, runs: ArrayLike | Sequence[ArrayLike], most: int) -> Array | list[Array]:
    """One number for each run as one array, else the samples of each run as a list of arrays."""
    listed: Any = runs  # a sequence, which ArrayLike need not be
    if hasattr(runs, "to_numpy") or all(np.ndim(run) == 0 for run in listed):
        return floats(listed)
    every = [np.atleast_1d(floats(run)) for run in listed]
    for run in every:
        if run.ndim != 1 or not run.size or (run <= 0).any():
            raise ValueRuleError(name, "runs of one or more samples > 0", run)
    total = sum(run.size for run in every)
    if total > most:
        raise ValueRuleError(name, f"at most {most} samples in all (give the mean of each run)", total)
    return every


def _own(run: Array, quantile: float | None) -> float:
    """What a run counts by: its mean, or its own quantile as the sample of nearest rank."""
    if quantile is None or np.isnan(run).any():
        return float(run.mean())
    return float(np.partition(run, _rank(run, quantile) - 1)[_rank(run, quantile) - 1])


def _rank(run: Array, quantile: float) -> int:
    return max(1, int(np.ceil(quantile * run.size)))


def _replicates(
    own: Array,
    samples: Array | list[Array],
    quantile: float | None,
    resamples: int,
    rng: np.random.Generator,
    means: Callable[[list[Array], Integers], Array],
) -> Array:
    """Centre of each resample: runs drawn with replacement, then the samples of each run drawn."""
    chosen = rng.integers(own.size, size=(resamples, own.size))
    values = own[chosen]
    if isinstance(samples, list):
        known = [run for run in samples if not np.isnan(run).any()]
        times = np.bincount(chosen.ravel(), minlength=own.size)
        if quantile is None:
            found = means(known, times)
        else:
            pairs = zip(known, times, strict=True)
            found = np.concatenate([_drawn_quantiles(run, quantile, count, rng) for run, count in pairs])
        for number, of_run in enumerate(np.split(found, np.cumsum(times)[:-1])):
            values[chosen == number] = of_run
    return values.mean(axis=1) if quantile is None else np.median(values, axis=1)


def _means_in_parts(
    runs: list[Array], times: Integers, *, rng: np.random.Generator, workers: int, scheduler: str
) -> Array:
    """Means of so many resamples of each run, one run after the other; any number of processes draws the same."""
    pairs = list(zip(runs, times.tolist(), strict=True))
    if sum(run.size * count for run, count in pairs) <= _DRAWS_OF_A_PART:
        return np.concatenate([_drawn_means((run, count, rng)) for run, count in pairs])
    parts = (
        (run, min(step, count - start), rng.spawn(1)[0])
        for run, count in pairs
        for step in [max(1, _DRAWS_OF_A_PART // run.size)]
        for start in range(0, count, step)
    )
    return np.concatenate(list(map_items(_drawn_means, parts, workers, scheduler)))


def _drawn_means(part: tuple[Array, int, np.random.Generator]) -> Array:
    run, times, rng = part
    step = max(1, _DRAWS_AT_ONCE // run.size)
    parts = [min(step, times - start) for start in range(0, times, step)]
    return np.concatenate([run[rng.integers(run.size, size=(part, run.size))].mean(axis=1) for part in parts])


def _drawn_quantiles(run: Array, quantile: float, times: int, rng: np.random.Generator) -> Array:
    """Quantiles of resamples without drawing them: the k-th of m uniform numbers is Beta(k, m − k + 1)."""
    k, m = _rank(run, quantile), run.size
    place = np.ceil(m * rng.beta(k, m - k + 1, size=times)).astype(int)
    found: Array = np.sort(run)[np.clip(place, 1, m) - 1]
    return found


def _percentile(ratios: Array, first: Array, second: Array, centre: _Centre, level: float) -> Array:
    return np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])


def _expanded(ratios: Array, first: Array, second: Array, centre: _Centre, level: float) -> Array:
    """Percentiles moved outwards, as a t interval is wider than one of a known scatter that is divided by n."""
    variances = relative_variances([first, second])
    runs = np.array([first.size, second.size])
    if not variances.any():
        return np.quantile(ratios, [0.5, 0.5])
    # A resample of n runs scatters by (n − 1)/n too little: variance over the runs, divided by n instead of n − 1.
    narrow = np.sqrt(variances.sum() / np.sum(variances * (runs - 1) / runs))
    tail = scipy.special.ndtr(-narrow * scipy.special.stdtrit(welch_degrees(variances, runs), (1 + level) / 2))
    result: Array = np.quantile(ratios, [tail, 1 - tail])
    return result


def _bca(ratios: Array, first: Array, second: Array, centre: _Centre, level: float) -> Array:
    """Bias-corrected and accelerated: Efron and Tibshirani (1993), equations 14.10, 14.14 and 14.15."""
    value = centre(first) / centre(second)
    share = (np.mean(ratios < value) + np.mean(ratios <= value)) / 2  # ties count half
    bias = scipy.special.ndtri(np.clip(share, 1 / (ratios.size + 1), ratios.size / (ratios.size + 1)))
    left_out = [_without_each(first, centre) / centre(second), centre(first) / _without_each(second, centre)]
    # The influence of a run, from the ratio without it, as its group weighs in a sum.
    influence = np.concatenate([(one.size - 1) / one.size * (one.mean() - one) for one in left_out])
    spread = np.sum(influence**2) ** 1.5
    acceleration = np.sum(influence**3) / (6 * spread) if spread > 0 else 0.0
    z = bias + scipy.special.ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    result: Array = np.quantile(ratios, scipy.special.ndtr(bias + z / (1 - acceleration * z)))
    return result


def _without_each(values: Array, centre: _Centre) -> Array:
    others = np.broadcast_to(values, (values.size, values.size))[~np.eye(values.size, dtype=bool)]
    found: Array = centre(others.reshape(values.size, -1), axis=1)
    return found


_INTERVALS = {"expanded percentile": _expanded, "percentile": _percentile, "BCa": _bca}
