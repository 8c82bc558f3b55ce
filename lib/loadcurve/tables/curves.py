"""Name the curves of the runs, so that runs with different factor levels are never averaged as repeats of one point."""

from collections.abc import Iterator, Sequence

import pandas as pd

from loadcurve.errors import ValueRuleError

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
        places.sort(key=lambda place: _wordiness(levels[place]))
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
    short = {name: name.rpartition(".")[2] for name in others}
    parts = [known[name].map(lambda level, n=name: f"{_shown(short, n)}={_level(level)}") for name in others]
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
    known = _candidates(runs).drop(columns=["variant", over], errors="ignore")
    if "threads" in known and "connections" in runs:
        known["threads"] = known["threads"].where(runs["connections"] >= known["threads"].max())
    known = known.loc[runs[over].sort_values(kind="stable").index]
    levels = {name: list(dict.fromkeys(known[name].dropna().map(_level))) for name in known}
    return {name: found for name, found in levels.items() if len(found) > 1}


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
        each = runs.dropna(subset=["repeat"]).drop_duplicates([*_present(runs, ["study", "run_id"])])
        if (twice := each.duplicated([*keys, "repeat"], keep=False)).any():
            both = ", ".join(each.loc[twice, "run_id"].astype(str).head(2))
            point = ", ".join(keys)
            rule = f"one for each {point} and repeat: a factor differs that is not among them (read_curves names it)"
            raise ValueRuleError("runs", rule, both)


def _candidates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the columns in which runs may differ, besides the load."""
    found = runs[_present(runs, _ASKED)].copy()
    if "variant" not in found:
        found["variant"] = pd.NA
    if "url" in found:
        # The laboratory uses another port for each run, so URLs of recorded runs are compared by path only.
        path = found["url"].astype("string").str.replace(r"^\w+://[^/]*", "", regex=True)
        found["url"] = path.where(runs["repeat"].notna(), found["url"]) if "repeat" in runs else found["url"]
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


def _present(runs: pd.DataFrame, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in runs]


def _level(level: object) -> str:
    """Return the text of a level in names and messages; levels with the same text count as equal."""
    if level is None or level is pd.NA or level != level:
        return "not known"
    if isinstance(level, float):
        # All digits of a whole number: 1,048,576 and 1,048,577 bytes are two levels.
        return f"{level:.15g}" if level.is_integer() else f"{level:g}"
    return str(level)


def _wordiness(levels: pd.Series) -> tuple[bool, float]:
    """Return a sort key: numbers before words, then short levels before long ones."""
    return bool(pd.to_numeric(levels, errors="coerce").isna().any()), levels.astype(str).str.len().mean()


def _shown(short: dict[str, str], name: str) -> str:
    """Return the last word of a place, or the whole place if two places have the same last word."""
    return short[name] if list(short.values()).count(short[name]) == 1 else name


def curves(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and the runs of each curve, sorted by name; runs without a variant are `UNNAMED`."""
    variant = runs["variant"].fillna(UNNAMED) if "variant" in runs else pd.Series(UNNAMED, runs.index)
    yield from runs.groupby(variant.astype(str).rename("variant"))
