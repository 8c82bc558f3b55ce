"""Rows of an access log gathered from lines of several layouts, and the lines that fit none."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from loadcurve.ingest.noise import is_noise

_NAMED_ODD = 5  # lines that warnings name one by one
_SESSION = re.compile(r"==> .* <==|#.*|[\[\]]")
_LOOKED_AT = 400  # characters of a line that are looked at to see whether it is noise


class OddLines:
    """Lines that are left out: the first ones by number, the others counted."""

    def __init__(self) -> None:
        self._named: list[str] = []
        self._more = 0

    def note(self, line: str, number: int) -> None:
        """Note a line that does not fit, unless it is certainly noise."""
        line = line.strip()
        if not (is_noise(line[:_LOOKED_AT]) or _SESSION.fullmatch(line[:_LOOKED_AT])):
            self.say(f"line {number}: not in the format of the log, so left out: {line[:60]!r}")

    def say(self, sentence: str) -> None:
        """Add a warning, or only count it where there are enough."""
        if len(self._named) < _NAMED_ODD:
            self._named.append(sentence)
        else:
            self._more += 1

    def warnings(self) -> tuple[str, ...]:
        """One sentence for each named line, and one for the others."""
        return (*self._named, *([f"{self._more} more lines are odd in such a way"] if self._more else []))


class Parts:
    """Columns of lines, apart for each layout; in the end in the order of the lines."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, dict[str, np.ndarray]]] = []
        self.rows = 0

    def add(self, columns: dict[str, np.ndarray], numbers: Sequence[int], odd: OddLines) -> None:
        """Add the columns of the lines with these numbers."""
        at = np.asarray(numbers)
        if "time" in columns and (missing := np.isnat(columns["time"])).any():
            for number in at[missing]:
                odd.say(f"line {number}: there is no such time, so it is missing")
        self._parts.append((at, columns))
        self.rows += len(at)

    def table(self) -> pd.DataFrame:
        """All rows, in the order of their lines; a layout without a column has it missing."""
        dtypes = {name: column.dtype for _, columns in self._parts for name, column in columns.items()}
        numbers = np.concatenate([numbers for numbers, _ in self._parts])
        whole = {
            name: np.concatenate([c[name] if name in c else _missing(len(n), dtype) for n, c in self._parts])
            for name, dtype in dtypes.items()
        }
        if (np.diff(numbers) < 0).any():
            order = np.argsort(numbers, kind="stable")
            whole = {name: column[order] for name, column in whole.items()}
        if "time" in whole:
            whole["time"] = pd.DatetimeIndex(whole["time"], tz="UTC")
        return pd.DataFrame(whole)


def _missing(rows: int, dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "O":
        return np.full(rows, None, dtype=object)
    return np.full(rows, np.nan) if dtype.kind == "f" else np.full(rows, np.datetime64("NaT", "us"))
