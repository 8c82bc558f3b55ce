"""Counting how often intervals hold what is true, and how sure the count itself is."""

import zlib
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy import stats

from loadcurve.errors import ValueRuleError
from loadcurve.plots.comparison import CLAIMED
from loadcurve.stats.estimate import Estimate

COLUMNS = ("method", "quantity", "setting", "n", "repeats", "coverage", "lo", "hi", "refused", "runs", "verdict")
"""What every table of coverage has."""


def holds(found: Estimate, truth: float) -> float:
    """1 where an interval holds the truth, 0 where it does not, NaN where it was refused (an end is not known).

    Examples
    --------
    >>> holds(Estimate(2.0, 1.0, 3.0, 0.95, "given"), 2.5), holds(Estimate(2.0, 1.0, 3.0, 0.95, "given"), 4.0)
    (1.0, 0.0)
    """
    return np.nan if np.isnan(found.lo + found.hi) else float(found.lo <= truth <= found.hi)


def summarise_hits(
    simulate: Callable[[np.random.Generator], Mapping[tuple[str, str], float]],
    *,
    runs: int,
    seed: int,
    n: int,
    setting: str,
    repeats: float = np.nan,
) -> pd.DataFrame:
    """Coverage of every method that one simulation tries, over many simulations.

    `simulate` makes one simulated study and returns, for each method and quantity, whether the interval holds the truth
    (as `holds` says it).  `runs` studies are simulated; `seed`, `n`, `repeats` and `setting` decide the random numbers.
    `n` is the size of a study (repeats, samples or levels), `repeats` the runs of each level where `n` counts levels,
    and `setting` says in words what the simulation draws from.

    The table has the columns `COLUMNS`, and one row for each method and quantity.  ``coverage`` is the share of the
    intervals that hold the truth, of those that were not refused, NaN when all were; ``lo`` and ``hi`` are its own 95 %
    interval, which is Wilson's (E. B. Wilson, J. American Statistical Association 22, 1927); ``refused`` is the share
    without an interval; ``verdict`` is as from `verdict`.  Raises ValueRuleError when `runs` is below 1.

    Examples
    --------
    >>> summarise_hits(lambda rng: {("coin", "head"): float(rng.random() < 0.95)}, runs=400, seed=1, n=1,
    ...                setting="")[["method", "coverage", "lo", "hi", "verdict"]].round(3)
      method  coverage     lo     hi     verdict
    0   coin      0.97  0.948  0.983  as claimed
    """

    def simulate_all(rng: np.random.Generator) -> pd.DataFrame:
        return pd.DataFrame([simulate(rng) for _ in range(runs)])

    return summarise_all_hits(simulate_all, runs=runs, seed=seed, n=n, setting=setting, repeats=repeats)


