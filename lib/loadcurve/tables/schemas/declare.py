"""Functions that declare a column with its type, unit, rule and meaning.

Column = quantity + statistic + unit.  Suffixes: ``_s`` seconds, ``_bytes``, ``_rps`` requests per second, ``_pps``
packets (or segments) per second, ``_bps`` bits per second, ``_bytes_per_s``, ``_per_s`` events per second, ``_ratio``
(0–1, never percent).  No suffix means a count or a name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionDtype

_TEXT = pd.StringDtype("python", np.nan)
_COUNT = pd.Int64Dtype()
_TRUTH = pd.BooleanDtype()
_TIME = pd.DatetimeTZDtype("us", "UTC")
_NUMBER = np.dtype(float)


@dataclass(frozen=True)
class Column:
    """A column of a declared table."""

    dtype: np.dtype | ExtensionDtype  # Type of its values
    meaning: str  # What it holds, in a sentence
    required: bool = False  # Whether every row has a value
    unit: str = ""  # Where its name may end in no unit: as suffixes of columns write it, such as `rps`
    # `least` and `most`: range of the values, both ends included.
    least: float = -inf
    most: float = inf


@dataclass(frozen=True)
class Table:
    """A declared table."""

    columns: Mapping[str, Column]  # Its columns by name, in order
    description: str  # What a row is


def name(meaning: str, required: bool = False) -> Column:
    """Return a text column; its values may be missing unless `required`."""
    return Column(_TEXT, meaning, required)


def count(meaning: str) -> Column:
    """Return a column of integers, at least 0."""
    return Column(_COUNT, meaning, least=0)


def truth(meaning: str) -> Column:
    """Return a column of truth values, which may be missing."""
    return Column(_TRUTH, meaning)


def number(meaning: str) -> Column:
    """Return a column of real numbers in the SI unit that its name ends in."""
    return Column(_NUMBER, meaning)


def at_least_0(meaning: str) -> Column:
    """Return a column of real numbers in the SI unit that its name ends in, at least 0."""
    return Column(_NUMBER, meaning, least=0)


def ratio(meaning: str) -> Column:
    """Return a column of ratios from 0 to 1."""
    return Column(_NUMBER, meaning, unit="ratio", least=0, most=1)


def time(meaning: str) -> Column:
    """Return a column of times in UTC."""
    return Column(_TIME, meaning, unit="UTC")


RUN = {
    "study": name("Study the run belongs to: the name of its folder; missing outside a study."),
    "run_id": name("Name of the run, for sorting and reading, never parsed; missing where no folder names the run."),
    "source": name("Raw file the row comes from."),
}
"""Columns for the origin of a row; they come from the folder, not from the parsers."""

GENERATOR = {
    **RUN,
    "generator": count("Index of the load generator's report within the run, or within the file, from 0."),
}
"""Columns of every row from a load generator's report."""

SAMPLE = {
    **RUN,
    "host": name("Host on which the collector ran."),
    "time": time("Instant of the sample; for a rate, the end of its interval."),
    "elapsed_s": number("Time since the start of the run's load generator; negative before the start."),
}
"""Columns of every row from a collector's sample."""

RESPONSES = {f"responses_{n}xx": count(f"Responses with a status of {n}00 to {n}99.") for n in range(1, 6)}
"""Columns of the responses in each class of statuses."""
