"""The host of each file of a folder, where headings name several: sar of the generator's host beside sar of the server.

A text of one machine leaves its rows without a host, because most folders hold files of one machine only.  Rows of
`sadf`, and so of binary files of `sar -o`, name theirs: beside them, texts of the same machine do too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loadcurve.ingest.merge import label
from loadcurve.ingest.on_disk import OnDisk, names_host
from loadcurve.ingest.raw_file import RawFile
from loadcurve.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    from loadcurve.ingest.merge import Table


def name_hosts(files: Iterable[RawFile]) -> list[RawFile]:
    """Return the files, each with the host of its heading if the files are of several hosts or rows name one.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> from loadcurve.ingest.parsed import Tables
    >>> def sar(host):
    ...     path = PurePosixPath(f"{host}.txt")
    ...     return RawFile(path, path.name, Tables({"hosts": [{"host": host}], "tcp": [{"segments_sent_pps": 9.0}]}))
    >>> [file.host for file in name_hosts([sar("web1"), sar("load1")])]
    ['web1', 'load1']
    >>> [file.host for file in name_hosts([sar("web1")])]
    ['']
    """
    kept = list(files)
    names = [_host_of(file) for file in kept]
    if len(set(names) - {""}) < 2 and not any(map(_names_host, kept)):
        return kept
    return [
        replace(file, host=name) if name and not file.host else file for file, name in zip(kept, names, strict=True)
    ]


def _names_host(file: RawFile) -> bool:
    """Return whether a row of a file, other than its heading, names a host."""
    others = [name for name in file.tables if name not in ("hosts", "runs")]
    if isinstance(file.tables, OnDisk):
        return bool(file.host or file.tables.hosted.intersection(others))
    return bool(file.host) or any(names_host(file.tables.rows(name)) for name in others)


def with_host(file: RawFile, name: str, rows: "Table") -> "Table":
    """Return rows of a table of a file, with the file's host where none of them names one.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> from loadcurve.ingest.parsed import Tables
    >>> file = RawFile(PurePosixPath("a"), "a", Tables({"tcp": [{"listen_drops": 9}]}), host="web1")
    >>> with_host(file, "tcp", file.tables.rows("tcp"))
    [{'host': 'web1', 'listen_drops': 9}]
    """
    if not file.host or name not in SCHEMAS or "host" not in SCHEMAS[name].columns:
        return rows
    if isinstance(rows, Sequence):
        return label(rows, host=file.host)  # rows that name a host keep it
    tables = file.tables
    hosted = tables.hosted if isinstance(tables, OnDisk) else frozenset[str]()
    has_hosts = name in hosted if hasattr(rows, "schema") else names_host(rows)  # a piece of a large table, or all rows
    return rows if has_hosts else label(rows, host=file.host)


def _host_of(file: RawFile) -> str:
    """Return the only host of a file: the given one, or that of its headings; empty if they name none or several."""
    if "hosts" not in file.tables:
        return ""
    rows = file.tables.rows("hosts")
    values = [row.get("host") for row in rows] if isinstance(rows, Sequence) else list(rows.get("host", ()))
    found = {value for value in values if isinstance(value, str)} or {file.host} - {""}
    return found.pop() if len(found) == 1 else ""
