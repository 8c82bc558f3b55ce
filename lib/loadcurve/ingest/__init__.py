"""Raw output of tools into tables: text in, DataFrames out, a module for each subject; nothing here starts a tool."""

from importlib import import_module

_FROM = {
    "describe_study": "store",
    "ingest": "store",
    "parse": "sniff",
    "read_curves": "store",
    "read_load": "published",
    "read_machine": "store",
    "read_published": "published",
    "read_published_entries": "published",
    "read_table": "store",
    "read_warnings": "store",
}

__all__ = list(_FROM)


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: pyarrow and pandera take longer than most files."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FROM[name]}"), name)
