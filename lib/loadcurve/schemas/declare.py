"""Functions that declare a column with its type, unit, rule and meaning.

Column = quantity + statistic + unit.  Suffixes: ``_s`` seconds, ``_bytes``, ``_rps`` requests per second, ``_pps``
packets (or segments) per second, ``_bps`` bits per second, ``_bytes_per_s``, ``_per_s`` events per second, ``_ratio``
(0–1, never percent).  No suffix means a count or a name.
"""

import pandas as pd
import pandera.pandas as pa

_TEXT = pd.StringDtype("python")
_COUNT = pd.Int64Dtype()
_TRUTH = pd.BooleanDtype()
_TIME = pd.DatetimeTZDtype("us", "UTC")


def name(meaning: str, required: bool = False) -> pa.Column:
    """Return a text column; its values may be missing unless `required`."""
    return pa.Column(_TEXT, nullable=not required, coerce=True, description=meaning, metadata={"unit": ""})


def count(meaning: str) -> pa.Column:
    """Return a column of integers, at least 0."""
    return pa.Column(_COUNT, pa.Check.ge(0), nullable=True, coerce=True, description=meaning, metadata={"unit": ""})


def truth(meaning: str) -> pa.Column:
    """Return a column of truth values, which may be missing."""
    return pa.Column(_TRUTH, nullable=True, coerce=True, description=meaning, metadata={"unit": ""})


def number(unit: str, meaning: str, *checks: pa.Check) -> pa.Column:
    """Return a column of real numbers in an SI unit."""
    return pa.Column(float, list(checks), nullable=True, coerce=True, description=meaning, metadata={"unit": unit})


def at_least_0(unit: str, meaning: str) -> pa.Column:
    """Return a column of real numbers in an SI unit, at least 0."""
    return number(unit, meaning, pa.Check.ge(0))


def ratio(meaning: str) -> pa.Column:
    """Return a column of ratios from 0 to 1."""
    return number("ratio", meaning, pa.Check.in_range(0, 1))


def time(meaning: str) -> pa.Column:
    """Return a column of times in UTC."""
    return pa.Column(_TIME, nullable=True, coerce=True, description=meaning, metadata={"unit": "UTC"})


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
    "elapsed_s": number("s", "Time since the start of the run's load generator; negative before the start."),
}
"""Columns of every row from a collector's sample."""
