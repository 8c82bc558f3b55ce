r"""The bottleneck: what each resource spends on a request, and the throughput at which it has nothing left.

The utilisation law says that a resource of m servers is busy for the share U = X D / m.  Over runs at several loads it
is a line through the origin, and its slope is the demand.  Work that does not come from the requests (a backup, the
collectors) gives the line an intercept, which is tested for:

.. math:: U = U_0 + \frac{D}{m} X, \qquad X_\text{sat} = \frac{m\,(U_\text{target} - U_0)}{D}

P. J. Denning, J. P. Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978
(utilisation law, bottleneck analysis); demands from measured utilisations by regression: D. A. Menascé,
V. A. F. Almeida, L. W. Dowdy, "Performance by Design", 2004.
"""

import numpy as np
import pandas as pd
from scipy import stats

from loadcurve.errors import ValueRuleError
from loadcurve.models._values import above_0, at_least_0, at_least_1

SATURATED = 0.90
"""Utilisation from which a resource counts as saturated.  It is a mean over a run, whose first and last second are not
fully loaded, so that an always busy processor shows a little less than all of it."""

_COLUMNS = ("resource", "servers", "throughput_rps", "utilisation_ratio")
# Of utilisation or throughput: a run this far off its line has another demand there, not just scatter between runs.
_MISS = 0.10
# An intercept below a thousandth says nothing about a system, and on runs without scatter it is rounding.
_LEAST = 1e-3


def summarise_demands(
    usage: pd.DataFrame, *, target_utilisation_ratio: float = 1.0, level: float = 0.95
) -> pd.DataFrame:
    """Demand of each resource by regression of utilisation on throughput, and where it saturates.

    Parameters
    ----------
    usage : pandas.DataFrame
        One row for each run and resource: ``resource``, ``servers`` (m, such as cores; the same in all its rows),
        ``throughput_rps`` (of the system) and ``utilisation_ratio`` (0…1, mean over the resource's servers).  Rows
        without a value are left out, with a warning.
    target_utilisation_ratio : float
        Utilisation that the resource may reach, 0 < U <= 1.
    level : float
        Confidence level, 0 < level < 1.

    Returns
    -------
    pandas.DataFrame
        One row for each resource, the first to saturate first; without background that is the order of D / m, the
        largest first.  Columns: ``resource, servers, points``, ``demand_s, demand_lo, demand_hi``,
        ``demand_per_server_s`` (D / m), ``background_ratio, background_lo, background_hi`` (the intercept of the line
        with one, tested at `level`; NaN with fewer than 3 points), ``has_background`` (whether its interval excludes 0:
        then demand and saturation are of that line, else of the one through the origin), ``saturation_rps,
        saturation_lo, saturation_hi`` (throughput at the target), ``highest_utilisation_ratio, highest_throughput_rps``
        and ``warnings``.

    Raises
    ------
    ValueRuleError
        When a column is missing, a value breaks its rule, or a resource has no row with both numbers.

    Notes
    -----
    t intervals with n − 1, with an intercept n − 2 degrees of freedom, for independent runs.  Where the line has an
    intercept, the interval of the saturation is Fieller's (E. C. Fieller, J. Royal Statistical Society B 16, 1954): all
    throughputs at which the line's utilisation does not differ from the target.

    Examples
    --------
    >>> usage = pd.DataFrame({"resource": "cpu", "servers": 2, "throughput_rps": [100, 200, 300, 400]})
    >>> usage["utilisation_ratio"] = [0.051, 0.099, 0.151, 0.199]
    >>> table = summarise_demands(usage)
    >>> table[["resource", "demand_s", "saturation_rps", "saturation_lo", "saturation_hi"]].round(4)
      resource  demand_s  saturation_rps  saturation_lo  saturation_hi
    0      cpu     0.001       2002.6702       1976.559      2029.4806
    """
    _checked(usage, target_utilisation_ratio, level)
    rows = [
        {"resource": name, **_of_resource(name, group, target_utilisation_ratio, level)}
        for name, group in usage.groupby("resource", sort=False, observed=True)
    ]
    table = pd.DataFrame(rows)
    return table.sort_values(["saturation_rps", "resource"], ignore_index=True)


def _of_resource(name: str, group: pd.DataFrame, target: float, level: float) -> dict:
    servers = np.unique(at_least_1("servers", group["servers"]))
    if servers.size != 1 or not np.isfinite(servers[0]):
        raise ValueRuleError(f"servers of {name}", "one number", servers)
    throughput = above_0("throughput_rps", group["throughput_rps"])
    busy = at_least_0("utilisation_ratio", group["utilisation_ratio"])
    if (busy > 1).any():
        raise ValueRuleError("utilisation_ratio", "0 <= ratio <= 1", busy[busy > 1][0])
    known = ~np.isnan(throughput + busy)
    if not known.any():
        raise ValueRuleError(f"utilisation_ratio of {name}", "known for at least one run", "none")
    warnings = [] if known.all() else [f"{(~known).sum()} of {known.size} runs have no value and are left out"]
    x, u, m = throughput[known], busy[known], float(servers[0])
    background = _with_intercept(x, u, target, level) if np.unique(x).size >= 2 and x.size >= 3 else None
    has_background = background is not None and _differs_from_0(*background["intercept"])
    line = background if has_background else _through_origin(x, u, target, level)
    slope, intercept = line["slope"], line["intercept"][0]
    warnings += _weak(x, u, background, has_background, intercept + slope[0] * x, line["saturation"])
    nothing = (np.nan,) * 3
    return {
        "servers": m, "points": x.size,
        **dict(zip(("demand_s", "demand_lo", "demand_hi"), (m * end for end in slope), strict=True)),
        "demand_per_server_s": slope[0],
        **dict(zip(("background_ratio", "background_lo", "background_hi"),
                   background["intercept"] if background else nothing, strict=True)),
        "has_background": has_background,
        **dict(zip(("saturation_rps", "saturation_lo", "saturation_hi"), line["saturation"], strict=True)),
        "highest_utilisation_ratio": u.max(), "highest_throughput_rps": x.max(),
        "warnings": "; ".join(warnings),
    }  # fmt: skip


