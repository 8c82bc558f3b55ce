r"""Scale-out: the throughput that each added unit (socket, worker, server) brings, and a projection to more units.

.. math:: E_n = \frac{X_n}{n X_1}, \qquad \text{marginal} = \frac{X_n - X_m}{n - m}

The efficiency compares with perfect copies of the first unit; what a further unit brings is the marginal, which is
lower and the number to buy by.  N. J. Gunther, "Guerrilla Capacity Planning", 2007, chapter 4 (relative capacity and
efficiency).

Rates of several generators may have been added.  Each prints its requests over its own time, T_i = n_i / X_i.  Their
sum is what all of them make together only if they ran together.  Let r be the throughput while all run, and T the time
in which any of them runs:

.. math:: \frac{\sum_i n_i}{T} \le r \le \sum_i X_i

The lower end holds if some of the generators make no more than all of them: then the sum of all requests is at most
r T.  It is met where they share one limit.  The upper end holds if no generator is faster beside the others than
without them.  It is met where they share nothing.

Throughput is the count of completions over the time in which they were counted: P. J. Denning, J. P. Buzen, "The
Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978.  The two bounds follow from that.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from loadcurve.errors import ValueRuleError
from loadcurve.models.capacity.knee import Runs, grouped_runs
from loadcurve.models.scaling.model_selection import DEPARTURE, run_tournament
from loadcurve.stats.arrays import Array, above_0, at_least_0, between_0_and_1
from loadcurve.stats.mean import find_mean
from loadcurve.stats.ratio import find_ratio

# A law needs at least as many sizes as the laws of two parameters have, and one more to be judged by.
_SIZES = 3


def summarise_scale_out(
    units: ArrayLike, throughput_rps: ArrayLike, *, baseline_is_lower_bound: bool = False, level: float = 0.95
) -> pd.DataFrame:
    """Efficiency of each size, and what each added unit brought.

    Parameters
    ----------
    units : array_like, shape (m,)
        Units n of each run, > 0; the repeats of a size have the same n.  The least is the baseline.
    throughput_rps : array_like, shape (m,)
        Throughput X of each run, > 0.
    baseline_is_lower_bound : bool
        Whether the baseline is known only as "at least", such as "30+": then every efficiency, and what the first added
        units brought, is an upper bound.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row for each size: ``units, repeats, throughput_rps, lo, hi`` (t interval of the mean), ``efficiency_ratio,
        efficiency_lo, efficiency_hi`` (Fieller's interval), ``marginal_rps, marginal_lo, marginal_hi`` (requests per
        second for each unit added since the size before, Welch's interval), ``marginal_ratio`` (of the baseline's
        throughput for each unit) and ``warnings``.  An end is NaN where a size has one run, and a lower end where the
        baseline is a lower bound.

    Raises
    ------
    ValueRuleError
        When a value breaks its rule, or there are fewer than 2 sizes.

    Examples
    --------
    >>> table = summarise_scale_out([1, 2], [30, 33.2 + 32.7], baseline_is_lower_bound=True)  # "30+" for one socket
    >>> table[["units", "throughput_rps", "efficiency_ratio"]].round(2)
       units  throughput_rps  efficiency_ratio
    0    1.0            30.0               1.0
    1    2.0            65.9               1.1
    >>> print(table["warnings"][1])  # doctest: +NORMALIZE_WHITESPACE
    1 run of 2 units and 1 run of the baseline: nothing can be concluded about repeats;
    the baseline is a lower bound: this efficiency is at most 1.10, and being above 1 shows nothing but that
    """
    between_0_and_1("level", level)
    runs = grouped_runs(units, throughput_rps, 2, "units")
    groups = [runs.throughput_rps[runs.of_level == i] for i in range(runs.levels.size)]
    rows = [
        {
            "units": size, "repeats": own.size, **_mean(own, level),
            **_efficiency(size, runs.levels[0], own, groups[0], baseline_is_lower_bound, level),
            **_marginal(groups, runs.levels, i, baseline_is_lower_bound, level),
        }
        for i, (size, own) in enumerate(zip(runs.levels, groups, strict=True))
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    before = [*runs.warnings]
    if runs.levels[0] > 1:
        before.append(f"the baseline is {runs.levels[0]:g} units: what the first of them alone makes is not known")
    table["warnings"] = ["; ".join([*before, *of_row]) for of_row in table["warnings"]]
    return table


def summarise_projection(
    units: ArrayLike,
    throughput_rps: ArrayLike,
    at: ArrayLike,
    *,
    baseline_is_lower_bound: bool = False,
    level: float = 0.9,
) -> pd.DataFrame:
    r"""Throughput of more units than were measured, as an interval.

    From 3 sizes on it is the band of all laws that a tournament accepts, below perfect copies of the most efficient
    size measured:

    .. math:: X_n \le n\,\max_k \frac{X_k}{k}

    The laws with free signs, which may be super-linear, do not compete; but the band widens beyond the last size to
    both sides, and without this ceiling its upper end would promise more than copies can make.  Two sizes support no
    law, only bounds:

    .. math:: X_m \le X_n \le X_m + (n - m)\,\frac{X_m - X_k}{m - k}, \qquad k < m < n

    which hold where no unit brings more than the ones before it (the upper), and none does harm (the lower).

    Parameters
    ----------
    units, throughput_rps, baseline_is_lower_bound
        As for `summarise_scale_out`.  A baseline that is a lower bound is no point of a curve: laws are fitted without
        it.  In the bounds it is sound, as it makes the upper one larger.
    at : array_like, shape (k,)
        Units to project to, above the largest measured.
    level : float
        Of the band, or of the t intervals of the means in the bounds, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        ``units, throughput_rps, lo, hi, method, warnings``.  The throughput is the median of the laws, NaN for bounds.

    Raises
    ------
    ValueRuleError
        As `summarise_scale_out`, and when `at` is not above the largest size.

    Examples
    --------
    >>> summarise_projection([1, 2], [100, 180], [3, 4])[["units", "throughput_rps", "lo", "hi"]]
       units  throughput_rps     lo     hi
    0    3.0             NaN  180.0  260.0
    1    4.0             NaN  180.0  340.0
    """
    between_0_and_1("level", level)
    runs = grouped_runs(units, throughput_rps, 2, "units")
    more = np.atleast_1d(above_0("at", at))
    if not (more > runs.levels[-1]).all():
        raise ValueRuleError("at", f"above the largest size measured, {runs.levels[-1]:g}", at)
    first = int(baseline_is_lower_bound)
    if runs.levels.size - first >= _SIZES:
        return _by_laws(runs, first, more, level)
    return _by_bounds(runs, more, baseline_is_lower_bound, level)


def _by_laws(runs: Runs, first: int, more: Array, level: float) -> pd.DataFrame:
    found = run_tournament(runs.levels[first:], runs.means[first:], runs.repeats[first:])
    # Copies may be perfect, unlike further connections of one server: all of the laws' growth is expected.
    table = found.predict(more, level, replace(DEPARTURE, laws=1.0))[["connections", "throughput_rps", "lo", "hi"]]
    table = table.rename(columns={"connections": "units"})
    by_unit = (runs.means / runs.levels)[first:]
    ends = ["throughput_rps", "lo", "hi"]
    # None of the 512 upper points of the published curves lies above it; one band in twenty ended above it.
    table[ends] = table[ends].clip(upper=by_unit.max() * more, axis=0)
    left_out = ["the baseline is a lower bound and left out"] if first else []
    warnings = [*runs.warnings, *left_out, *found.warnings, f"extrapolated beyond {runs.levels[-1]:g} units"]
    if by_unit[-1] > by_unit[0] and by_unit.argmax() == by_unit.size - 1:
        warnings.append(
            f"the largest size makes the most by unit, {by_unit[-1] / by_unit[0]:.2f} times the smallest's: "
            "super-linear, and more units may make more than the upper end"
        )
    return table.assign(method=f"tournament of laws: {found.verdict}", warnings="; ".join(warnings))


def _by_bounds(runs: Runs, more: Array, baseline_is_lower_bound: bool, level: float) -> pd.DataFrame:
    groups = [runs.throughput_rps[runs.of_level == i] for i in range(runs.levels.size)]
    last = find_mean(groups[-1], level)
    step = _marginal(groups, runs.levels, runs.levels.size - 1, baseline_is_lower_bound, level)
    known = [step["marginal_rps"], step["marginal_hi"]]
    lo = last.value if np.isnan(last.lo) else max(last.lo, 0.0)
    hi = last.value if np.isnan(last.hi) else last.hi
    rise = max(np.nanmax(known), 0.0)  # a unit that did harm is no promise of more harm
    warnings = [
        *runs.warnings,
        f"{runs.levels.size} sizes support no law: bounds that hold if no unit brings more than the one before and "
        "none does harm",
    ]
    if np.isnan(last.lo) or np.isnan(step["marginal_hi"]):
        warnings.append("1 repeat of a size: the bounds leave out the scatter between runs")
    if step["marginal_rps"] > runs.means[0] / runs.levels[0] and not baseline_is_lower_bound:
        warnings.append("the added unit brought more than the first: the upper bound's assumption is already broken")
    if step["marginal_rps"] < 0:
        warnings.append("the added unit did harm: the lower bound's assumption is already broken")
    return pd.DataFrame(
        {
            "units": more, "throughput_rps": np.nan, "lo": lo, "hi": hi + (more - runs.levels[-1]) * rise,
            "method": f"bounds from {runs.levels.size} sizes", "warnings": "; ".join(warnings),
        }
    )  # fmt: skip


def _mean(own: Array, level: float) -> dict[str, Any]:
    mean = find_mean(own, level)
    return {"throughput_rps": mean.value, "lo": mean.lo, "hi": mean.hi}


def _efficiency(
    size: float, least: float, own: Array, baseline: Array, is_upper_bound: bool, level: float
) -> dict[str, Any]:
    """Efficiency of a size against the least one, the baseline; its warnings too."""
    if size == least:
        return {"efficiency_ratio": 1.0, "efficiency_lo": 1.0, "efficiency_hi": 1.0, "warnings": []}
    ratio = find_ratio(own, baseline, level)
    value, lo, hi = (end * least / size for end in (ratio.value, ratio.lo, ratio.hi))
    warnings = [_of_sizes(warning, size) for warning in ratio.warnings]
    if is_upper_bound:
        lo = np.nan
        beyond = ", and being above 1 shows nothing but that" if value > 1 else ""
        warnings.append(f"the baseline is a lower bound: this efficiency is at most {value:.2f}{beyond}")
    elif value > 1 and not lo <= 1:
        warnings.append(
            f"super-linear, efficiency {value:.2f}: the baseline had a limit of its own (an idle processor, a "
            "generator, a cold cache), or is wrong"
        )
    return {"efficiency_ratio": value, "efficiency_lo": lo, "efficiency_hi": hi, "warnings": warnings}


def _of_sizes(warning: str, size: float) -> str:
    """The warning of a comparison of A and B, in the words of sizes."""
    sizes = {" of A": f" of {size:g} units", " of B": " of the baseline", "B scatters": "the baseline scatters"}
    for letter, words in sizes.items():
        warning = warning.replace(letter, words)
    return warning


def _marginal(groups: list[Array], sizes: Array, i: int, baseline_is_lower_bound: bool, level: float) -> dict[str, Any]:
    """What each unit brought since the size before; of the baseline itself, its throughput by unit."""
    first = groups[0].mean() / sizes[0]
    if i == 0:
        return {"marginal_rps": first, "marginal_lo": np.nan, "marginal_hi": np.nan, "marginal_ratio": 1.0}
    added, own, before = sizes[i] - sizes[i - 1], groups[i], groups[i - 1]
    value, lo, hi = (own.mean() - before.mean()) / added, np.nan, np.nan
    if min(own.size, before.size) > 1:
        if np.ptp(own) == np.ptp(before) == 0:
            lo = hi = value
        else:
            ends = scipy.stats.ttest_ind(own, before, equal_var=False).confidence_interval(level)
            lo, hi = ends.low / added, ends.high / added
    if i == 1 and baseline_is_lower_bound:
        lo = np.nan
    return {"marginal_rps": value, "marginal_lo": lo, "marginal_hi": hi, "marginal_ratio": value / first}


def summarise_overlap(requests: ArrayLike, throughput_rps: ArrayLike, delay_s: ArrayLike = 0) -> pd.DataFrame:
    """Throughput that generators made together, as an interval, for each delay between their starts.

    Parameters
    ----------
    requests : array_like, shape (k,)
        Requests n of each generator in the order of their starts, > 0.
    throughput_rps : array_like, shape (k,)
        Throughput X that each printed for its own run, > 0.
    delay_s : array_like, shape (m,)
        Time by which each generator starts after the one before it, >= 0: one row of the table each.

    Returns
    -------
    pandas.DataFrame
        ``delay_s``; ``any_s, all_s``, the time in which any and in which all of them ran; ``lo_rps, hi_rps``, the
        bounds above; and ``overstated_ratio``, by which part the sum of rates may be too large: hi / lo − 1.

    Raises
    ------
    ValueRuleError
        When a value breaks its rule or is missing, or the two lists are not of one length of 2 and more.

    Examples
    --------
    >>> summarise_overlap([3000, 3000], [300, 300], [0, 1, 10])[["delay_s", "any_s", "all_s", "lo_rps", "hi_rps"]]
       delay_s  any_s  all_s      lo_rps  hi_rps
    0      0.0   10.0   10.0  600.000000   600.0
    1      1.0   11.0    9.0  545.454545   600.0
    2     10.0   20.0    0.0  300.000000   600.0
    """
    number = np.atleast_1d(above_0("requests", requests))
    rate = np.atleast_1d(above_0("throughput_rps", throughput_rps))
    if number.ndim != 1 or number.size < 2 or number.shape != rate.shape:
        raise ValueRuleError("throughput_rps", f"of the shape of requests, {number.shape}, 2 at least", rate.shape)
    delay = np.atleast_1d(at_least_0("delay_s", delay_s))
    for name, values in (("requests", number), ("throughput_rps", rate), ("delay_s", delay)):
        if not np.isfinite(values).all():
            raise ValueRuleError(name, "known and finite", values)
    start = np.arange(number.size)[:, None] * delay
    end = start + (number / rate)[:, None]
    # What each generator adds to the time in which any ran: from its start, or from the end of those before it, on.
    before = np.vstack([start[:1], np.maximum.accumulate(end)[:-1]])
    any_s = np.maximum(end - np.maximum(start, before), 0).sum(axis=0)
    lo, hi = number.sum() / any_s, rate.sum()  # Σn / T <= r <= ΣX
    return pd.DataFrame(
        {
            "delay_s": delay, "any_s": any_s, "all_s": np.maximum(end.min(axis=0) - start.max(axis=0), 0),
            "lo_rps": lo, "hi_rps": hi, "overstated_ratio": hi / lo - 1,
        }
    )  # fmt: skip
