"""Raw output of tools into tables: one module per tool, text in, DataFrames out; nothing here starts a process."""

from loadcurve.ingest.store import describe_study, ingest, read_machine, read_table, read_warnings

__all__ = ["describe_study", "ingest", "read_machine", "read_table", "read_warnings"]
