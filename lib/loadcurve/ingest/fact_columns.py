"""Facts that no report prints, as columns of ``runs`` and rows of ``factors``."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from loadcurve.ingest.parsed import Tables
from loadcurve.ingest.raw_file import Matched
from loadcurve.tables.schemas import SCHEMAS

# Field words, letters of formulas, and options of load generators.
_OTHER_NAMES = {
    "connections": "c n clients concurrency concurrent conns users vus",
    "throughput_rps": "x qps req_per_s req_s requests_per_s requests_per_second requests_s rps throughput tps",
    "latency_mean_s": "avg avg_latency latency latency_avg mean mean_latency r response_time rt",
    "target_rate_rps": "arrival_rate offered_rate offered_rps rate target_rate target_rps",
    "duration_s": "duration seconds",
    "started_at": "date start start_time time timestamp",
    "requests_failed": "errors failed failures",
}
_COLUMN_OF = {name: column for column, names in _OTHER_NAMES.items() for name in names.split()}
SECONDS_IN = {"ms": 1e-3, "us": 1e-6}
"""Units of time that a column may end in instead of ``_s``."""
_UNIT = re.compile(r"_(s|secs?|seconds|ms|msecs?|us|usecs?)$")


def meant_column(name: str) -> str:
    """Return the column of ``runs`` that a name probably means, with the unit of the name; empty if there is none.

    Examples
    --------
    >>> meant_column("rt_ms"), meant_column("Conections"), meant_column("rate"), meant_column("kernel")
    ('latency_mean_ms', 'connections', 'target_rate_rps', '')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    known = list(SCHEMAS["runs"].columns)
    unit = _UNIT.search(plain)
    bare = plain[: unit.start()] if unit else plain
    found = plain if plain in known else _COLUMN_OF.get(plain) or _COLUMN_OF.get(bare)
    if not found:
        near = {one.removesuffix("_s"): one for one in known} | {one: one for one in known}
        close = difflib.get_close_matches(bare, near, n=1, cutoff=0.85)
        found = near[close[0]] if close else ""
    prefix = unit[1][0] if unit else "s"
    return found.removesuffix("_s") + f"_{prefix}s" if prefix in "mu" and found.endswith("_s") else found


def base_column(name: str) -> tuple[str, float]:
    """Return the column of ``runs`` that a name with another unit of time means, and that unit in seconds.

    Examples
    --------
    >>> base_column("latency_mean_ms"), base_column("connections")
    (('latency_mean_s', 0.001), ('connections', 1.0))
    """
    stem, _, unit = name.rpartition("_")
    if unit in SECONDS_IN and f"{stem}_s" in SCHEMAS["runs"].columns:
        return f"{stem}_s", SECONDS_IN[unit]
    return name, 1.0


_LISTED = 3  # runs in a warning


@dataclass(frozen=True)
class Fact:
    """A value of a run that no report prints."""

    # `run_id`, `column` and `value`: run, column of `runs` or another factor, and its value as text.
    run_id: str
    column: str
    value: str
    origin: str  # Where the value comes from


def add_facts(matched: Matched, facts: Iterable[Fact]) -> None:
    """Add facts to the tables ``runs`` and ``factors``; note origins and contradictions."""
    by_column: dict[str, dict[str, Fact]] = {}
    differing: list[tuple[Fact, str, str]] = []
    for fact in facts:
        first = by_column.setdefault(fact.column, {}).setdefault(fact.run_id, fact)
        if not _equal(first.value, fact.value):
            differing.append((fact, first.value, first.origin))
    frame = Tables(matched.tables)["runs"]
    levels: list[pd.DataFrame] = []
    for column, known in by_column.items():
        values = frame["run_id"].map({run: fact.value for run, fact in known.items()})
        printed = frame[column].astype(object) if column in frame else pd.Series(None, frame.index, dtype=object)
        both = values.notna() & printed.notna()
        differing += [
            (known[run], f"{text:g}" if isinstance(text, float) else str(text), "the report")
            for run, value, text in zip(frame["run_id"][both], values[both], printed[both], strict=True)
            if not _equal(str(text), value)
        ]
        if column in SCHEMAS["runs"].columns:
            filled = printed.where(printed.notna(), _typed(column, values))
        else:
            number = pd.to_numeric(values, errors="coerce")
            if meant := base_column(meant_column(column))[0]:
                matched.warnings.append(
                    f"{column} is a factor, because no column of runs has this name: if it means {meant}, write {meant}"
                )
            levels.append(frame[["run_id", "source"]].assign(factor=column, level=values, number=number))
            filled = number if number.notna().equals(values.notna()) else values
        matched.origins += _origins(column, known, frame.loc[values.notna() & printed.isna(), "run_id"])
        frame = frame.assign(**{column: filled})
    matched.tables["runs"] = frame
    if levels:
        matched.tables["factors"] = pd.concat(levels, ignore_index=True).dropna(subset="level")
    matched.warnings += _contradictions(differing)


