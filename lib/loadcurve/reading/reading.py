"""What a reader of files yields; and binary recordings of sysstat as text."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from loadcurve.errors import LabError, ParseError
from loadcurve.files.atomic import temporary_folder
from loadcurve.ingest import files
from loadcurve.ingest.merge import label
from loadcurve.ingest.parsed import Parsed, Rows, Tables

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "source.yml"
"""File that makes its folder a published report."""


@dataclass(frozen=True)
class Reading:
    """Tables of one raw file, of one run that the laboratory recorded, or of one part of a folder.

    Characters of its source that a table or a terminal cannot represent are escaped as in Python.
    """

    source: str  # Path of the file; ``-`` for standard input; the folder of a recorded run
    parsed: Parsed  # Tables of the file; empty if the file was rejected
    refused: str = ""  # Reason for the rejection, in one line; empty if the file was read
    labelled: bool = False  # Whether the rows already name their run and file, as those of a run with a `run.json` do
    file: Path | None = None  # The file, if it is in a folder that was read and belongs to no recorded run

    def rows(self, name: str) -> "pd.DataFrame | Rows":
        """Return the rows of a table, each with its file; those of a single file belong to no run."""
        rows = self.parsed.tables.rows(name)
        return rows if self.labelled else label(rows, run_id=None, source=self.source)

    @property
    def warnings(self) -> list[str]:
        """Warnings, each with the path of its file."""
        named = "" if self.labelled else f"{self.source}: "
        return [named + warning for warning in self.parsed.warnings]

    def renamed(self, old: str, new: str) -> "Reading":
        """Return the same reading with the text `old` replaced in the names of files."""
        parsed, source, why = self.parsed.renamed(old, new), self.source, self.refused
        return replace(self, source=source.replace(old, new), parsed=parsed, refused=why.replace(old, new))

    def only(self, table: str) -> "Reading":
        """Return the same reading without its other tables."""
        kept = {name: self.parsed.tables.rows(name) for name in self.parsed.tables if name == table}
        return replace(self, parsed=replace(self.parsed, tables=Tables(kept)))


def refused(source: str, why: object) -> Reading:
    """Return the reading of a file that was rejected."""
    return Reading(source, Parsed(""), str(why))


def recording_text(raw: bytes) -> str:
    """Return what `sadf -j` of this machine prints of a binary `sa` file."""
    from loadcurve.lab.tools.monitors.sadf import text_of

    with temporary_folder() as folder:
        recording = folder / "recording"  # sadf requires a file, and the original may be compressed
        recording.write_bytes(raw)
        try:
            return text_of(recording)
        except LabError as error:
            reason = str(error).removeprefix(f"{recording}: ")
            raise ParseError(0, files.TEXT_OF_RECORDING, reason) from None


files.text_of_recording = recording_text
