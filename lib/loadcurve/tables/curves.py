"""Name the curves of the runs, so that runs with different factor levels are never averaged as repeats of one point.

A curve is of closed or of open loops, never of both: the column along which their load varies is another one.  The rows
of a run's load generators are merged into one.

Which resources of a curve are saturated, and whether its throughput is at a plateau, has one definition: the audit's
rules, the verdict on the bottleneck and the report all take `SATURATED_RATIO` and `saturation_of`, so they cannot
contradict each other about the same data.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.tables.schemas.derived import HOLD_A_RATE

UNNAMED = "all runs"
"""Name of the curve of runs without a variant."""

# Columns that describe what a generator requested or encountered.  Warm-up, duration and number of requests are left
# out, as they only set the length of a run; addresses of hosts are compared by `url`.
_ASKED = (
    "study", "record", "variant", "connections", "tool", "tool_version", "generator", "threads", "target_rate_rps",
    "tls", "url", "document_bytes", "keep_alive", "server_software", "server_cpu", "generator_cpu",
)  # fmt: skip
_ONLY_VARIANT = "only"  # of a study without variants, as `loadcurve.study.ONLY_VARIANT`; tests compare the two
_NEVER_JOINED = ("tool",)  # tools differ so much that loads of several are no curve
_MAX_LISTED = 4  # maximum number of levels listed in a message


def name_curves(runs: pd.DataFrame, factors: pd.DataFrame | None = None, *, over: str = "connections") -> pd.DataFrame:
    """Return the runs with a `variant` that also names each factor that differs between runs at one load.

    Code that groups by variant and load then averages over repeats only.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``.
    factors : pandas.DataFrame, optional
        The table ``factors`` of the same studies.
    over : str
        Column of the load, the x axis of a curve.

    Returns
    -------
    pandas.DataFrame
        As `runs`.  A variant has the form ``cpu keep_alive=on``; it is `UNNAMED` if nothing differs and the runs have
        no variant.  A factor that is determined by another factor is not named.

    Examples
    --------
    >>> runs = pd.DataFrame({"run_id": ["a", "b"], "variant": [None, None], "connections": [8, 8], "threads": [1, 2]})
    >>> name_curves(runs)["variant"].to_list()
    ['threads=1', 'threads=2']
    """
    known = _candidates(runs)
    if factors is not None and len(factors):
        study = factors["study"].fillna("")  # runs outside a study have none
        # A place is where study.yml sets the factor, such as ``load.keep_alive``.
        levels = factors.pivot_table(index=[study, "run_id"], columns="factor", values="level", aggfunc="first")
        places = [place for place in levels if place.rpartition(".")[2] != over]
        # Numbers come first, because they are short; a factor that is determined by an earlier one is not named.
        words = {place: pd.to_numeric(levels[place], errors="coerce").isna().any() for place in places}
        places.sort(key=lambda place: (words[place], levels[place].astype(str).str.len().mean()))
        at = pd.MultiIndex.from_arrays([runs["study"].fillna(""), runs["run_id"]])
        # Places come first, because the study uses these names; columns that they determine are then not named.
        known = pd.concat([known[["variant"]], levels.reindex(at)[places].set_axis(runs.index), known], axis=1)
        known = known.loc[:, ~known.columns.duplicated()]
    keys: list[str] = []
    for name in known:
        several = name in _NEVER_JOINED and len(known[name].dropna().unique()) > 1
        if name != over and (several or _differs(known, [*keys, over], name, runs)):
            keys.append(name)
    others = [name for name in keys if name != "variant"]
    last_words = [name.rpartition(".")[2] for name in others]  # the whole place where two have the same
    short = {name: word if last_words.count(word) == 1 else name for name, word in zip(others, last_words, strict=True)}
    parts = [known[name].map(lambda level, n=name: f"{short[n]}={_level(level)}") for name in others]
    variant = known["variant"].fillna("").astype(str)
    # dropna: a run that was planned but not recorded has no variant.
    if others and known["variant"].dropna().eq(_ONLY_VARIANT).all():
        variant = variant.str.slice(0, 0)  # the default name adds nothing to the factors
    named = [" ".join(filter(None, row)) or UNNAMED for row in zip(variant, *parts, strict=True)]
    return runs.assign(variant=pd.Series(named, index=runs.index, dtype="string"))


def confounded_factors(runs: pd.DataFrame, over: str = "connections") -> dict[str, list[str]]:
    """Return the factors that change along the load of one curve, so that their effect looks like that of the load.

    Examples
    --------
    >>> confounded_factors(pd.DataFrame({"connections": [1, 2, 4], "tool": ["wrk", "wrk", "ab"], "threads": [1, 2, 2]}))
    {'tool': ['wrk', 'ab']}
    """
    if runs[over].nunique() < 2:
        return {}
    known = _candidates(runs).drop(columns=["variant", over], errors="ignore")
    if "threads" in known and "connections" in runs:
        known["threads"] = known["threads"].where(runs["connections"] >= known["threads"].max())
    known = known.loc[runs[over].sort_values(kind="stable").index]
    levels = {name: list(dict.fromkeys(known[name].dropna().map(_level))) for name in known}
    return {name: found for name, found in levels.items() if len(found) > 1}


def factors_along(runs: pd.DataFrame, factors: pd.DataFrame | None, over: str = "connections") -> dict[str, pd.Series]:
    """Return the factors of a study that change along the load of one curve, each with its level in every run.

    The last part of a factor's place is its name.  A factor counts if each load has one level of it.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": "s", "run_id": ["a", "b"], "connections": [8, 16]})
    >>> factors = runs[["study", "run_id"]].assign(factor="topology.servers", level=["1", "2"])
    >>> factors_along(runs, factors)["servers"].to_list()
    ['1', '2']
    """
    if factors is None or factors.empty or "run_id" not in runs or runs[over].nunique() < 2:
        return {}
    of_study = factors["study"].fillna("").astype(str) + "/" + factors["run_id"].astype(str)
    keys, found = runs["study"].fillna("").astype(str) + "/" + runs["run_id"].astype(str), {}
    for place, rows in factors.assign(key=of_study).groupby("factor"):
        levels = keys.map(rows.drop_duplicates("key").set_index("key")["level"])
        name = str(place).rpartition(".")[2]
        if name != over and len(set(levels.dropna())) > 1 and levels.groupby(runs[over]).nunique().eq(1).all():
            found[name] = levels
    return found


def check_points(runs: pd.DataFrame, by: Sequence[str]) -> None:
    """Check that rows with equal values in `by` are repeats of one point.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``, or rows with some of its columns.
    by : sequence of str
        Columns that identify a point, such as ``["variant", "connections"]``.

    Raises
    ------
    ValueRuleError
        When such rows differ in a factor, or contain one repeat twice; the message names the factor, its levels and
        the remedy.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [8, 8], "threads": [1, 2]})
    >>> check_points(runs, ["connections"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    loadcurve.errors.ValueRuleError: runs must be of one threads for each connections: select one, ...
    """
    keys = [name for name in by if name in runs]
    if runs.empty or not keys:
        return
    for name in (known := _candidates(runs)):
        if name not in keys and _differs(known.drop(columns=name), keys, known[name], runs):
            levels = [_level(level) for level in known[name].dropna().drop_duplicates()]
            listed = ", ".join(levels[:_MAX_LISTED]) + (", …" if len(levels) > _MAX_LISTED else "")
            point = " and ".join(keys)
            rule = f"of one {name} for each {point}: select one, or name the curves by it (name_curves, read_curves)"
            raise ValueRuleError("runs", rule, listed)
    if "repeat" in runs and "run_id" in runs:
        of_run = ["study", "run_id"] if "study" in runs else ["run_id"]
        each = runs.dropna(subset=["repeat"]).drop_duplicates(of_run)
        if (twice := each.duplicated([*keys, "repeat"], keep=False)).any():
            both = ", ".join(each.loc[twice, "run_id"].astype(str).head(2))
            point = ", ".join(keys)
            rule = f"one for each {point} and repeat: a factor differs that is not among them (read_curves names it)"
            raise ValueRuleError("runs", rule, both)


def _candidates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the columns in which runs may differ, besides the load."""
    found = runs[[name for name in _ASKED if name in runs]].copy()
    if "variant" not in found:
        found["variant"] = pd.NA
    if "url" in found:
        # The laboratory uses another port for each run, so URLs of recorded runs are compared by path only.
        path = found["url"].astype("string").str.replace(r"^\w+://[^/]*", "", regex=True)
        if {"study", "repeat"} <= set(runs):
            found["url"] = path.where(runs[["study", "repeat"]].notna().all(axis=1), found["url"])
    if "tool" in found and "requests_keepalive" in runs:
        of_ab = found["tool"].eq("ab").fillna(False)  # ab prints this line only if keep-alive was requested
        kept = runs["requests_keepalive"].notna().map({True: "on", False: "off"})
        found["keep_alive"] = kept.where(of_ab, pd.NA)
    return found


def _differs(known: pd.DataFrame, keys: list[str], values: "str | pd.Series", runs: pd.DataFrame) -> bool:
    """Return whether rows with equal values in `keys` have more than one value."""
    each = known[values] if isinstance(values, str) else values
    # An unknown level does not count as a different level: a failed run records fewer values.
    if each.dropna().map(_level).nunique() < 2:
        return False
    places = [known[name] if name in known else runs[name] for name in keys if name in known or name in runs]
    # One text key for each row, so that missing values and values of mixed types can be grouped.
    at = pd.Series(["\x1f".join(map(_level, row)) for row in zip(*places, strict=True)] if places else "", runs.index)
    return bool(each.map(_level).where(each.notna()).groupby(at).nunique().gt(1).any())


def _level(level: object) -> str:
    """Return the text of a level in names and messages; levels with the same text count as equal."""
    if level is None or level is pd.NA or level != level:
        return "not known"
    if isinstance(level, float):
        # All digits of a whole number: 1,048,576 and 1,048,577 bytes are two levels.
        return f"{level:.15g}" if level.is_integer() else f"{level:g}"
    return str(level)


def curves(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and the runs of each curve, sorted by name; runs without a variant are `UNNAMED`."""
    variant = runs["variant"].fillna(UNNAMED) if "variant" in runs else pd.Series(UNNAMED, runs.index)
    yield from runs.groupby(variant.astype(str).rename("variant"))


# Columns that are summed over the generators of a run; other columns are kept if the generators agree.
_SUMS = ("connections", "threads", "target_rate_rps", "throughput_rps", "goodput_rps")
_SUM_PREFIXES = ("requests", "errors_", "responses_", "received_", "sent_")
_EXTREMES = {"latency_min_s": "min", "latency_max_s": "max", "duration_s": "max", "started_at": "min"}


def merge_generators(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with one row for each recorded run, merged over its generators.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``.

    Returns
    -------
    pandas.DataFrame
        As `runs`.  Counts, rates and connections are sums over the generators, missing if any generator does not report
        its value; the mean response time is the mean over all responses; other columns have a value if the generators
        agree.  Rows without a `repeat` are unchanged, because the reports in a folder without records may be from
        runs one after the other.

    Examples
    --------
    >>> runs = pd.DataFrame({"study": "s", "run_id": "a", "repeat": 1, "generator": [0, 1], "connections": [4, 4],
    ...                      "requests": [300, 100], "throughput_rps": [30.0, 10.0], "latency_mean_s": [0.1, 0.3]})
    >>> merge_generators(runs)[["connections", "throughput_rps", "latency_mean_s"]].to_numpy().round(3).tolist()
    [[8.0, 40.0, 0.15]]
    """
    several = runs["repeat"].notna() & runs.duplicated(["study", "run_id"], keep=False)
    if not several.any():
        return runs
    merged = [_merged(rows) for _, rows in runs[several].groupby(["study", "run_id"], sort=False)]
    return pd.concat([runs[~several], *merged]).sort_index().astype(runs.dtypes.to_dict())


def _merged(rows: pd.DataFrame) -> pd.DataFrame:
    whole = rows.iloc[[0]].copy()
    for name in rows:
        values = rows[name]
        if name in _SUMS or name.startswith(_SUM_PREFIXES):
            found = values.sum(skipna=False)
        elif name in _EXTREMES:
            found = getattr(values, _EXTREMES[name])()
        elif name == "latency_mean_s":
            found = (values * rows["requests"]).sum(skipna=False) / rows["requests"].sum(skipna=False)
        elif name == "latency_usable":
            found = values.all() if values.notna().all() else pd.NA
        elif name == "status":
            found = next((status for status in values if status != "finished"), "finished")
        else:
            alike = name in ("generator", "source") or len(values.drop_duplicates()) == 1
            found = values.iloc[0] if alike else pd.NA
        # None is missing in every type; float64, which a table that was not checked has, takes no NA.
        whole[name] = pd.Series([None if found is pd.NA else found], index=whole.index, dtype=values.dtype)
    return whole


LOOPS = {"connections": "closed loop", "target_rate_rps": "open loop"}
"""Column of the load -> name of the loop."""


def split_by_load(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Runs of closed and of open loops, which have no load in common: column of the load -> its runs.

    Examples
    --------
    >>> runs = pd.DataFrame({"connections": [8, 16, 8], "target_rate_rps": [None, 100.0, 200.0]})
    >>> {load: len(rows) for load, rows in split_by_load(runs).items()}
    {'connections': 1, 'target_rate_rps': 2}
    """
    is_open = runs["target_rate_rps"].notna() if "target_rate_rps" in runs else pd.Series(False, runs.index)
    if "tool" in runs and (unknown := runs["tool"].isin(HOLD_A_RATE) & ~is_open).any():
        runs = runs.assign(connections=runs["connections"].mask(unknown))
    if not is_open.any():
        return {"connections": runs}
    parts = {"connections": runs[~is_open], "target_rate_rps": runs[is_open]}
    return {load: rows for load, rows in parts.items() if len(rows)}


SAME_RATE = 0.01
"""Largest relative difference of offered rates that count as one level.

vegeta prints the rate at which it sent, not the rate that was asked for: n / (n - 1) of it after n requests, and less
where its machine is busy.
"""


def group_offered_rates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with one level for measured offered rates that differ by less than `SAME_RATE`.

    A whole number is taken as the rate that was asked for.  Measured rates, which have decimals, and what lies close to
    them, become the shortest decimal number that is as close to all of them.

    Examples
    --------
    >>> runs = pd.DataFrame({"target_rate_rps": [250.201, 250.333, 1000.17, 3987.2, 3979.9, 1001.0, 1005.0]})
    >>> group_offered_rates(runs)["target_rate_rps"].tolist()
    [250.0, 250.0, 1000.0, 4000.0, 4000.0, 1000.0, 1000.0]
    >>> group_offered_rates(pd.DataFrame({"target_rate_rps": [1001.0, 1005.0, None]}))["target_rate_rps"].tolist()
    [1001.0, 1005.0, nan]
    """
    rates = np.sort(runs["target_rate_rps"].dropna().astype(float).unique())
    rates = rates[rates > 0]
    groups = np.split(rates, np.flatnonzero(rates[1:] > rates[:-1] * (1 + SAME_RATE)) + 1)
    levels: dict[float, float] = {}
    for group in groups:
        if len(group) and (group % 1).any():
            levels |= dict.fromkeys(group, _shortest(group.max() / (1 + SAME_RATE), group.min() * (1 + SAME_RATE)))
    return runs.assign(target_rate_rps=runs["target_rate_rps"].astype(float).replace(levels))


def _shortest(lo: float, hi: float) -> float:
    """Return the number with the fewest decimal digits from `lo` to `hi`, the closest to their middle."""
    lo, hi = min(lo, hi), max(lo, hi)
    middle = math.sqrt(lo * hi)
    for decimals in range(-math.floor(math.log10(hi)) - 1, 12):
        if lo <= (found := round(middle, decimals)) <= hi:
            return found
    return middle


def name_loops(runs: pd.DataFrame, factors: pd.DataFrame | None = None) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each column of load and its runs, with a `variant` that names all that differs at one load (`name_curves`).

    Examples
    --------
    >>> runs = pd.DataFrame({"run_id": ["a", "b", "c"], "connections": [8, None, None],
    ...                      "target_rate_rps": [None, 100.0, 200.0]})
    >>> [(load, named["variant"].to_list()) for load, named in name_loops(runs)]
    [('connections', ['closed loop']), ('target_rate_rps', ['open loop', 'open loop'])]
    """
    parts = split_by_load(runs)
    for load, rows in parts.items():
        rows = group_offered_rates(rows) if load == "target_rate_rps" else rows
        named = name_curves(rows, factors, over=load)
        if len(parts) > 1:
            own = named["variant"].map(lambda name: "" if name == UNNAMED else f", {name}").astype("string")
            named = named.assign(variant=LOOPS[load] + own)
        yield load, named


SATURATED_RATIO = 0.90
"""Utilisation from which a resource counts as saturated.

A queue at a single server whose arrivals and services are random is ten service times long there (M/M/1,
R = S / (1 − U); E. D. Lazowska et al., "Quantitative System Performance", 1984), so a higher threshold would call a
system free in which requests mainly wait.  A lower one would include resources with capacity for a fifth more load.
"""

PLATEAU_RISE = 0.05
"""What a load at least twice as high must bring for throughput to count as rising: more than repeats scatter.

Ten repeats of a CPU-bound server on a small virtual machine had a coefficient of variation of 5.6 to 7.7 %, so the
mean of three repeats scatters by 4 %.
"""

# Throughput of a resource that only the requests keep busy is m / D.  D varies between loads, as with larger batches,
# but seldom twofold.
_UNRELATED = 2.0

Kind = Literal["saturated", "other work", "plateau", "rising"]


@dataclass(frozen=True)
class Saturation:
    """What limits the throughput of one curve, as far as its resources were watched.

    Its kind is ``saturated``: a resource is; ``other work``: a resource is always busy, yet throughput doubles, so
    other work keeps it busy; ``plateau``: throughput rises no further, and no watched resource is saturated;
    ``rising``: throughput still rises.
    """

    kind: Kind
    resources: tuple[str, ...]  # The saturated resources, or where there are none, those with other work
    other_work: tuple[str, ...]  # Resources that other work keeps busy
    busy: pd.Series  # Mean utilisation over the runs of a load, by resource and load
    throughput: pd.Series  # Mean throughput by load
    flat_from: float  # Load from which throughput rises no further; NaN if it still rises at the highest load

    def course(self, rate: Callable[[float], str]) -> str:
        """Return how throughput goes on from `flat_from`, such as ``stays at 20,000``, as `rate` writes a rate."""
        last, most = self.throughput.iloc[-1], self.throughput.max()
        falls = last * (1 + PLATEAU_RISE) < most
        return f"falls from {rate(most)} to {rate(last)}" if falls else f"stays at {rate(most)}"


def saturation_of(usage: pd.DataFrame, load: str = "connections") -> Saturation:
    """Return what limits the throughput of a curve.

    Examples
    --------
    >>> usage = pd.DataFrame({"resource": "CPU", "connections": [1, 2, 4, 8], "throughput_rps": [100, 200, 380, 390],
    ...                       "utilisation_ratio": [0.25, 0.5, 0.95, 0.98]})
    >>> found = saturation_of(usage)
    >>> found.kind, found.resources, found.flat_from
    ('saturated', ('CPU',), 4.0)
    """
    busy = usage.groupby(["resource", load], observed=True)["utilisation_ratio"].mean()
    throughput = usage.groupby(load)["throughput_rps"].mean().astype(float)
    highest = busy.groupby("resource", observed=True).max()
    full = [str(name) for name in pd.unique(usage["resource"]) if highest[name] >= SATURATED_RATIO]
    saturated = tuple(name for name in full if not _has_other_work(busy[name], throughput))
    flat_from = _flat_from(throughput)
    other_work = tuple(name for name in full if name not in saturated)
    kind: Kind = "rising" if np.isnan(flat_from) else "plateau"
    if full:
        kind = "saturated" if saturated else "other work"
    return Saturation(kind, saturated or other_work, other_work, busy, throughput, flat_from)


def _has_other_work(busy: pd.Series, throughput: pd.Series) -> bool:
    """Whether throughput rises over loads at which the resource is always busy: requests alone cannot do that."""
    served = throughput[busy.index[busy >= SATURATED_RATIO]]
    return bool(served.max() > _UNRELATED * served.min() and served.idxmax() > served.idxmin())


def _flat_from(throughput: pd.Series) -> float:
    """Return the best load of those at most half the highest, if the highest load brings hardly more than it."""
    last = throughput.index.max()
    half = throughput[throughput.index <= last / 2]
    if len(half) and throughput[last] <= (1 + PLATEAU_RISE) * half.max():
        level = half.max() / (1 + PLATEAU_RISE)
        return float(half.index[half >= level].min())
    return np.nan
