"""A run in which more or fewer requests were in flight than connections were requested, and what may cause it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from loadcurve.audit.evidence import Evidence


@dataclass(frozen=True)
class Gap:
    """A run in which the requests in flight differ from the connections requested.

    Attributes
    ----------
    run : row
        Row of the table ``runs``.
    in_flight : float
        Throughput times mean response time.
    busy : float
        Mean busy share of the generator's processor during the load; NaN if it was not measured.
    established : float
        Most connections that `ss -s` counted on the generator's host during the load; NaN if it was not recorded.
    open_files : float
        Limit of open files of the generator; NaN if it is not known.
    ports : float
        Local ports of the generator's host; NaN if they are not known.
    opened_each : float
        Connections that the generator's host opened per request, in the second in which it opened most; NaN if they
        were not recorded.
    full_table : Evidence, optional
        What shows that a table of tracked connections was full; None where none was, or none was recorded.
    """

    run: Any
    in_flight: float
    busy: float = np.nan
    established: float = np.nan
    open_files: float = np.nan
    ports: float = np.nan
    opened_each: float = np.nan
    full_table: Evidence | None = None

    def count(self, column: str) -> int:
        """Return a count of the run, 0 if it is missing."""
        value = getattr(self.run, column)
        return 0 if pd.isna(value) else int(value)

    @property
    def tool(self) -> str:
        """Load generator; empty if it is not known."""
        return "" if pd.isna(self.run.tool) else str(self.run.tool)

    @property
    def requested(self) -> int:
        """Connections requested."""
        return int(self.run.connections)

    @property
    def ratio(self) -> float:
        """Requests in flight over connections requested."""
        return self.in_flight / self.requested


@dataclass(frozen=True)
class Cause:
    """A cause of the difference, with its numbers.

    Attributes
    ----------
    evidence, advice : str
        A clause with the numbers, and a sentence about what to do.
    connections : float
        Connections that could carry requests; NaN if the cause does not change them.
    in_flight : float
        Requests in flight with this cause taken into account; NaN if it does not change them.
    explains_rest : bool
        Whether the cause has no number of its own and explains whatever is left.
    load_as_requested : bool
        Whether the load is the one requested, and only the mean response time must not be multiplied with it.
    """

    evidence: str
    advice: str
    connections: float = np.nan
    in_flight: float = np.nan
    explains_rest: bool = False
    load_as_requested: bool = False