def summarise_all_hits(
    simulate: Callable[[np.random.Generator], pd.DataFrame],
    *,
    runs: int,
    seed: int,
    n: int,
    setting: str,
    repeats: float = np.nan,
) -> pd.DataFrame:
    """Coverage from all simulations at once; arguments, result and errors as for `summarise_hits`.

    `simulate` gives a row for each of `runs` studies, and a column for each (method, quantity).
    """
    if runs < 1:
        raise ValueRuleError("runs", ">= 1", runs)
    rng = np.random.default_rng([seed, n, 0 if np.isnan(repeats) else int(repeats), zlib.crc32(setting.encode())])
    hits = simulate(rng)
    rows = []
    for method, quantity in hits:
        known = hits[method, quantity].dropna()
        rows.append((method, quantity, setting, n, repeats, *counted(int(known.sum()), known.size, runs)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def summarise_studies(coverage: pd.DataFrame) -> pd.DataFrame:
    """One row for each method and size of a study, with the coverage of each quantity side by side.

    The columns are ``method setting n repeats``, a column of coverage for each quantity, and ``verdict``: which
    quantities it holds too seldom or too often, else ``not contradicted``, or ``no interval`` where no quantity has
    one.

    Examples
    --------
    >>> rows = [("t", "peak", "", 6, 3, 0.8, 0.77, 0.83, 0, 500, "too low"),
    ...         ("t", "limit", "", 6, 3, 0.95, 0.93, 0.97, 0, 500, "as claimed")]
    >>> summarise_studies(pd.DataFrame(rows, columns=list(COLUMNS)))
      method setting  n  repeats  peak  limit        verdict
    0      t          6        3   0.8   0.95  too low: peak
    """
    keys = ["method", "setting", "n", "repeats"]
    rows = []
    for key, group in coverage.groupby(keys, sort=False, dropna=False):
        outside = [
            f"{said}: {', '.join(group.loc[group['verdict'] == said, 'quantity'])}"
            for said in ("too low", "too high")
            if (group["verdict"] == said).any()
        ]
        shares = dict(zip(group["quantity"], group["coverage"], strict=True))
        rows.append({**dict(zip(keys, key, strict=True)), **shares, "verdict": "; ".join(outside) or _unopposed(group)})
    table = pd.DataFrame(rows)
    return table[[*(name for name in table if name != "verdict"), "verdict"]]


def summarise_sizes(coverage: pd.DataFrame) -> pd.DataFrame:
    """One row for each method, with its coverage at each size of a study as text: for a page.

    The columns are ``method quantity setting``, then one for each n, such as ``n = 3``: the coverage, its own interval,
    and the verdict where it is another than ``as claimed``.

    Examples
    --------
    >>> rows = [("t", "mean", "", 3, np.nan, 0.8, 0.77, 0.83, 0, 500, "too low")]
    >>> summarise_sizes(pd.DataFrame(rows, columns=list(COLUMNS)))["n = 3"].item()
    '80.0 % (77–83), too low'
    """
    shown = []
    for row in coverage.itertuples():
        said = "" if row.verdict == "as claimed" else f", {row.verdict}"
        share = f"{100 * row.coverage:.1f} % ({100 * row.lo:.0f}–{100 * row.hi:.0f}){said}"
        shown.append(share if np.isfinite(row.coverage) else row.verdict)
    frame = coverage.assign(shown=shown, size=[f"n = {n}" for n in coverage["n"]])
    keys = ["method", "quantity", "setting"]
    table = frame.pivot_table(index=keys, columns="size", values="shown", aggfunc="first", sort=False)
    return table.reset_index().rename_axis(columns=None).fillna("")


def counted(hits: int, known: int, runs: int) -> tuple[float, float, float, float, int, str]:
    """``coverage lo hi refused runs verdict`` from hits among known intervals, of so many runs."""
    share, lo, hi = share_of(hits, known)
    return share, lo, hi, 1 - known / runs, runs, verdict(share, lo, hi)


def verdict(coverage: float, lo: float, hi: float) -> str:
    """What a coverage and its own interval say of a 95 % interval.

    ``as claimed`` where 93–97 % were reached; ``too low`` or ``too high`` where the whole interval lies outside of
    that; ``not distinguished`` where only the coverage does; ``no interval`` where there was none.

    Examples
    --------
    >>> verdict(0.95, 0.93, 0.96), verdict(0.90, 0.88, 0.92), verdict(0.925, 0.90, 0.94)
    ('as claimed', 'too low', 'not distinguished')
    """
    if np.isnan(coverage):
        return "no interval"
    if CLAIMED[0] <= coverage <= CLAIMED[1]:
        return "as claimed"
    return "too low" if hi < CLAIMED[0] else "too high" if lo > CLAIMED[1] else "not distinguished"


def _unopposed(group: pd.DataFrame) -> str:
    return "no interval" if (group["verdict"] == "no interval").all() else "not contradicted"


def share_of(hits: int, known: int) -> tuple[float, float, float]:
    """Return a share and its 95 % interval (Wilson's), all NaN without a count."""
    if not known:
        return np.nan, np.nan, np.nan
    interval = stats.binomtest(int(hits), int(known)).proportion_ci(0.95, method="wilson")
    return hits / known, float(interval.low), float(interval.high)
