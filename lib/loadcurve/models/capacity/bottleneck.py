r"""The bottleneck: what each resource spends on a request, and the throughput at which it is always busy.

The utilisation law says that a resource of m servers is busy for the share U = X D / m.  It gives the demand D in two
ways, and this module compares them.  Over runs in which the resource has time left the law is a line, and its slope is
the demand.  Work that does not come from the requests (a backup, the collectors) gives the line an intercept.  It is
always fitted: a line through the origin would be biased by an intercept that is too small to be seen, such as 1 %, and
its interval would hold the demand in half of all studies only (validation.coverage.resources).

Where the resource is saturated, utilisation cannot rise any further while the throughput still scatters, so such runs
are not on the line; there the demand is the ratio of the means:

.. math::

    U = U_0 + \frac{D}{m} X \quad (U < 0.9), \qquad D = \frac{m\,U}{X} \quad (U \ge 0.9), \qquad
    X_\text{sat} = \frac{m\,(U_\text{target} - U_0)}{D}

P. J. Denning, J. P. Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978
(utilisation law, bottleneck analysis); demands from measured utilisations by regression: D. A. Menascé,
V. A. F. Almeida, L. W. Dowdy, "Performance by Design", 2004.

Every quantity of a line is a tuple (value, lo, hi).  Intervals are t intervals for independent runs, except for the
saturation of a line with an intercept.  That is Fieller's interval: all throughputs at which the line's utilisation
does not differ from the target.

E. C. Fieller, "Some Problems in Interval Estimation", J. Royal Statistical Society B 16, 1954.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from loadcurve.errors import ValueRuleError, check_columns
from loadcurve.stats.arrays import Array, above_0, at_least_0, at_least_1, between_0_and_1
from loadcurve.stats.mean import find_mean
from loadcurve.tables.curves import SATURATED_RATIO, check_points

Interval = tuple[float, float, float]
UNKNOWN: Interval = (np.nan, np.nan, np.nan)

# An intercept below a thousandth is negligible, and on runs without scatter it is rounding.
_MIN_INTERCEPT = 1e-3
# Without scatter an interval has no width; a thousandth of a thousandth is far above the error of float64.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Line:
    """U = intercept + slope X, and the throughput at which U reaches the target.

    The intercept of a line through the origin is NaN.
    """

    slope: Interval
    intercept: Interval
    saturation: Interval


def least_squares_line(x: Array, u: Array, target: float, level: float, through_origin: bool) -> Line | None:
    """Return the line with an intercept, or through the origin if too few points determine one; None without points."""
    if not x.size:
        return None
    if through_origin or x.size < 3 or np.unique(x).size < 2:
        return _through_origin(x, u, target, level)
    return _with_intercept(x, u, target, level)


def has_intercept(line: Line | None) -> bool:
    """Return whether the line has an intercept whose interval excludes 0."""
    if line is None or np.isnan(line.intercept[0]):
        return False
    value, lo, hi = line.intercept
    return abs(value) >= _MIN_INTERCEPT and not lo <= 0 <= hi


def overlap(first: Interval, second: Interval) -> bool:
    """Return whether two intervals have a common number, except for rounding."""
    return first[1] <= second[2] * (1 + _ROUNDING) and second[1] <= first[2] * (1 + _ROUNDING)


def reciprocal(numerator: float, of: Interval) -> Interval:
    """Return numerator / (value, lo, hi), its ends in order; infinite for a denominator of 0, NaN for one below 0."""
    with np.errstate(divide="ignore", over="ignore"):
        value, lo, hi = np.where(np.asarray(of) >= 0, numerator / np.asarray(of), np.nan)
    return float(value), float(hi), float(lo)


def _through_origin(x: Array, u: Array, target: float, level: float) -> Line:
    slope = float(u @ x / (x @ x))
    half: float = np.nan
    if x.size > 1:
        squares = np.sum((u - slope * x) ** 2) / (x.size - 1)
        half = scipy.special.stdtrit(x.size - 1, (1 + level) / 2) * np.sqrt(squares / (x @ x))
    lo = max(slope - half, 0.0) if x.size > 1 else np.nan  # no demand is below 0
    ends = (slope, lo, slope + half)
    return Line(ends, UNKNOWN, reciprocal(target, ends))


def _with_intercept(x: Array, u: Array, target: float, level: float) -> Line:
    count, mean = x.size, x.mean()
    spread = np.sum((x - mean) ** 2)
    slope = (x - mean) @ u / spread
    intercept = u.mean() - slope * mean
    squares = np.sum((u - intercept - slope * x) ** 2) / (count - 2)
    t = scipy.special.stdtrit(count - 2, (1 + level) / 2)
    half = t * np.sqrt(squares / spread)
    half_intercept = t * np.sqrt(squares * (1 / count + mean**2 / spread))
    # |U_target − ū − b z| <= t s sqrt(1/n + z²/Sxx) with z = X − x̄: a quadratic in z.
    gap = target - u.mean()
    square, middle, constant = slope**2 - half**2, slope * gap, gap**2 - t**2 * squares / count
    saturation = (mean + gap / slope if slope > 0 else np.inf, 0.0, np.inf)
    inside = middle**2 - square * constant
    root = np.sqrt(max(inside, 0.0))
    if slope > 0 and square > 0:
        lo, hi = mean + (middle - root) / square, mean + (middle + root) / square
        # Without scatter, rounding may place the value outside its interval.
        saturation = (saturation[0], min(lo, saturation[0]), max(hi, saturation[0]))
    elif gap > 0 and inside > 0 and (slope > 0 or square < 0 < constant):
        # The interval of the slope includes 0: the saturation has no upper end, and its lower end is the root for a
        # slope above 0, also where the fitted slope is not.  Without roots, no throughput is excluded.
        saturation = (saturation[0], max(mean + constant / (middle + root), 0.0), np.inf)
    return Line(
        _not_below_0(slope, slope - half, slope + half),  # no demand is below 0
        (intercept, intercept - half_intercept, intercept + half_intercept),
        # Saturation is below 0 where the intercept alone exceeds the target.
        _not_below_0(*saturation),
    )


def _not_below_0(value: float, lo: float, hi: float) -> Interval:
    return max(value, 0.0), max(lo, 0.0), max(hi, 0.0)


_FULL = f"{SATURATED_RATIO:.0%}"
_COLUMNS = ("resource", "servers", "throughput_rps", "utilisation_ratio")
# Of utilisation: a run this far off its line has another demand there, not just scatter between runs.
_MISS = 0.10


def summarise_demands(
    usage: pd.DataFrame,
    *,
    load: str = "connections",
    target_utilisation_ratio: float = 1.0,
    level: float = 0.95,
    through_origin: bool = False,
) -> pd.DataFrame:
    """Demand of each resource below saturation and at saturation, and the throughput at which it saturates.

    Parameters
    ----------
    usage : pandas.DataFrame
        One row for each run and resource: ``resource``, ``servers`` (m, such as cores; the same in all its rows),
        ``throughput_rps`` (of the system) and ``utilisation_ratio`` (0…1, mean over the resource's servers).  Rows
        without a value are left out, with a warning.
    load : str
        Column of the load, such as connections.  The resource is saturated at a load where its mean utilisation over
        the runs is at least 0.9.  Without the column each run decides for itself.
    target_utilisation_ratio : float
        Utilisation that the resource may reach, 0 < U <= 1.
    level : float
        Confidence level, 0 < level < 1.
    through_origin : bool
        Whether the resource is known to be idle without requests.  Then the line goes through the origin, and its
        intervals are much narrower.

    Returns
    -------
    pandas.DataFrame
        One row for each resource, the first to saturate first.  Columns:

        ``resource, servers, points``
            and ``saturated_points``, the runs at saturated loads.
        ``demand_s, demand_lo, demand_hi``
            by regression over the loads below saturation; ``demand_per_server_s`` is D / m.  Where every load is
            saturated, they repeat the demand at saturation.
        ``background_ratio, background_lo, background_hi``
            the intercept of the regression; ``has_background`` says whether its interval excludes 0.  It is NaN, and
            the line goes through the origin, with fewer than 3 points below saturation or where `through_origin` says
            so.
        ``line_saturation_rps, line_saturation_lo, line_saturation_hi``
            throughput at which this line reaches the target; NaN where every load is saturated.
        ``saturated_demand_s, saturated_demand_lo, saturated_demand_hi``
            D = m U / X over the runs at saturated loads; NaN without any.
        ``saturation_rps, saturation_lo, saturation_hi``
            throughput at the target: as measured at saturation where at least 2 runs are saturated and the target is
            0.9 or more, else by the line.
        ``highest_utilisation_ratio, highest_throughput_rps, warnings``
            A warning says where line and measured saturation disagree: their intervals do not overlap.

    Raises
    ------
    ValueRuleError
        When a column is missing, a value breaks its rule, or a resource has no row with both numbers.

    Notes
    -----
    t intervals with n − 2, through the origin n − 1 degrees of freedom, for independent runs.  Where the line has an
    intercept, the interval of its saturation is Fieller's.  At saturation the t interval is that of the mean of X / U
    over the runs, the throughput of a resource that is always busy; the demand is its reciprocal.

    Examples
    --------
    >>> usage = pd.DataFrame({"resource": "cpu", "servers": 2, "throughput_rps": [100, 200, 300, 400]})
    >>> usage["utilisation_ratio"] = [0.051, 0.099, 0.151, 0.199]
    >>> table = summarise_demands(usage, through_origin=True)
    >>> table[["resource", "demand_s", "saturation_rps", "saturation_lo", "saturation_hi"]].round(4)
      resource  demand_s  saturation_rps  saturation_lo  saturation_hi
    0      cpu     0.001       2002.6702       1976.559      2029.4806
    """
    _checked(usage, target_utilisation_ratio, level)
    if load in usage:
        check_points(usage, ["resource", load])
    rows = [
        {"resource": name, **_of_resource(name, group, load, target_utilisation_ratio, level, through_origin)}
        for name, group in usage.groupby("resource", sort=False, observed=True)
    ]
    table = pd.DataFrame(rows)
    return table.sort_values(["saturation_rps", "resource"], ignore_index=True)


@dataclass(frozen=True)
class _Saturated:
    """The runs at saturated loads: their throughputs, the demand per server, and the throughput at the target."""

    throughput_rps: Array
    demand_per_server_s: Interval = UNKNOWN
    saturation: Interval = UNKNOWN


def _of_resource(
    name: str, group: pd.DataFrame, load: str, target: float, level: float, through_origin: bool
) -> dict[str, Any]:
    m, throughput, busy = _use_of_resource(name, group)
    known = ~np.isnan(throughput + busy)
    if not known.any():
        raise ValueRuleError(f"utilisation_ratio of {name}", "known for at least one run", "none")
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} runs have no value and are left out"]
    x, u = throughput[known], busy[known]
    loads = group[load].to_numpy()[known] if load in group else np.arange(x.size)
    full = pd.Series(u).groupby(loads).transform("mean").to_numpy() >= SATURATED_RATIO
    line = least_squares_line(x[~full], u[~full], target, level, through_origin)
    saturated = _at_saturation(x[full], u[full], target, level)
    measured = line is None or (full.sum() >= 2 and target >= SATURATED_RATIO)
    slope = saturated.demand_per_server_s if line is None else line.slope
    warnings += _weak_line(x[~full], u[~full], line, through_origin, x.max(), measured)
    warnings += _disagreement(line, saturated)
    return {
        "servers": m, "points": x.size, "saturated_points": int(full.sum()),
        **_named("demand_s demand_lo demand_hi", (m * end for end in slope)),
        "demand_per_server_s": slope[0],
        **_named("background_ratio background_lo background_hi", line.intercept if line else UNKNOWN),
        "has_background": has_intercept(line),
        **_named("line_saturation_rps line_saturation_lo line_saturation_hi", line.saturation if line else UNKNOWN),
        **_named("saturated_demand_s saturated_demand_lo saturated_demand_hi",
                 (m * end for end in saturated.demand_per_server_s)),
        **_named("saturation_rps saturation_lo saturation_hi",
                 line.saturation if line and not measured else saturated.saturation),
        "highest_utilisation_ratio": u.max(), "highest_throughput_rps": x.max(),
        "warnings": "; ".join(warnings),
    }  # fmt: skip


def _use_of_resource(name: str, group: pd.DataFrame) -> tuple[float, Array, Array]:
    """Number of servers, and throughput and utilisation of each run, which may be missing."""
    servers = np.unique(at_least_1("servers", group["servers"]))
    if servers.size != 1 or not np.isfinite(servers[0]):
        raise ValueRuleError(f"servers of {name}", "one number", servers)
    throughput = above_0("throughput_rps", group["throughput_rps"])
    busy = at_least_0("utilisation_ratio", group["utilisation_ratio"])
    if (busy > 1).any():
        raise ValueRuleError("utilisation_ratio", "0 <= ratio <= 1", busy[busy > 1][0])
    return float(servers[0]), throughput, busy


def _named(names: str, values: Iterable[float]) -> dict[str, float]:
    return dict(zip(names.split(), values, strict=True))


def _at_saturation(x: Array, u: Array, target: float, level: float) -> _Saturated:
    if not x.size:
        return _Saturated(x)
    rate = find_mean(x / u, level)  # X / U = m / D: the throughput of servers that are always busy
    lo = rate.lo if np.isnan(rate.lo) else max(rate.lo, 0.0)
    ends = (rate.value, lo, rate.hi)
    return _Saturated(x, reciprocal(1.0, ends), (target * rate.value, target * lo, target * rate.hi))


def _weak_line(
    x: Array, u: Array, line: Line | None, through_origin: bool, highest: float, measured: bool
) -> list[str]:
    if line is None:
        return [f"every load is at least {_FULL} busy: measure lower loads to test the demand for a background"]
    found = []
    if np.isnan(line.intercept[0]) and not through_origin:
        found.append(
            f"{x.size} points at {np.unique(x).size} throughputs below {_FULL} busy: an intercept cannot be tested"
        )
    elif has_intercept(line):
        intercept, lo, hi = line.intercept
        cause = "background load, or a request costs less the higher the load"
        if intercept < 0:
            cause = "a request costs more the higher the load"
        found.append(
            f"the line meets zero throughput at a utilisation of {intercept:.1%} [{lo:.1%}, {hi:.1%}]: {cause}"
        )
    fitted = np.nan_to_num(line.intercept[0]) + line.slope[0] * x
    worst = int(np.argmax(np.abs(u - fitted)))
    if abs(u[worst] - fitted[worst]) > _MISS:
        found.append(
            f"the run at {x[worst]:.4g} requests/s is {u[worst]:.0%} busy, the line gives {fitted[worst]:.0%}: the "
            "demand is not the same at every load"
        )
    if line.saturation[0] == 0:
        found.append("the background alone is more than the target: there is no throughput for it")
    if has_intercept(line) and np.isinf(line.saturation[0]):
        found.append("utilisation does not rise with throughput: the requests have no demand here")
    if not measured and 2 * highest < line.saturation[0] < np.inf:
        found.append(
            f"saturation is extrapolated: {line.saturation[0] / highest:.1f} times the highest throughput measured"
        )
    return found


def _disagreement(line: Line | None, saturated: _Saturated) -> list[str]:
    """Return a warning where the line's saturation and the measured one have intervals that do not overlap."""
    if line is None or not saturated.throughput_rps.size:
        return []
    by_line, measured = line.saturation, saturated.saturation
    if np.isnan([*by_line, *measured]).any() or overlap(by_line, measured):
        return []
    change = "less" if measured[0] > by_line[0] else "more"
    runs = saturated.throughput_rps.size
    return [
        f"the line over loads below {_FULL} busy reaches the target at {_rates(by_line)}, the {runs} saturated "
        f"runs at {_rates(measured)}: a request costs {change} at saturation, so neither demand holds at every load"
    ]


def _rates(interval: Interval) -> str:
    value, lo, hi = (f"{end:,.4g}" if end < 100 else f"{end:,.0f}" for end in interval)
    return f"{value} [{lo}, {hi}] requests/s"


def _checked(usage: pd.DataFrame, target: float, level: float) -> None:
    check_columns(usage, _COLUMNS)
    if usage.empty:
        raise ValueRuleError("usage", "at least one row", "none")
    if not 0 < target <= 1:
        raise ValueRuleError("target_utilisation_ratio", "0 < U <= 1", target)
    between_0_and_1("level", level)
