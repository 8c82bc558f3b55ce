"""The tables of a study, or of a folder of raw files, by name.

Runs are read on all processors, and a binary recording in a folder is converted by sadf.
"""

from loadcurve.ingest import store
from loadcurve.ingest.store import (
    describe_study,
    read_curves,
    read_machine,
    read_table,
    read_tables,
    read_warnings,
    tidy,
)
from loadcurve.reading.folder import each_run

__all__ = ["describe_study", "read_curves", "read_machine", "read_table", "read_tables", "read_warnings", "tidy"]

store.each_run = each_run
