"""Messages of failed requests of Gatling by class."""

import re
from collections.abc import Iterable

import pandas as pd

from loadcurve.ingest.report_text import error_counts

_STATUS = re.compile(r"status\.find\..*found ([0-9]{3})", re.DOTALL)


def errors_of(messages: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Counts of `errors_status`, `errors_connect` and so on, of messages and how often each occurred.

    Examples
    --------
    >>> found = errors_of([("status.find.in([200, 209], 304), found 503", 3), ("j.i.IOException: Premature close", 2)])
    >>> found["errors_status"], found["errors_read"], found["errors_other"]
    (3, 2, 0)
    """
    messages = list(messages)
    failed = [(text, count) for text, count in messages if not (m := _STATUS.search(text)) or int(m[1]) < 400]
    classes = error_counts([(text, count) for text, count in failed if not _STATUS.search(text)])
    classes["errors_other"] += sum(count for text, count in failed if _STATUS.search(text))
    statuses = sum(count for _, count in messages) - sum(count for _, count in failed)
    return classes | {"errors_status": statuses}


def counted_errors(errors: pd.Series) -> dict[str, int]:
    """Return `errors_of` of the column `error` of `requests`."""
    return errors_of((str(text), int(count)) for text, count in errors.value_counts().items() if count)
