"""Curves of the runs: runs that differ in a factor are never averaged as if they were repeats of one point."""

from collections.abc import Iterator, Sequence

import pandas as pd

from loadcurve.errors import ValueRuleError
from loadcurve.study.study import ONLY_VARIANT

UNNAMED = "all runs"
"""The one curve of runs whose folder names no variant."""

# What a generator was asked for, or met.  Its warm-up, duration and number of requests say how
# long a run was and not of what it was; addresses of hosts are compared by `url`.
_ASKED = (
    "study", "record", "variant", "connections", "tool", "tool_version", "generator", "threads", "target_rate_rps",
    "tls", "url", "document_bytes", "keep_alive", "server_software", "server_cpu", "generator_cpu",
)  # fmt: skip
_LISTED = 4  # levels that a message names


def name_curves(runs: pd.DataFrame, factors: pd.DataFrame | None = None, *, over: str = "connections") -> pd.DataFrame:
    """Return the runs with a `variant` that also names each factor that differs between runs of one load.

    Whatever groups by variant and load then averages over repeats only.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``.
    factors : pandas.DataFrame, optional
        The table ``factors`` of the same studies.
    over : str
        Column of the load, along which a curve runs.

    Returns
    -------
    pandas.DataFrame
        As `runs`.  A variant reads ``cpu keep_alive=on``; `UNNAMED` where nothing differs and the runs have none.
        A factor that another one determines is not named.

    Examples
    --------
    >>> runs = pd.DataFrame({"run_id": ["a", "b"], "variant": [None, None], "connections": [8, 8], "threads": [1, 2]})
    >>> name_curves(runs)["variant"].to_list()
    ['threads=1', 'threads=2']
    """
    known = _candidates(runs)
    if factors is not None and len(factors):
        levels = factors.pivot_table(index=["study", "run_id"], columns="factor", values="level", aggfunc="first")
        places = [place for place in levels if place.rpartition(".")[2] != over]
        # Numbers say the most in the fewest letters; of what follows from another factor, that one is named.
        places.sort(key=lambda place: _wordiness(levels[place]))
        at = pd.MultiIndex.from_frame(runs[["study", "run_id"]])
        # Places come first, as the study's own words; what they determine in the runs is then not named.
        known = pd.concat([known[["variant"]], levels.reindex(at)[places].set_axis(runs.index), known], axis=1)
        known = known.loc[:, ~known.columns.duplicated()]
    keys: list[str] = []
    for name in known:
        if name != over and _differs(known, [*keys, over], name, runs):
            keys.append(name)
    others = [name for name in keys if name != "variant"]
    short = {name: name.rpartition(".")[2] for name in others}
    parts = [known[name].map(lambda level, n=name: f"{_shown(short, n)}={_level(level)}") for name in others]
    variant = known["variant"].fillna("").astype(str)
    # A run that is missing has no variant.
    if others and known["variant"].dropna().eq(ONLY_VARIANT).all():
        variant = variant.str.slice(0, 0)  # it says nothing beside the factors
    named = [" ".join(filter(None, row)) or UNNAMED for row in zip(variant, *parts, strict=True)]
    return runs.assign(variant=pd.Series(named, index=runs.index, dtype="string"))


def check_points(runs: pd.DataFrame, by: Sequence[str]) -> None:
    """Check that rows which agree in `by` are repeats of one point.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table ``runs``, or rows with some of its columns.
    by : sequence of str
        Columns that name a point, such as ``["variant", "connections"]``.

    Raises
    ------
    ValueRuleError
        When such rows differ in a factor, or contain one repeat twice; the text names the factor, its levels and the
        remedy.

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
            listed = ", ".join(levels[:_LISTED]) + (", …" if len(levels) > _LISTED else "")
            point = " and ".join(keys)
            rule = f"of one {name} for each {point}: select one, or name the curves by it (name_curves, read_curves)"
            raise ValueRuleError("runs", rule, listed)
    if "repeat" in runs and "run_id" in runs:
        each = runs.dropna(subset=["repeat"]).drop_duplicates([*_present(runs, ["study", "run_id"])])
        if (twice := each.duplicated([*keys, "repeat"], keep=False)).any():
            both = ", ".join(each.loc[twice, "run_id"].astype(str).head(2))
            point = ", ".join(keys)
            rule = f"one for each {point} and repeat: a factor differs that is not among them (read_curves names it)"
            raise ValueRuleError("runs", rule, both)


def _candidates(runs: pd.DataFrame) -> pd.DataFrame:
    """What runs may differ in, as far as their table says."""
    found = runs[_present(runs, _ASKED)].copy()
    if "variant" not in found:
        found["variant"] = pd.NA
    if "url" in found:
        # The laboratory takes another port each time, so that a recorded run is known by its path alone.
        path = found["url"].astype("string").str.replace(r"^\w+://[^/]*", "", regex=True)
        found["url"] = path.where(runs["repeat"].notna(), found["url"]) if "repeat" in runs else found["url"]
    if "tool" in found and "requests_keepalive" in runs:
        of_ab = found["tool"].eq("ab").fillna(False)  # it prints the line only where it was asked for
        kept = runs["requests_keepalive"].notna().map({True: "on", False: "off"})
        found["keep_alive"] = kept.where(of_ab, pd.NA)
    return found


def _differs(known: pd.DataFrame, keys: list[str], values: "str | pd.Series", runs: pd.DataFrame) -> bool:
    """Whether rows that agree in `keys` have more than one value."""
    each = known[values] if isinstance(values, str) else values
    places = [known[name] if name in known else runs[name] for name in keys if name in known or name in runs]
    # One key of text for each row: groups of missing and mixed values are compared as they read.
    at = pd.Series(["\x1f".join(map(_level, row)) for row in zip(*places, strict=True)] if places else "", runs.index)
    # A level that is not known is no other level: a run that failed tells less of itself.
    return bool(each.map(_level).where(each.notna()).groupby(at).nunique().gt(1).any())


def _present(runs: pd.DataFrame, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in runs]


def _level(level: object) -> str:
    if level is None or level is pd.NA or level != level:
        return "not known"
    return f"{level:g}" if isinstance(level, float) else str(level)


def _wordiness(levels: pd.Series) -> tuple[bool, float]:
    return bool(pd.to_numeric(levels, errors="coerce").isna().any()), levels.astype(str).str.len().mean()


def _shown(short: dict[str, str], name: str) -> str:
    """The last word of a place, or all of it where two places end alike."""
    return short[name] if list(short.values()).count(short[name]) == 1 else name


def curves(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each curve of the runs with its name, sorted by name; runs without a variant are `UNNAMED`."""
    variant = runs["variant"].fillna(UNNAMED) if "variant" in runs else pd.Series(UNNAMED, runs.index)
    yield from runs.groupby(variant.astype(str).rename("variant"))
