"""Lists of balancers and of connection tracking: a cursor over their lines, connections, packets and bytes."""

import re
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.cursor import Cursor
from loadcurve.ingest.report_text import is_noise
from loadcurve.ingest.snapshots import instant, utc

_SCALE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_NUMBER = re.compile(r"([0-9]{1,19})([KMGT]?)")
FLOW_COLUMNS = (
    "time", "tool", "protocol", "state", "expires_s", "client_address", "client_port", "virtual_address",
    "virtual_port", "server_address", "server_port", "reply_address", "reply_port", "other",
)  # fmt: skip


class ListCursor(Cursor):
    """Cursor over the lists of one or several calls of a tool, each perhaps after a line with its time."""

    def __init__(self, text: str, tool: str, timezone: str) -> None:
        super().__init__(text.removeprefix("\ufeff"), tool)
        self._timezone = timezone
        # Instant of the current list; NaT after a line that only begins like a time, None before the first time.
        self.time: np.datetime64 | None = None
        self.errors: list[tuple[int, str]] = []  # Error messages of the tool so far: number of the line, and the line

    @property
    def stamp(self) -> dict[str, object]:
        """Column `time` of a row here; empty where no line above has a time."""
        return {} if self.time is None else {"time": pd.Timestamp(self.time, tz="UTC")}

    def take_time(self) -> bool:
        """Return whether the current line is a time (`snapshots.instant`); it then holds for the lines below.

        A line that only begins like a time gets a warning, and the rows below have no time.
        """
        try:
            time = instant(self.line, self.number, self._timezone, self.warnings)
        except ParseError:
            self.warn(f"not a time, so the following rows have no time: {self.line[:60]!r}")
            time = np.datetime64("NaT", "us")
        self.time = self.time if time is None else time
        return time is not None

    def take_error(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the current line is an error message; `errors` keeps it."""
        if found := self.match(pattern):
            self.errors.append((self.number, found[0]))
        return found is not None

    def warn_ignored(self) -> None:
        """Add a warning that the current line is ignored, unless it is certainly not part of a list."""
        if not is_noise(self.line):
            self.warn(f"ignored: {self.line[:60]!r}")

    def refuse(self, expected: str) -> NoReturn:
        """Raise a `ParseError` about the first error message, or else the first line with text."""
        for number, line in self.errors:
            raise ParseError(number, expected, line)
        super().refuse(expected)


def scaled(token: str, line: int) -> tuple[int, bool]:
    """Return a number with a suffix K, M, G or T, and whether it has one, so that its last digits are missing.

    Examples
    --------
    >>> scaled("830843K", 1), scaled("82559753", 1)
    ((830843000, True), (82559753, False))
    """
    match = _NUMBER.fullmatch(token)
    if match is None or int(match[1]) * _SCALE[match[2]] >= 2**63:
        raise ParseError(line, "a number such as 82559753 or 1135M", token)
    return int(match[1]) * _SCALE[match[2]], match[2] != ""


def flow_table(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Return the table `flows` of rows in the order of `FLOW_COLUMNS`; without `time` where no row has one."""
    columns = list(zip(*rows, strict=True)) or [()] * len(FLOW_COLUMNS)
    table: dict[str, Any] = dict(zip(FLOW_COLUMNS, columns, strict=True))
    if any(time is not None for time in table["time"]):
        table["time"] = utc(table["time"])
    else:
        del table["time"]
    return pd.DataFrame(table)


def packets_and_bytes(shared: dict[str, Any], packets: int, size: int) -> list[dict[str, Any]]:
    """Two rows of `counters` with the columns of `shared`."""
    return [
        {**shared, "counter": "packets", "value": packets, "unit": ""},
        {**shared, "counter": "bytes", "value": size, "unit": "bytes"},
    ]
