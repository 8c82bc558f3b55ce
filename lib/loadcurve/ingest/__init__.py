"""Raw output of tools into tables: text in, DataFrames out; nothing here starts a process.

`registry` collects the `Form` constants of the parsers in `load`, `sysstat`, `sockets`, `balancers`, `servers` and
`kernel`; `sniff` recognises a text and parses it; `files` and `folder` read files and recorded runs; `store` keeps the
tidy tables of a study.
"""

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
    """Import on first use: pyarrow and pandera take longer to import than most files to parse."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FROM[name]}"), name)
