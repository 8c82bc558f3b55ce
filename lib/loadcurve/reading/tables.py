"""The tables of a study, or of a folder of raw files, by name; a binary recording in a folder is converted by sadf."""

from loadcurve.ingest.store import describe_study, read_curves, read_machine, read_table, read_warnings

__all__ = ["describe_study", "read_curves", "read_machine", "read_table", "read_warnings"]
