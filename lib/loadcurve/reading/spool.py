"""Tables that wait on disk until all files of a folder are read."""

import pickle
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from loadcurve.ingest.parsed import Rows, Tables

if TYPE_CHECKING:
    import pandas as pd

# Rows of small tables, and of `runs`, which the reader of a folder uses several times, stay in memory.
_SMALL = 1000


class Spool:
    """A folder for tables, removed at the end.

    Examples
    --------
    >>> with Spool() as spool:
    ...     tables = spool.kept(Tables({"cpu": [{"cpu": "all"}] * 2000}))
    ...     len(tables.rows("cpu"))
    2000
    """

    def __enter__(self) -> "Spool":
        self._folder = tempfile.TemporaryDirectory(prefix="loadcurve-")
        self._number = 0
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def kept(self, tables: Tables) -> Tables:
        """Return the same tables, the large ones on disk."""
        large: dict[str, Path] = {}
        small = {}
        for name in tables:
            rows = tables.rows(name)
            if name == "runs" or len(rows) <= _SMALL:
                small[name] = rows
                continue
            self._number += 1
            large[name] = Path(self._folder.name, str(self._number))
            with large[name].open("wb") as file:
                pickle.dump(rows, file, pickle.HIGHEST_PROTOCOL)
        return _OnDisk({name: small.get(name, ()) for name in tables}, large) if large else tables


class _OnDisk(Tables):
    """Tables of which some are read from disk each time they are asked for."""

    def __init__(self, small: "dict[str, pd.DataFrame | Rows]", large: dict[str, Path]) -> None:
        super().__init__(small)
        self._large = large

    def __getitem__(self, name: str) -> "pd.DataFrame":
        return Tables({name: self.rows(name)})[name] if name in self._large else super().__getitem__(name)

    def rows(self, name: str) -> "pd.DataFrame | Rows":
        if name not in self._large:
            return super().rows(name)
        with self._large[name].open("rb") as file:
            return pickle.load(file)
