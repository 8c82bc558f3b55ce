"""Functions for lists of balancers and of connection tracking: times, noise, connections, packets and bytes."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from loadcurve.errors import ParseError
from loadcurve.ingest.noise import is_noise
from loadcurve.ingest.snapshots import instant, utc

_SCALE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_NUMBER = re.compile(r"([0-9]{1,19})([KMGT]?)")
FLOW_COLUMNS = (
    "time", "tool", "protocol", "state", "expires_s", "client_address", "client_port", "virtual_address",
    "virtual_port", "server_address", "server_port", "reply_address", "reply_port", "other",
)  # fmt: skip


def time_of(line: str, number: int, timezone: str, warnings: list[str]) -> np.datetime64 | None:
    """Instant of a line with a time as `snapshots.instant` reads it; None for any other line.

    A line that only begins like a time gets a warning, and the rows below have no time.
    """
    try:
        return instant(line, number, timezone, warnings)
    except ParseError:
        warnings.append(f"line {number}: not a time, so the following rows have no time: {line[:60]!r}")
        return np.datetime64("NaT", "us")


def is_chatter(line: str) -> bool:
    """Whether a line is certainly not part of a list: noise, which is never longer than a terminal is wide.

    Examples
    --------
    >>> is_chatter("[root@lb1 ~]# ipvsadm -ln"), is_chatter("9" * 5000)
    (True, False)
    """
    return len(line) <= 500 and is_noise(line)


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


def flow_table(rows: Sequence[tuple]) -> pd.DataFrame:
    """Return the table `flows` of rows in the order of `FLOW_COLUMNS`; without `time` where no row has one."""
    columns = list(zip(*rows, strict=True)) or [()] * len(FLOW_COLUMNS)
    table: dict = dict(zip(FLOW_COLUMNS, columns, strict=True))
    if any(time is not None for time in table["time"]):
        table["time"] = utc(table["time"])
    else:
        del table["time"]
    return pd.DataFrame(table)


def packets_and_bytes(shared: dict, packets: int, size: int) -> list[dict]:
    """Two rows of `counters` with the columns of `shared`."""
    return [
        {**shared, "counter": "packets", "value": packets, "unit": ""},
        {**shared, "counter": "bytes", "value": size, "unit": "bytes"},
    ]


def settle_times(rows: Sequence[dict]) -> None:
    """Make the instants of rows those of a table; rows before the first time have none."""
    if any("time" in row for row in rows):
        for row, moment in zip(rows, utc([row.get("time") for row in rows]), strict=True):
            row["time"] = moment
