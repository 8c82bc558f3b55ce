"""A series of snapshots in one text: whole lines, and the lines that say when each was taken.

ss prints no time, so whoever calls it in a loop writes one before each snapshot.  Seen, both in UTC: a line such as
``## 2026-11-20T23:40:00.123456789Z``, and an epoch such as ``1795214067.320213382``.

ss ends every line with a newline: a last line without one was cut and is left out, whatever is left of it.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError

_ISO_TIME = re.compile(r"## ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?Z")
_EPOCH_TIME = re.compile(r"([0-9]{9,10})(?:\.([0-9]{1,9}))?")


def whole_lines(text: str) -> tuple[list[str], str, list[str]]:
    """Return the lines that have their newline, what follows the last of them, and a warning if that is not blank."""
    *lines, cut = [line.strip() for line in text.removeprefix("\ufeff").split("\n")]
    warning = f"line {len(lines) + 1}: the text ends inside a line, which is left out: {cut!r}"
    return lines, cut, [warning] if cut else []


def instant(line: str, number: int) -> np.datetime64 | None:
    """Instant of a line with a time, cut to whole microseconds; None for any other line."""
    if iso := _ISO_TIME.fullmatch(line):
        try:
            seconds = int(datetime.fromisoformat(iso[1]).replace(tzinfo=UTC).timestamp())
        except ValueError:
            raise ParseError(number, "a time such as ## 2026-11-20T23:40:00.123456789Z", line) from None
        fraction = iso[2]
    elif epoch := _EPOCH_TIME.fullmatch(line):
        seconds, fraction = int(epoch[1]), epoch[2]
    elif line.startswith("##"):
        raise ParseError(number, "a time such as ## 2026-11-20T23:40:00.123456789Z", line)
    else:
        return None
    return np.datetime64(seconds * 1_000_000 + int((fraction or "").ljust(6, "0")[:6]), "us")


def utc(times: Iterable[np.datetime64 | None]) -> pd.DatetimeIndex:
    """Instants as a table holds them: in UTC, missing where a snapshot has no time."""
    missing = np.datetime64("NaT", "us")
    return pd.DatetimeIndex(np.array([missing if time is None else time for time in times]), tz="UTC")