def add_starts(matched: Matched) -> None:
    """Add the start of runs whose reports print none, as the times of their files show it."""
    frame = Tables(matched.tables)["runs"]
    found = pd.to_datetime(frame["run_id"].map(matched.started), unit="s", utc=True).dt.as_unit("us")
    known = pd.to_datetime(frame["started_at"], utc=True) if "started_at" in frame else found
    matched.tables["runs"] = frame.assign(started_at=known.fillna(found))


def _origins(column: str, known: Mapping[str, Fact], runs: Iterable[str]) -> list[str]:
    """One line for each origin of a column."""
    counts = Counter(known[run].origin for run in dict.fromkeys(runs))
    return [f"{column} of {count:,} run{'s' * (count > 1)}: {origin}" for origin, count in counts.items()]


def _contradictions(found: Iterable[tuple[Fact, str, str]]) -> list[str]:
    """One warning for each column and pair of origins."""
    by_kind: dict[tuple[str, str, str], list[str]] = {}
    for fact, value, first in found:
        by_kind.setdefault((fact.column, first, fact.origin), []).append(f"{fact.run_id} ({value}, {fact.value})")
    return [
        f"{column} differs between {first} and {second}: {', '.join(runs[:_LISTED])}"
        + (f" and {len(runs) - _LISTED:,} more runs" if len(runs) > _LISTED else "")
        + f"; {first} counts"
        for (column, first, second), runs in by_kind.items()
    ]


def broken_rule(column: str, value: str) -> str:
    """Return the rule of a declared column of ``runs`` that a text breaks; empty if it breaks none.

    Examples
    --------
    >>> broken_rule("connections", "64"), broken_rule("connections", "many"), broken_rule("kernel", "6.18")
    ('', 'a whole number from 0', '')
    """
    if column not in SCHEMAS["runs"].columns:
        return ""
    kind = str(SCHEMAS["runs"].columns[column].dtype)
    if kind == "Int64":
        return "" if re.fullmatch(r"\+?[0-9]{1,18}", value) else "a whole number from 0"
    if kind == "float64":
        if column.endswith("_ratio"):
            return "" if 0 <= _number(value) <= 1 else "a ratio from 0 to 1"
        return "" if 0 <= _number(value) < np.inf else "a number from 0"
    if kind.startswith("datetime"):
        time = pd.to_datetime(value, errors="coerce", utc=True)
        return "" if pd.notna(time) else "a time such as 2026-11-22T21:38:15Z"
    if kind == "boolean":
        return "" if value.lower() in ("true", "false", "yes", "no") else "yes or no"
    return ""


def _typed(column: str, values: pd.Series) -> pd.Series:
    kind = str(SCHEMAS["runs"].columns[column].dtype)
    if kind == "Int64":
        return pd.to_numeric(values).astype("Int64").astype(object)
    if kind == "float64":
        return pd.to_numeric(values).astype(object)
    if kind.startswith("datetime"):
        return pd.to_datetime(values, utc=True).astype(object)
    if kind == "boolean":
        return values.map(lambda cell: cell.lower() in ("true", "yes"), na_action="ignore")
    return values


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _equal(a: str, b: str) -> bool:
    """Whether two texts are one value: 64 and 64.0 are."""
    return a == b or _number(a) == _number(b)


@dataclass(frozen=True)
class GivenFactors:
    r"""Facts about runs, beside those of ``factors.csv`` in their folder.

    Examples
    --------
    >>> bool(GivenFactors()), GivenFactors.of({"connections": r"c(\d+)"}).patterns
    (False, {'connections': 'c(\\d+)'})
    """

    patterns: Mapping[str, str] = field(default_factory=dict)  # Factor -> regular expression on names of reports
    file: Path | None = None  # A file like `factors.csv`, anywhere; it counts more than that of the folder

    @classmethod
    def of(cls, factors: "Factors") -> "GivenFactors":
        """Return factors as given to a function that takes patterns, a path, both or nothing."""
        if isinstance(factors, GivenFactors):
            return factors
        if isinstance(factors, str | Path):
            return cls(file=Path(factors))
        return cls(factors or {})

    def __bool__(self) -> bool:
        return bool(self.patterns) or self.file is not None

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, resolved: it is no raw file."""
        return (self.file.resolve(),) if self.file else ()


Factors = Mapping[str, str] | str | Path | GivenFactors | None
"""What functions take as facts about runs."""