def _differs_from_0(value: float, lo: float, hi: float) -> bool:
    return abs(value) >= _LEAST and not lo <= 0 <= hi


def _through_origin(x: np.ndarray, u: np.ndarray, target: float, level: float) -> dict:
    """U = b X: slope, intercept 0 and saturation, each (value, lo, hi)."""
    slope = u @ x / (x @ x)
    half = np.nan
    if x.size > 1:
        squares = np.sum((u - slope * x) ** 2) / (x.size - 1)
        half = stats.t.ppf((1 + level) / 2, x.size - 1) * np.sqrt(squares / (x @ x))
    lo = max(slope - half, 0.0) if x.size > 1 else np.nan  # no demand is below 0
    ends = (slope, lo, slope + half)
    return {"slope": ends, "intercept": (0.0, 0.0, 0.0), "saturation": _reciprocal(target, ends)}


def _reciprocal(target: float, slope: tuple[float, float, float]) -> tuple[float, float, float]:
    value, lo, hi = (target / end if end > 0 else np.inf if end == 0 else np.nan for end in slope)
    return value, hi, lo


def _with_intercept(x: np.ndarray, u: np.ndarray, target: float, level: float) -> dict:
    """U = a + b X, as `_through_origin`; the saturation's interval is Fieller's."""
    count, mean = x.size, x.mean()
    spread = np.sum((x - mean) ** 2)
    slope = (x - mean) @ u / spread
    intercept = u.mean() - slope * mean
    squares = np.sum((u - intercept - slope * x) ** 2) / (count - 2)
    t = stats.t.ppf((1 + level) / 2, count - 2)
    half = t * np.sqrt(squares / spread)
    half_intercept = t * np.sqrt(squares * (1 / count + mean**2 / spread))
    # |U_target − ū − b z| <= t s sqrt(1/n + z²/Sxx) with z = X − x̄: a quadratic in z.
    gap = target - u.mean()
    square, middle, constant = slope**2 - half**2, slope * gap, gap**2 - t**2 * squares / count
    saturation = (mean + gap / slope if slope > 0 else np.inf, 0.0, np.inf)
    inside = middle**2 - square * constant
    root = np.sqrt(max(inside, 0.0))
    if slope > 0 and square > 0:
        saturation = (saturation[0], mean + (middle - root) / square, mean + (middle + root) / square)
    elif slope > 0 and gap > 0 and inside > 0:
        # A slope that may be 0: no upper end, and the lower one is the root on the side of a slope above 0.  Without
        # roots no throughput is excluded.
        saturation = (saturation[0], max(mean + constant / (middle + root), 0.0), np.inf)
    return {
        "slope": tuple(max(end, 0.0) for end in (slope, slope - half, slope + half)),  # no demand is below 0
        "intercept": (intercept, intercept - half_intercept, intercept + half_intercept),
        # Below 0 where the background alone is more than the target.
        "saturation": tuple(max(end, 0.0) for end in saturation),
    }


def _weak(x, u, background, has_background, fitted, saturation) -> list[str]:
    found = []
    if background is None:
        found.append(f"{x.size} points at {np.unique(x).size} throughputs: an intercept cannot be tested")
    elif has_background:
        intercept, lo, hi = background["intercept"]
        if intercept > 0:
            found.append(
                f"the line meets zero throughput at a utilisation of {intercept:.1%} [{lo:.1%}, {hi:.1%}]: background "
                "load, or a request costs less the higher the load"
            )
        else:
            found.append(
                f"the line meets zero throughput at a utilisation of {intercept:.1%} [{lo:.1%}, {hi:.1%}]: a request "
                "costs more the higher the load"
            )
    full = x[u >= SATURATED]
    if full.size > 1 and np.ptp(full) > _MISS * full.mean():
        found.append(
            f"{full.size} of {x.size} runs are at least {SATURATED:.0%} busy, at {full.min():.4g} to {full.max():.4g} "
            "requests/s: there the throughput scatters and the utilisation cannot, which flattens the line and raises "
            "its start"
        )
    miss = u - fitted
    worst = int(np.argmax(np.abs(miss)))
    if abs(miss[worst]) > _MISS:
        found.append(
            f"the run at {x[worst]:.4g} requests/s is {u[worst]:.0%} busy, the line says {fitted[worst]:.0%}: the "
            "demand is not the same at every load"
        )
    if saturation[0] == 0:
        found.append("the background alone is more than the target: there is no throughput for it")
    if has_background and np.isinf(saturation[0]):
        found.append("utilisation does not rise with throughput: the requests have no demand here")
    if 2 * x.max() < saturation[0] < np.inf:
        found.append(f"saturation is extrapolated: {saturation[0] / x.max():.1f} times the highest throughput measured")
    return found


def _checked(usage: pd.DataFrame, target: float, level: float) -> None:
    for column in _COLUMNS:
        if column not in usage:
            raise ValueRuleError("column", f"one of {', '.join(map(str, usage.columns))}", column)
    if usage.empty:
        raise ValueRuleError("usage", "at least one row", "none")
    if not 0 < target <= 1:
        raise ValueRuleError("target_utilisation_ratio", "0 < U <= 1", target)
    if not 0 < level < 1:
        raise ValueRuleError("level", "0 < level < 1", level)
