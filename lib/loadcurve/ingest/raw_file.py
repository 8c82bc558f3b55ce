"""Files of a folder without records, before and after each row got its run."""

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from loadcurve.ingest.parsed import Rows, Tables

if TYPE_CHECKING:
    import pandas as pd


FACTORS = "factors.csv"
"""Name of the file with facts about the runs of a folder (`loadcurve.ingest.run_facts`)."""
NOT_ATTACHED = "not attached to a run: "
"""How the warning begins that names files of monitors which belong to no run."""


@dataclass(frozen=True)
class RawFile:
    """Tables of one raw file."""

    path: PurePosixPath  # Relative to the folder that is read
    source: str  # Name of the file in the column `source` and in warnings
    tables: Tables  # As the parser returned them
    modified: float = float("nan")  # Time at which the file was last written, in s since 1970 UTC; NaN if unknown
    host: str = ""  # Host of rows that name none; empty if unknown


@dataclass(frozen=True)
class Placement:
    """A file, and the runs to which its rows belong; with nothing else, its rows can be labelled in any process."""

    file: RawFile
    # Names of the runs whose reports the file holds, or of the run to which it belongs as a whole.
    runs: tuple[str, ...] = ()
    owner: str | None = None  # Of a monitor's file: its run by folder or name
    # Of a monitor's file: name, start and end of the runs that its times touch, in s since 1970 UTC, and of its owner.
    # None for any other file.
    windows: tuple[tuple[str, float, float], ...] | None = None
    left_out: frozenset[str] = frozenset()  # Names of tables that do not count


@dataclass(frozen=True)
class Note:
    """What the times of a monitor's file showed."""

    path: PurePosixPath
    how: str  # `whole`, `divided` by times, or `lost`: no row belongs to a run
    warnings: tuple[str, ...]  # Rows that belong to no run, and times that contradict the name


@dataclass
class Matched:
    """Tables of a folder, and how each row got its run."""

    # Table name -> its rows, each with `run_id` and `source`; `run_id` is missing where a row belongs to no run.
    tables: "dict[str, pd.DataFrame | Rows]"
    runs: dict[str, RawFile]  # Name of each run -> the file with its report, in the order of the files
    timed: bool = False  # Whether the time of any run is known
    # Run -> its start in s since 1970 UTC, where its report prints none and the time of the file shows it.
    started: dict[str, float] = field(default_factory=dict)
    # Files and rows that belong to no run, and names and times that contradict each other.
    warnings: list[str] = field(default_factory=list)
    # One line for each fact that was not read in a text: what it is, and where it comes from.
    origins: list[str] = field(default_factory=list)
