"""Raw output of tools into tables: text in, DataFrames out, a module for each subject; nothing here starts a tool."""

from loadcurve.ingest.store import describe_study, ingest, read_machine, read_table, read_warnings

__all__ = ["describe_study", "ingest", "read_machine", "read_table", "read_warnings"]
